"""The same submissions in process, by the command line, by the SDK and by raw HTTP give one ledger, hash by hash.

One clock, one source of ids and keys: all that is left to differ is what the four ways do.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from biasbounty.cli.place import organizer
from biasbounty.client import Client
from biasbounty.service.submitting import Handed
from tests.cli.running import run_json
from tests.client.stage import NOON, Repeats, Stage, on_stage
from tests.exchange.onnx_models import always, below


@dataclass(frozen=True)
class Given:
    """A submission."""

    group: str | bytes
    model: bytes
    note: str = ""


GIVEN = (
    Given("AGEP < 40", always(1, "AGEP"), "the young"),
    Given(below("AGEP", 30), always(1, "AGEP"), "the younger"),
    Given("job in ('judge')  and AGEP >= 40", always(1, "AGEP")),
    Given("city IS NULL", always(0, "AGEP"), "accents: é, 日本"),
    Given("id < 10", below("id", 5, answer=7)),
)
"""Accepted, rejected, accepted, rejected, rejected: as text and as ONNX."""


def _in_process(stage: Stage, token: str, given: Given, folder: Path) -> None:
    who = stage.service.identify(token)
    stage.service.submit(who, stage.bounty, Handed(given.group, given.model, given.note))


def _by_command_line(stage: Stage, token: str, given: Given, folder: Path) -> None:
    group, model = folder / "group.onnx", folder / "model.onnx"
    model.write_bytes(given.model)
    words = given.group
    if isinstance(words, bytes):
        group.write_bytes(words)
        words = f"@{group}"
    environment = {"BIASBOUNTY_URL": stage.url, "BIASBOUNTY_TOKEN": token}
    run_json("submit", words, "--model", str(model), "--note", given.note, **environment)


def _by_sdk(stage: Stage, token: str, given: Given, folder: Path) -> None:
    with Client(stage.url, token) as client:
        client.bounty(stage.bounty).submit(given.group, given.model, note=given.note)


def _by_http(stage: Stage, token: str, given: Given, folder: Path) -> None:
    group: Any = (None, given.group.encode()) if isinstance(given.group, str) else ("a", given.group)
    answer = httpx.post(
        f"{stage.url}/api/v1/bounties/{stage.bounty}/submissions",
        files={"group": group, "model": ("b", given.model), "note": (None, given.note.encode())},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 201, answer.text


Way = Callable[[Stage, str, Given, Path], None]
WAYS: tuple[Way, ...] = (_in_process, _by_command_line, _by_sdk, _by_http)


def _ledger(folder: Path, way: Way) -> tuple[list[bytes], str]:
    """Return the ledger of a closed bounty whose submissions came in one way, and its head."""
    folder.mkdir()
    with on_stage(folder, clock=lambda: NOON, random=Repeats()) as stage:
        token = stage.token(name="Ann")
        for number, given in enumerate(GIVEN, start=1):
            way(stage, token, given, folder)
            while stage.service.bounty(stage.bounty).judged < number:
                time.sleep(0.01)
        stage.service.move_bounty(organizer(), stage.bounty, "close")
        while stage.service.bounty(stage.bounty).state != "closed":
            time.sleep(0.01)
        return list(stage.service.ledger(stage.bounty)), stage.service.bounty(stage.bounty).ledger_head


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[bytes], str]:
    return _ledger(tmp_path_factory.mktemp("ways") / "in process", _in_process)


def test_the_submissions_are_of_all_kinds(in_process: tuple[list[bytes], str]) -> None:
    lines, _ = in_process
    accepted = [b'"accepted":true' in line for line in lines if b'"kind":"judged"' in line]
    assert accepted == [True, False, True, False, False]
    assert b'"kind":"closed"' in lines[-1]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_one_way_gives_the_ledger_of_another(way: Way, in_process: tuple[list[bytes], str], tmp_path: Path) -> None:
    lines, head = _ledger(tmp_path / "service", way)
    assert lines == in_process[0]
    assert head == in_process[1]
