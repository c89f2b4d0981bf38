"""Crash, time-out and plain rejection are told at the same time: nobody learns from the clock what the holdout holds.

The same model is handed in again and again, with groups that take in a row of the holdout that kills it, one that keeps
it busy, or none. How long an answer takes is compared between the three, by the greatest distance between their
distributions (Kolmogorov, Smirnov). What is compared is a clock, so a test like this can fail by chance: 1 in 5,000.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from biasbounty.arrays import Array
from biasbounty.service.context import Limits
from tests.server.crashing import CRASH, FAR, PLAIN, TIME_OUT, fatal
from tests.server.test_floods import until
from tests.server.worlds import World, a_world, opening_form, rows, settings_with, submission_form

KINDS = (PLAIN, CRASH, TIME_OUT)
SECONDS = 0.15
RAREST = 1e-5
STREAMING = settings_with(stream_seconds=600.0)


def _holdout() -> pa.Table:
    table = rows(400, 3, holdout=True)
    x = np.floor(table["x"].to_numpy())
    x[7], x[8] = np.nan, FAR
    return table.set_column(0, "x", pa.array(x, from_pandas=True))


@contextmanager
def _deadly(folder: Path, hold: float) -> Iterator[World]:
    form = opening_form(50, _holdout(), quota=10**6)
    with a_world(folder, STREAMING, Limits(seconds=SECONDS, hold=hold), form, workers=2) as world:
        yield world


def _times(world: World, each: int, seed: int, *, one_by_one: bool = False) -> dict[str, tuple[Array, Array, Array]]:
    """Hand in each kind so often, in a drawn order; return what is known of the times of each.

    Returns:
        For each kind: how long it took to be taken, to be judged by the ledger's own hours, and to be heard of.
    """
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(KINDS)), each))
    path, model = f"/api/v1/bounties/{world.bounty}", fatal()
    sent: dict[str, tuple[float, float]] = {}
    heard: dict[str, float] = {}
    listener = threading.Thread(target=_listen, args=(world, heard, len(order)), daemon=True)
    listener.start()
    with world.client("hunter") as hunter:
        for kind in order:
            start = time.monotonic()
            answer = hunter.post(f"{path}/submissions", **submission_form(KINDS[kind], model))
            end = time.monotonic()
            sent[answer.json()["submission"]] = (end - start, end)
            if one_by_one:
                until(lambda: len(heard) == len(sent))
            time.sleep(max(0.0, SECONDS / 2 - (end - start)))
        listener.join(60)
        views: dict[str, Any] = {}
        place: int | None = 0
        while place is not None:
            page = hunter.get(f"{path}/submissions", params={"start": place, "most": 200}).json()
            views |= {view["id"]: view for view in page["entries"]}
            place = page["next"]
    assert {view["state"] for view in views.values()} == {"judged"}
    assert not any(view["verdict"]["accepted"] for view in views.values())
    found: dict[str, tuple[Array, Array, Array]] = {}
    for number, kind in enumerate(KINDS):
        ids = [each for each, own in zip(sent, order, strict=True) if own == number]
        judged = [_hour(views[each]["judged"]) - _hour(views[each]["received"]) for each in ids]
        known = ([sent[each][0] for each in ids], judged, [heard[each] - sent[each][1] for each in ids])
        found[kind] = tuple(np.array(some) for some in known)  # type: ignore[assignment]
    return found


def _listen(world: World, heard: dict[str, float], count: int) -> None:
    path = f"/api/v1/bounties/{world.bounty}/events/stream"
    with world.client("anonymous") as anyone, anyone.stream("GET", path) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                heard[json.loads(line.removeprefix("data: "))["submission"]] = time.monotonic()
            if len(heard) == count:
                return


def _hour(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_crash_time_out_and_rejection_take_the_same_time(tmp_path: Path) -> None:
    with _deadly(tmp_path, Limits(seconds=SECONDS).steady) as world:
        found = _times(world, 200, seed=6)
    for one, other in combinations(KINDS, 2):
        for what in range(3):
            said = stats.ks_2samp(found[one][what], found[other][what])
            assert said.pvalue > RAREST, (one, other, what, said.statistic)


def test_without_holding_back_a_time_out_would_be_seen(tmp_path: Path) -> None:
    """So the test above sees something."""
    with _deadly(tmp_path, 0.0) as world:
        found = _times(world, 15, seed=7, one_by_one=True)
    said = stats.ks_2samp(found[PLAIN][1], found[TIME_OUT][1])
    assert said.pvalue < RAREST


def test_the_three_are_what_they_are_called(tmp_path: Path) -> None:
    from biasbounty.errors import SubmissionFailedError
    from biasbounty.sandbox import Sandbox

    table = _holdout().drop_columns(["y"])
    x = table["x"].to_numpy()
    with Sandbox(table, seconds=SECONDS * 4) as sandbox:
        assert not sandbox.predict(fatal(), x < 1000).any()
        with pytest.raises(SubmissionFailedError, match="crashes"):
            sandbox.predict(fatal(), np.isnan(x) | (x < 1000))
        with pytest.raises(SubmissionFailedError, match="too long"):
            sandbox.predict(fatal(), x > 0)
