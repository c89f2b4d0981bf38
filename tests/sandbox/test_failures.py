"""Whatever a job does, it ends as an error in words; the parent and the next job are unharmed."""

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from biasbounty.errors import SettingsError, SubmissionFailedError
from biasbounty.sandbox import Sandbox, answers
from tests.sandbox.probes import asked, probed

ROWS = np.zeros((3, 2))


@pytest.fixture(scope="module")
def shared() -> Iterator[Sandbox]:
    with probed()(ROWS, memory_mb=256, seconds=60) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(shared: Sandbox) -> Iterator[Sandbox]:
    yield shared
    assert asked(shared, "say", "unharmed") == "unharmed"


@pytest.fixture(scope="module")
def hasty() -> Iterator[Sandbox]:
    with probed()(ROWS, seconds=1) as sandbox:
        yield sandbox


@pytest.mark.parametrize("attempt", [("loop",), ("sleep", 60), ("answer and stay", "BBA1\0\1\0")], ids=str)
def test_it_is_killed_when_its_time_is_over(hasty: Sandbox, attempt: tuple[Any, ...]) -> None:
    words = "model runs too long: expected an answer within 1 s, got none; submit a smaller one"
    with pytest.raises(SubmissionFailedError, match=words):
        asked(hasty, *attempt)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (("take memory", 300), "model needs too much memory: expected at most 256 MB, got more; submit a smaller one"),
        (("take memory", 100_000), "model needs too much memory"),
        (("take memory by pages", 300), "model needs too much memory"),
        (
            ("crash",),
            "model crashes: expected an answer, got an end by SIGSEGV; submit one that is smaller and needs less",
        ),
        (("exit", 3), "model crashes: expected an answer, got an end by exit code 3"),
        (("exit", 0), "model has no answer: expected arrays, got 0 bytes that are none"),
        (("answer with", "BBA1"), "model has no answer: expected arrays, got 4 bytes that are none"),
        (("answer without end",), "model answers too much: expected at most 268435456 bytes, got more"),
    ],
    ids=str,
)
def test_it_ends_as_a_failure_in_words(sandbox: Sandbox, attempt: tuple[Any, ...], words: str) -> None:
    with pytest.raises(SubmissionFailedError, match=words):
        asked(sandbox, *attempt)


def test_floods_of_output_harm_nobody(sandbox: Sandbox) -> None:
    assert asked(sandbox, "flood outputs", 50) == "done"


def test_memory_up_to_the_limit_may_be_taken(sandbox: Sandbox) -> None:
    assert asked(sandbox, "take memory", 200) == f"{200 << 20} bytes"
    assert asked(sandbox, "take memory by pages", 200) == "200 MB"


def test_words_of_a_job_are_shown_as_printable_text(sandbox: Sandbox) -> None:
    forged = answers.write_words(answers.FAILED, "\x1b[31mred\n" + "x" * 10_000).decode()
    with pytest.raises(SubmissionFailedError) as caught:
        asked(sandbox, "answer with", forged)
    assert str(caught.value).startswith("?[31mred?xxx")
    assert len(str(caught.value)) <= 500


def test_an_answer_of_another_shape_is_none() -> None:
    """A job that is a stranger's may answer what it likes; `predict` takes one value for each row, or nothing."""
    from tests.exchange.onnx_models import matrix_below

    with probed(before="probes.probe = lambda resident, message: [__import__('numpy').zeros((3, 2))]")(ROWS) as forging:
        with pytest.raises(SubmissionFailedError, match=r"wrong length: expected 3 answers, one for each row"):
            forging.predict(matrix_below(0, 1.0, 2))
        with pytest.raises(SubmissionFailedError, match=r"wrong outputs: expected 2 arrays, got 1"):
            forging.execute(b"", {}, ["a", "b"])


def test_a_lost_worker_is_replaced_for_the_next_job() -> None:
    mortal = probed(before="worker.os.wait = lambda: (probes.time.sleep(3), probes.os._exit(1))")
    with mortal(ROWS, seconds=60) as sandbox:
        for _ in range(2):
            with pytest.raises(
                SubmissionFailedError, match=r"model took the sandbox down: expected an answer, got none"
            ):
                asked(sandbox, "sleep", 60)
            assert asked(sandbox, "say", "words") == "words"


