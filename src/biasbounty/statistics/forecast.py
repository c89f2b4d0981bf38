"""Forecast: what public rows say about how the holdout will answer.

The same certificate is compared on public rows. `PublicEvidence` is a type of its own, and deliberately not `Evidence`:
nothing that prices answers can be handed evidence of the holdout by mistake. It imports nothing that has any.
"""

from dataclasses import dataclass
from math import exp, log, pi, sqrt

_STEEPNESS = 1.702
"""A logistic curve this steep is within 0.01 of the normal distribution function."""


@dataclass(frozen=True)
class PublicEvidence:
    """Evidence on rows that may be shown: their number, and the means of Z and of its square there."""

    rows: int
    mean: float
    mean_square: float


def standing(public: PublicEvidence, rows: int, tau: float, log_level: float) -> float:
    """Return how far above what passes on so many holdout rows the contribution is expected, in standard deviations.

    A rough figure is enough: whoever uses it recalibrates it by past answers.
    """
    variance = max(public.mean_square - public.mean**2, 0.0) + 1 / public.rows
    passing = tau + _quantile(log_level) * sqrt(variance / rows)
    return (public.mean - passing) / sqrt(variance * (1 / public.rows + 1 / rows))


def chance(standing: float) -> float:
    """Return the chance of ending above from so many standard deviations above."""
    return 1 / (1 + exp(min(700.0, -_STEEPNESS * standing)))


def _quantile(log_level: float) -> float:
    """Return about how many standard deviations a normal variable exceeds with this log probability."""
    double = max(-2 * log_level, 1.0)
    return sqrt(max(0.0, double - log(2 * pi * double)))
