"""An honest stream: submissions of people who try, judged on real-sized holdouts, without models or rows.

Each submission disagrees with the model on 2% of the rows. Half of them are no better (their contribution is minus the
size of a normal variable of deviation 0.002), half are better (exponential, mean 0.003). Evidence on the holdout and on
public rows is drawn from the same truth, independently.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.unsound import Uncharged
from biasbounty.core.anytime import Anytime, AnytimeExamination
from biasbounty.core.transcript import Question
from biasbounty.statistics import Evidence
from biasbounty.statistics.forecast import PublicEvidence
from biasbounty.statistics.surprise import Asked, Binomial, Code, Mixture, Predictive, Response

ROWS, DISAGREEMENT = 39_393, 0.02
SETTINGS = Anytime(epsilon=0.005, delta=0.05)
CODES: dict[str, Code] = {
    "binomial": Binomial(),
    "predictive": Predictive(),
    "mixture": Mixture(Binomial(), Predictive()),
}
FRESH = Uncharged()
"""Not a code: what fresh holdouts for all submissions would allow."""


@dataclass(frozen=True)
class Submission:
    """What is true of a submission, and what the two sets of rows say of it."""

    contribution: float
    holdout: Evidence
    public: PublicEvidence

    @property
    def better(self) -> bool:
        """Whether it is better by more than the checker's tau."""
        return self.contribution > SETTINGS.tau


@dataclass(frozen=True)
class Run:
    """What came of a stream."""

    examination: AnytimeExamination
    answers: list[tuple[Asked, Response]]
    accepted: int
    false: int

    def nats(self, code: Code) -> float:
        """Return what another code would have charged for the same answers."""
        total = 0.0
        for asked, response in self.answers:
            total -= code.log_probability(asked, response)
            code = code.after(asked, response)
        return total


def stream(seed: int, submissions: int) -> Iterator[Submission]:
    """Draw an honest stream."""
    rng = np.random.default_rng(seed)
    for _ in range(submissions):
        drawn = rng.exponential(0.003) if rng.random() < 0.5 else -abs(rng.normal(0, 0.002))
        contribution = float(np.clip(drawn, -DISAGREEMENT, DISAGREEMENT))
        public = _draw(rng, contribution)
        yield Submission(
            contribution,
            _draw(rng, contribution),
            PublicEvidence(ROWS, public.contribution, public.total_squares / ROWS),
        )


def _draw(rng: np.random.Generator, contribution: float) -> Evidence:
    chances = [(DISAGREEMENT + contribution) / 2, (DISAGREEMENT - contribution) / 2, 1 - DISAGREEMENT]
    wins, losses, _ = rng.multinomial(ROWS, chances)
    return Evidence(ROWS, int(wins - losses), int(wins + losses))


def judge(code: Code, submissions: Iterator[Submission], *, blind: bool = False) -> Run:
    """Judge a stream under a code; blind, nothing is known from public rows."""
    examination = AnytimeExamination(SETTINGS, ROWS, True, code)
    answers: list[tuple[Asked, Response]] = []
    accepted = false = 0
    for submission in submissions:
        posed = examination.pose(Question("submission", 1, None if blind else submission.public))
        passed = posed.passes(submission.holdout)
        answers.append((posed.asked, 0 if passed else None))
        examination = posed.after(answers[-1][1])
        accepted, false = accepted + passed, false + (passed and not submission.better)
    return Run(examination, answers, accepted, false)
