"""Transcript: whatever depends on the holdout and is shown, as answers out of an alphabet declared beforehand.

A `Question` says which answers there can be, before the holdout is asked; an `Answer` is one of them. `verdict_of`
makes what a hunter sees out of answers and of nothing else: what is not an answer, and so not charged, cannot be shown.

A submission is answered "no", or by the payout level that it reached (there is one level where nothing is paid). A
repair step over groups and rounds is answered "done", or by a pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from biasbounty.core.payouts import Payouts
from biasbounty.errors import SettingsError
from biasbounty.statistics.forecast import PublicEvidence
from biasbounty.statistics.surprise import Kind, Response
from biasbounty.values import Repair, Verdict


@dataclass(frozen=True)
class Question:
    """What is asked of the holdout: a submission, or a repair step over a number of pairs; all of it is public."""

    kind: Kind
    alternatives: int = 1
    """How many answers there are beside "no"."""
    public: PublicEvidence | None = field(default=None, compare=False)
    """Evidence for the same on public rows; for a repair step, for the pair that looks worst there."""
    order: npt.NDArray[np.intp] | None = field(default=None, compare=False)
    """The alternatives, the likeliest by public rows first."""


@dataclass(frozen=True)
class Answer:
    """A question's alphabet and the response given: what is in the transcript."""

    kind: Kind
    alternatives: int
    response: Response

    @staticmethod
    def to(question: Question, response: Response) -> "Answer":
        """Answer a question; a response outside its alphabet is refused."""
        if response is not None and not 0 <= response < question.alternatives:
            raise SettingsError(
                f"response is not in the alphabet: expected None or 0 to {question.alternatives - 1}, got {response!r}"
            )
        return Answer(question.kind, question.alternatives, response)


def verdict_of(answers: Sequence[Answer], newest: int, payouts: Payouts, paid: int) -> Verdict:
    """Make the verdict on a submission from its answers, given the newest round before it and what was paid before."""
    level = answers[0].response
    if level is None:
        return Verdict(False, newest)
    return Verdict(True, newest + 1, repairs_of(answers, newest), payouts.cents(level, paid))


def repairs_of(answers: Sequence[Answer], newest: int) -> tuple[Repair, ...]:
    """Read the repairs off the answers to the repair steps."""
    return tuple(
        Repair(*divmod(answer.response, newest + 1))
        for answer in answers
        if answer.kind == "repair" and answer.response is not None
    )
