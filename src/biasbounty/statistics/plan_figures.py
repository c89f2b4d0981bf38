"""The figures of a plan: how far they go, in which steps they are looked for, and which of them cannot be."""

from fractions import Fraction
from math import ceil, inf

from biasbounty.arrays import is_number
from biasbounty.errors import SettingsError
from biasbounty.statistics.numbers import PARTS, digits, parts

PAYOUT_STEPS = 1000
"""Payouts are told in steps of one in so many: each acceptance is one of that many answers and one more."""
MOST_ROWS, MOST_SUBMISSIONS = 10**9, 10**9
"""As far as plans go."""

_COUNTS = {"rows": (1, MOST_ROWS), "submissions": (1, MOST_SUBMISSIONS), "acceptances": (0, MOST_SUBMISSIONS)}


def check_figures(*, delta: float, pot: int, **figures: float | None) -> None:
    """Refuse figures that are out of range; None is none."""
    _check_count("pot", pot, 0, inf)
    _check_share("delta", delta, 1 - 1 / PARTS)
    for name, figure in figures.items():
        if figure is not None and name in _COUNTS:
            _check_count(name, figure, *_COUNTS[name])
        elif figure is not None:
            _check_share(name, figure, 1)


def _check_count(name: str, count: object, least: int, most: float) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= most:
        words = f"from {least}" if most == inf else f"from {least} to {most:,}"
        raise SettingsError(f"{name} is out of range: expected a whole number {words}, got {count!r}")


def _check_share(name: str, share: float, most: float) -> None:
    if not (is_number(share) and 1 / PARTS <= share <= most):
        words = "at most 1" if most == 1 else "less than 1"
        least = digits(1 / PARTS)
        raise SettingsError(f"{name} is out of range: expected at least {least} and {words}, got {share!r}")


def check_together(epsilon: float, disagreement: float, submissions: int, acceptances: int) -> None:
    """Refuse figures that contradict each other."""
    if epsilon > disagreement:
        raise SettingsError(
            f"epsilon is out of reach: expected at most the disagreement, {disagreement:g}, since no submission "
            f"contributes more, got {epsilon:g}; plan for a larger disagreement or a smaller epsilon"
        )
    if acceptances > submissions:
        raise SettingsError(
            f"acceptances are too many: expected at most one for each of {submissions:,} submissions, got "
            f"{acceptances:,}; plan for more submissions or fewer acceptances"
        )
    most = most_accepted(epsilon)
    if acceptances > most:
        raise SettingsError(
            f"acceptances are too many: expected at most {most:,}, since each lowers holdout risk by more than "
            f"epsilon/2, got {acceptances:,}; plan for a smaller epsilon or fewer acceptances"
        )


def most_accepted(epsilon: float) -> int:
    """Return the most acceptances there can be: each lowers holdout risk, 1 at most, by more than epsilon/2."""
    return ceil(2 / Fraction(str(epsilon))) - 1


def largest_epsilon(acceptances: int, disagreement: float) -> int:
    """Return the largest epsilon there can be, in parts: so many acceptances fit, and no submission has more."""
    fits = ceil(2 * PARTS / acceptances) - 1 if acceptances else PARTS
    return max(1, min(parts(disagreement), fits, PARTS))
