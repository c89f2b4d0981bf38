"""Bounded losses: what one answer costs, a value in [0, 1] for each row.

Every guarantee of the project needs losses in [0, 1], so each call checks its own values and names the first row that
is outside. A loss whose values are only 0 and 1 says so (`zero_one`), and is then stored as one bit a row; any other is
rounded to multiples of 1/65535 where it is stored, and the guarantees are for the rounded loss.

`get` finds one by name; `absolute`, `squared`, `cost_matrix` and `function` make the ones that need settings.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty.arrays import Array, as_text, is_missing, is_number, is_text, shown
from biasbounty.errors import HoldoutError, LossError, SettingsError

Floats: TypeAlias = npt.NDArray[np.float64]

ROUNDING = 1e-6
"""A distance this little beyond the range is within it: labels and answers may be in a narrower float type."""


class Loss(ABC):
    """A per-example loss in [0, 1]; lower is better."""

    name: str = "loss"
    zero_one: bool = False

    @abstractmethod
    def values(self, predictions: Array, labels: Array) -> Array:
        """Return the loss of each row, unchecked."""

    def check_labels(self, labels: Array) -> None:
        """Raise HoldoutError if some label is none that this loss can take."""
        _refuse(labels, is_missing(labels), f"labels for {self.name} are missing", "a value", "drop or fill those rows")

    def __call__(self, predictions: Array, labels: Array, rows: Array | None = None) -> Floats:
        """Return the checked loss of each row; `rows` numbers them for the error message."""
        values = np.asarray(self.values(predictions, labels))
        if values.shape != labels.shape or values.dtype.kind not in "biuf":
            raise LossError(
                f"{self.name} has the wrong shape or type: expected {len(labels)} numbers, one for each row, "
                f"got {values.dtype} of shape {values.shape}"
            )
        self._check_values(values, predictions, labels, rows)
        return values.astype(np.float64, copy=False)

    def _check_values(self, values: Array, predictions: Array, labels: Array, rows: Array | None) -> None:
        good = (values == 0) | (values == 1) if self.zero_one else (values >= 0) & (values <= 1)
        if good.all():
            return
        bad = int(np.argmin(good))
        raise LossError(
            f"{self.name} is outside its range at row {bad if rows is None else rows[bad]}: "
            f"expected {'0 or 1' if self.zero_one else 'a value in [0, 1]'}, got {values[bad].item()!r} for the answer "
            f"{shown(predictions[bad])} where the label is {shown(labels[bad])}"
        )

    def __repr__(self) -> str:
        return f"losses.{self.name}"


class ZeroOne(Loss):
    """1 where the answer differs from the label, else 0."""

    name = "zero_one"
    zero_one = True

    def values(self, predictions: Array, labels: Array) -> Array:
        """Return whether each answer is wrong."""
        return np.asarray(predictions != labels)


class _Ranged(Loss):
    """A loss of the distance between answer and label, scaled by the range that both are declared to lie in."""

    def __init__(self, low: float = 0.0, high: float = 1.0) -> None:
        if not (is_number(low) and is_number(high) and low < high and np.isfinite(high - low)):
            raise SettingsError(f"range of {self.name} is empty: expected low < high, got {low!r} and {high!r}")
        self.low, self.high = float(low), float(high)

    def check_labels(self, labels: Array) -> None:
        """Raise HoldoutError unless every label is a number within the range."""
        if labels.dtype.kind not in "biuf":
            raise HoldoutError(f"labels for {self.name} have the wrong type: expected numbers, got {labels.dtype}")
        outside = ~((labels >= self.low) & (labels <= self.high))
        advice = f"declare the range: losses.{self.name}(low, high)"
        _refuse(labels, is_missing(labels), f"labels for {self.name} are missing", "a value", "drop or fill those rows")
        _refuse(
            labels, outside, f"labels for {self.name} are outside its range", f"{self.low:g} to {self.high:g}", advice
        )

    def _distance(self, predictions: Array, labels: Array) -> Array:
        """Return the distance as a fraction of the range, forgiving what the rounding of a float type can add to it."""
        distance = np.abs(predictions.astype(np.float64) - labels) / (self.high - self.low)
        return np.where(distance <= 1 + ROUNDING, np.minimum(distance, 1), distance)

    def __repr__(self) -> str:
        return f"losses.{self.name}(low={self.low:g}, high={self.high:g})"


class Absolute(_Ranged):
    """The absolute difference, as a fraction of the declared range."""

    name = "absolute"

    def values(self, predictions: Array, labels: Array) -> Array:
        """Return |answer - label| / (high - low)."""
        return self._distance(predictions, labels)


class Squared(_Ranged):
    """The squared difference, as a fraction of the declared range squared."""

    name = "squared"

    def values(self, predictions: Array, labels: Array) -> Array:
        """Return ((answer - label) / (high - low))^2."""
        return self._distance(predictions, labels) ** 2


class CostMatrix(Loss):
    """`costs[i][j]` is what it costs to answer class j where class i is true."""

    name = "cost_matrix"

    def __init__(self, costs: Any, classes: Sequence[Any] | None = None) -> None:
        self.costs = np.array(costs, dtype=np.float64)
        if self.costs.ndim != 2 or self.costs.shape[0] != self.costs.shape[1]:
            raise SettingsError(f"cost matrix is not square: expected (k, k), got {self.costs.shape}")
        if not ((self.costs >= 0) & (self.costs <= 1)).all():
            raise SettingsError(
                "cost matrix is outside [0, 1]: expected costs in [0, 1]; divide it by its largest cost"
            )
        self.classes = np.arange(len(self.costs)) if classes is None else np.asarray(classes)
        if len(np.unique(self.classes)) != len(self.costs) or len(self.classes) != len(self.costs):
            raise SettingsError(
                f"cost matrix does not match its classes: expected {len(self.costs)} distinct classes, "
                f"got {self.classes.tolist()}"
            )
        self.zero_one = bool(np.isin(self.costs, (0.0, 1.0)).all())
        self._sorter = np.argsort(self.classes)

    def _places(self, answers: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Find each answer's class, and which answers are of no class at all."""
        ordered = self.classes[self._sorter]
        if is_text(answers):
            answers = as_text(answers)
        places = np.minimum(np.searchsorted(ordered, answers), len(ordered) - 1)
        return self._sorter[places], np.asarray(ordered[places] != answers)

    def check_labels(self, labels: Array) -> None:
        """Raise HoldoutError unless every label is one of the classes."""
        super().check_labels(labels)
        if is_text(labels) != is_text(self.classes):
            raise HoldoutError(
                f"labels for cost_matrix have the wrong type: expected {self.classes.dtype}, got {labels.dtype}; "
                "name them: losses.cost_matrix(costs, classes=[...])"
            )
        classes = f"one of {self.classes.tolist()}"
        advice = "name them all: losses.cost_matrix(costs, classes=[...])"
        _refuse(labels, self._places(labels)[1], "labels for cost_matrix are of no class", classes, advice)

    def _check_values(self, values: Array, predictions: Array, labels: Array, rows: Array | None) -> None:
        unknown = np.isnan(values)
        if unknown.any():
            bad = int(np.argmax(unknown))
            raise LossError(
                f"cost_matrix has an answer of no class at row {bad if rows is None else rows[bad]}: "
                f"expected one of {self.classes.tolist()}, got {shown(predictions[bad])}"
            )
        super()._check_values(values, predictions, labels, rows)

    def values(self, predictions: Array, labels: Array) -> Array:
        """Return the cost of each answer; an answer of no class costs NaN, which the check refuses."""
        answered, unknown = self._places(predictions)
        return np.where(unknown, np.nan, self.costs[self._places(labels)[0], answered])


