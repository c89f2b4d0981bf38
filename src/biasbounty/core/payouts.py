"""Payouts: what an accepted submission earns, in whole cents (docs/guarantees/payouts.md).

Its contribution on the holdout is rounded down to a published grid, paid at a published rate, and never more than what
remains in the pot. The grid is the multiples of one step: then, without repairs, parts that are all accepted earn no
more together than the whole would (a grid on which two marks add up to none can be gained on by splitting). With a rate
of at most the pot, all payouts together are at most the pot times the fall of holdout risk. The level is an answer, and
charged as one.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from biasbounty.arrays import is_number
from biasbounty.errors import SettingsError
from biasbounty.statistics.evidence import Evidence

DEFAULT_STEP = 0.001


@dataclass(frozen=True)
class Payouts:
    """A pot, and how contributions are paid out of it.

    Args:
        pot: What there is to pay in all, in cents. 0 pays nothing, and then nothing of the contribution is answered.
        step: Contributions are rounded down to multiples of this.
        rate: Cents for a contribution of 1; the pot if not given. Set it from public figures, never from holdout risk.
    """

    pot: int = 0
    step: float = DEFAULT_STEP
    rate: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.pot, bool) or not isinstance(self.pot, int) or self.pot < 0:
            raise SettingsError(f"pot is out of range: expected whole cents from 0, got {self.pot!r}")
        if not (_is_figure(self.step) and 1e-6 <= self.step <= 1):
            raise SettingsError(f"grid is out of range: expected a step from 0.000001 to 1, got {self.step!r}")
        if self.rate is not None and not (_is_figure(self.rate) and 0 <= self.rate < float("inf")):
            raise SettingsError(f"rate is out of range: expected cents from 0, got {self.rate!r}")

    @property
    def levels(self) -> int:
        """How many levels a contribution can reach, level 0 included; 1 where nothing is paid."""
        return int(1 / _exactly(self.step)) + 1 if self.pot else 1

    def level(self, evidence: Evidence) -> int:
        """Return the level that a contribution reached, exactly. Secret until it is answered, and so charged."""
        if not self.pot or evidence.total <= 0:
            return 0
        return int(Fraction(evidence.total) / (evidence.n * evidence.scale) / _exactly(self.step))

    def nearest_level(self, contribution: float) -> int:
        """Return the level of a contribution that is public; at a multiple of the step, that multiple."""
        return min(max(int(_exactly(contribution) / _exactly(self.step)), 0), self.levels - 1)

    def cents(self, level: int, paid: int) -> int:
        """Return what a level earns after so much was paid before."""
        rate = self.pot if self.rate is None else _exactly(self.rate)
        return min(int(level * _exactly(self.step) * rate), self.pot - paid)


def _is_figure(value: Any) -> bool:
    """Say whether this is a real number, and no truth value."""
    return is_number(value) and not isinstance(value, (bool, np.bool_))


def _exactly(number: float) -> Fraction:
    """Return the decimal number that was meant: 0.001 is a thousandth, not the float nearest to it."""
    return Fraction(str(number))
