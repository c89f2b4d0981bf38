"""Opened: everything of a bounty that was sealed while it ran, as one value, for when it is closed."""

from dataclasses import dataclass

from biasbounty.core.process import Outcome
from biasbounty.statistics.bounds import upper_bound


@dataclass(frozen=True)
class Opened:
    """What the holdout said. These rows chose the rounds: take the curves as description, not as proof."""

    risks: tuple[float, ...]
    """Overall holdout risk, by round."""
    group_risks: tuple[tuple[float, ...], ...]
    """Holdout risk of each protected group, by round."""
    outcomes: tuple[Outcome, ...]
    """Each submission's evidence, level and repairs, in the order of judgement."""
    upper_bounds: tuple[float | None, ...]
    """Of each rejected submission, what its true contribution surely does not exceed (P6); None for the others."""
    nats_spent: float
    paid: int
    """Cents, in all."""
    guarantee: str


def find_upper_bound(outcome: Outcome, *, zero_one: bool) -> float | None:
    """Return a rejected submission's upper bound; None if there is none, as where it failed and shows no evidence."""
    if outcome.accepted or outcome.log_bound_level is None or outcome.failure is not None:
        return None
    return upper_bound(outcome.evidence, outcome.log_bound_level, zero_one=zero_one)
