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
    def protected(self) -> tuple[Certificate, ...]:
        """The certificates whose groups are protected."""

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


def risk_curves(bounty: Reportable) -> list[Curve]:
    """Return overall risk and the risk on each protected group, by round."""
    rounds = range(len(bounty.rounds))
    overall = Curve("overall", 0, tuple(bounty.risk(r) for r in rounds))
    names = unique_names([name_of(certificate, j) for j, certificate in enumerate(bounty.protected)])
    return [
        overall,
        *(Curve(name, j + 1, tuple(bounty.risk(r, group=j) for r in rounds)) for j, name in enumerate(names)),
    ]


def name_of(certificate: Certificate, number: int) -> str:
    """Return the words that a hunter gave, or a number."""
    return certificate.note or f"group {number}"


def unique_names(names: list[str]) -> list[str]:
    """Give names that occur again a number, so that each curve has its own."""
    return [f"{name} ({names[:at].count(name) + 1})" if name in names[:at] else name for at, name in enumerate(names)]
