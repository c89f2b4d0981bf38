"""Arrays: whatever groups, models and organizers hand over as answers or labels, as plain numpy arrays.

Lists, pandas and polars series, masked arrays and arrays of objects all come in here. Numbers in disguise become
numbers; what is missing stays visibly missing (None or NaN in an array of objects) and never turns into a label.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]

MOST_WORDS = 300
"""A message shows at most so many characters of what a stranger handed over."""

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def as_array(values: Any) -> Array:
    """Return the values as an array; objects that are all numbers become numbers."""
    if type(values).__module__.startswith("polars.series"):
        values = _from_polars(values)
    if np.ma.isMaskedArray(values):
        values = np.where(np.ma.getmaskarray(values), np.array(None, object), np.ma.getdata(values).astype(object))
    array = np.asarray(values, object) if isinstance(values, (list, tuple)) else np.asarray(values)
    if array.dtype.kind != "O" or array.ndim != 1:
        return np.asarray(values) if isinstance(values, (list, tuple)) and array.ndim != 1 else array
    exact = [_exact(value) for value in array.tolist()]
    if exact and all(map(is_number, exact)):
        return np.array(exact)
    array = np.empty(len(exact), object)
    array[:] = exact
    return array


_EXACT: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
)


def _exact(value: Any) -> Any:
    """Return what is a number or text at heart as just that: no methods of a stranger's are left to be called."""
    if value is None or type(value) in (str, bool, int, float):
        return value
    for kind, take in _EXACT:
        if isinstance(value, kind):
            return take(value)
    return value


def _from_polars(series: Any) -> Any:
    """Unpack booleans, which polars keeps as bits, from Arrow: ten times as fast as by way of the series."""
    bits = series.to_arrow()
    if str(bits.type) != "bool" or bits.null_count or not len(bits):
        return series
    buffer = np.frombuffer(bits.buffers()[1], np.uint8)
    return np.unpackbits(buffer, bitorder="little", count=bits.offset + len(bits))[bits.offset :].view(np.bool_)


def is_number(value: object) -> bool:
    """Say whether one object is a real number or a boolean."""
    return isinstance(value, _NUMBERS)


def is_text(array: Array) -> bool:
    """Say whether an array holds text, or objects that ought to be."""
    return array.dtype.kind in "UTO"


def as_text(array: Array) -> Array:
    """Return text of any kind as an array of plain strings, as wide as it needs."""
    return array if array.dtype.kind == "U" else np.array(array.tolist(), dtype=str)


def is_missing(array: Array) -> Mask:
    """Mark what is NaN, and among text whatever is not text."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "OT":
        return np.fromiter((not isinstance(value, str) for value in array), np.bool_, len(array))
    return np.zeros(len(array), np.bool_)


def plain(value: Any) -> Any:
    """Return a numpy scalar as the Python value that it holds."""
    return value.item() if isinstance(value, np.generic) else value


def shown(value: Any, write: Callable[[Any], str] = repr) -> str:
    """Return a stranger's value as a message shows it: in few words, and without trusting it to have any."""
    try:
        words = write(plain(value)).strip()
    except Exception:
        return f"a {type(value).__name__} without words"
    return words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]}..."
