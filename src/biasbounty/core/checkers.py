"""Checkers: who decides whether evidence certifies (docs/definitions.md, docs/guarantees).

A `Checker` is settings. `begin` sets it to work on a holdout and returns an `Examination`, a frozen value that moves
on with each answer, as the tree of all possible runs does: at a node it is asked a `Question`; `pose` fixes the test,
from what is public, before any evidence is seen; `after` is the node that the response leads to. What an examination
has spent is thus a function of the transcript alone, and an interrupted submission leaves none of it behind.

- `Plain` accepts by point estimate and promises nothing.
- `Paper` is Algorithm 2 of the paper with the sample size that its theorem really needs.
- `Anytime` (its own module) prices each answer by its surprise.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol, TypeAlias

from biasbounty.arrays import is_number
from biasbounty.errors import HoldoutTooSmallError, SettingsError
from biasbounty.statistics import Evidence


@dataclass(frozen=True)
class Question:
    """A submission (one alternative), or a repair step over a number of pairs."""

    kind: Literal["submission", "repair"]
    alternatives: int = 1


Response: TypeAlias = int | None
"""The alternative that was accepted; None is a rejection, or the end of the repairs."""

Test: TypeAlias = Callable[[Evidence, int], bool]
"""Whether the evidence for one alternative certifies."""


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

    @abstractmethod
    def pose(self, question: Question) -> Test:
        """Fix the test for a question, before any evidence for it is seen."""

    @abstractmethod
    def after(self, question: Question, response: Response) -> "Examination":
        """Return the examination that this response leads to."""


class Checker(Protocol):
    """The settings of a way to decide."""

    def begin(self, size: int, *, repairs: bool, zero_one: bool) -> Examination:
        """Set to work on so many rows and such a loss, or raise if it cannot keep its promise there."""


NO_GUARANTEE = "No guarantee"


def _as_written(number: float) -> Fraction:
    """Return the decimal number that was meant: 0.1 is a tenth, not the float nearest to it."""
    return Fraction(str(float(number)))


@dataclass(frozen=True)
class _Threshold(Examination):
    """Accepts a contribution on the holdout of at least a threshold, and more than 0; compared exactly."""

    threshold: Fraction
    words: str

    @property
    def guarantee(self) -> str:
        """Return what was promised when it was set to work."""
        return self.words

    def pose(self, question: Question) -> Test:  # noqa: ARG002
        """Compare with the threshold, whatever the question."""
        return lambda evidence, _: evidence.total >= self.threshold * evidence.n * evidence.scale and evidence.total > 0

    def after(self, question: Question, response: Response) -> "Examination":  # noqa: ARG002
        """Stay as it is: a threshold remembers nothing."""
        return self


@dataclass(frozen=True)
class Plain:
    """Accepts iff S > 0 and S/n >= threshold: a point estimate, as in the paper's experiments. Guarantees nothing."""

    threshold: float = 0.0

    def __post_init__(self) -> None:
        if not (is_number(self.threshold) and 0 <= self.threshold < 1):
            raise SettingsError(f"threshold is out of range: expected 0 <= threshold < 1, got {self.threshold!r}")

    def begin(self, size: int, *, repairs: bool, zero_one: bool) -> Examination:  # noqa: ARG002
        """Set to work; any holdout will do."""
        return _Threshold(
            _as_written(self.threshold),
            f"{NO_GUARANTEE}: Plain accepts by the point estimate on a holdout that is used again and again, "
            "so accepted improvements may be due to chance.",
        )


@dataclass(frozen=True)
class _PaperExamination(_Threshold):
    """A threshold that counts what it was asked and what it accepted."""

    submissions: int
    acceptances: int
    """The last acceptance it may give before it stops: floor(2/epsilon) + 1, by the guard of Algorithm 2."""
    asked: int = 0
    accepted: int = 0

    @property
    def stopped(self) -> str | None:
        """Say which of the two limits is reached, if one is."""
        if self.accepted >= self.acceptances:
            return f"Paper has stopped: expected at most {self.acceptances - 1} acceptances, got {self.accepted}"
        if self.asked >= self.submissions:
            return f"Paper has stopped: expected at most {self.submissions} submissions, and all were judged"
        return None

    def after(self, question: Question, response: Response) -> "Examination":
        """Count the submission and the acceptance; repairs asked about are covered by the theorem's count."""
        return replace(
            self,
            asked=self.asked + (question.kind == "submission"),
            accepted=self.accepted + (response is not None),
        )


