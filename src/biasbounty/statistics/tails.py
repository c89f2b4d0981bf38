"""Binomial tails in logarithms: exact down to levels like exp(-2000), where ordinary tails are long zero.

A level that pays for every earlier answer can reach exp(-1000). Library functions for the logarithm of a binomial tail
take the logarithm of the tail, which is -inf below about -745: such a p-value would accept anything. Here the tail is
the leading power of the incomplete beta function times a continued fraction, so the logarithm is never taken of
something tiny.
"""

from math import exp, inf, lgamma, log, log1p

_TINY = 1e-300
_PRECISION = 1e-14
_MOST_TERMS = 100_000
_PRECISE_ENOUGH = 1e-10
"""A rate is found to within this, relatively."""


def log_tail(n: int, k: int, p: float) -> float:
    """Return ln P(Binomial(n, p) >= k)."""
    return _tail(n, k, p)[0]


def rounding(n: int) -> float:
    """Return more than the computed logarithm of a tail of n can be off by."""
    return 1e-12 + 4e-15 * lgamma(n + 2)


def _tail(n: int, k: int, p: float) -> tuple[float, float]:
    """Return the log tail, and how fast it grows with ln p."""
    if k <= 0 or p >= 1:
        return (-inf, 0.0) if k > n else (0.0, 0.0)
    if k > n or p <= 0:
        return -inf, inf
    log_q = log1p(-p)
    leading = k * log(p) + (n - k + 1) * log_q + lgamma(n + 1) - lgamma(k) - lgamma(n - k + 1)
    near = p <= k / (n + 1)
    fraction = _fraction(k, n - k + 1, p) if near else _fraction(n - k + 1, k, 1 - p)
    if not 0 < fraction < inf:
        return 0.0, 0.0  # it did not converge: a tail of 1 accepts nothing
    if near:
        return leading - log(k) + log(fraction), k / (fraction * (1 - p))
    below = leading - log(n - k + 1) + log(fraction)
    above = log1p(-exp(below)) if below < 0 else -inf
    return above, exp(leading - log_q - above) if above > -inf else inf


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function I_x(a, b), by Lentz's method."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _MOST_TERMS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + numerator / c
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            return value
    return inf


def lower_rate(n: int, k: int, log_level: float) -> float:
    """Return the Clopper-Pearson lower bound of a rate: the p at which k or more of n have just this probability.

    By Newton's method. The log tail is concave in ln p (the density of a beta variable's logarithm is log-concave), so
    every step ends below the root: wherever it is stopped, the bound is valid.
    """
    if k <= 0 or log_level == -inf:
        return 0.0
    log_rate = log(k / n)
    for step in range(200):
        tail, growth = _tail(n, k, exp(log_rate))
        ahead = (log_level - rounding(n) - tail) / growth if growth else -inf
        if step and 0 <= ahead <= _PRECISE_ENOUGH:
            break
        log_rate += ahead if ahead > -inf else -1.0
    return exp(log_rate)
