"""The anytime checker: a guarantee at real sizes, for any number of adaptively chosen submissions (P5, P6).

A query is tested at level delta x (its share of the error budget) x exp(-nats spent on the answers so far); in a repair
step each pair at that level x the probability the code gives to the pair, should any certify. Then, with probability at
least 1 - delta, every acceptance ever given, repairs included, lowers true risk by more than tau = epsilon/2.

With public rows the answers are coded by foretelling and counting, half and half, and a query's share is in proportion
to its promise there, so that hopeless submissions cost next to nothing. Without, by counting, and shares are equal.
"""

from dataclasses import dataclass, replace
from math import log

from biasbounty.arrays import is_number
from biasbounty.core.checkers import Examination, Posed
from biasbounty.core.transcript import Answer, Question
from biasbounty.errors import SettingsError
from biasbounty.statistics.bounds import passes
from biasbounty.statistics.evidence import Evidence
from biasbounty.statistics.forecast import standing
from biasbounty.statistics.resolution import guaranteed_resolution, resolution
from biasbounty.statistics.surprise import Asked, Binomial, Code, Mixture, Predictive, Response, log_share

LEAST_PROMISE = 0.001
"""The promise of a query that public rows call hopeless."""


@dataclass(frozen=True)
class Anytime:
    """Accepts what surely contributes more than epsilon/2: a false acceptance, ever, has probability at most delta."""

    epsilon: float = 0.01
    delta: float = 0.05

    def __post_init__(self) -> None:
        if not (is_number(self.epsilon) and 0 <= self.epsilon <= 1):
            raise SettingsError(f"epsilon is out of range: expected 0 <= epsilon <= 1, got {self.epsilon!r}")
        if not (is_number(self.delta) and 0 < self.delta < 1):
            raise SettingsError(f"delta is out of range: expected 0 < delta < 1, got {self.delta!r}")

    @property
    def tau(self) -> float:
        """What every accepted contribution surely exceeds."""
        return self.epsilon / 2

    def begin(
        self,
        size: int,
        *,
        repairs: bool,  # noqa: ARG002
        zero_one: bool,
        public: bool = False,
    ) -> "AnytimeExamination":
        """Set to work; any holdout will do, and a larger one sees smaller contributions."""
        code = Mixture(Binomial(), Predictive()) if public else Binomial()
        return AnytimeExamination(self, size, zero_one, code, public)


@dataclass(frozen=True)
class AnytimeExamination(Examination):
    """A node of the tree of all possible runs: what was spent on the way to it."""

    settings: Anytime
    size: int
    zero_one: bool
    code: Code
    public: bool = False
    """Whether questions come with evidence on public rows."""
    log_weight: float = 0.0
    """ln w: less the nats spent."""
    rejected: float = 0.0
    """N: the sum of the promises of rejected queries."""

    @property
    def guarantee(self) -> str:
        """Return P5, in words."""
        alone = "" if self.public else " and, without public rows, the words of errors are for the organizer alone"
        return (
            f"With probability at least {1 - self.settings.delta:g}, every accepted update and repair lowers true risk "
            f"by more than {self.floor:g}, however many submissions there are and however they are chosen, if the "
            f"holdout is an independent sample of the people the model will meet{alone}."
        )

    @property
    def nats_spent(self) -> float:
        """Return the code length of the answers so far."""
        return 0.0 - self.log_weight

    @property
    def floor(self) -> float:
        """Return tau."""
        return self.settings.tau

    def log_level(self, promise: float = 1.0) -> float:
        """Return the logarithm of delta x share x weight: the level of a question of this promise."""
        return log(self.settings.delta) + log_share(self.rejected, promise) + self.log_weight

    def pose(self, question: Question) -> "PosedAnytime":
        """Fix the level from the transcript and public rows alone."""
        return PosedAnytime(self, question)

    def resolution(self, disagreement: float = 0.02) -> float | None:
        """Return the smallest holdout contribution that would pass now, for a submission of full promise."""
        return resolution(self.size, disagreement, self.floor, self.log_level(), zero_one=self.zero_one)

    def guaranteed_resolution(self) -> float | None:
        """Return what no submission surely exceeds if it is rejected now, whatever public rows say of it (P6).

        That is at the lowest level there could be: the least promise, and the rejection the greatest surprise.
        """
        level = self.log_level(LEAST_PROMISE if self.public else 1.0)
        return guaranteed_resolution(
            self.size, self.floor, level, level + self.code.least_log_no("submission"), zero_one=self.zero_one
        )


class PosedAnytime(Posed):
    """A question at a node, priced: its promise, its level, and what each answer to it will cost."""

    def __init__(self, examination: AnytimeExamination, question: Question) -> None:
        self._at, self._question = examination, question
        self.promise = 1.0
        if question.public is not None:
            self.promise = max(self._asked(examination.log_level()).chance, LEAST_PROMISE)
        self._log_level = examination.log_level(self.promise)
        self.asked = self._asked(self._log_level)

    def _asked(self, log_level: float) -> Asked:
        """Return what is public about the question, if it is tested at this level."""
        question, at = self._question, self._at
        expected = None
        if question.public is not None:
            expected = standing(question.public, at.size, at.floor, log_level)
        return Asked(question.kind, question.alternatives, expected, question.order)

    @property
    def log_level(self) -> float:
        """Return the level of P5."""
        return self._log_level

    @property
    def log_bound_level(self) -> float:
        """Return the level of P6, charged with the "no"; each pair of a repair step has an equal part."""
        each = log(self._question.alternatives) if self._question.kind == "repair" else 0.0
        return self._log_level + self._at.code.log_no(self.asked) - each

    def passes(self, evidence: Evidence, alternative: int = 0) -> bool:
        """Test E Z <= tau at the level of the alternative: a submission has one test, each pair of a step its own."""
        level = self._log_level
        if self._question.kind == "repair":
            level += self._at.code.log_alternative(self.asked, alternative)
        return passes(evidence, self._at.floor, level, zero_one=self._at.zero_one)

    def after(self, response: Response) -> AnytimeExamination:
        """Charge the response; "no" also takes the query's share of the error budget, any other gives it back."""
        Answer.to(self._question, response)
        at = self._at
        return replace(
            at,
            code=at.code.after(self.asked, response),
            log_weight=at.log_weight + at.code.log_probability(self.asked, response),
            rejected=at.rejected + (self.promise if response is None else 0.0),
        )
