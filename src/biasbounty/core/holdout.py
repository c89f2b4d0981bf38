"""Holdout: the seam between the process and the secret rows.

A holdout owns rows and labels, the masks of the protected groups, the losses of the published rounds, and the sums M
of each round's loss over each group. The process asks for evidence and never sees a row. `Handle` and `Candidate` are
whatever an implementation likes: the process only passes them back. `biasbounty.checks.verify_holdout` is the contract
that every implementation must pass; because evidence adds, a holdout may be any number of shards.
"""

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty.core.answers import LabelType
from biasbounty.losses import Loss
from biasbounty.statistics import Evidence
from biasbounty.values import Certificate, Repair, RowFunction

Handle: TypeAlias = Any
"""A scored submission: the mask of its group and the losses of its model there."""
Candidate: TypeAlias = Any
"""A round in the making: the newest round, updated by a scored submission, and perhaps repaired."""


class Holdout(Protocol):
    """Rows that judge; see the module."""

    @property
    def size(self) -> int:
        """The number of rows."""

    @property
    def rounds(self) -> int:
        """The number of published rounds; the initial model is round 0."""

    @property
    def groups(self) -> int:
        """The number of protected groups."""

    @property
    def labels(self) -> LabelType:
        """The label type of the initial model."""

    def open(self, initial: RowFunction, loss: Loss, labels: LabelType | None = None) -> None:
        """Score the initial model as round 0, its label type read off its answers if not given. Opened once."""

    def fresh(self) -> "Holdout":
        """Return an unopened holdout over the same rows."""

    def score(self, certificate: Certificate) -> Handle:
        """Call the group on all rows and the model on the group's rows, once; changes nothing, safe from any thread."""

    def evidence(self, handle: Handle, round: int) -> Evidence:
        """Return the evidence that the scored submission certifies against a round."""

    def published_evidence(self, round: int, repair: Repair) -> Evidence:
        """Return the evidence that (group, round) of the repair certifies against a published round."""

    def candidate(self, handle: Handle) -> Candidate:
        """Return the newest round with the submission put in front, its group among the protected ones."""

    def regressions(self, candidate: Candidate) -> npt.NDArray[np.int64]:
        """Return the total of (candidate's loss - round's loss) by protected group (rows) and round (columns)."""

    def repair_evidence(self, candidate: Candidate, repair: Repair) -> Evidence:
        """Return the evidence that (group, round) of the repair certifies against the candidate."""

    def repaired(self, candidate: Candidate, repair: Repair) -> Candidate:
        """Return the candidate with the repair put in front."""

    def append(self, candidate: Candidate) -> None:
        """Publish the candidate as the next round. The one method that changes an opened holdout."""

    def risk(self, round: int, group: int | None = None) -> float:
        """Return a round's mean loss, overall or over a protected group."""
