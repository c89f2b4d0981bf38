"""Feeds: rows as the tensors that an ONNX model takes in.

A model has either one input for each column, named as the column and of shape [N, 1] or [N] (any of the columns), or
one matrix [N, columns]. Numbers are read as float64 and cast to the input's type; a missing number is NaN, and in an
int64 input the least integer, as is any number beyond the range. Missing text is MISSING_TEXT.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from biasbounty.arrays import Array
from biasbounty.core.rows import Ids
from biasbounty.errors import RefusedError
from biasbounty.exchange.columns import Column, columns_of, names_of

Element: TypeAlias = Literal["float", "double", "int64", "string"]

MISSING_TEXT = "\ufdd0"
"""Unicode keeps this code point free for uses like this one: no text holds it."""

ELEMENTS: Mapping[int, Element] = {1: "float", 11: "double", 7: "int64", 8: "string"}
"""The element types an input may have, by their numbers in ONNX."""

_NUMERIC = {"numbers", "moments", "durations", "nothing"}
_LIMIT = 2.0**63


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as columns."""

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    size: int
    matrix: Array | None = None
    """The rows themselves, where they are an array of numbers."""

    @staticmethod
    def of(X: Any) -> "Table":
        """Read rows of any kind."""
        whole = X if isinstance(X, np.ndarray) and X.dtype.kind in "biuf" and not np.ma.isMaskedArray(X) else None
        return Table(names_of(X), tuple(columns_of(X)), len(X), whole)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each column, by its name."""
        return {name: place for place, name in enumerate(self.names)}


@dataclass(frozen=True)
class Input:
    """One input of a model: its name, element type, number of axes, and length along the second."""

    name: str
    element: Element
    rank: int
    width: int | None = None


def inputs_of(model: Any) -> tuple[Input, ...]:
    """Read the inputs of an audited model: all that are no initializers."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    return tuple(_input_of(value) for value in model.graph.input if value.name not in initialized)


def _input_of(value: Any) -> Input:
    tensor = value.type.tensor_type
    dims = tensor.shape.dim
    width = dims[1].dim_value if len(dims) > 1 and dims[1].HasField("dim_value") else None
    element = ELEMENTS.get(tensor.elem_type)
    if element is None or not 1 <= len(dims) <= 2:
        raise RefusedError([f"input {value.name!r} is no column and no matrix: expected [N], [N, 1] or [N, columns]"])
    return Input(value.name, element, len(dims), width)


def is_matrix(inputs: tuple[Input, ...], names: tuple[str, ...]) -> bool:
    """Say whether these inputs are one matrix of all columns, rather than columns by name."""
    return len(inputs) == 1 and inputs[0].rank == 2 and inputs[0].name not in names


def feed(table: Table, inputs: tuple[Input, ...], rows: Ids | None = None) -> dict[str, Array]:
    """Return the tensors that a model with these inputs takes in for the rows, or for some of them."""
    if is_matrix(inputs, table.names):
        return {inputs[0].name: _matrix(table, inputs[0], rows)}
    return {each.name: _column(table, each, rows) for each in inputs}


def _matrix(table: Table, wanted: Input, rows: Ids | None) -> Array:
    if wanted.width not in (None, len(table.names)):
        expected = f"expected {len(table.names)} columns, got {wanted.width}"
        raise RefusedError([f"input {wanted.name!r} fits no column and no matrix: {expected}"])
    if table.matrix is not None and wanted.element != "string":
        return np.ascontiguousarray(as_numbers(_some(table.matrix, rows), wanted.element))
    columns = [_tensor(column, name, wanted, rows) for name, column in zip(table.names, table.columns, strict=True)]
    return np.column_stack(columns) if columns else np.empty((table.size if rows is None else len(rows), 0), np.float32)


def _column(table: Table, wanted: Input, rows: Ids | None) -> Array:
    place = table.places.get(wanted.name)
    if place is None:
        raise RefusedError([f"input {wanted.name!r} names no column: expected one of {', '.join(table.names)}"])
    tensor = _tensor(table.columns[place], wanted.name, wanted, rows)
    return tensor if wanted.rank == 1 else tensor[:, np.newaxis]


def _tensor(column: Column, name: str, wanted: Input, rows: Ids | None) -> Array:
    """Return one column as a tensor of one axis."""
    if wanted.element == "string":
        if column.kind not in ("text", "nothing"):
            raise RefusedError(
                [f"input {wanted.name!r} is of another type: expected numbers, as {name!r} holds, got text"]
            )
        return _texts(column, rows)
    if column.kind not in _NUMERIC:
        raise RefusedError([f"input {wanted.name!r} is of another type: expected text, as {name!r} holds, got numbers"])
    values = _some(column.values, rows)
    if column.missing is not None:
        values = np.where(_some(column.missing, rows), np.nan, values)
    return as_numbers(values, wanted.element)


def _some(values: Array, rows: Ids | None) -> Array:
    return values if rows is None else values[rows]


def as_numbers(values: Array, element: Element) -> Array:
    """Cast numbers as an input's type says, by way of float64."""
    if values.dtype.itemsize > 4 or element == "int64":
        values = values.astype(np.float64, copy=False)
    if element != "int64":
        with np.errstate(over="ignore"):
            return values.astype(np.float32 if element == "float" else np.float64, copy=False)
    inside = np.abs(values) < _LIMIT
    return np.where(inside, np.where(inside, values, 0.0).astype(np.int64), np.int64(-(2**63)))


def _texts(column: Column, rows: Ids | None) -> Array:
    if column.kind == "nothing":
        return np.full(len(column.values) if rows is None else len(rows), MISSING_TEXT, object)
    known = np.empty(len(column.texts) + 1, object)
    known[:] = [*(MISSING_TEXT if text is None else text for text in column.texts), MISSING_TEXT]
    texts: Array = known[_some(column.values, rows).astype(np.intp)]
    return texts
