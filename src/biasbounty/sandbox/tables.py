"""Tables on their way into the worker: rows as a header and arrays, and as float32, which most models take in."""

from typing import Any

import numpy as np

from biasbounty.arrays import Array
from biasbounty.exchange.columns import Column
from biasbounty.exchange.onnx_feeds import Input, Table, as_numbers, feed

_NUMERIC = {"numbers", "moments", "durations", "nothing"}


def packed(table: Table) -> tuple[dict[str, Any], tuple[Array, ...]]:
    """Return the rows as a header and arrays: as one array where they are one."""
    if table.matrix is not None:
        return {"columns": None}, (np.asarray(table.matrix),)
    forms, arrays = [], list[Array]()
    for name, column in zip(table.names, table.columns, strict=True):
        values = column.values if column.kind != "something else" else np.zeros(table.size, np.uint8)
        forms.append({"name": name, "kind": column.kind, "texts": column.texts, "missing": column.missing is not None})
        arrays += [values] if column.missing is None else [values, column.missing]
    return {"columns": forms, "size": table.size}, tuple(arrays)


def unpacked(header: dict[str, Any], arrays: tuple[Array, ...]) -> Table:
    """Return the rows again."""
    if header["columns"] is None:
        return Table.of(arrays[0])
    left = iter(arrays)
    columns = tuple(
        Column(form["kind"], next(left), next(left) if form["missing"] else None, tuple(form["texts"]))
        for form in header["columns"]
    )
    return Table(tuple(form["name"] for form in header["columns"]), columns, header["size"])


class Resident:
    """The rows that a worker keeps, with their float32 made once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._floats = _as_floats(table)

    def feed(self, inputs: tuple[Input, ...], rows: Array | None) -> dict[str, Array]:
        """Return the tensors that a model with these inputs takes in."""
        is_exact = any(one.element in ("double", "int64") for one in inputs)
        return feed(self.table if is_exact else self._floats, inputs, rows)


def _as_floats(table: Table) -> Table:
    if table.matrix is not None:
        floats = np.ascontiguousarray(as_numbers(table.matrix, "float"))
        return Table(table.names, tuple(Column("numbers", column) for column in floats.T), table.size, floats)
    columns = tuple(_float_column(column) for column in table.columns)
    is_numeric = columns and all(column.kind in _NUMERIC for column in columns)
    whole = np.column_stack([column.values for column in columns]) if is_numeric else None
    return Table(table.names, columns, table.size, whole)


def _float_column(column: Column) -> Column:
    """Return a column of numbers as float32, NaN where none is; any other as it is."""
    if column.kind not in _NUMERIC:
        return column
    values = column.values if column.missing is None else np.where(column.missing, np.nan, column.values)
    return Column(column.kind, as_numbers(values, "float"))
