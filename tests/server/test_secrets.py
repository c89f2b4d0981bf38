"""What leaves the server: no value of the holdout, nothing that is sealed, no secret, no other hunter's rejected idea.

A bounty is run with a holdout of marked values. Everyone then asks for everything; all answers, all headers, all log
lines and all metrics are searched.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from biasbounty.service.context import Limits
from biasbounty.store.books import read_openings
from biasbounty.store.tables import secrets as kept_secrets
from tests.exchange.onnx_models import always, below
from tests.server.crashing import CRASH, FAR, PLAIN, TIME_OUT, fatal
from tests.server.worlds import (
    HIDDEN_JOB,
    MARK,
    ROLES,
    World,
    a_world,
    logs_kept,
    opening_form,
    rows,
    submission_form,
)

REJECTED = "x < 77.125 AND job = 'cook'"
REJECTED_NOTE = "an idea of the other hunter"
ERASED = "Wilhelmina-who-is-erased"
SIZE = 400


def _holdout() -> pa.Table:
    table = rows(5 * SIZE, 3, holdout=True)
    x = table["x"].to_numpy().copy()
    x[7], x[8] = np.nan, FAR + MARK
    return table.set_column(0, "x", pa.array(x, from_pandas=True))


@dataclass
class Run:
    """A bounty that was run, what left the server meanwhile, and what must not have."""

    world: World
    answers: list[tuple[str, str, bytes]]
    """Who asked, for what, and every byte of the answer."""
    lines: list[str]
    holdout: pa.Table
    rejected: str


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    holdout = _holdout()
    form = opening_form(SIZE, holdout, loss="absolute", low=0, high=1, pot=1000)
    limits = Limits(seconds=1.0)
    with logs_kept() as lines, a_world(tmp_path_factory.mktemp("home"), limits=limits, form=form) as world:
        rejected = _play(world)
        answers = [each for role in ROLES for each in _everything(world, role, rejected)]
        yield Run(world, answers, lines, holdout, rejected)


def _play(world: World) -> str:
    """Hand in what is accepted, rejected, refused, what crashes, takes too long, and has an idea of the other's."""
    path = f"/api/v1/bounties/{world.bounty}/submissions"
    world.add_hunter(ERASED)
    with world.client("hunter") as hunter, world.client("other") as other:
        for group, model in (
            ("x < 40", always(1, "x")),
            (PLAIN, fatal()),
            (CRASH, fatal()),
            (TIME_OUT, fatal()),
            (f"job = '{HIDDEN_JOB}'", fatal()),
            (below("x", 30.0), always(1, "x")),
        ):
            hunter.post(path, **submission_form(group, model))
        sent = other.post(path, **submission_form(REJECTED, fatal(), REJECTED_NOTE))
        world.work()
    assert sent.status_code == 201, sent.text
    with world.client("organizer") as organizer:
        organizer.delete(f"/api/v1/hunters/{world.hunters[ERASED]}")
        states = organizer.get(path).json()["entries"]
    assert [each["state"] for each in states].count("judged") >= 5
    assert states[-1]["verdict"]["accepted"] is False
    return str(states[-1]["id"])


def _everything(world: World, role: str, rejected: str) -> Iterator[tuple[str, str, bytes]]:
    bounty = f"/api/v1/bounties/{world.bounty}"
    described = world.app.openapi()["paths"]
    paths = {path.replace("{bounty}", world.bounty) for path, methods in described.items() if "get" in methods}
    with world.client(role) as asks:
        pages = asks.get(f"{bounty}/submissions")
        own = [each["id"] for each in pages.json().get("entries", [])]
        paths |= {f"/api/v1/submissions/{each}" for each in (rejected, *own)}
        asked: list[tuple[str, str, dict[str, Any]]]
        asked = [("GET", path, {}) for path in sorted(paths) if "{" not in path]
        asked += [("POST", f"{bounty}/preflight", submission_form("x < 50"))]
        asked += [("POST", f"{bounty}/preflight", submission_form(f"job = '{HIDDEN_JOB[:3]}'", fatal()))]
        asked += [("POST", f"{bounty}/submissions", submission_form("x <<< 1"))]
        asked += [("GET", f"{bounty}/model?round=9999", {}), ("GET", "/api/v1/nowhere", {})]
        for method, path, kwargs in asked:
            answer = asks.request(method, path, **kwargs)
            yield role, f"{method} {path}", str(answer.headers).encode() + answer.content