class Function(Loss):
    """A user's own function of (predictions, labels)."""

    def __init__(
        self, function: Callable[[Array, Array], Any], *, name: str | None = None, zero_one: bool = False
    ) -> None:
        self.function, self.zero_one = function, zero_one
        self.name = name or str(getattr(function, "__name__", "function"))

    def values(self, predictions: Array, labels: Array) -> Array:
        """Return what the function returns, unchecked."""
        return np.asarray(self.function(predictions, labels))


def _refuse(labels: Array, bad: npt.NDArray[np.bool_], problem: str, expected: str, advice: str) -> None:
    if bad.any():
        row, count = int(np.argmax(bad)), int(bad.sum())
        more = f" (and {count - 1:,} more)" if count > 1 else ""
        raise HoldoutError(f"{problem}: expected {expected}, got {shown(labels[row])} at row {row}{more}; {advice}")


absolute = Absolute
squared = Squared
cost_matrix = CostMatrix
function = Function
zero_one = ZeroOne()

_NAMED: dict[str, Callable[[], Loss]] = {"zero_one": ZeroOne, "absolute": Absolute, "squared": Squared}


def get(name: "str | Loss | Callable[[Array, Array], Any]") -> Loss:
    """Find a loss by name ("absolute" and "squared" take the range 0 to 1); a Loss passes, a function is wrapped."""
    if isinstance(name, Loss):
        return name
    if isinstance(name, str) and name in _NAMED:
        return _NAMED[name]()
    if callable(name) and not isinstance(name, type):
        return Function(name)
    raise SettingsError(
        f"loss cannot be used: expected one of {sorted(_NAMED)}, a Loss or a function, got {name!r}; make "
        "one by biasbounty.losses.absolute(low, high), squared(low, high) or cost_matrix(costs, classes)"
    )
