"""Answers: calling a stranger's group or model, and refusing whatever is not an answer for each row.

A group answers 0 or 1 for each row. A model answers one label for each row, in the label type of the initial model
(`LabelType`): a label that cannot be written in that type without becoming another is refused, so that what is judged
is what the published list will say (P4).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import Array, Mask, as_array, as_text, is_missing, is_number, is_text, shown
from biasbounty.core.rows import Ids, Rows
from biasbounty.errors import BiasBountyError, GroupError, ModelError
from biasbounty.values import RowFunction


def require_function(function: Any, kind: type[BiasBountyError], who: str) -> None:
    """Raise unless this can be called as a group or model."""
    if isinstance(function, (str, bytes)):
        got, advice = (
            type(function).__name__,
            "a Bounty reads ONNX bytes, and text as a group; elsewhere hand in OnnxModel(data) or parse(text, schema)",
        )
    elif isinstance(function, type):
        got, advice = f"the class {function.__name__}", "make one, fit it, and hand that in"
    elif not callable(function) and not callable(getattr(function, "predict", None)):
        got, advice = type(function).__name__, "write lambda X: ... for a rule of your own"
    else:
        return
    raise kind(f"{who} cannot be called: expected a callable on rows or a fitted estimator, got {got}; {advice}")


def ask(function: RowFunction, X: Any) -> Array:
    """Ask a group or model about rows: by its `predict` if it has one, else by calling it."""
    call: Any = getattr(function, "predict", function)
    return as_array(call(X))


def _ask(function: RowFunction, rows: Rows, kind: type[BiasBountyError], who: str) -> Array:
    """Ask for one answer for each row; whatever goes wrong becomes an error of this kind, with its cause.

    A stranger's attempt to leave by another door (SystemExit, say) goes wrong too; only the keyboard interrupts.
    """
    try:
        answers = ask(function, rows.shielded())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        words = f"{type(error).__name__}: {shown(error, str)}"
        raise kind(f"{who} failed on {len(rows)} rows: expected answers, got {words}") from error
    if answers.shape != (len(rows),):
        raise kind(
            f"{who} has the wrong length: expected {len(rows)} answers, one for each row, got shape {answers.shape}; "
            "it is called on all rows at once and returns a one-dimensional array"
        )
    return answers


def mask_of(group: RowFunction, rows: Rows, who: str = "group") -> Mask:
    """Return the group's mask over the rows; anything but booleans or 0 and 1 is a GroupError."""
    answers = _ask(group, rows, GroupError, who)
    if answers.dtype == np.bool_:
        return answers
    if answers.dtype.kind in "iuf":
        good = (answers == 0) | (answers == 1)
    else:
        good = np.array([is_number(answer) and answer in (0, 1) for answer in answers.tolist()], dtype=np.bool_)
    if not good.all():
        row = int(np.argmin(good))
        raise GroupError(
            f"{who} has a value that is no membership: expected True, False, 0 or 1, "
            f"got {shown(answers[row])} at row {row}"
        )
    return answers.astype(np.bool_)


def answers_of(model: RowFunction, rows: Rows, who: str = "model") -> Array:
    """Return the model's answer for each row."""
    return _ask(model, rows, ModelError, who)


@dataclass(frozen=True)
class LabelType:
    """The type in which a decision list answers: that of its initial model. Text has no width."""

    dtype: np.dtype[Any]

    @staticmethod
    def of(answers: Array) -> "LabelType":
        """Read the label type off answers of the initial model."""
        if answers.dtype.kind not in "biufUTO":
            raise ModelError(
                f"initial model has answers of an unknown type: expected numbers, booleans or text, got {answers.dtype}"
            )
        return LabelType(np.dtype(str) if answers.dtype.kind == "U" else answers.dtype)

    def cast(self, answers: Array, ids: Ids | None = None, who: str = "model") -> Array:
        """Write answers in this type; raise ModelError naming the first row whose answer would become another."""
        cast, changed = self.changed_by_cast(answers)
        if changed.any():
            row = int(np.argmax(changed))
            raise ModelError(
                f"{who} has an answer that is no label: expected a value of the initial model's type {self}, "
                f"got {shown(answers[row])} at row {row if ids is None else ids[row]}"
            )
        return cast

    def changed_by_cast(self, answers: Array) -> tuple[Array, Mask]:
        """Write answers in this type, and mark those that it cannot hold (floats are rounded, not refused)."""
        if is_text(answers) and self.dtype.kind in "UTO":
            missing = is_missing(answers)
            if missing.any() or self.dtype == answers.dtype:
                return answers, missing
            return as_text(answers) if self.dtype.kind == "U" else as_text(answers).astype(self.dtype), missing
        if answers.dtype.kind not in "biuf" or self.dtype.kind not in "biuf":
            foreign = [self.dtype.kind in "UTO" or not _is_small(answer) for answer in answers.tolist()]
            return answers, np.array(foreign, np.bool_)
        if answers.dtype == self.dtype and self.dtype.kind != "f":
            return answers, np.zeros(len(answers), np.bool_)
        with np.errstate(invalid="ignore", over="ignore"):
            cast = answers.astype(self.dtype, copy=False)
            back = cast if answers.dtype.kind == "f" else cast.astype(answers.dtype)
        if self.dtype.kind == "f":
            return cast, ~np.isfinite(cast) | ((back != answers) & (answers.dtype.kind != "f"))
        return cast, np.asarray((cast != answers) | (back != answers))

    def gather(self, size: int, pieces: list[tuple[Ids, Array]]) -> Array:
        """Put answers for some rows together into one array for all."""
        dtype = np.result_type(self.dtype, *(answers.dtype for _, answers in pieces))
        gathered = np.empty(size, dtype)
        for ids, answers in pieces:
            gathered[ids] = answers
        return gathered

    def __str__(self) -> str:
        return "text" if self.dtype.kind in "UTO" else str(self.dtype)


def _is_small(answer: object) -> bool:
    """Say whether an object is a number that no label type is too narrow for."""
    return is_number(answer) and -(2**63) <= answer < 2**64  # type: ignore[operator]
