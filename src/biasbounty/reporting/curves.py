"""Risk by round as plain values: what every chart and table of a bounty is made of."""

from dataclasses import dataclass
from typing import Protocol

from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.values import Certificate, Round, Verdict


class Reportable(Protocol):
    """What a report needs of a bounty."""

    @property
    def model(self) -> PointerDecisionList:
        """The newest round."""

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The published rounds."""

    @property
    def transcript(self) -> tuple[Verdict, ...]:
        """All verdicts, in order."""

    @property
    def submissions(self) -> tuple[Certificate, ...]:
        """All judged submissions, in order."""

    @property
    def guarantee(self) -> str:
        """What the checker promises, in words."""

    def risk(self, round: int | None = None, group: int | None = None) -> float:
        """Return a round's holdout risk, overall or on a protected group."""


@dataclass(frozen=True)
class Curve:
    """The risk of each round, overall or on one protected group."""

    name: str
    introduced: int
    """The round that the group was accepted in; 0 for overall."""
    risks: tuple[float, ...]


OVERALL = "overall"


def risk_curves(bounty: Reportable) -> list[Curve]:
    """Return overall risk and the risk on each protected group, by round."""
    rounds = range(len(bounty.rounds))
    return [
        Curve(OVERALL, 0, tuple(bounty.risk(r) for r in rounds)),
        *(
            Curve(name, j + 1, tuple(bounty.risk(r, group=j) for r in rounds))
            for j, name in enumerate(protected_names(bounty))
        ),
    ]


def submission_names(bounty: Reportable) -> list[str]:
    """Return a name for each submission: the words its hunter gave or its number, and no two alike."""
    names: list[str] = []
    for number, certificate in enumerate(bounty.submissions, start=1):
        name = words = certificate.note or f"submission {number}"
        again = 2
        while name in (OVERALL, *names):
            name, again = f"{words} ({again})", again + 1
        names.append(name)
    return names


def protected_names(bounty: Reportable) -> list[str]:
    """Return the names of the submissions that were accepted: those of the protected groups."""
    named = zip(submission_names(bounty), bounty.transcript, strict=True)
    return [name for name, verdict in named if verdict.accepted]


def tally(bounty: Reportable) -> tuple[int, int]:
    """Count the accepted submissions and the repairs."""
    verdicts = bounty.transcript
    return sum(verdict.accepted for verdict in verdicts), sum(len(verdict.repairs) for verdict in verdicts)
