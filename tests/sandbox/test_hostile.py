"""Hostile submissions end as a refusal in words or a plain failure, and nothing and nobody else notices them."""

import ctypes
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from biasbounty.errors import RefusedError, SubmissionFailedError
from biasbounty.exchange.onnx_audit import audit
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.schema import Schema
from biasbounty.sandbox import Sandbox
from tests.exchange.hostile import CANARY, Hostile, X, corpus, harmless

SCHEMA = Schema.of(X)
NAMES = [hostile.name for hostile in corpus(Path(), 0)]
MOST_SENT = 2**26
IN_ACCESS, IN_OPEN, IN_NONBLOCK = 0x1, 0x20, 0x800


@dataclass
class Canaries:
    """A folder of which every access is noted, with a file in it; and a socket that listens."""

    folder: Path
    notes: int
    listener: socket.socket

    @staticmethod
    def of(folder: Path) -> "Canaries":
        """Put the canaries out."""
        (folder / CANARY).write_bytes(struct.pack("<2f", 1234.5, 6789.0))
        (folder / "link.bin").symlink_to(folder / CANARY)
        libc = ctypes.CDLL(None, use_errno=True)
        notes = libc.inotify_init1(IN_NONBLOCK)
        assert libc.inotify_add_watch(notes, bytes(folder), IN_ACCESS | IN_OPEN) >= 0
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        return Canaries(folder, notes, listener)

    def are_untouched(self) -> bool:
        """Say whether nobody opened or read anything in the folder, or called."""
        try:
            os.read(self.notes, 4096)
        except BlockingIOError:
            pass
        else:
            return False
        try:
            self.listener.accept()[0].close()
        except BlockingIOError:
            return True
        return False

    def close(self) -> None:
        """Take them in."""
        os.close(self.notes)
        self.listener.close()


@pytest.fixture(scope="module")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canaries]:
    out = Canaries.of(tmp_path_factory.mktemp("canaries"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(out.folder)
        yield out
    out.close()


@pytest.fixture(scope="module")
def sandbox(canaries: Canaries) -> Iterator[Sandbox]:
    with Sandbox(X, memory_mb=512, seconds=1) as made:
        canaries.are_untouched()  # whatever the parent opened while it changed into the folder
        yield made


@pytest.fixture(scope="module")
def hostiles(canaries: Canaries) -> dict[str, Hostile]:
    port = canaries.listener.getsockname()[1]
    return {hostile.name: hostile for hostile in corpus(canaries.folder, port)}


def _ends_as_it_should(hostile: Hostile, sandbox: Sandbox) -> None:
    data = hostile.make()
    if hostile.refused is not None:
        with pytest.raises(RefusedError, match=hostile.refused) as refused:
            audit(data, SCHEMA)
        assert all("expected" in reason and "; " in reason for reason in refused.value.reasons)
        with pytest.raises(RefusedError):
            sandbox.predict(data)
    elif hostile.fails is not None:
        with pytest.raises(SubmissionFailedError, match=hostile.fails):
            sandbox.predict(data)
    else:
        one_by_one = np.concatenate([OnnxModel(data)(X[row : row + 1]) for row in range(len(X))])
        assert np.array_equal(sandbox.predict(data), one_by_one, equal_nan=True)


def _is_harmless_even_without_the_audit(hostile: Hostile, sandbox: Sandbox) -> None:
    data = hostile.make()
    answer = np.empty(0)
    if len(data) <= MOST_SENT:
        with suppress(SubmissionFailedError):
            answer = sandbox.execute(data, {"X": X.astype(np.float32)}, ["answer"])["answer"]
    assert 1234.5 not in answer


@pytest.mark.parametrize("name", NAMES)
def test_it_is_refused_or_fails_plainly(
    name: str, hostiles: dict[str, Hostile], sandbox: Sandbox, canaries: Canaries
) -> None:
    _ends_as_it_should(hostiles[name], sandbox)
    _is_harmless_even_without_the_audit(hostiles[name], sandbox)
    assert sandbox.predict(harmless()).tolist()[:2] == [1.0, -3.0]
    assert canaries.are_untouched()


def test_the_canaries_sing(tmp_path: Path) -> None:
    """A canary that cannot be heard shows nothing."""
    canaries = Canaries.of(tmp_path)
    assert canaries.are_untouched()
    (tmp_path / "link.bin").read_bytes()
    assert not canaries.are_untouched()
    socket.create_connection(canaries.listener.getsockname()).close()
    assert not canaries.are_untouched()
    assert canaries.are_untouched()
    canaries.close()


def test_there_are_forty_and_more() -> None:
    assert len(set(NAMES)) == len(NAMES) >= 40
