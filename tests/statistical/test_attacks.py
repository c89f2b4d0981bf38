"""Attacks: whoever learns all there is to learn from the answers is not falsely accepted more often than promised.

The attackers, the populations of which the truth is known, and the arena are those of `benchmarks/attacks.py`, which
runs them twenty times as long.
"""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

import pytest
from scipy.stats import binomtest

from benchmarks.arena import Arena
from benchmarks.attackers import ATTACKERS, Attacker, crasher, payout_reader, provoker
from benchmarks.attacks import DELTA, POT, SOUND, attack
from benchmarks.populations import census, noise
from benchmarks.unsound import WithoutPayoutCharge, WithoutRepairRule

RUNS, SUBMISSIONS = 200, 500


@pytest.fixture(scope="module")
def pool() -> ProcessPoolExecutor:
    """Keep two processes at work."""
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.mark.parametrize("data", ["noise", "census"])
@pytest.mark.parametrize("attacker", list(ATTACKERS))
def test_under_anytime_the_share_of_runs_with_any_false_acceptance_is_at_most_delta(
    pool: ProcessPoolExecutor, attacker: str, data: str
) -> None:
    job = partial(attack, data, attacker, "Anytime", SUBMISSIONS)
    runs = list(pool.map(job, range(RUNS), chunksize=10))
    false = sum(run.false > 0 for run in runs)
    assert binomtest(false, RUNS, DELTA, alternative="greater").pvalue > 1e-3, false


def _false_runs(pool: ProcessPoolExecutor, arena: Arena, attacker: Attacker, submissions: int, runs: int = 20) -> int:
    run = partial(Arena.run, arena, attacker, submissions)
    return sum(done.false > 0 for done in pool.map(run, range(runs)))


def test_were_repairs_not_charged_provoked_repairs_would_be_false(pool: ProcessPoolExecutor) -> None:
    """True improvements, each with coins on some other rows: thousands of pairs are then comparisons of coins."""
    population = noise(1_000, fixes=60, fixed_rows=60)
    arena = Arena(population, SOUND, size=len(population))
    assert _false_runs(pool, arena, provoker, 60) <= 4
    assert _false_runs(pool, replace(arena, checker=WithoutRepairRule(0.0, DELTA)), provoker, 60) >= 15


def test_were_payout_levels_not_charged_votes_weighed_by_payouts_would_be_accepted(pool: ProcessPoolExecutor) -> None:
    """Each true improvement carries random votes, and its payout tells exactly how good they are."""
    population = noise(1_000, fixes=100, fixed_rows=200)
    arena = Arena(population, SOUND, size=len(population), repairs=False, pot=POT, grid=5e-5)
    assert _false_runs(pool, arena, payout_reader, 104) <= 4
    assert _false_runs(pool, replace(arena, checker=WithoutPayoutCharge(0.0, DELTA)), payout_reader, 104) >= 15


def test_were_failures_on_the_holdout_told_whoever_is_in_it_could_be_found_out(pool: ProcessPoolExecutor) -> None:
    """A bounty without public rows raises the errors of holdout rows: it is for an organizer who is alone with it."""
    arena = Arena(census(4_000), SOUND, size=4_000, public=True)
    assert _false_runs(pool, arena, crasher, 410) <= 4
    assert _false_runs(pool, replace(arena, public=False), crasher, 410) >= 15


@pytest.mark.parametrize(("data", "least"), [("noise", 0.01), ("census", 0.001)])
def test_plain_is_led_astray_by_every_attack_that_anytime_withstands(
    pool: ProcessPoolExecutor, data: str, least: float
) -> None:
    for name in ATTACKERS:
        runs = list(pool.map(partial(attack, data, name, "Plain", SUBMISSIONS), range(20)))
        false = sum(run.false > 0 for run in runs)
        fallen_below = sum(run.true_risk - run.holdout_risk for run in runs) / len(runs)
        assert false >= 15, (name, false)
        assert fallen_below > least, (name, fallen_below)