def test_a_worker_that_does_not_live_at_all_is_no_fault_of_the_model() -> None:
    mortal = probed(before="worker.Worker.serve = lambda self: probes.os._exit(1)")
    with (
        mortal(ROWS) as sandbox,
        pytest.raises(SettingsError, match=r"sandbox does not stay up: expected a worker that"),
    ):
        asked(sandbox, "say", "words")


def test_a_worker_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasbounty.sandbox.process._GRACE_SECONDS", 2.0)
    stuck = probed(before="worker.os.wait = lambda: probes.time.sleep(100)")
    with stuck(ROWS, seconds=60) as sandbox:
        with pytest.raises(SubmissionFailedError, match=r"model took the sandbox down"):
            asked(sandbox, "crash")
        assert [asked(sandbox, "say", str(turn)) for turn in range(5)] == ["0", "1", "2", "3", "4"]


def _array(code: int, width: int, shape: tuple[int, ...], body: bytes) -> bytes:
    return struct.pack("<BBI", code, len(shape), width) + struct.pack(f"<{len(shape)}Q", *shape) + body


HEAD = struct.pack("<4sBH", b"BBA1", answers.ARRAYS, 1)
FLOATS, TEXT = 11, 14


def test_arrays_come_back_as_they_were() -> None:
    rng = np.random.default_rng(0)
    sent = [rng.integers(0, 2, (2, 3)).astype(name) for name in answers._TYPES]
    sent += [np.array([["a", "\U0001f600"], ["", "long" * 10]]), np.zeros((0, 4)), np.array(5.0), np.array([], str)]
    back = answers.read(b"".join(bytes(part) for part in answers.write_arrays(sent)))
    assert isinstance(back, list)
    for one, other in zip(sent, back, strict=True):
        assert one.shape == other.shape
        assert (one == other).all()
        assert other.flags.writeable


@pytest.mark.parametrize(
    "forged",
    [
        b"",
        b"BBA1",
        b"XXXX" + HEAD[4:],
        struct.pack("<4sBH", b"BBA1", 9, 1),
        struct.pack("<4sBH", b"BBA1", 0, 65535),
        HEAD,
        HEAD + _array(FLOATS, 8, (2,), bytes(15)),
        HEAD + _array(FLOATS, 8, (2,), bytes(17)),
        HEAD + _array(FLOATS, 4, (2,), bytes(8)),
        HEAD + _array(FLOATS, 8, (1 << 62, 4), b""),
        HEAD + _array(FLOATS, 8, (1 << 40, 0), b""),
        HEAD + _array(FLOATS, 8, (0,) * 200, b""),
        HEAD + _array(FLOATS, 8, (0, *(1 << 28,) * 3), b""),
        HEAD + _array(FLOATS, 8, (*(1 << 28,) * 31, 0), b""),
        HEAD + _array(200, 8, (1,), bytes(8)),
        HEAD + _array(0, 1, (2,), b"\x01\x02"),
        HEAD + _array(TEXT, 0, (2,), b""),
        HEAD + _array(TEXT, 3, (1,), bytes(3)),
        HEAD + _array(TEXT, 4, (1,), (0x110000).to_bytes(4, "little")),
        HEAD + _array(TEXT, 4, (1,), (0xD800).to_bytes(4, "little")),
        HEAD + _array(TEXT, 1 << 31, (0,), b""),
    ],
    ids=range(21),
)
def test_a_forged_answer_is_none(forged: bytes) -> None:
    with pytest.raises(answers.ForgedError):
        answers.read(forged)


def test_flipped_bytes_are_read_or_refused_never_believed() -> None:
    rng = np.random.default_rng(1)
    whole = b"".join(
        bytes(part) for part in answers.write_arrays([np.arange(6.0).reshape(2, 3), np.array(["a", "bc"])])
    )
    for _ in range(5_000):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            data[place] = rng.integers(0, 256)
        try:
            back = answers.read(bytes(data[: rng.integers(0, len(data) + 1)] if rng.random() < 0.3 else data))
        except answers.ForgedError:
            continue
        if isinstance(back, list):
            assert sum(array.nbytes for array in back) <= len(whole)
