"""Columns: what an array or frame holds, in the way that predicates look at it.

Numbers stay in their own type, and whatever holds no value is marked; NaN holds none. Text becomes codes into the
different texts. Moments become seconds since 1970, durations seconds, as in `finders.features`.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np

from biasbounty.arrays import Array, Mask, is_number
from biasbounty.core.rows import Rows
from biasbounty.errors import SettingsError

Kind: TypeAlias = Literal["numbers", "text", "moments", "durations", "nothing", "something else"]
Arrow: TypeAlias = Any

_ABSENT = {"NoneType", "NAType", "NaTType"}


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its kind, and its values as numbers."""

    kind: Kind
    values: Array
    """Numbers, seconds, or codes of texts (-1 where there is none)."""
    missing: Mask | None = None
    """Which values are missing, other than NaN and the code -1."""
    texts: tuple[str | None, ...] = ()


def names_of(X: Any) -> tuple[str, ...]:
    """Return the columns' names; of an array, x0, x1 and so on."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise SettingsError(f"rows have the wrong shape: expected two dimensions, got shape {X.shape}")
        return tuple(f"x{place}" for place in range(X.shape[1]))
    names = tuple(str(name) for name in _frame(X).columns)
    if len(set(names)) != len(names):
        raise SettingsError("columns share a name: expected distinct names, got some twice; rename them")
    return names


def column_at(X: Any, place: int) -> Column:
    """Return the column at a place."""
    return _of_array(X[:, place]) if isinstance(X, np.ndarray) else _of_series(_frame(X)[:, place])


def columns_of(X: Any) -> Iterator[Column]:
    """Yield all columns, in order."""
    if isinstance(X, np.ndarray):
        yield from (_of_array(X[:, place]) for place in range(X.shape[1]))
    else:
        yield from map(_of_series, _frame(X).iter_columns())


def _frame(X: Any) -> Any:
    try:
        return nw.from_native(X, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise SettingsError("columns share a name: expected distinct names, got some twice; rename them") from error
    except TypeError:
        Rows(X)
        raise


def _of_series(series: Any) -> Column:
    native = series.to_native()
    native = native.sparse.to_dense() if hasattr(native, "sparse") else native
    if isinstance(getattr(native, "dtype", None), np.dtype):
        return _of_array(np.asarray(native))
    with suppress(Exception):  # text that is no Unicode, say, which Arrow does not hold
        return _of_arrow(series.to_arrow())
    with suppress(Exception):  # what cannot be read as objects either is nothing to be asked about
        return _of_objects(np.asarray(series.to_numpy(), object))
    return Column("something else", np.zeros(len(series)), np.asarray(series.is_null().to_numpy(), np.bool_))


def _of_array(values: Array) -> Column:
    kind = values.dtype.kind
    if np.ma.isMaskedArray(values):
        return _of_masked(values)
    if kind == "f" and len(values) and np.isnan(values[0]) and np.isnan(values).all():
        return _nothing(len(values))
    if kind in "biuf":
        return Column("numbers", values.view(np.uint8) if kind == "b" else values)
    if kind in "mM":
        return Column("moments" if kind == "M" else "durations", _seconds(values))
    if kind not in "OUT":
        return Column("something else", values)
    import pyarrow as pa

    try:
        held = pa.array(values.astype(object), from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return _of_objects(values.astype(object))
    return _of_arrow(held)


def _of_masked(values: Any) -> Column:
    """Return a masked array, whose hidden values are missing ones."""
    hidden = np.ma.getmaskarray(values)
    if values.dtype.kind not in "biuf":
        return _of_array(np.where(hidden, np.array(None, object), np.ma.getdata(values).astype(object)))
    column = _of_array(np.ma.getdata(values))
    return Column(column.kind, column.values, hidden if column.missing is None else hidden | column.missing)


def _nothing(size: int) -> Column:
    return Column("nothing", np.zeros(size), np.ones(size, np.bool_))


def _of_arrow(held: Arrow) -> Column:
    import pyarrow as pa

    held = held.combine_chunks() if isinstance(held, pa.ChunkedArray) else held
    kind = held.type.value_type if pa.types.is_dictionary(held.type) else held.type
    if pa.types.is_null(kind) or (len(held) and held.null_count == len(held)):
        return _nothing(len(held))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _of_text(held)
    if pa.types.is_dictionary(held.type):
        held = held.dictionary_decode()
    if pa.types.is_decimal(kind):
        held = held.cast(pa.float64())
    if pa.types.is_temporal(kind) and not (pa.types.is_time(kind) or pa.types.is_interval(kind)):
        return _of_array(held.to_numpy(zero_copy_only=False))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(held.type):
        return _of_numbers(held)
    return Column("something else", np.zeros(len(held)), np.asarray(held.is_null()))


def _of_text(held: Arrow) -> Column:
    """Return text as codes of the different ones."""
    import pyarrow as pa

    if pa.types.is_string_view(held.type):
        held = held.cast(pa.large_string())
    if not pa.types.is_dictionary(held.type):
        held = held.dictionary_encode()
    codes = held.indices.fill_null(-1) if pa.types.is_signed_integer(held.indices.type) else None
    if codes is None:
        codes = held.indices.cast(pa.int64()).fill_null(-1)
    return Column("text", codes.to_numpy(), texts=tuple(held.dictionary.to_pylist()))


def _of_numbers(held: Arrow) -> Column:
    """Return numbers in their own type; where one is missing is marked, and something stands in its place."""
    missing = held.is_null().to_numpy(zero_copy_only=False) if held.null_count else None
    if missing is not None:
        held = held.fill_null(False if str(held.type) == "bool" else 0)
    values = held.to_numpy(zero_copy_only=False)
    return Column("numbers", values.view(np.uint8) if values.dtype == np.bool_ else values, missing)


def _of_objects(values: Array) -> Column:
    """Return objects that Arrow has no type for: numbers of several kinds, text that is no Unicode."""
    given = [None if is_absent(value) else value for value in values.tolist()]
    present = [value for value in given if value is not None]
    if all(isinstance(value, str) for value in present):
        places: dict[str, int] = {}
        codes = [-1 if value is None else places.setdefault(value, len(places)) for value in given]
        return Column("text", np.array(codes, np.int64), texts=tuple(places))
    if all(is_number(value) or type(value).__name__ == "Decimal" for value in present):
        return Column("numbers", np.array([np.nan if value is None else _float(value) for value in given]))
    return Column("something else", np.zeros(len(given)), np.array([value is None for value in given], np.bool_))


def is_absent(value: object) -> bool:
    """Say whether one object stands for a missing value."""
    return type(value).__name__ in _ABSENT or (isinstance(value, float) and value != value)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _seconds(values: Array) -> Array:
    """Return moments as seconds since 1970, durations as seconds; NaN where there is none."""
    unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
    seconds = values.astype(unit).astype(np.int64) / 1e6
    return np.where(np.isnat(values), np.nan, seconds)