def _told_to(run: Run, *roles: str) -> bytes:
    return b"\n".join(body for role, _, body in run.answers if role in roles)


def _all(run: Run) -> bytes:
    return _told_to(run, *ROLES) + "\n".join(run.lines).encode()


def test_much_was_asked_and_answered(run: Run) -> None:
    assert len(run.answers) > 90
    assert len(run.lines) > 100
    assert b"judged" in _told_to(run, "anonymous")


def test_no_value_of_the_holdout_leaves(run: Run) -> None:
    said = _all(run)
    own = {HIDDEN_JOB.encode()}
    for x in {float(x) for x in run.holdout["x"].to_pylist() if x is not None}:
        own |= {repr(x).encode(), struct.pack("<d", x), struct.pack("<f", x), x.hex().encode()}
    asked_for = said.replace(f"job = '{HIDDEN_JOB}'".encode(), b"")  # the hunter's own words come back to him
    assert [value for value in own if value in asked_for] == []


def test_nothing_sealed_leaves_before_the_close(run: Run) -> None:
    said = _all(run)
    with run.world.service.context.database.read() as connection:
        openings = list(read_openings(connection, run.world.bounty, everything=True))
        secret = [bytes(row.value) for row in connection.execute(kept_secrets.select())]
    assert len(openings) > 8
    numbers = {str(part) for each in openings for part in _numbers(each.value) if len(str(part)) > 5}
    numbers |= set(openings[0].value.values())  # the hashes of the holdout's files
    assert len(numbers) > 6
    assert [number for number in numbers if number.encode() in said] == []
    assert [each.number for each in openings if each.salt.encode() in said] == []
    assert [value for value in secret if value in said or value.hex().encode() in said] == []


def _numbers(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from (part for each in value.values() for part in _numbers(each))
    elif isinstance(value, list):
        yield from (part for each in value for part in _numbers(each))
    elif isinstance(value, (str, int)) and str(value).lstrip("-").isdecimal():
        yield value


def test_a_rejected_idea_is_between_its_hunter_and_the_organizer(run: Run) -> None:
    said = _told_to(run, "anonymous", "observer", "hunter") + "\n".join(run.lines).encode()
    view = next(body for role, path, body in run.answers if role == "other" and path.endswith(run.rejected))
    assert REJECTED_NOTE.encode() in view
    for secret in (REJECTED, REJECTED_NOTE, "77.125"):
        assert secret.encode() not in said


def test_no_token_is_ever_repeated(run: Run) -> None:
    said = _all(run)
    assert [role for role, secret in run.world.secrets.items() if secret and secret.encode() in said] == []


def test_an_erased_name_is_gone(run: Run) -> None:
    assert ERASED.encode() not in _all(run)


def test_crash_time_out_and_plain_rejection_look_the_same(run: Run) -> None:
    with run.world.client("hunter") as hunter:
        views = hunter.get(f"/api/v1/bounties/{run.world.bounty}/submissions").json()["entries"]
    first, crashed, late = views[1:4]
    own = {"id", "place", "received", "judged", "group_hash", "model_hash", "receipt"}
    assert first["state"] == "judged"
    assert {name: first[name] for name in first if name not in own} == {
        name: crashed[name] for name in crashed if name not in own
    }
    assert {name: first[name] for name in first if name not in own} == {
        name: late[name] for name in late if name not in own
    }


def test_openings_come_with_the_close(tmp_path: Path) -> None:
    with a_world(tmp_path) as world, world.client("organizer") as organizer, world.client("hunter") as hunter:
        bounty = f"/api/v1/bounties/{world.bounty}"
        assert hunter.post(f"{bounty}/submissions", **submission_form()).status_code == 201
        assert organizer.post(f"{bounty}/close").json()["state"] == "closing"
        assert hunter.get(f"{bounty}/openings").status_code == 404
        assert hunter.post(f"{bounty}/submissions", **submission_form()).status_code == 409
        world.work()
        assert hunter.get(bounty).json()["state"] == "closed"
        assert len(hunter.get(f"{bounty}/openings").content.splitlines()) == 2, (
            "the opening and the verdict; what was handed in stays sealed"
        )
