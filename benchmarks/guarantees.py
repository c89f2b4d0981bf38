"""What the guarantee costs: decisions a second, and the price of using one holdout for all, in resolution.

The limit is a fresh holdout for every submission, at the same shares of the error budget: then nothing has to be
charged for earlier answers. No bounty can have that; it shows how much of the resolution the reuse costs.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import mean

from benchmarks.honest import CODES, DISAGREEMENT, FRESH, ROWS, SETTINGS, judge, stream
from benchmarks.measure import Figure, at_most

SEEDS = range(5)
LEAST_SPEED = 5_000
STREAM = f"honest stream, {ROWS:,} rows, tau = {SETTINGS.tau:g}"


def figures() -> Iterator[Figure]:
    """Yield the speed under each code, nats and acceptances, and the resolution beside that of fresh holdouts."""
    for name in ("predictive", "mixture"):
        speed = _speed(name)
        target = f">= {LEAST_SPEED}"
        yield Figure(
            f"decisions a second ({name} code, {STREAM})", speed, "1/s", None, None, target, speed >= LEAST_SPEED
        )
    for submissions in (200, 2_000):
        yield from _resolutions(submissions)
        yield from _acceptances(submissions)


def _speed(name: str) -> float:
    submissions = list(stream(0, 2_000))
    judge(CODES[name], iter(submissions[:100]))
    start = time.perf_counter()
    judge(CODES[name], iter(submissions))
    return len(submissions) / (time.perf_counter() - start)


def _resolutions(submissions: int) -> Iterator[Figure]:
    for name, code in CODES.items():
        ours, fresh = [], []
        for seed in SEEDS:
            examination = judge(code, stream(seed, submissions)).examination
            ours.append(examination.resolution(DISAGREEMENT) or 1.0)
            fresh.append(replace(examination, log_weight=0.0).resolution(DISAGREEMENT) or 1.0)
        title = f"resolution after {submissions:,} submissions ({name} code, {STREAM}), beside fresh holdouts"
        if name == "binomial":
            yield Figure(title, mean(ours), "contribution", mean(fresh), mean(ours) / mean(fresh))
        else:
            yield at_most(title, mean(ours), "contribution", mean(fresh), 3)


def _acceptances(submissions: int) -> Iterator[Figure]:
    limit = mean(judge(FRESH, stream(seed, submissions)).accepted for seed in SEEDS)
    for name, code in CODES.items():
        runs = [judge(code, stream(seed, submissions)) for seed in SEEDS]
        accepted = mean(run.accepted for run in runs)
        nats, false = mean(run.examination.nats_spent for run in runs), sum(run.false for run in runs)
        yield Figure(f"nats for {submissions:,} submissions ({name} code, {STREAM})", nats, "nats")
        yield Figure(
            f"accepted of {submissions:,} submissions ({name} code, {STREAM}; false: {false}), beside fresh holdouts",
            accepted,
            "acceptances",
            limit,
            accepted / limit,
        )
