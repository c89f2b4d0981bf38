"""Record: everything that became of a bounty so far, as one value that is replaced whole after each judgement.

Readers in other threads see a judgement either entirely or not at all.
"""

from dataclasses import dataclass, replace

from biasbounty.core.checkers import Examination
from biasbounty.core.decision_list import Node, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.core.process import Decision, Outcome
from biasbounty.values import Certificate, Repair, Round, Verdict


@dataclass(frozen=True)
class Record:
    """What was submitted, answered and published, and where the checker stands."""

    model: PointerDecisionList
    examination: Examination
    certificates: tuple[Certificate, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    transcript: tuple[Verdict, ...] = ()
    rounds: tuple[Round, ...] = (Round(0, 0),)
    protected: tuple[Certificate, ...] = ()
    paid: int = 0
    closed: bool = False

    @property
    def newest(self) -> int:
        """The number of the newest round."""
        return len(self.rounds) - 1

    def after(self, certificate: Certificate, decision: Decision, verdict: Verdict) -> "Record":
        """Return the record with one more submission, and its round if it was accepted."""
        record = replace(
            self,
            certificates=(*self.certificates, certificate),
            outcomes=(*self.outcomes, decision.outcome),
            transcript=(*self.transcript, verdict),
            examination=decision.examination,
            paid=self.paid + verdict.payout,
        )
        return record._published(certificate, verdict.repairs) if verdict.accepted else record

    def _published(self, certificate: Certificate, repairs: tuple[Repair, ...]) -> "Record":
        protected = (*self.protected, certificate)
        nodes: tuple[Node, ...] = (
            UpdateNode(certificate.group, certificate.model, certificate.hunter, certificate.note),
            *(_repair_node(protected[repair.group], repair.pointer) for repair in repairs),
        )
        model = self.model.extended(nodes)
        newest = Round(len(self.rounds), len(model), certificate.hunter, certificate.note, repairs)
        return replace(self, rounds=(*self.rounds, newest), protected=protected, model=model)


def _repair_node(protected: Certificate, pointer: int) -> RepairNode:
    return RepairNode(protected.group, pointer, protected.hunter, protected.note)
