"""The process: one submission at a time, judged from columns (Algorithms 3 and 4 of the paper, corrected).

An accepted submission is put in front of the newest round. Then, again and again: of all pairs of a protected group
and a published round that certify against the candidate, the one with the largest contribution is put in front as a
repair (ties: the oldest group, then the newest round), until none certifies; then the candidate is published. Without
repairs this is Algorithm 3. Every acceptance has a positive total, whatever the checker says, so P1 and P2 always hold
and the repairs end. The result is a function of the submissions in order, the holdout and the settings.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from biasbounty.core.checkers import Examination
from biasbounty.core.holdout import Candidate, Handle, Holdout
from biasbounty.core.outlook import Outlook, Unknown
from biasbounty.core.payouts import Payouts
from biasbounty.core.transcript import Answer, repairs_of
from biasbounty.statistics import Evidence
from biasbounty.values import Repair


@dataclass(frozen=True)
class Scored:
    """A submission's columns, on the holdout and on public rows, if there are any."""

    holdout: Handle
    public: Handle = None
    failure: str | None = None
    """Why it could not be scored on the holdout, if it could not: it is then judged as a group of no rows."""


@dataclass(frozen=True)
class Outcome:
    """What became of a submission, with its evidence: for the organizer only."""

    accepted: bool
    evidence: Evidence
    repairs: tuple[Repair, ...] = ()
    repair_evidence: tuple[Evidence, ...] = ()
    log_level: float | None = None
    """The logarithm of the level at which it was tested."""
    log_bound_level: float | None = None
    """The logarithm of the level of its upper bound (P6): of a rejected submission, or of each pair left unrepaired."""
    failure: str | None = field(default=None, compare=False)
    """Why it could not be scored on the holdout, if it could not; a stranger's words, so no two need be alike."""


@dataclass(frozen=True)
class Decision:
    """A submission decided whole, and nothing changed yet."""

    answers: tuple[Answer, ...]
    """What may be shown of it: the answer to the submission, then to each repair step."""
    outcome: Outcome
    examination: Examination
    """Where the checker stands after it."""
    candidate: Candidate | None = None
    """The round to append to the holdout, if it was accepted."""
    public_candidate: Candidate | None = None


@dataclass(frozen=True)
class Draft:
    """A round in the making, after some answers."""

    examination: Examination
    candidate: Candidate
    public_candidate: Candidate
    answers: tuple[Answer, ...]
    evidence: tuple[Evidence, ...]
    """For the submission, then for each repair."""
    log_bound_level: float | None = None
    """The logarithm of the level of an upper bound for each pair, once no pair is left to repair."""


@dataclass(frozen=True)
class Judge:
    """Where submissions are decided: the holdout, and what public rows foretell about it."""

    holdout: Holdout
    outlook: Outlook = field(default_factory=Unknown)
    payouts: Payouts = field(default_factory=Payouts)
    repairs: bool = True

    def decide(self, examination: Examination, scored: Scored) -> Decision:
        """Decide about one scored submission against the newest round of the holdout."""
        newest = self.holdout.rounds - 1
        question = self.outlook.submission(scored.public, self.payouts)
        posed, evidence = examination.pose(question), self.holdout.evidence(scored.holdout, newest)
        if not (evidence.total > 0 and posed.passes(evidence)):
            outcome = Outcome(False, evidence, (), (), posed.log_level, posed.log_bound_level, scored.failure)
            return Decision((Answer.to(question, None),), outcome, posed.after(None))
        level = self.payouts.level(evidence)
        draft = self._repaired(
            Draft(
                posed.after(level),
                self.holdout.candidate(scored.holdout),
                self.outlook.candidate(scored.public),
                (Answer.to(question, level),),
                (evidence,),
            )
        )
        repairs = repairs_of(draft.answers, newest)
        outcome = Outcome(True, evidence, repairs, draft.evidence[1:], posed.log_level, draft.log_bound_level)
        return Decision(draft.answers, outcome, draft.examination, draft.candidate, draft.public_candidate)

    def _repaired(self, draft: Draft) -> Draft:
        """Repair the draft until no pair certifies against it."""
        while self.repairs:
            draft = self._repair(draft)
            if draft.answers[-1].response is None:
                break
        return draft

    def _repair(self, draft: Draft) -> Draft:
        """Ask about every pair at once; put the certifying one of largest contribution in front, if there is one."""
        regressions = self.holdout.regressions(draft.candidate)
        question = self.outlook.repair_step(draft.public_candidate, *regressions.shape)
        posed = draft.examination.pose(question)
        for pair, repair in _largest_first(regressions):
            evidence = self.holdout.repair_evidence(draft.candidate, repair)
            if posed.passes(evidence, pair):
                return Draft(
                    posed.after(pair),
                    self.holdout.repaired(draft.candidate, repair),
                    self.outlook.repaired(draft.public_candidate, repair),
                    (*draft.answers, Answer.to(question, pair)),
                    (*draft.evidence, evidence),
                )
            if evidence.contribution < draft.examination.floor:
                break  # the others are smaller still
        return replace(
            draft,
            examination=posed.after(None),
            answers=(*draft.answers, Answer.to(question, None)),
            log_bound_level=posed.log_bound_level,
        )

    @property
    def rounds(self) -> set[int]:
        """How many rounds the holdout and the public rows have: one number, unless an append was interrupted."""
        followed = self.outlook.rounds
        return {self.holdout.rounds} if followed is None else {self.holdout.rounds, followed}

    def append(self, decision: Decision) -> None:
        """Publish an accepted submission's round; the public rows follow the holdout."""
        if decision.candidate is not None:
            self.holdout.append(decision.candidate)
            self.outlook.append(decision.public_candidate)


def _largest_first(regressions: npt.NDArray[np.int64]) -> Iterator[tuple[int, Repair]]:
    """Pairs with a positive total, the largest first; ties by the lowest group, then the highest round."""
    pairs = np.flatnonzero(regressions > 0)
    groups, rounds = np.divmod(pairs, regressions.shape[1])
    for at in np.lexsort((-rounds, groups, -regressions.ravel()[pairs])):
        yield int(pairs[at]), Repair(int(groups[at]), int(rounds[at]))
