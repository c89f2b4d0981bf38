"""The anytime checker: a guarantee at real sizes, for any number of adaptively chosen submissions (P5).

A query is tested at level delta x (its share of the error budget) x exp(-nats spent on the answers so far). At a repair
step over m pairs each pair is tested at a further 1/m. Then, with probability at least 1 - delta, every acceptance ever
given, repairs included, lowers true risk by more than tau = epsilon/2.

Here the answers are coded by counting (Krichevsky and Trofimov), one code for submissions and one for repair steps.
"""

from dataclasses import dataclass, field, replace
from math import log

from biasbounty.arrays import is_number
from biasbounty.core.checkers import Examination, Question, Response, Test
from biasbounty.errors import SettingsError
from biasbounty.statistics.bounds import passes
from biasbounty.statistics.evidence import Evidence
from biasbounty.statistics.surprise import Binomial, log_share


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

    def begin(self, size: int, *, repairs: bool, zero_one: bool) -> Examination:  # noqa: ARG002
        """Set to work; any holdout will do, and a larger one sees smaller contributions."""
        return AnytimeExamination(self, size, zero_one)


@dataclass(frozen=True)
class AnytimeExamination(Examination):
    """A node of the tree of all possible runs: what was spent on the way to it."""

    settings: Anytime
    size: int
    zero_one: bool
    log_weight: float = 0.0
    """ln w: less the nats spent."""
    rejected: float = 0.0
    """The sum of the promises of rejected queries."""
    submissions: Binomial = field(default_factory=Binomial)
    repair_steps: Binomial = field(default_factory=Binomial)

    @property
    def guarantee(self) -> str:
        """Return P5, in words."""
        return (
            f"With probability at least {1 - self.settings.delta:g}, every accepted update and repair lowers true risk "
            f"by more than {self.floor:g}, however many submissions there are and however they are chosen, if the "
            "holdout is an independent sample of the people the model will meet."
        )

    @property
    def nats_spent(self) -> float:
        """Return the code length of the answers so far."""
        return -self.log_weight

    @property
    def floor(self) -> float:
        """Return tau."""
        return self.settings.epsilon / 2

    def log_level(self, question: Question) -> float:
        """Return the logarithm of the level at which each alternative of the question is tested."""
        share = log_share(self.rejected)
        return log(self.settings.delta) + share + self.log_weight - log(question.alternatives)

    def pose(self, question: Question) -> Test:
        """Fix the level from the transcript alone."""
        level = self.log_level(question)
        return lambda evidence, _: passes(evidence, self.floor, level, zero_one=self.zero_one)

    def after(self, question: Question, response: Response) -> "AnytimeExamination":
        """Charge the response; a rejection also takes a share of the error budget, an acceptance gives it back."""
        accepted, coder = response is not None, "submissions" if question.kind == "submission" else "repair_steps"
        code: Binomial = getattr(self, coder)
        spent = code.log_probability(accepted) - (log(question.alternatives) if accepted else 0.0)
        moved = replace(self, log_weight=self.log_weight + spent, rejected=self.rejected + (not accepted))
        return (
            replace(moved, submissions=code.after(accepted))
            if coder == "submissions"
            else replace(moved, repair_steps=code.after(accepted))
        )

    def resolution(self, disagreement: float = 0.02) -> float | None:
        """Return the smallest holdout contribution that would pass now, at this rate of disagreement; None if none."""
        squares = round(self.size * disagreement)
        level = self.log_level(Question("submission"))

        def passing(total: int) -> bool:
            return passes(Evidence(self.size, total, squares), self.floor, level, zero_one=self.zero_one)

        low, high = -1, squares // 2
        base = squares % 2
        if squares == 0 or not passing(2 * high + base):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if passing(2 * middle + base) else (middle, high)
        return (2 * high + base) / self.size
