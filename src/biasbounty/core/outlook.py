"""Outlook: what public rows foretell about the questions of a submission.

`PublicRows` takes the same steps as the holdout, each only after the holdout's answer to it is known, and says before
each question what the evidence is on public rows. `Unknown` is there where there are no public rows, and says nothing.
Only here does evidence become `PublicEvidence`, and only the evidence of public rows.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from biasbounty.core.holdout import Candidate, Handle
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.payouts import Payouts
from biasbounty.core.transcript import Question
from biasbounty.errors import SettingsError, SubmissionError
from biasbounty.losses import Loss
from biasbounty.statistics import Evidence
from biasbounty.statistics.forecast import PublicEvidence
from biasbounty.values import Certificate, Repair, RowFunction


class Outlook(Protocol):
    """What is foretold; handles and candidates are its own, and None where it has none."""

    @property
    def rounds(self) -> int | None:
        """The number of rounds it has followed; None if it follows none."""

    def score(self, certificate: Certificate) -> Handle:
        """Call the group and the model on public rows; their errors may be shown."""

    def submission(self, handle: Handle, payouts: Payouts) -> Question:
        """Ask about a submission."""

    def candidate(self, handle: Handle) -> Candidate:
        """Put a submission in front of the newest round."""

    def repair_step(self, candidate: Candidate, groups: int, rounds: int) -> Question:
        """Ask about all pairs of a protected group and a round."""

    def repaired(self, candidate: Candidate, repair: Repair) -> Candidate:
        """Put a repair in front of the candidate."""

    def append(self, candidate: Candidate) -> None:
        """Publish the candidate."""


class Unknown:
    """Nothing is foretold."""

    rounds = None

    def score(self, certificate: Certificate) -> None:  # noqa: ARG002
        """Call nothing."""
        return

    def submission(self, handle: None, payouts: Payouts) -> Question:  # noqa: ARG002
        """Ask about a submission of which nothing is known."""
        return Question("submission", payouts.levels)

    def candidate(self, handle: None) -> None:  # noqa: ARG002
        """Keep nothing."""
        return

    def repair_step(self, candidate: None, groups: int, rounds: int) -> Question:  # noqa: ARG002
        """Ask about pairs of which nothing is known."""
        return Question("repair", groups * rounds)

    def repaired(self, candidate: None, repair: Repair) -> None:  # noqa: ARG002
        """Keep nothing."""
        return

    def append(self, candidate: None) -> None:
        """Keep nothing."""


@dataclass(frozen=True)
class PublicRows:
    """Rows and labels that may be shown, judged along with the holdout."""

    rows: LocalHoldout

    @property
    def rounds(self) -> int:
        """The number of rounds it has followed."""
        return self.rows.rounds

    @staticmethod
    def open(public: tuple[Any, Any], model: RowFunction, loss: Loss) -> "PublicRows":
        """Score the initial model on public rows."""
        if not isinstance(public, tuple) or len(public) != 2:
            raise SettingsError(f"public is not rows and labels: expected public=(X, y), got {type(public).__name__}")
        try:
            rows = LocalHoldout(*public)
            rows.open(model, loss)
        except SettingsError as error:
            raise type(error)(f"public rows cannot be used: {error}") from error
        return PublicRows(rows)

    def score(self, certificate: Certificate) -> Handle:
        """Call the group and the model on public rows, once."""
        try:
            return self.rows.score(certificate)
        except SubmissionError as error:
            raise type(error)(f"on the public rows, {error}") from error

    def submission(self, handle: Handle, payouts: Payouts) -> Question:
        """Ask about a submission; the likeliest payout level is the one it reaches on public rows."""
        evidence = self.rows.evidence(handle, self.rows.rounds - 1)
        order = None
        if payouts.levels > 1:
            distance = np.abs(np.arange(payouts.levels) - payouts.nearest_level(evidence.contribution))
            order = np.argsort(distance, kind="stable")
        return Question("submission", payouts.levels, _public(evidence), order)

    def candidate(self, handle: Handle) -> Candidate:
        """Put a submission in front of the newest round."""
        return self.rows.candidate(handle)

    def repair_step(self, candidate: Candidate, groups: int, rounds: int) -> Question:
        """Ask about all pairs; the likeliest to certify is the one whose regression on public rows is largest."""
        regressions = self.rows.regressions(candidate).ravel()
        order = np.argsort(-regressions, kind="stable")
        worst = Repair(*map(int, divmod(int(order[0]), rounds)))
        return Question("repair", groups * rounds, _public(self.rows.repair_evidence(candidate, worst)), order)

    def repaired(self, candidate: Candidate, repair: Repair) -> Candidate:
        """Put a repair in front of the candidate."""
        return self.rows.repaired(candidate, repair)

    def append(self, candidate: Candidate) -> None:
        """Publish the candidate."""
        self.rows.append(candidate)


def _public(evidence: Evidence) -> PublicEvidence:
    return PublicEvidence(evidence.n, evidence.contribution, evidence.total_squares / (evidence.n * evidence.scale**2))
