"""Numbers of a few digits: written as people do, and found by halving."""

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context
from fractions import Fraction

PARTS = 10**8
"""Fractions are looked for among the multiples of one in so many; no fraction of a plan is smaller."""


def parts(fraction: float) -> int:
    """Return a fraction in parts, rounded down; 0.29 is the decimal number that was meant."""
    return int(Fraction(str(fraction)) * PARTS)


def number(at: int) -> int:
    """Return a whole number of at most three digits and zeros: they are counted in order, and 0 is the first."""
    if at < 1000:
        return at
    zeros, above = divmod(at - 100, 900)
    power: int = 10**zeros
    return (100 + above) * power


def place(number: int) -> int:
    """Return where the largest such number up to this one is counted."""
    zeros = max(0, len(str(number)) - 3)
    power: int = 10**zeros
    return 900 * zeros + number // power


def find_least(is_enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """Find the least that is enough, by halving; None if even the highest is not."""
    if not is_enough(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return high


def find_most(is_enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """Find the most that is still enough, by halving; None if even the lowest is not."""
    least = find_least(lambda down: is_enough(high - down), 0, high - low)
    return None if least is None else high - least


def digits(number: float, most: int = 3, *, up: bool = False) -> str:
    """Write a number as people do: whole, or as a decimal fraction of a few digits, rounded up where that is safe."""
    if isinstance(number, int):
        return f"{number:,}"
    rounded = Context(prec=most, rounding=ROUND_CEILING if up else ROUND_HALF_EVEN)
    return f"{rounded.create_decimal(f'{number:.12g}').normalize():f}"
