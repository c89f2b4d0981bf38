"""Bounds and tests are wrong at most as often as their level says, and sharp."""

from collections.abc import Iterator
from math import comb, exp, log

import numpy as np
import pytest
from scipy.stats import binomtest

import biasbounty as bb
from biasbounty.errors import SettingsError
from biasbounty.statistics import bounds
from biasbounty.statistics.bounds import log_e_value, lower_bound, passes, upper_bound

ROUNDING = 1e-9


def _outcomes(n: int, win: float, lose: float) -> Iterator[tuple[bb.Evidence, float]]:
    """Yield every evidence that n rows can give, with its exact probability."""
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            ways = comb(n, wins) * comb(n - wins, losses)
            chance = ways * win**wins * lose**losses * (1 - win - lose) ** (n - wins - losses)
            yield bb.Evidence(n, wins - losses, wins + losses), chance


CASES = [(win, lose) for win in (0.0, 0.05, 0.2, 0.5) for lose in (0.0, 0.05, 0.2, 0.5)]


@pytest.mark.parametrize("zero_one", [True, False])
@pytest.mark.parametrize("level", [0.4, 0.1, 0.01])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_by_enumeration_no_bound_misses_more_often_than_its_level(n: int, level: float, zero_one: bool) -> None:
    for win, lose in CASES:
        mean = win - lose
        missed = [0.0, 0.0]
        for evidence, chance in _outcomes(n, win, lose):
            missed[0] += chance * (lower_bound(evidence, log(level), zero_one=zero_one) > mean + ROUNDING)
            missed[1] += chance * (upper_bound(evidence, log(level), zero_one=zero_one) < mean - ROUNDING)
        assert max(missed) <= level


@pytest.mark.parametrize("zero_one", [True, False])
@pytest.mark.parametrize("level", [0.4, 0.1, 0.01, 1e-4])
@pytest.mark.parametrize("tau", [0.0, 0.05, 0.3])
def test_by_enumeration_no_test_accepts_what_is_not_better_more_often_than_its_level(
    tau: float, level: float, zero_one: bool
) -> None:
    worst = [(lose + tau, lose) for lose in (0.0, 0.01, 0.1, 0.3)]
    for n in (1, 6, 20, 45):
        accepted = {
            evidence: passes(evidence, tau, log(level), zero_one=zero_one) for evidence, _ in _outcomes(n, 0, 0)
        }
        for win, lose in [*worst, *(case for case in CASES if case[0] - case[1] <= tau)]:
            assert sum(chance * accepted[evidence] for evidence, chance in _outcomes(n, win, lose)) <= level


@pytest.mark.parametrize("zero_one", [True, False])
@pytest.mark.parametrize("n", [1, 4, 9, 20])
def test_by_enumeration_no_bet_is_worth_more_than_its_stake_where_the_mean_is_the_one_bet_against(
    n: int, zero_one: bool
) -> None:
    """What makes every bound valid; a bound itself is too coarse at small n to show a bet that is a little too good."""
    for win, lose in [*CASES, (0.3, 0.3), (0.01, 0.01), (0.02, 0.3), (0.4, 0.4)]:
        worth = sum(
            chance * exp(log_e_value(evidence, win - lose, zero_one=zero_one))
            for evidence, chance in _outcomes(n, win, lose)
            if chance
        )
        assert worth <= 1 + ROUNDING


def test_the_parts_of_a_level_add_up_to_the_level() -> None:
    assert abs(bounds._WINS_SHARE + bounds._RATE_SHARE + bounds._BETS_SHARE - 1) < 1e-12


def _drawn(rng: np.random.Generator, n: int, disagreement: float, mean: float, zero_one: bool) -> bb.Evidence:
    if zero_one:
        wins, losses, _ = rng.multinomial(n, [(disagreement + mean) / 2, (disagreement - mean) / 2, 1 - disagreement])
        return bb.Evidence(n, int(wins - losses), int(wins + losses))
    shape, disagree = 1.5, rng.random(n) < disagreement
    center = 0.5 + mean / disagreement / 2
    z = np.where(disagree, 2 * rng.beta(shape * center, shape * (1 - center), n) - 1, 0)
    units = np.rint(z * 65535).astype(np.int64)
    return bb.Evidence(n, int(units.sum()), int((units**2).sum()), 65535)


