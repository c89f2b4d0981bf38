"""Features: rows of any kind as one matrix of numbers, in the same way when learning and when answering.

Numbers stay as they are (beyond what a float32 holds, its largest: trees read no more), moments and durations become
seconds, text and categories become the place of the value among those seen when learning. What is missing, or was not
seen then, is NaN: an answer about such a row is that of a model about a missing value, never an accident of order. Row
by row: nothing of a batch is used. Columns of a frame are known by their names, those of an array by their places.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from biasbounty.arrays import Array, is_number, shown
from biasbounty.core.rows import Ids, Rows
from biasbounty.errors import SettingsError

Floats: TypeAlias = npt.NDArray[np.float64]
Text: TypeAlias = Any
"""A column of text, as a dictionary array of Arrow's."""
Named: TypeAlias = list[tuple[str, Array | Text]]
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
    def learned(name: str, values: Array | Text) -> "Feature":
        """Read off a column what its values mean."""
        values = _plain(values)
        kind = _kind_of(name, values)
        return Feature(name, kind, _categories(values) if kind == "text" else ())

    def encode(self, values: Array | Text) -> Floats:
        """Return numbers for values; NaN for what is missing or was never seen."""
        values = _plain(values)
        kind = _kind_of(self.name, values)
        if "nothing" in (kind, self.kind):
            return np.full(len(values), np.nan)
        if kind != self.kind:
            raise SettingsError(
                f"column {self.name} is of another kind than when it was learned from: expected {self.kind}, "
                f"got {kind}; prepare all rows in the same way"
            )
        if kind == "text":
            return _places(self.categories, values)
        return _numbers(values) if kind == "numbers" else _seconds(values)


class Features:
    """The columns of some rows, and how they become numbers."""

    def __init__(self, X: Any) -> None:
        self._learn(X, columns_of(X))

    def _learn(self, X: Any, given: Named) -> None:
        self.columns = tuple(Feature.learned(name, values) for name, values in given)
        self.named = not isinstance(X, np.ndarray)
        if not self.columns:
            raise SettingsError("rows have no columns: expected at least one feature, got 0")

    def __call__(self, X: Any) -> Floats:
        """Return rows as a matrix, one column for each feature."""
        return next(self.in_blocks(X, max(1, len(X))))

    def in_blocks(self, X: Any, size: int) -> Iterator[Floats]:
        """Yield rows as matrices, so many rows at a time; one without rows if there are none."""
        starts = range(0, max(1, len(X)), size)
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf" and self._are_numbers(X.shape[1]):
            yield from (_numbers(X[first : first + size]) for first in starts)
            return
        yield from self._encoded(self._in_order(X), size, starts)

    @staticmethod
    def learned_in_blocks(X: Any, size: int) -> Iterator[Floats]:
        """Learn features from rows and yield those rows as matrices; frames of text are looked at only once."""
        if isinstance(X, np.ndarray):
            yield from Features(X).in_blocks(X, size)
            return
        features, given = Features.__new__(Features), columns_of(X)
        features._learn(X, given)
        yield from features._encoded([values for _, values in given], size, range(0, max(1, len(X)), size))

    def _encoded(self, given: list[Array | Text], size: int, starts: range) -> Iterator[Floats]:
        for first in starts:
            matrix = np.empty((len(given[0][first : first + size]), len(given)))
            for at, (column, own) in enumerate(zip(self.columns, given, strict=True)):
                matrix[:, at] = column.encode(own[first : first + size])
            yield matrix

    def _are_numbers(self, width: int) -> bool:
        """Say whether so many columns are those learned from, and all held numbers."""
        return width == len(self.columns) and all(feature.kind == "numbers" for feature in self.columns)

    def _in_order(self, X: Any) -> list[Array | Text]:
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


