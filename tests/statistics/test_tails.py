"""Log tails are exact, and stay so where ordinary tails have long become zero."""

from fractions import Fraction
from math import comb, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from biasbounty.statistics.tails import log_tail, lower_rate


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)


@given(st.integers(1, 60), st.integers(0, 60), st.fractions(0, 1, max_denominator=97))
def test_a_log_tail_is_the_logarithm_of_the_sum(n: int, k: int, p: Fraction) -> None:
    exact = sum((comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1)), Fraction(0))
    assert log_tail(n, k, float(p)) == pytest.approx(_log(exact) if exact else -inf, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "k", "p"), [(4000, 3900, 0.5), (2000, 2000, 0.25), (3000, 2500, 0.25), (5000, 4999, 0.5)]
)
def test_a_log_tail_is_exact_where_the_tail_itself_underflows(n: int, k: int, p: float) -> None:
    exact = sum((comb(n, j) * Fraction(p) ** j * (1 - Fraction(p)) ** (n - j) for j in range(k, n + 1)), Fraction(0))
    assert _log(exact) < -745
    assert log_tail(n, k, p) == pytest.approx(_log(exact), rel=1e-12)


@pytest.mark.parametrize("n", [1_000, 100_000, 10_000_000])
@pytest.mark.parametrize("p", [0.001, 0.3, 0.5])
@pytest.mark.parametrize("deviations", [-3, 0, 0.5, 3, 8])
def test_a_log_tail_of_many_agrees_with_scipy(n: int, p: float, deviations: float) -> None:
    k = max(1, round(n * p + deviations * (n * p * (1 - p)) ** 0.5))
    assert log_tail(n, k, p) == pytest.approx(binom.logsf(k - 1, n, p), rel=1e-7, abs=1e-11)


@pytest.mark.parametrize(("n", "k"), [(10, 1), (39_393, 788), (1_000_000, 5), (500, 500)])
@pytest.mark.parametrize("level", [0.3, 0.05, 1e-9])
def test_the_lower_rate_is_that_of_clopper_and_pearson(n: int, k: int, level: float) -> None:
    assert lower_rate(n, k, log(level)) == pytest.approx(beta.ppf(level, k, n - k + 1), rel=1e-6)


def test_the_lower_rate_of_nothing_is_nothing() -> None:
    assert lower_rate(10, 0, -1.0) == 0