@pytest.mark.parametrize("zero_one", [True, False])
@pytest.mark.parametrize("n", [300, 5_000])
@pytest.mark.parametrize(("disagreement", "mean"), [(0.02, 0.0), (0.02, 0.015), (0.3, 0.0), (0.3, -0.1), (1.0, 0.5)])
@pytest.mark.parametrize("level", [0.2, 0.02])
def test_on_drawn_rows_no_bound_misses_more_often_than_its_level(
    n: int, disagreement: float, mean: float, level: float, zero_one: bool
) -> None:
    rng, runs = np.random.default_rng([n, int(1000 * disagreement), int(1000 * (mean + 1)), zero_one]), 400
    drawn = [_drawn(rng, n, disagreement, mean, zero_one) for _ in range(runs)]
    tolerance = 1e-4
    for missed in (
        sum(lower_bound(evidence, log(level), zero_one=zero_one) > mean + tolerance for evidence in drawn),
        sum(upper_bound(evidence, log(level), zero_one=zero_one) < mean - tolerance for evidence in drawn),
        sum(passes(evidence, max(0, mean), log(level), zero_one=zero_one) for evidence in drawn),
    ):
        assert binomtest(missed, runs, level, alternative="greater").pvalue > 1e-4


N, DISAGREEMENT, LEVEL = 39_393, 0.02, -47.5


def _smallest(tau: float, *, zero_one: bool) -> float:
    """Return the smallest contribution that passes at the disagreement."""
    squares = int(N * DISAGREEMENT)
    for total in range(squares % 2, squares + 1, 2):
        if passes(bb.Evidence(N, total, squares), tau, LEVEL, zero_one=zero_one):
            return total / N
    raise AssertionError("nothing passes")


def test_at_real_sizes_the_sign_test_sees_0_0067_and_the_sums_bound_at_most_a_quarter_more() -> None:
    assert _smallest(0, zero_one=True) <= 0.0067
    assert _smallest(0, zero_one=False) <= 1.25 * _smallest(0, zero_one=True)


@pytest.mark.parametrize("tau", [0.0025, 0.005])
def test_a_test_of_tau_costs_little_more_than_tau(tau: float) -> None:
    assert _smallest(tau, zero_one=True) <= 1.15 * (tau + _smallest(0, zero_one=True))


@pytest.mark.parametrize("zero_one", [True, False])
def test_levels_down_to_exp_minus_2000_still_tell_evidence_apart(zero_one: bool) -> None:
    strong, weak = bb.Evidence(100_000, 20_000, 20_000), bb.Evidence(100_000, 1_000, 20_000)
    for tau in (0.0, 0.01):
        assert passes(strong, tau, -2000.0, zero_one=zero_one)
        assert not passes(weak, tau, -2000.0, zero_one=zero_one)
    assert (
        -1 < lower_bound(strong, -2000.0, zero_one=zero_one) < 0.2 < upper_bound(strong, -2000.0, zero_one=zero_one) < 1
    )


@pytest.mark.parametrize("zero_one", [True, False])
def test_no_evidence_passes_nothing_and_bounds_nothing(zero_one: bool) -> None:
    nothing = bb.Evidence(0, 0, 0)
    assert not passes(nothing, 0.0, -1.0, zero_one=zero_one)
    assert (lower_bound(nothing, -1.0, zero_one=zero_one), upper_bound(nothing, -1.0, zero_one=zero_one)) == (-1, 1)


def test_a_bound_is_monotone_in_its_level_and_holds_the_mean_between() -> None:
    evidence = bb.Evidence(1000, 100, 300)
    lows = [lower_bound(evidence, -x, zero_one=True) for x in (0.5, 2, 10, 100)]
    assert lows == sorted(lows, reverse=True)
    assert all(low <= 0.1 <= upper_bound(evidence, -0.5, zero_one=True) for low in lows)


def test_what_is_no_level_or_no_zero_one_evidence_is_refused() -> None:
    with pytest.raises(SettingsError, match="expected a logarithm below 0"):
        passes(bb.Evidence(10, 5, 5), 0.0, 0.5, zero_one=True)
    with pytest.raises(SettingsError, match="expected whole wins and losses"):
        passes(bb.Evidence(10, 5, 6), 0.0, -1.0, zero_one=True)
    with pytest.raises(SettingsError, match="expected whole wins and losses"):
        passes(bb.Evidence(10, 4, 2), 0.0, -1.0, zero_one=True)
