"""Judging from columns, beside the passes over the columns that must be read."""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.measure import Figure, at_most, slope, times
from biasbounty import losses
from biasbounty.core.answers import ask
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.process import Decision, Judge, Scored
from biasbounty.core.thresholds import Plain
from biasbounty.values import Certificate

ROWS, GROUPS = 1_000_000, 100


class World:
    """Rows that are numbers, and submissions whose answers are drawn, so that scoring them costs little."""

    def __init__(self, rows: int, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.X = np.arange(rows)
        self.holdout = LocalHoldout(self.X, np.zeros(rows, np.int64))
        self.holdout.open(lambda X: np.ones(len(X), np.int64), losses.zero_one)
        self.examination = Plain().begin(rows, repairs=True, zero_one=True)
        self.error = 1.0
        self.newest = self.certificate(1.0)

    def certificate(self, error: float) -> Certificate:
        """Draw a group of 5% to 30% of the rows, and a model that errs there at this rate."""
        weight, offset = self.rng.uniform(0.05, 0.3), int(self.rng.integers(1, 1 << 62))
        return Certificate(
            lambda X: _coin(X, offset) < weight, lambda X: (_coin(X, offset + 1) < error).astype(np.int64)
        )

    def submission(self, *, better: bool) -> Scored:
        """Score a submission that is better than the newest round, or worse."""
        self.error *= 0.985
        self.newest = self.certificate(self.error if better else 1.0)
        return Scored(self.holdout.score(self.newest))

    def provoking(self) -> Scored:
        """Score a submission better on its group, but worse on rows shared with the newest group: it needs a repair."""
        own, newest = self.certificate(0.0), self.newest
        harmful = Certificate(own.group, lambda X: (ask(newest.group, X) & (_coin(X, 5) < 0.5)).astype(np.int64))
        return Scored(self.holdout.score(harmful))

    def grow(self, groups: int) -> None:
        """Accept submissions until so many groups are protected."""
        while self.holdout.groups < groups:
            self.judge(self.submission(better=True))

    def judge(self, scored: Scored) -> Decision:
        """Judge a submission, and publish its round if it is accepted."""
        judge = Judge(self.holdout)
        decision = judge.decide(self.examination, scored)
        judge.append(decision)
        return decision


def _coin(X: Any, offset: int) -> Any:
    """Return a fair-looking number in [0, 1) for each row number: a function of one row."""
    mixed = (X.astype(np.uint64) + np.uint64(offset)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(11)) / 2.0**53


def _passes(world: World, scans: int) -> None:
    """Pass once over the rounds' losses with the new group, and in each repair scan once over the masks."""
    published = world.holdout._published
    mask, column = published.masks[-1][0], published.losses[-1][0]
    for losses_ in published.losses:
        np.bitwise_count(losses_[0] & mask)
    for _ in range(scans):
        for other in published.masks:
            np.bitwise_count(other[0] & column)
        np.bitwise_count(mask & column)


def _judge_anew(world: World, scored: Scored) -> int:
    """Judge a submission and take it back, so that the next run meets the same bounty; count the repair scans."""
    before = world.holdout._published
    decision = world.judge(scored)
    world.holdout._published = before
    return 1 + len(decision.outcome.repairs)


def figures() -> Iterator[Figure]:
    """Yield accepted, accepted with repairs, rejected, and the growth in rows and groups."""
    world = World(ROWS)
    world.grow(GROUPS)
    yield from _at_full_size(world)
    yield _growth_in_rows()
    yield _growth_in_groups()


def _at_full_size(world: World) -> Iterator[Figure]:
    repaired, accepted, rejected = world.provoking(), world.submission(better=True), world.submission(better=False)
    for scored in (accepted, repaired):
        scans = _judge_anew(world, scored)
        limit, seconds = times(
            functools.partial(_passes, world, scans), functools.partial(_judge_anew, world, scored), repeat=25
        )
        size = f"{ROWS:,} rows, {GROUPS} groups, {GROUPS + 1} rounds, repair scans: {scans}"
        yield at_most(f"judge an accepted submission ({size})", seconds, "s", limit, 3)
    limit, refused = times(lambda: _passes(world, 1), lambda: _judge_anew(world, rejected), repeat=25)
    yield at_most("judge a rejected submission, beside the passes of an accepted one", refused, "s", limit, 1 / 20)


def _judging(world: World) -> Callable[[], object]:
    """Return the judging of an accepted submission that needs no repair."""
    scored = world.submission(better=True)
    while _judge_anew(world, scored) > 1:
        scored = world.submission(better=True)
    return functools.partial(_judge_anew, world, scored)


def _growth(what: str, sizes: Sequence[int], worlds: Iterable[World]) -> Figure:
    """Return the log-log slope of judging in the sizes, all of them run in turn; the passes have one of their own."""
    ours, passes = [], []
    for world in worlds:
        ours.append(_judging(world))
        passes.append(functools.partial(_passes, world, 1))
    seconds = times(*ours, *passes, repeat=31)
    value, limit = slope(sizes, seconds[: len(ours)]), slope(sizes, seconds[len(ours) :])
    return Figure(
        f"growth of judging in {what}, log-log slope, beside that of the passes",
        value,
        "slope",
        limit,
        value / limit,
        "slope <= 1.1",
        value <= 1.1,
    )


def _grown(rows: int, groups: int) -> World:
    world = World(rows)
    world.grow(groups)
    return world


def _growth_in_rows() -> Figure:
    sizes = (500_000, 1_000_000, 2_000_000, 4_000_000)
    return _growth("rows (50 groups)", sizes, (_grown(rows, 50) for rows in sizes))


def _growth_in_groups() -> Figure:
    sizes = (25, 50, 100, 200)
    return _growth("groups (1,000,000 rows)", sizes, (_grown(1_000_000, groups) for groups in sizes))
