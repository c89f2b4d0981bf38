"""Thresholds: the two checkers that compare the contribution on the holdout with a number.

- `Plain` accepts by point estimate and promises nothing.
- `Paper` is Algorithm 2 of the paper with the sample size that its theorem really needs.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from biasbounty.arrays import is_number
from biasbounty.core.checkers import NO_GUARANTEE, Examination, Posed
from biasbounty.core.transcript import Question
from biasbounty.errors import HoldoutTooSmallError, SettingsError
from biasbounty.statistics import Evidence
from biasbounty.statistics.sizes import epsilon_for_paper, rows_for_paper
from biasbounty.statistics.surprise import Response


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

    @property
    def floor(self) -> float:
        """Return the threshold: rounding to floats keeps the order, so nothing above it is below."""
        return float(self.threshold)

    def pose(self, question: Question) -> Posed:
        """Compare with the threshold, whatever the question."""
        return _Compared(self, question)

    def answered(self, question: Question, response: Response) -> "Examination":  # noqa: ARG002
        """Stay as it is: a threshold remembers nothing."""
        return self


@dataclass(frozen=True)
class _Compared(Posed):
    """A question whose evidence is compared with a threshold."""

    examination: _Threshold
    question: Question

    def passes(self, evidence: Evidence, alternative: int = 0) -> bool:  # noqa: ARG002
        """Say whether the contribution is positive and reaches the threshold."""
        least = self.examination.threshold * evidence.n * evidence.scale
        return evidence.total > 0 and evidence.total >= least

    def after(self, response: Response) -> Examination:
        """Let the threshold count the answer, if it counts."""
        return self.examination.answered(self.question, response)


@dataclass(frozen=True)
class Plain:
    """Accepts iff S > 0 and S/n >= threshold: a point estimate, as in the paper's experiments. Guarantees nothing."""

    threshold: float = 0.0

    def __post_init__(self) -> None:
        if not (is_number(self.threshold) and 0 <= self.threshold < 1):
            raise SettingsError(f"threshold is out of range: expected 0 <= threshold < 1, got {self.threshold!r}")

    def begin(self, size: int, *, repairs: bool, zero_one: bool, public: bool = False) -> Examination:  # noqa: ARG002
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

    def answered(self, question: Question, response: Response) -> Examination:
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
        return rows_for_paper(self.epsilon, self.delta, self.submissions, repairs=repairs)

    def supported_epsilon(self, size: int, *, repairs: bool = True) -> float | None:
        """Return the smallest epsilon that so many rows support (rounded up to 4 digits), or None."""
        return epsilon_for_paper(size, self.delta, self.submissions, repairs=repairs)

    def begin(self, size: int, *, repairs: bool, zero_one: bool, public: bool = False) -> Examination:  # noqa: ARG002
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
            acceptances=floor(2 / self.epsilon) + 1,
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
