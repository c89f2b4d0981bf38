"""ONNX bytes are submitted as groups and models, and what is wrong with them is said without a word of the holdout."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasbounty as bb
from biasbounty.errors import MissingExtraError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.sandbox import Sandbox
from tests.exchange.onnx_models import INT64, above_mean, always, below, endless, equal_to, matrix_below


def _rows(size: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"AGEP": rng.integers(18, 90, size), "job": rng.choice(["cook", "judge"], size)})
    return X, ((X["AGEP"] < 40) | (X["job"] == "judge")).to_numpy().astype(int)


HOLDOUT = _rows(2_000, 0)
PUBLIC = _rows(500, 1)
ZERO, ONE = always(0, "AGEP"), always(1, "AGEP")


def _bounty(**settings: Any) -> bb.Bounty:
    return bb.Bounty(ZERO, *HOLDOUT, checker=bb.Plain(), **settings)


@pytest.mark.parametrize("settings", [{}, {"public": PUBLIC}, {"schema": bb.Schema.of(PUBLIC[0])}], ids=str)
def test_bytes_are_judged_as_what_they_compute(settings: Any) -> None:
    bounty = _bounty(**settings)
    other = bb.Bounty(lambda X: np.zeros(len(X), int), *HOLDOUT, checker=bb.Plain(), **settings)
    ones = lambda X: np.ones(len(X), int)  # noqa: E731
    assert bounty.submit(below("AGEP", 40), ONE) == other.submit(lambda X: X["AGEP"] < 40, ones)
    assert bounty.submit(equal_to("job", "judge"), ONE) == other.submit(lambda X: X["job"] == "judge", ones)
    assert bounty.submit("AGEP < 30", ZERO) == other.submit("AGEP < 30", lambda X: np.zeros(len(X), int), note="")
    assert [verdict.accepted for verdict in bounty.transcript] == [True, True, False]
    assert bounty.evidence == other.evidence
    assert bounty.risk() == 0
    assert (bounty.model.predict(PUBLIC[0]) == PUBLIC[1]).all()
    assert bounty.replay().predict(PUBLIC[0]).tolist() == PUBLIC[1].tolist()


def test_an_array_goes_in_as_a_matrix() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 3))
    y = (X[:, 1].astype(np.float32) < 0.5).astype(int)
    bounty = bb.Bounty(lambda X: np.zeros(len(X), int), X, y, checker=bb.Plain())
    assert bounty.submit(lambda X: np.ones(len(X), bool), matrix_below(1, 0.5, 3)).accepted
    assert bounty.risk() == 0


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (b"AGEP < 40", "is no ONNX model"),
        (b"", "is no ONNX model"),
        (below("AGE", 40), "AGEP"),
        (below("job", 40), "text"),
    ],
    ids=["text", "nothing", "unknown column", "other type"],
)
def test_what_is_wrong_with_bytes_is_said_and_changes_nothing(group: bytes, words: str) -> None:
    bounty = _bounty(public=PUBLIC)
    before = repr(bounty)
    for pair in ((group, ONE), ("AGEP < 40", group)):
        with pytest.raises(bb.RefusedError, match=words) as caught:
            bounty.submit(*pair)
        assert caught.value.reasons
    assert repr(bounty) == before
    assert bounty.submissions == ()


def test_answers_that_are_no_memberships_are_no_group() -> None:
    with pytest.raises(bb.errors.GroupError, match=r"expected True, False, 0 or 1, got 7"):
        _bounty(public=PUBLIC).submit(always(7, "AGEP"), ONE)


def test_a_graph_that_looks_at_other_rows_gets_one_row_at_a_time() -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    model = OnnxModel(above_mean(1))
    assert not model.row_wise
    assert model(X).tolist() == [0, 0, 0, 0]  # no row is above its own mean
    assert OnnxModel(matrix_below(0, 2.5, 1)).row_wise


def test_a_model_is_equal_to_any_of_the_same_bytes_and_can_be_copied() -> None:
    model = OnnxModel(ONE)
    assert model == OnnxModel(bytes(ONE)) != OnnxModel(ZERO)
    assert hash(model) == hash(OnnxModel(ONE))
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301
    assert len(model(PUBLIC[0][:0])) == 0
    assert model.digest[:12] in repr(model)


def test_a_sandbox_given_runs_all_bytes_and_answers_the_same() -> None:
    with Sandbox(PUBLIC[0]) as sandbox:
        bounty, other = _bounty(sandbox=sandbox, public=PUBLIC), _bounty(public=PUBLIC)
        for group in (below("AGEP", 40), equal_to("job", "judge"), "AGEP > 80"):
            assert bounty.submit(group, ONE) == other.submit(group, ONE)
        assert bounty.evidence == other.evidence
        assert (bounty.model.predict(PUBLIC[0]) == PUBLIC[1]).all()
    with pytest.raises(bb.errors.BiasBountyError, match="sandbox is closed"):
        bounty.model.predict(PUBLIC[0])


def test_what_takes_too_long_in_the_sandbox_is_said_of_public_rows() -> None:
    with Sandbox(PUBLIC[0], seconds=1) as sandbox:
        bounty = _bounty(sandbox=sandbox, public=PUBLIC)
        with pytest.raises(bb.errors.ModelError, match="on the public rows, .* runs too long"):
            bounty.submit("AGEP < 40", endless("AGEP"))
        assert bounty.submissions == ()
        assert bounty.submit("AGEP < 40", ONE).accepted


def test_bytes_without_the_extra_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in ("onnx", "onnxruntime"):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, name, None)
            with pytest.raises(MissingExtraError, match=r"install biasbounty\[onnx\]"):
                OnnxModel(below("AGEP", 40, answer=INT64))(PUBLIC[0])
