"""The interface of finders: from rows, labels and what the newest round answers, find a certificate or nothing.

A finder is settings, in the manner of scikit-learn: `find` learns nothing about the finder itself, may be called again
on other rows, and is a function of its arguments (all chance comes from `rng`). What it finds says itself in words in
the certificate's note. A contribution found on the rows that were searched is no promise: whoever wants one judges the
certificate on rows that the finder has not seen.

`Searched` is what `find` is given, checked once: whatever is malformed is refused there, in words.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from biasbounty.arrays import Array, as_array, as_text, is_missing, is_text, shown
from biasbounty.core.rows import Ids, Rows
from biasbounty.errors import HoldoutError, SettingsError
from biasbounty.finders.features import Features, is_absent
from biasbounty.finders.features import Floats as Floats
from biasbounty.losses import Absolute, CostMatrix, Loss, Squared, get
from biasbounty.values import Certificate, RowFunction, as_note

Mask: TypeAlias = npt.NDArray[np.bool_]
Progress: TypeAlias = Callable[[int, int], None]
"""Told how many steps are done, of how many."""

ROUNDING = 1e-12
"""A fall in risk this small is one of rounding only."""
MOST_CLASSES = 100
"""Whole numbers of more values than this are classes only for a loss of classes."""


class Finder(BaseEstimator, ABC):  # type: ignore[misc]
    """Looks for a group and a model that does better on it."""

    @abstractmethod
    def find(
        self,
        X: Any,
        y: Any,
        predictions: Any,
        rng: np.random.Generator,
        *,
        loss: str | Loss = "zero_one",
        weights: Any = None,
        progress: Progress | None = None,
    ) -> Certificate | None:
        """Return the certificate of largest contribution that was found, or None if none contributes.

        Args:
            X: Rows: a numpy array, a pandas or a polars frame.
            y: Their labels.
            predictions: What the newest round answers for them.
            rng: Where all chance comes from.
            loss: What an answer costs.
            weights: How much each row counts; all the same if not given.
            progress: Told how far it is.
        """


def contribution(
    mask: npt.NDArray[np.bool_], before: Array, after: Array, y: Array, loss: str | Loss, weights: Floats | None = None
) -> float:
    """Return what risk falls by if `after` answers where the mask is true (as many answers as it has true values)."""
    measured, own = get(loss), np.flatnonzero(mask)
    fall = measured(before[own], y[own]) - measured(after, y[own])
    if weights is None:
        return float(fall.sum() / len(mask)) if len(mask) else 0.0
    return float((weights[own] * fall).sum() / weights.sum())


@dataclass(frozen=True, eq=False)
class Searched:
    """What a finder is given, checked: rows and their matrix of features, labels, and what the newest round costs."""

    X: Any
    features: Features
    matrix: Floats
    y: Array
    predictions: Array
    before: Floats
    """The loss of each prediction."""
    loss: Loss
    weights: Floats | None
    """How much each row counts, 1 in the mean, or None where all count the same."""
    classes: Array | None
    """All labels that may be answered, in order; None where labels are numbers to come close to."""

    @staticmethod
    def of(X: Any, y: Any, predictions: Any, rng: Any, loss: str | Loss, weights: Any) -> "Searched":
        """Check the arguments of `find`."""
        _require_rng(rng)
        features, measured = Features(X), get(loss)
        if not len(X):
            raise SettingsError("rows are empty: expected at least one row, got 0")
        labels, answers = column(y, "labels", len(X)), column(predictions, "predictions", len(X))
        measured.check_labels(labels)
        _require_comparable(labels, answers)
        return Searched(
            X=X,
            features=features,
            matrix=features(X),
            y=labels,
            predictions=answers,
            before=measured(answers, labels),
            loss=measured,
            weights=_weights(weights, len(X)),
            classes=_classes(labels, measured),
        )

    def __len__(self) -> int:
        return len(self.y)

    @property
    def is_perfect(self) -> bool:
        """Whether the newest round costs nothing on these rows, so that nothing can be found."""
        return not self.before.any()

    @property
    def everyone(self) -> Ids:
        """All rows, by number."""
        return np.arange(len(self))

    def rows(self, ids: Ids) -> Floats:
        """Return some rows of the matrix, by number in order; all of them without a copy."""
        return self.matrix if len(ids) == len(self) and (ids == self.everyone).all() else self.matrix[ids]

    def weighed(self, ids: Ids) -> Ids:
        """Return those of the rows that count."""
        return ids if self.weights is None else ids[self.weights[ids] > 0]

    def mean(self, values: Floats) -> float:
        """Return the mean over all rows, each counted by its weight."""
        return float(values.mean()) if self.weights is None else float((self.weights * values).mean())

    def fall(self, answers: Array) -> Floats:
        """Return by how much the loss of each row falls if all are answered like this."""
        return self.before - self.loss(answers, self.y)

    def certificate(self, finder: Finder, group: RowFunction, model: RowFunction, rule: str = "") -> Certificate | None:
        """Return the certificate, with a note, if it contributes on the rows searched."""
        mask, after = np.asarray(self._asked(group, self.everyone), np.bool_), np.zeros(len(self))
        if mask.any():
            after[mask] = self.loss(self._asked(model, np.flatnonzero(mask)), self.y[mask])
        weight, was, will = self.mean(mask.astype(float)), self.mean(mask * self.before), self.mean(mask * after)
        if not was - will > ROUNDING:
            return None
        share = f"{weight:.1%} of the rows searched, where risk falls from {was / weight:.3g} to {will / weight:.3g}"
        return Certificate(group, model, note=as_note(f"{rule or 'a group'} ({type(finder).__name__}: {share})"))

    def _asked(self, function: RowFunction, ids: Ids) -> Array:
        """Ask a group or model about some rows, as anyone would; what was learned here is spared making the matrix."""
        asked: Any = function
        if getattr(asked, "features", None) is self.features:
            return np.asarray(asked.of(self.matrix))[ids]
        return np.asarray(asked(Rows(self.X).take(ids).native))


def _require_rng(rng: Any) -> None:
    if not isinstance(rng, np.random.Generator):
        raise SettingsError(
            f"rng is no generator: expected a numpy Generator, got {type(rng).__name__}; make one by "
            "numpy.random.default_rng(seed)"
        )


def column(values: Any, what: str, size: int) -> Array:
    """Return labels or predictions as an array of numbers or of text, one for each row."""
    array = as_array(values)
    if array.shape != (size,):
        raise SettingsError(f"{what} have the wrong length: expected {size}, one for each row, got shape {array.shape}")
    if array.dtype.kind not in "biufUTO":
        raise SettingsError(f"{what} have an unknown type: expected numbers, booleans or text, got {array.dtype}")
    absent = _absent(array)
    if absent.any():
        row = int(np.argmax(absent))
        raise HoldoutError(
            f"{what} are missing: expected a value, got {shown(array[row])} at row {row}"
            f"{f' (and {absent.sum() - 1:,} more)' if absent.sum() > 1 else ''}; drop or fill those rows"
        )
    if array.dtype.kind == "O" and is_missing(array).any():
        kinds = sorted({type(value).__name__ for value in array.tolist()})
        raise SettingsError(f"{what} have mixed types: expected all numbers or all text, got {shown(kinds)}")
    return as_text(array) if is_text(array) else array


def _absent(array: Array) -> Mask:
    if array.dtype.kind in "OT":
        return np.fromiter(map(is_absent, array.tolist()), np.bool_, len(array))
    return is_missing(array)


def _require_comparable(labels: Array, predictions: Array) -> None:
    if is_text(labels) != is_text(predictions):
        words = ["text" if is_text(array) else "numbers" for array in (labels, predictions)]
        raise SettingsError(f"predictions are of another type than the labels: expected {words[0]}, got {words[1]}")


def _weights(weights: Any, size: int) -> Floats | None:
    if weights is None:
        return None
    array = as_array(weights)
    if array.shape != (size,) or array.dtype.kind not in "biuf":
        raise SettingsError(
            f"weights have the wrong shape or type: expected {size} numbers, one for each row, "
            f"got {array.dtype} of shape {array.shape}"
        )
    floats = array.astype(np.float64)
    bad = ~(np.isfinite(floats) & (floats >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise SettingsError(
            f"weights are no weights: expected finite numbers from 0, got {shown(floats[row])} at row {row}"
        )
    if not floats.any():
        raise SettingsError("weights are all 0: expected some row that counts; leave them out to count all the same")
    if (floats == floats[0]).all():
        return None
    scaled = floats / floats.max()
    return np.asarray(scaled / scaled.mean())


def _classes(labels: Array, loss: Loss) -> Array | None:
    """Return the classes in order, or None where the loss measures how close a number comes to another."""
    if isinstance(loss, CostMatrix):
        return _named_classes(labels, loss)
    if isinstance(loss, (Absolute, Squared)) or (labels.dtype.kind == "f" and not loss.zero_one):
        return None
    _require_whole(labels, loss)
    classes = np.unique(labels)
    return None if len(classes) > MOST_CLASSES and labels.dtype.kind in "iu" and not loss.zero_one else classes


def _named_classes(labels: Array, loss: CostMatrix) -> Array:
    """Return the classes that a cost matrix names, in the type of the labels if it can hold them."""
    _require_whole(labels, loss)
    classes = np.unique(as_text(loss.classes) if is_text(loss.classes) else loss.classes)
    if is_text(classes):
        return classes
    cast = classes.astype(labels.dtype)
    return cast if (cast == classes).all() else classes


def _require_whole(labels: Array, loss: Loss) -> None:
    """Raise unless the labels can be classes: fractions are measurements."""
    if labels.dtype.kind != "f":
        return
    whole = np.isfinite(labels) & (labels == np.rint(labels))
    if not whole.all():
        row = int(np.argmin(whole))
        raise SettingsError(
            f"labels are no classes: expected whole numbers, booleans or text for {loss.name}, got "
            f"{shown(labels[row])} at row {row}; for numbers to come close to, use losses.absolute(low, high)"
        )
