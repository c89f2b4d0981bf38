"""Features: rows of any kind as one matrix of numbers, in the same way when learning and when answering.

Numbers stay as they are (beyond what a float32 holds, its largest: trees read no more), moments and durations become
seconds, text and categories become the place of the value among those seen when learning. What is missing, or was not
seen then, is NaN: an answer about such a row is that of a model about a missing value, never an accident of order. Row
by row: nothing of a batch is used. Columns of a frame are known by their names, those of an array by their places.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt

from biasbounty.arrays import Array, is_number, shown
from biasbounty.core.rows import Rows
from biasbounty.errors import SettingsError

Floats: TypeAlias = npt.NDArray[np.float64]
Kind: TypeAlias = Literal["numbers", "text", "moments", "durations", "nothing"]

LARGEST = float(np.finfo(np.float32).max)
ABSENT = {"NoneType", "NAType", "NaTType"}
"""The types of what stands for a missing value among objects; NaN is the fourth."""


@dataclass(frozen=True, eq=False)
class Feature:
    """One column: its name, what it held when it was learned from, and, if that was text, the values it had."""

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()

    @staticmethod
    def learned(name: str, values: Array) -> "Feature":
        """Read off a column what its values mean."""
        kind = _kind_of(name, values)
        if kind != "text":
            return Feature(name, kind)
        return Feature(name, kind, tuple(sorted({value for value in values.tolist() if isinstance(value, str)})))

    def encode(self, values: Array) -> Floats:
        """Return numbers for values; NaN for what is missing or was never seen."""
        kind = _kind_of(self.name, values)
        if "nothing" in (kind, self.kind):
            return np.full(len(values), np.nan)
        if kind != self.kind:
            raise SettingsError(
                f"column {self.name} is of another kind than when it was learned from: expected {self.kind}, "
                f"got {kind}; prepare all rows in the same way"
            )
        if kind == "text":
            places = {category: float(place) for place, category in enumerate(self.categories)}
            return np.array([places.get(value, np.nan) for value in values.tolist()], dtype=np.float64)
        return _numbers(values) if kind == "numbers" else _seconds(values)


class Features:
    """The columns of some rows, and how they become numbers."""

    def __init__(self, X: Any) -> None:
        self.columns = tuple(Feature.learned(name, values) for name, values in columns_of(X))
        self.named = not isinstance(X, np.ndarray)
        if not self.columns:
            raise SettingsError("rows have no columns: expected at least one feature, got 0")

    def __call__(self, X: Any) -> Floats:
        """Return rows as a matrix, one column for each feature."""
        given = self._in_order(X)
        encoded = [feature.encode(values) for feature, values in zip(self.columns, given, strict=True)]
        return np.column_stack(encoded)

    def _in_order(self, X: Any) -> list[Array]:
        """Return the columns learned from: by name if there are names on both sides, else by place."""
        given = columns_of(X)
        if self.named and not isinstance(X, np.ndarray):
            by_name = dict(given)
            lacking = [name for name in self.names if name not in by_name]
            if lacking:
                raise SettingsError(f"rows lack columns that were learned from: expected {shown(lacking)} among them")
            return [by_name[name] for name in self.names]
        if len(given) != len(self.columns):
            raise SettingsError(
                f"rows have other columns than those learned from: expected {len(self.columns)}, got {len(given)}"
            )
        return [values for _, values in given]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; of an array, x0, x1 and so on."""
        return tuple(feature.name for feature in self.columns)


def columns_of(X: Any) -> list[tuple[str, Array]]:
    """Return the columns of an array or frame, with their names."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise SettingsError(f"rows have the wrong shape: expected two dimensions, got shape {X.shape}")
        return [(f"x{at}", X[:, at]) for at in range(X.shape[1])]
    try:
        frame = nw.from_native(X, eager_only=True)
        columns = [(str(column.name), np.asarray(column.to_numpy())) for column in frame.iter_columns()]
    except (TypeError, nw.exceptions.DuplicateError):
        columns = _unreadable(X)
    if len({name for name, _ in columns}) != len(columns):
        raise SettingsError(
            f"columns share a name: expected distinct names, got {shown([name for name, _ in columns])}; rename them"
        )
    return columns


def _unreadable(X: Any) -> list[tuple[str, Array]]:
    """Return the bare names of a frame whose names are not distinct; raise if it is no frame."""
    if hasattr(X, "columns"):
        return [(str(name), np.zeros(0)) for name in X.columns]
    Rows(X)
    raise SettingsError(f"rows have the wrong type: expected an array or a frame of columns, got {type(X).__name__}")


def _kind_of(name: str, values: Array) -> Kind:
    """Say what a column holds, leaving aside what is missing."""
    if values.dtype.kind in "OT":
        return _kind_of_objects(name, values)
    if values.dtype.kind in "biuf":
        return "nothing" if np.isnan(values).all() else "numbers"
    if values.dtype.kind in "mM":
        times: Kind = "moments" if values.dtype.kind == "M" else "durations"
        return "nothing" if np.isnat(values).all() else times
    if values.dtype.kind == "U":
        return "text" if len(values) else "nothing"
    raise SettingsError(
        f"column {name} is no feature: expected numbers, text or moments, got {values.dtype}; convert or drop it"
    )


def _kind_of_objects(name: str, values: Array) -> Kind:
    present = [value for value in values.tolist() if not is_absent(value)]
    if all(isinstance(value, str) for value in present):
        return "text" if present else "nothing"
    strange = [value for value in present if not _is_numeric(value)]
    if strange:
        mixed = isinstance(strange[0], str)
        raise SettingsError(
            f"column {name} {'mixes text and numbers' if mixed else 'is no feature'}: expected all numbers or all "
            f"text, got {shown(strange[0])}; convert or drop it"
        )
    return "numbers"


def is_absent(value: object) -> bool:
    """Say whether one object stands for a missing value."""
    return type(value).__name__ in ABSENT or (isinstance(value, float) and value != value)


def _is_numeric(value: object) -> bool:
    return is_number(value) or isinstance(value, Decimal)


def _numbers(values: Array) -> Floats:
    if values.dtype.kind == "O":
        values = np.array([np.nan if is_absent(value) else float(value) for value in values.tolist()])
    return np.clip(values.astype(np.float64), -LARGEST, LARGEST)


def _seconds(values: Array) -> Floats:
    """Return moments as seconds since 1970, durations as seconds, whatever unit they came in."""
    unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
    seconds = values.astype(unit).astype(np.int64) / 1e6
    return np.where(np.isnat(values), np.nan, seconds)
