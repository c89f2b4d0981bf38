"""The process: one submission at a time, judged from columns (Algorithms 3 and 4 as THEORY 3 corrects them).

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


class Process:
    """Judges scored submissions in order, and publishes rounds on the holdout. Not for two threads at once."""

    def __init__(self, holdout: Holdout, examination: Examination, *, repairs: bool = True) -> None:
        self._holdout, self._repairs = holdout, repairs
        self.examination = examination

    def judge(self, handle: Handle) -> Outcome:
        """Judge one scored submission; nothing changes until all of it is decided."""
        holdout, question = self._holdout, Question("submission")
        test = self.examination.pose(question)
        evidence = holdout.evidence(handle, holdout.rounds - 1)
        if not (evidence.total > 0 and test(evidence, 0)):
            self.examination = self.examination.after(question, None)
            return Outcome(False, evidence)
        examination, candidate = self.examination.after(question, 0), holdout.candidate(handle)
        repairs: list[tuple[Repair, Evidence]] = []
        while self._repairs:
            examination, found = self._find_repair(examination, candidate)
            if found is None:
                break
            repairs.append(found)
            candidate = holdout.repaired(candidate, found[0])
        holdout.append(candidate)
        self.examination = examination
        return Outcome(True, evidence, tuple(r for r, _ in repairs), tuple(e for _, e in repairs))

    def _find_repair(
        self, examination: Examination, candidate: Candidate
    ) -> tuple[Examination, tuple[Repair, Evidence] | None]:
        """Ask about every pair at once; find the certifying one of largest contribution."""
        regressions = self._holdout.regressions(candidate)
        question = Question("repair", regressions.size)
        test = examination.pose(question)
        for pair, repair in _largest_first(regressions):
            evidence = self._holdout.repair_evidence(candidate, repair)
            if test(evidence, pair):
                return examination.after(question, pair), (repair, evidence)
        return examination.after(question, None), None


def _largest_first(regressions: npt.NDArray[np.int64]) -> Iterator[tuple[int, Repair]]:
    """Pairs with a positive total, the largest first; ties by the lowest group, then the highest round."""
    pairs = np.flatnonzero(regressions > 0)
    groups, rounds = np.divmod(pairs, regressions.shape[1])
    for at in np.lexsort((-rounds, groups, -regressions.ravel()[pairs])):
        yield int(pairs[at]), Repair(int(groups[at]), int(rounds[at]))