@dataclass(frozen=True)
class Paper:
    """Algorithm 2: accepts iff S/n >= 3 epsilon/4, for so many submissions and about 2/epsilon acceptances.

    With a holdout of `rows_needed()` rows, with probability at least 1 - delta every acceptance contributes at least
    epsilon/2 and no rejected submission contributes epsilon or more. For epsilon = 0.01 that is hundreds of millions of
    rows and more; `supported_epsilon(rows)` says what fewer rows support.
    """

    epsilon: float
    delta: float
    submissions: int
    allow_small_holdout: bool = False

    def __post_init__(self) -> None:
        if not (is_number(self.epsilon) and 1e-9 <= self.epsilon <= 1):
            raise SettingsError(f"epsilon is out of range: expected 1e-9 <= epsilon <= 1, got {self.epsilon!r}")
        if not (is_number(self.delta) and 0 < self.delta < 1):
            raise SettingsError(f"delta is out of range: expected 0 < delta < 1, got {self.delta!r}")
        if not isinstance(self.submissions, int) or self.submissions < 1:
            raise SettingsError(
                f"submissions is out of range: expected a whole number from 1, got {self.submissions!r}"
            )

    def rows_needed(self, *, repairs: bool = True) -> int:
        """Return the holdout rows that the theorem needs (docs/guarantees; the paper's own count is loose)."""
        accepted = math.floor(2 / self.epsilon)
        queries = self.submissions + (accepted**3 if repairs else 0)
        nats = math.log(2 * queries / self.delta) + accepted * math.log(queries + 1)
        return math.ceil(32 / self.epsilon**2 * nats)

    def supported_epsilon(self, size: int, *, repairs: bool = True) -> float | None:
        """Return the smallest epsilon that so many rows support (rounded up to 4 digits), or None."""
        digits = 10_000
        low, high = 0, digits
        if replace(self, epsilon=1.0).rows_needed(repairs=repairs) > size:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            enough = replace(self, epsilon=middle / digits).rows_needed(repairs=repairs) <= size
            low, high = (low, middle) if enough else (middle, high)
        return high / digits

    def begin(self, size: int, *, repairs: bool, zero_one: bool) -> Examination:  # noqa: ARG002
        """Set to work on a holdout that is large enough, or that was allowed to be too small."""
        needed = self.rows_needed(repairs=repairs)
        if size < needed and not self.allow_small_holdout:
            raise HoldoutTooSmallError(
                f"holdout is too small for the paper's theorem: expected at least {needed:,} rows for epsilon = "
                f"{self.epsilon:g}, delta = {self.delta:g} and {self.submissions:,} submissions, got {size:,}; "
                f"{self._advice(size, repairs)}; allow_small_holdout=True runs the rule without its guarantee"
            )
        return _PaperExamination(
            threshold=_as_written(self.epsilon) * 3 / 4,
            words=self._words(size, needed),
            submissions=self.submissions,
            acceptances=math.floor(2 / self.epsilon) + 1,
        )

    def _advice(self, size: int, repairs: bool) -> str:
        epsilon = self.supported_epsilon(size, repairs=repairs)
        if epsilon is None:
            return "so few rows support no epsilon at all"
        least = 3 * epsilon / 4
        return f"so many rows support epsilon = {epsilon:g}, which accepts contributions of {least:.2g} or more"

    def _words(self, size: int, needed: int) -> str:
        if size < needed:
            return (
                f"{NO_GUARANTEE}: the paper's theorem needs {needed:,} holdout rows for these settings, "
                f"and there are {size:,}."
            )
        return (
            f"With probability at least {1 - self.delta:g}, every accepted update and repair lowers true risk by at "
            f"least {self.epsilon / 2:g}, and no rejected submission would have lowered it by {self.epsilon:g} or more."
        )
