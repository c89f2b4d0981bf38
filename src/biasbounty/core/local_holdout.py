"""LocalHoldout: the holdout in this process's memory (DESIGN, "Columns").

Whatever has been published is one frozen value, replaced whole by `append`: readers in other threads see a round
either entirely or not at all. A model is called only on rows of its group, and nothing is predicted twice but the few
rows that `verify_rowwise` asks about again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biasbounty.arrays import Array, as_array, shown
from biasbounty.core import columns
from biasbounty.core.answers import LabelType, answers_of, mask_of
from biasbounty.core.columns import Column
from biasbounty.core.rows import Ids, Rows
from biasbounty.errors import GroupError, HoldoutError, ModelError, SettingsError, SubmissionError
from biasbounty.losses import Loss
from biasbounty.statistics import Evidence
from biasbounty.values import Certificate, Repair, RowFunction

Sums = npt.NDArray[np.int64]

SAMPLE = 64
"""How many rows are asked about again, to see that an answer depends on its own row only."""
JITTER = 2
"""How many parts in 65535 the loss of a float answer may differ by when its row is asked about again."""


@dataclass(frozen=True)
class Scored:
    """A submission as columns: its group's mask, and its model's losses there (0 elsewhere)."""

    mask: Column
    losses: Column


@dataclass(frozen=True)
class Draft:
    """A candidate as columns: a round not yet published, with its sums."""

    masks: tuple[Column, ...]
    losses: Column
    newest_sums: Sums
    """Sums of the new group, by published round."""
    sums: Sums
    """Sums of the candidate, by protected group."""


@dataclass(frozen=True)
class Published:
    """The columns and sums of everything published so far."""

    masks: tuple[Column, ...]
    losses: tuple[Column, ...]
    sums: Sums
    """M: by protected group (rows) and round (columns), in units of 1/scale."""


@dataclass(frozen=True)
class Opened:
    """What is settled when the initial model is scored."""

    loss: Loss
    labels: LabelType
    truth: Array
    """The labels, in the label type of the initial model."""


class LocalHoldout:
    """Rows and labels in memory, judged by popcounts over packed columns."""

    def __init__(self, X: Any, y: Any) -> None:
        self._rows, self._y = Rows(X), _label_array(y)
        if len(self._rows) != len(self._y):
            raise HoldoutError(
                f"rows and labels have different lengths: expected {len(self._rows)} labels, one for each row of X, "
                f"got {len(self._y)}"
            )
        if not len(self._y):
            raise HoldoutError("holdout is empty: expected at least one row, got 0")
        self._opened: Opened | None = None
        self._published = Published((), (), np.zeros((0, 0), np.int64))

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self._y)

    @property
    def rounds(self) -> int:
        """The number of published rounds."""
        return len(self._published.losses)

    @property
    def groups(self) -> int:
        """The number of protected groups."""
        return len(self._published.masks)

    @property
    def labels(self) -> LabelType:
        """The label type of the initial model."""
        return self._settled.labels

    @property
    def scale(self) -> int:
        """A stored loss is a multiple of 1/scale."""
        return 1 if self._settled.loss.zero_one else columns.LEVELS

    @property
    def _settled(self) -> Opened:
        if self._opened is None:
            raise SettingsError("holdout is not open: expected open(initial, loss) first")
        return self._opened

    def open(self, initial: RowFunction, loss: Loss, labels: LabelType | None = None) -> None:
        """Check the labels and score the initial model as round 0."""
        if self._opened is not None:
            raise SettingsError("holdout is already open: expected a fresh one for each bounty; use fresh()")
        loss.check_labels(self._y)
        try:
            answers = answers_of(initial, self._rows, who="initial model")
            labels = LabelType.of(answers) if labels is None else labels
            opened, everyone = Opened(loss, labels, self._truth(labels)), np.arange(self.size)
            losses = self._losses(opened, labels.cast(answers, who="initial model"), everyone, "initial model")
        except SubmissionError as error:
            raise SettingsError(str(error)) from error
        self._opened = opened
        self._published = Published((), (self._column(losses, everyone),), np.zeros((0, 1), np.int64))

    def _truth(self, labels: LabelType) -> Array:
        """Return the labels in the label type of the initial model."""
        truth, changed = labels.changed_by_cast(self._y)
        if changed.any():
            row = int(np.argmax(changed))
            raise HoldoutError(
                f"labels do not fit the initial model's answers: expected values of its type {labels}, "
                f"got {shown(self._y[row])} at row {row}; let the initial model answer in the type of the labels"
            )
        return truth

    def fresh(self) -> "LocalHoldout":
        """Return an unopened holdout over the same rows."""
        return LocalHoldout(self._rows.native, self._y)

    def score(self, certificate: Certificate) -> Scored:
        """Call the group on all rows and the model on the group's rows."""
        mask = mask_of(certificate.group, self._rows)
        self._verify_group(certificate.group, mask)
        ids = np.flatnonzero(mask)
        own = self._rows if len(ids) == self.size else self._rows.take(ids)
        answers = self._answers(certificate.model, own, ids)
        losses = self._losses(self._settled, answers, ids)
        self._verify_model(certificate.model, own, ids, answers, losses)
        return Scored(columns.pack(mask, 1), self._column(losses, ids))

    def _answers(self, model: RowFunction, own: Rows, ids: Ids) -> Array:
        """Ask the model about its own rows, if there are any."""
        labels = self._settled.labels
        return labels.cast(answers_of(model, own), ids) if len(ids) else np.empty(0, labels.dtype)

    def _verify_group(self, group: RowFunction, mask: npt.NDArray[np.bool_]) -> None:
        """Raise GroupError unless a few rows, asked about again in another order, are in or out as before."""
        some = _sample(self.size)
        same = mask_of(group, self._rows.take(some)) == mask[some]
        if not same.all():
            row = some[int(np.argmin(same))]
            raise GroupError(
                f"group depends on more than its row: expected {bool(mask[row])} for row {row} again, got "
                f"{not mask[row]} when it was asked among other rows; use nothing of the batch and no chance"
            )

    def _verify_model(self, model: RowFunction, own: Rows, ids: Ids, answers: Array, losses: Sums) -> None:
        """Raise ModelError unless a few rows get the same answers again; floats, unless about the same losses."""
        some = _sample(len(ids))
        again = self._answers(model, own.take(some), ids[some])
        same = again == answers[some]
        if answers.dtype.kind == "f" and not self._settled.loss.zero_one:
            same |= np.abs(self._losses(self._settled, again, ids[some]) - losses[some]) <= JITTER
        if not same.all():
            at = int(np.argmin(same))
            raise ModelError(
                f"model depends on more than its row: expected {shown(answers[some[at]])} for row {ids[some[at]]} "
                f"again, got {shown(again[at])} when it was asked among other rows; use nothing of the batch and no "
                "chance"
            )

    def _losses(self, opened: Opened, answers: Array, ids: Ids, who: str = "model") -> Sums:
        """Return the losses of the answers to some rows, in units of 1/scale; of no rows, without asking anybody."""
        if not len(ids):
            return np.zeros(0, np.int64)
        try:
            losses = opened.loss(answers, opened.truth[ids], ids)
        except Exception as error:
            raise ModelError(f"{who} has an answer without a loss: {error}") from error
        return np.rint(losses * (1 if opened.loss.zero_one else columns.LEVELS)).astype(np.int64)

    def _column(self, losses: Sums, ids: Ids) -> Column:
        """Pack the losses of some rows; the others are 0."""
        bits = 1 if self._settled.loss.zero_one else 16
        numbers: Array = np.zeros(self.size, np.uint16 if bits > 1 else np.bool_)
        numbers[ids] = losses
        return columns.pack(numbers, bits)

    def evidence(self, handle: Scored, round: int) -> Evidence:
        """Return the evidence of a scored submission against a round."""
        return self._evidence(handle.mask, self._published.losses[round], handle.losses)

    def published_evidence(self, round: int, repair: Repair) -> Evidence:
        """Return the evidence of a repair against a published round."""
        published = self._published
        return self._evidence(published.masks[repair.group], published.losses[round], published.losses[repair.pointer])

    def _evidence(self, mask: Column, before: Column, after: Column) -> Evidence:
        return Evidence(self.size, *columns.moments(mask, before, after), self.scale)

    def candidate(self, handle: Scored) -> Draft:
        """Put a scored submission in front of the newest round."""
        published = self._published
        masks = (*published.masks, handle.mask)
        losses = columns.choose(handle.mask, handle.losses, published.losses[-1])
        newest = [columns.total(column, handle.mask) for column in published.losses]
        return Draft(masks, losses, np.array(newest, np.int64), _sums_over(masks, losses))

    def regressions(self, candidate: Draft) -> Sums:
        """Return the candidate's sums less each round's, by group and round."""
        return candidate.sums[:, None] - np.vstack([self._published.sums, candidate.newest_sums])

    def repair_evidence(self, candidate: Draft, repair: Repair) -> Evidence:
        """Return the evidence of a repair against the candidate."""
        return self._evidence(candidate.masks[repair.group], candidate.losses, self._published.losses[repair.pointer])

    def repaired(self, candidate: Draft, repair: Repair) -> Draft:
        """Put a repair in front of the candidate."""
        mask, earlier = candidate.masks[repair.group], self._published.losses[repair.pointer]
        losses = columns.choose(mask, earlier, candidate.losses)
        return Draft(candidate.masks, losses, candidate.newest_sums, _sums_over(candidate.masks, losses))

    def append(self, candidate: Draft) -> None:
        """Publish the candidate as the next round."""
        sums = np.column_stack([np.vstack([self._published.sums, candidate.newest_sums]), candidate.sums])
        self._published = Published(candidate.masks, (*self._published.losses, candidate.losses), sums)

    def total(self, round: int, group: int | None = None) -> int:
        """Return a round's total loss in units of 1/scale, overall or over a protected group."""
        published = self._published
        if group is None:
            return columns.total(published.losses[round], self._everyone())
        return int(published.sums[group, round])

    def risk(self, round: int, group: int | None = None) -> float:
        """Return a round's mean loss, overall or over a protected group (0 over an empty one)."""
        rows = self.size if group is None else columns.total(self._published.masks[group], self._everyone())
        return self.total(round, group) / (rows * self.scale) if rows else 0.0

    def losses(self, round: int) -> npt.NDArray[np.int64]:
        """Return a round's loss of each row, in units of 1/scale."""
        return columns.unpack(self._published.losses[round], self.size)

    def mask(self, group: int) -> npt.NDArray[np.bool_]:
        """Return the mask of a protected group."""
        return columns.unpack(self._published.masks[group], self.size).astype(np.bool_)

    def _everyone(self) -> Column:
        return np.full((1, self._published.losses[0].shape[1]), ~np.uint64(0))


def _sums_over(masks: tuple[Column, ...], losses: Column) -> Sums:
    return np.array([columns.total(losses, mask) for mask in masks], np.int64)


def _sample(size: int) -> Ids:
    """Draw some of so many rows, always the same ones."""
    return np.random.default_rng(size).integers(size, size=min(SAMPLE, size)) if size else np.zeros(0, np.intp)


def _label_array(y: Any) -> Array:
    """Return the labels as a one-dimensional array of their own, so that nobody can change them later."""
    try:
        labels = as_array(y).copy()
    except ValueError as error:
        raise HoldoutError(f"labels are no array: expected one for each row, got {error}") from error
    if labels.ndim != 1:
        raise HoldoutError(
            f"labels have the wrong shape: expected one for each row, got shape {labels.shape}; "
            "hand in a one-dimensional array, after the rows"
        )
    if labels.dtype.kind not in "biufUTO":
        raise HoldoutError(f"labels have an unknown type: expected numbers, booleans or text, got {labels.dtype}")
    return labels
