"""Resolution: what a holdout can see at a level, as a function of its size alone.

`resolution` is the smallest contribution that passes; `guaranteed_resolution` the largest upper bound that evidence
which does not pass can have. Neither sees any evidence: they look at all that could be.
"""

from math import isqrt

import numpy as np

from biasbounty.errors import SettingsError
from biasbounty.statistics.bounds import passes, upper_bound
from biasbounty.statistics.evidence import Evidence

_RATES, _ZOOM, _REACH = 64, 8, 16
"""How many rates of disagreement are looked at from no row to all, then around the best so far, and how near to it."""


def resolution(size: int, disagreement: float, tau: float, log_level: float, *, zero_one: bool) -> float | None:
    """Return the smallest contribution that passes where the mean square of Z is this; None if none does."""
    if not 0 <= disagreement <= 1:
        raise SettingsError(f"disagreement is out of range: expected 0 to 1, got {disagreement!r}")
    squares = round(size * disagreement)
    total = _least_passing(size, squares, tau, log_level, zero_one=zero_one)
    return None if total is None else total / size


def guaranteed_resolution(size: int, tau: float, log_level: float, log_bound_level: float, *, zero_one: bool) -> float:
    """Return the largest upper bound, at the one level, that evidence which does not pass at the other can have.

    Rates of disagreement are searched: a grid of them, then closer and closer around the largest bound found, at last
    all within reach. On sizes that can be searched whole this finds the largest (tests/statistics/test_resolution.py).
    """

    def bound(squares: int) -> float:
        total = _most_refused(size, squares, tau, log_level, zero_one=zero_one)
        return upper_bound(Evidence(size, total, squares), log_bound_level, zero_one=zero_one)

    bounds = {squares: bound(squares) for squares in _spread(0, size, _RATES)}
    while True:
        best = max(bounds, key=bounds.__getitem__)
        low = max((at for at in bounds if at < best), default=0)
        high = min((at for at in bounds if at > best), default=size)
        near = range(max(low, best - _REACH), min(high, best + _REACH) + 1)
        new = {*_spread(low, high, _ZOOM), *near} - bounds.keys()
        if not new:
            return bounds[best]
        bounds |= {squares: bound(squares) for squares in new}


def _spread(low: int, high: int, count: int) -> set[int]:
    """Return about so many whole numbers from low to high, all of them if they are few."""
    if high - low <= count:
        return set(range(low, high + 1))
    steps = np.geomspace(1, high - low + 1, count) if low == 0 else np.linspace(1, high - low + 1, count)
    return {low + round(step) - 1 for step in steps}


def _most_refused(size: int, squares: int, tau: float, log_level: float, *, zero_one: bool) -> int:
    """Return the largest total that does not pass, for this sum of squares; for real losses, what it cannot reach."""
    least = _least_passing(size, squares, tau, log_level, zero_one=zero_one)
    if least is None:
        return _largest(size, squares, zero_one=zero_one)
    return least - _step(zero_one) if zero_one else least


def _least_passing(size: int, squares: int, tau: float, log_level: float, *, zero_one: bool) -> int | None:
    """Find the smallest total that passes, for this sum of squares."""
    step, largest = _step(zero_one), _largest(size, squares, zero_one=zero_one)

    def passing(steps_down: int) -> bool:
        return passes(Evidence(size, largest - step * steps_down, squares), tau, log_level, zero_one=zero_one)

    if not squares or not passing(0):
        return None
    low, high = 0, largest // step + 1  # steps down from the largest: low passes, high, at 0 or below, does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passing(middle) else (low, middle)
    return largest - step * low


def _step(zero_one: bool) -> int:
    """Return how far apart totals can be: one more win is one loss less."""
    return 2 if zero_one else 1


def _largest(size: int, squares: int, *, zero_one: bool) -> int:
    """Return the largest total with this sum of squares: of wins only, or of rows that are all alike."""
    return squares if zero_one else isqrt(size * squares)
