"""Checkers: who decides whether evidence certifies (docs/definitions.md, docs/guarantees).

A `Checker` is settings. `begin` sets it to work on a holdout and returns an `Examination`, a frozen value that moves
on with each answer, as the tree of all possible runs does: at a node it is posed a `Question`, and from what is public
there it fixes the test, before any evidence is seen, and where each response leads. What an examination has spent is
thus a function of the transcript alone, and an interrupted submission leaves none of it behind.

`Plain` and `Paper` compare with a threshold; `Anytime`, the default, prices each answer by its surprise.
"""

from abc import ABC, abstractmethod
from typing import Protocol

from biasbounty.core.transcript import Question
from biasbounty.statistics import Evidence
from biasbounty.statistics.surprise import Response

NO_GUARANTEE = "No guarantee"


class Posed(ABC):
    """A question posed at a node: its test is fixed, and so is where each response leads."""

    @property
    def log_level(self) -> float | None:
        """The logarithm of the level at which it is tested as a whole; None where there is no level."""
        return None

    @property
    def log_bound_level(self) -> float | None:
        """The logarithm of the level at which an upper bound holds if it is answered "no"."""
        return None

    @abstractmethod
    def passes(self, evidence: Evidence, alternative: int = 0) -> bool:
        """Say whether the evidence for a submission, or for one pair of a repair step, certifies."""

    @abstractmethod
    def after(self, response: Response) -> "Examination":
        """Return the examination that this response leads to."""


class Examination(ABC):
    """A checker at work: where it stands after the responses so far."""

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """What is promised, in words for every report."""

    @property
    def stopped(self) -> str | None:
        """Why no further question can be asked, or None."""
        return None

    @property
    def floor(self) -> float:
        """A contribution on the holdout below this never certifies: so much need not be looked at."""
        return 0.0

    @property
    def nats_spent(self) -> float:
        """What the answers so far have cost, in nats; 0 where nothing is charged."""
        return 0.0

    def resolution(self, disagreement: float = 0.02) -> float | None:  # noqa: ARG002
        """Return the smallest holdout contribution that would pass now; None where that is not known."""
        return None

    def guaranteed_resolution(self) -> float | None:
        """Return a contribution that, if it is refused now, is surely not exceeded; None where none is promised."""
        return None

    @abstractmethod
    def pose(self, question: Question) -> Posed:
        """Fix the test for a question, before any evidence for it is seen."""


class Checker(Protocol):
    """The settings of a way to decide."""

    def begin(self, size: int, *, repairs: bool, zero_one: bool, public: bool = False) -> Examination:
        """Set to work on so many rows and such a loss, or raise if it cannot keep its promise there.

        `public` says that questions will come with evidence on public rows.
        """
