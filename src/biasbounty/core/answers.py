"""Answers: calling a stranger's group or model, and refusing whatever is not an answer for each row.

A group answers 0 or 1 for each row. A model answers one label for each row, in the label type of the initial model
(`LabelType`): a label that cannot be written in that type without changing it is refused, so that what is judged is
what the published list will say (P4). Both must be functions of one row; `verify_rowwise` asks about a few rows again,
alone and in another order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty.core.rows import Ids, Rows
from biasbounty.errors import GroupError, ModelError, SubmissionError
from biasbounty.losses import is_missing, plain
from biasbounty.values import RowFunction

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]

SAMPLE = 64
"""How many rows are asked about again, to see that an answer depends on its own row only."""


def require_function(function: Any, kind: type[SubmissionError], who: str) -> None:
    """Raise unless this can be called as a group or model."""
    if isinstance(function, (str, bytes)):
        raise kind(
            f"{who} is text or bytes: expected a callable or a fitted estimator; predicates and ONNX are not read yet"
        )
    if not callable(function) and not callable(getattr(function, "predict", None)):
        raise kind(
            f"{who} cannot be called: expected a callable on rows or a fitted estimator, got {type(function).__name__}"
        )


def ask(function: RowFunction, X: Any) -> Array:
    """Ask a group or model about rows: by its `predict` if it has one, else by calling it."""
    call: Any = getattr(function, "predict", function)
    return _as_array(call(X))


def _as_array(answers: Any) -> Array:
    """Return answers as an array; polars keeps booleans as bits, which are unpacked ten times as fast from Arrow."""
    bits: Any = answers.to_arrow() if type(answers).__module__.startswith("polars.series") else None
    if bits is None or str(bits.type) != "bool" or bits.null_count or not len(bits):
        return np.asarray(answers)
    buffer = np.frombuffer(bits.buffers()[1], np.uint8)
    return np.unpackbits(buffer, bitorder="little", count=bits.offset + len(bits))[bits.offset :].view(np.bool_)


def _call(function: RowFunction, rows: Rows, kind: type[SubmissionError], who: str) -> Array:
    """Call a group or model; whatever it raises becomes a SubmissionError that keeps its cause."""
    try:
        return ask(function, rows.native)
    except Exception as error:
        raise kind(
            f"{who} failed on {len(rows)} rows: expected answers, got {type(error).__name__}: {error}"
        ) from error


def _check_length(answers: Array, size: int, kind: type[SubmissionError], who: str) -> None:
    if answers.shape != (size,):
        raise kind(
            f"{who} has the wrong length: expected {size} answers, one for each row, got shape {answers.shape}; "
            "return a one-dimensional array"
        )


def mask_of(group: RowFunction, rows: Rows) -> Mask:
    """Return the group's mask over the rows; anything but booleans or 0 and 1 is a GroupError."""
    answers = _call(group, rows, GroupError, "group")
    _check_length(answers, len(rows), GroupError, "group")
    if answers.dtype == np.bool_:
        return answers
    if answers.dtype.kind in "iuf":
        good = (answers == 0) | (answers == 1)
    else:
        numbers = (bool, int, float, np.bool_, np.number)
        good = np.array([isinstance(a, numbers) and a in (0, 1) for a in answers.tolist()], dtype=np.bool_)
    if not good.all():
        row = int(np.argmin(good))
        raise GroupError(
            f"group has a value that is no membership: expected True, False, 0 or 1, "
            f"got {plain(answers[row])!r} at row {row}"
        )
    return answers.astype(np.bool_)


@dataclass(frozen=True)
class LabelType:
    """The type in which a decision list answers: that of its initial model."""

    dtype: np.dtype[Any]

    @staticmethod
    def of(answers: Array) -> "LabelType":
        """Read the label type off answers of the initial model."""
        if answers.dtype.kind not in "biufUTO":
            raise ModelError(
                f"initial model has answers of an unknown type: expected numbers, booleans or text, got {answers.dtype}"
            )
        return LabelType(answers.dtype)

    @property
    def is_text(self) -> bool:
        """Whether labels are text (or objects), which is never cut to a fixed width."""
        return self.dtype.kind in "UTO"

    def cast(self, answers: Array) -> Array:
        """Write answers in this type; raise ModelError naming the first that would not stay what it is."""
        cast, changed = self.changed_by_cast(answers)
        if changed.any():
            row = int(np.argmax(changed))
            raise ModelError(
                f"model has an answer that is no label: expected a value of the initial model's type {self.dtype}, "
                f"got {plain(answers[row])!r} at row {row} of those it was asked about"
            )
        return cast

    def changed_by_cast(self, answers: Array) -> tuple[Array, Mask]:
        """Write answers in this type, and mark those that it cannot hold (floats are rounded, not refused)."""
        if answers.dtype == self.dtype and self.dtype.kind in "biu":
            return answers, np.zeros(0, np.bool_)
        if answers.dtype.kind == "O" and not self.is_text:
            answers = np.array(answers.tolist()) if len(answers) else answers.astype(self.dtype)
        if self.is_text != (answers.dtype.kind in "UTO") or answers.ndim != 1:
            return answers, np.ones(len(answers), np.bool_)
        if self.is_text:
            return answers, is_missing(answers)
        with np.errstate(invalid="ignore", over="ignore"):
            cast = answers.astype(self.dtype, copy=False)
        if self.dtype.kind == "f":
            return cast, ~np.isfinite(cast)
        return cast, np.asarray(cast != answers)

    def gather(self, size: int, pieces: list[tuple[Ids, Array]]) -> Array:
        """Put answers for some rows together into one array for all."""
        dtype = self.dtype
        if dtype.kind == "U" and pieces:
            dtype = np.result_type(dtype, *(answers.dtype for _, answers in pieces))
        gathered = np.empty(size, dtype)
        for ids, answers in pieces:
            gathered[ids] = answers
        return gathered


def answers_of(model: RowFunction, rows: Rows, labels: LabelType | None = None, who: str = "model") -> Array:
    """Return the model's answer for each row, in the label type if one is given."""
    answers = _call(model, rows, ModelError, who)
    _check_length(answers, len(rows), ModelError, who)
    return answers if labels is None else labels.cast(answers)


def verify_rowwise(
    ask: Callable[[Rows], Array], rows: Rows, answers: Array, error: type[SubmissionError], who: str
) -> None:
    """Raise unless a few rows, asked about again in another order, get the answers that they had in the batch."""
    if not len(rows):
        return
    sample = np.random.default_rng(len(rows)).integers(len(rows), size=min(SAMPLE, len(rows)))
    again, before = ask(rows.take(sample)), answers[sample]
    if before.dtype.kind == "f":
        same = np.isclose(again, before, rtol=1e-5, atol=1e-8)
    else:
        same = np.asarray(again == before)
    if not same.all():
        at = int(np.argmin(same))
        raise error(
            f"{who} depends on more than its row: expected {plain(before[at])!r} for row {sample[at]} again, "
            f"got {plain(again[at])!r} when it was asked among other rows; use nothing of the batch and no chance"
        )