def columns_of(X: Any) -> Named:
    """Return the columns of an array or frame, with their names; text as Arrow holds it."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise SettingsError(f"rows have the wrong shape: expected two dimensions, got shape {X.shape}")
        return [(f"x{at}", _plain(X[:, at])) for at in range(X.shape[1])]
    try:
        frame = nw.from_native(X, eager_only=True)
        columns = [(str(column.name), _values_of(column)) for column in frame.iter_columns()]
    except (TypeError, nw.exceptions.DuplicateError) as error:
        columns = _unreadable(X, error)
    if len({name for name, _ in columns}) != len(columns):
        raise SettingsError(
            f"columns share a name: expected distinct names, got {shown([name for name, _ in columns])}; rename them"
        )
    return columns


def _unreadable(X: Any, error: Exception) -> Named:
    """Return the bare names of a frame whose names are not distinct; raise if it is no frame."""
    if isinstance(error, nw.exceptions.DuplicateError):
        return [(str(name), np.zeros(0)) for name in X.columns]
    Rows(X)
    raise SettingsError(f"rows have the wrong type: expected an array or a frame of columns, got {type(X).__name__}")


def _values_of(column: Any) -> Array | Text:
    """Return the values of a frame's column."""
    if column.dtype in (nw.String, nw.Categorical, nw.Enum):
        try:
            held = column.to_arrow()
        except ValueError:  # text that is no Unicode, which Arrow does not hold
            return np.asarray(column.to_numpy())
        held = held.combine_chunks() if isinstance(held, pa.ChunkedArray) else held
        if _is_text(held):
            return _coded(held)
    return _plain(np.asarray(column.to_numpy()))


def _plain(values: Array | Text) -> Array | Text:
    """Return a column of text as Arrow holds it, which is many times as fast to look at; any other as it is."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "OU":
        return values
    try:
        held = pa.array(values, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return values
    return _coded(held) if _is_text(held) else values


def _is_text(held: Text) -> bool:
    kind = held.type.value_type if pa.types.is_dictionary(held.type) else held.type
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _coded(held: Text) -> Text:
    """Return text as codes of the different ones."""
    if pa.types.is_dictionary(held.type):
        return held
    return (held.cast(pa.large_string()) if pa.types.is_string_view(held.type) else held).dictionary_encode()


def _codes(values: Text) -> Ids:
    """Return the code of each text; -1 for what is missing."""
    return np.asarray(values.indices.cast(pa.int64()).fill_null(-1).to_numpy())


def _categories(values: Array | Text) -> tuple[str, ...]:
    """Return the different texts in order."""
    if isinstance(values, np.ndarray):
        return tuple(sorted({value for value in values.tolist() if isinstance(value, str)}))
    seen = np.flatnonzero(np.bincount(_codes(values) + 1)[1:])
    return tuple(sorted(values.dictionary.take(pa.array(seen)).to_pylist()))


def _places(categories: tuple[str, ...], values: Array | Text) -> Floats:
    """Return the place of each text among the categories; NaN if it is not among them."""
    places = {category: float(place) for place, category in enumerate(categories)}
    if isinstance(values, np.ndarray) or len(values.dictionary) > len(values):
        texts = values.tolist() if isinstance(values, np.ndarray) else values.to_pylist()
        return np.array([places.get(text, np.nan) for text in texts], dtype=np.float64)
    known = [places.get(text, np.nan) for text in values.dictionary.to_pylist()]
    return np.array([*known, np.nan])[_codes(values)]


def _kind_of(name: str, values: Array | Text) -> Kind:
    """Say what a column holds, leaving aside what is missing."""
    if not isinstance(values, np.ndarray):
        return "nothing" if values.null_count == len(values) else "text"
    if values.dtype.kind in "OT":
        return _kind_of_objects(name, values)
    if values.dtype.kind in "biuf":
        return "nothing" if np.isnan(values[:1]).all() and np.isnan(values).all() else "numbers"
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
    return np.clip(values.astype(np.float64, copy=False), -LARGEST, LARGEST)


def _seconds(values: Array) -> Floats:
    """Return moments as seconds since 1970, durations as seconds, whatever unit they came in."""
    unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
    seconds = values.astype(unit).astype(np.int64) / 1e6
    return np.where(np.isnat(values), np.nan, seconds)
