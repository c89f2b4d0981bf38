"""The process: one submission at a time, judged from columns (Algorithms 3 and 4 of the paper, corrected).

An accepted submission is put in front of the newest round. Then, again and again: of all pairs of a protected group
and a published round that certify against the candidate, the one with the largest contribution is put in front as a
repair (ties: the oldest group, then the newest round), until none certifies; then the candidate is published. Without
repairs this is Algorithm 3. Every acceptance has a positive total, whatever the checker says, so P1 and P2 always hold
and the repairs end. The result is a function of the submissions in order, the holdout and the settings.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biasbounty.core.checkers import Examination, Question
from biasbounty.core.holdout import Candidate, Handle, Holdout
from biasbounty.statistics import Evidence
from biasbounty.values import Repair


@dataclass(frozen=True)
class Outcome:
    """What became of a submission, with its evidence: for the organizer only."""

    accepted: bool
    evidence: Evidence
    repairs: tuple[Repair, ...] = ()
    repair_evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Decision:
    """A submission decided whole, and nothing changed yet."""

    outcome: Outcome
    examination: Examination
    """Where the checker stands after it."""
    candidate: Candidate | None = None
    """The round to append to the holdout, if it was accepted."""


def decide(holdout: Holdout, examination: Examination, handle: Handle, *, repairs: bool = True) -> Decision:
    """Decide about one scored submission against the newest round of the holdout."""
    question = Question("submission")
    test = examination.pose(question)
    evidence = holdout.evidence(handle, holdout.rounds - 1)
    if not (evidence.total > 0 and test(evidence, 0)):
        return Decision(Outcome(False, evidence), examination.after(question, None))
    examination, candidate = examination.after(question, 0), holdout.candidate(handle)
    made: list[tuple[Repair, Evidence]] = []
    while repairs:
        examination, found = _find_repair(holdout, examination, candidate)
        if found is None:
            break
        made.append(found)
        candidate = holdout.repaired(candidate, found[0])
    outcome = Outcome(True, evidence, tuple(repair for repair, _ in made), tuple(evidence for _, evidence in made))
    return Decision(outcome, examination, candidate)


def _find_repair(
    holdout: Holdout, examination: Examination, candidate: Candidate
) -> tuple[Examination, tuple[Repair, Evidence] | None]:
    """Ask about every pair at once; find the certifying one of largest contribution."""
    regressions = holdout.regressions(candidate)
    question = Question("repair", regressions.size)
    test = examination.pose(question)
    for pair, repair in _largest_first(regressions):
        evidence = holdout.repair_evidence(candidate, repair)
        if test(evidence, pair):
            return examination.after(question, pair), (repair, evidence)
        if evidence.contribution < examination.floor:
            break  # the others are smaller still
    return examination.after(question, None), None


def _largest_first(regressions: npt.NDArray[np.int64]) -> Iterator[tuple[int, Repair]]:
    """Pairs with a positive total, the largest first; ties by the lowest group, then the highest round."""
    pairs = np.flatnonzero(regressions > 0)
    groups, rounds = np.divmod(pairs, regressions.shape[1])
    for at in np.lexsort((-rounds, groups, -regressions.ravel()[pairs])):
        yield int(pairs[at]), Repair(int(groups[at]), int(rounds[at]))
