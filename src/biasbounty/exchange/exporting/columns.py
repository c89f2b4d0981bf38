"""Columns in the graph: the inputs of the file, as predicates and the leaves look at them.

Rows without names that hold numbers only come in as one matrix `X`, all others as one tensor [N, 1] for each column:
double for numbers (moments and durations are seconds), string for text.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from biasbounty.errors import ConversionError
from biasbounty.exchange.exporting.graph import Graph, Name
from biasbounty.exchange.onnx_feeds import MISSING_TEXT, Element
from biasbounty.exchange.schema import ColumnType, Schema

MATRIX = "X"
NUMBERS: Mapping[Element, int] = {"float": 1, "double": 11, "int64": 7, "string": 8}
_WIDE = 6
"""Taking a column out of a matrix costs about as much as turning six of its columns."""


class Columns:
    """The columns of a schema, as tensors of a graph."""

    def __init__(
        self, graph: Graph, schema: Schema, asked: Iterable[int], texts: Mapping[int, tuple[str, ...]]
    ) -> None:
        self._graph, self._schema = graph, schema
        self._asked = tuple(sorted(set(asked)))
        self._texts = texts

    @cached_property
    def inputs(self) -> list[Any]:
        """The inputs of the file."""
        from onnx import helper

        if is_one_matrix(self._schema):
            shape: list[Any] = ["N", len(self._schema.columns)]
            return [helper.make_tensor_value_info(MATRIX, NUMBERS["double"], shape)]
        return [
            helper.make_tensor_value_info(column.name, NUMBERS[element_of(column)], ["N", 1])
            for column in self._schema.columns
        ]

    @cached_property
    def size(self) -> Name:
        """How many rows there are."""
        shape = self._graph.do("Shape", self.inputs[0].name)
        return self._graph.do("Gather", shape, self._graph.constant(0, np.int64))

    @cached_property
    def numbers_of_rows(self) -> Name:
        """The numbers of the rows: 0, 1, ..."""
        size = self._graph.do("Cast", self.size, to=6)
        return self._graph.do("Range", self._graph.constant(0, np.int32), size, self._graph.constant(1, np.int32))

    def column(self, place: int, element: Element = "double") -> Name:
        """Return a column as a tensor [N] of this type, as `onnx_feeds` feeds it."""
        return self._cast(self._column(place), element)

    def _column(self, place: int) -> Name:
        if not is_one_matrix(self._schema):
            return self._flat(self._schema.columns[place].name)
        if len(self._asked) * _WIDE < len(self._schema.columns):
            ends = (self._graph.constant([number], np.int64) for number in (place, place + 1, 1))
            return self._flat(self._graph.do("Slice", MATRIX, *ends))
        turned = self._graph.do("Transpose", MATRIX)
        return self._graph.do("Gather", turned, self._graph.constant(place, np.int64))

    def _flat(self, tensor: Name) -> Name:
        """Make one axis of two; a Reshape would hide its length, by which onnxruntime finds memory to use again."""
        return self._graph.do("Squeeze", tensor, self._graph.constant([1], np.int64))

    @cached_property
    def nobody(self) -> Name:
        """The mask of no row."""
        values = self.codes(0) if self._is_text(0) else self.column(0)
        return self._graph.do("Less", values, values)

    def matrix(self, element: Element) -> Name:
        """Return all columns as one tensor [N, columns] of this type."""
        if is_one_matrix(self._schema):
            return self._cast(MATRIX, element)
        columns = [self._cast(column.name, element) for column in self._schema.columns]
        return self._graph.do("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]

    def _cast(self, tensor: Name, element: Element) -> Name:
        if element in ("double", "string"):
            return tensor
        if element == "float":
            return self._graph.do("Cast", tensor, to=NUMBERS["float"])
        return self._wholes(tensor)

    def _wholes(self, tensor: Name) -> Name:
        """Cut numbers toward zero; what has no place among int64 becomes the least of them."""
        graph = self._graph
        limit, least = graph.constant(2.0**63), graph.constant(-(2.0**63))
        inside = graph.do("Less", graph.do("Abs", tensor), limit)
        return graph.do("Cast", graph.do("Where", inside, tensor, least), to=NUMBERS["int64"])

    def present(self, place: int) -> Name:
        """Return the mask of rows that hold a value in this column."""
        if self._is_text(place):
            return self._graph.do("Not", self._graph.do("Equal", self.codes(place), self._code(place, MISSING_TEXT)))
        column = self.column(place)
        return self._graph.do("Equal", column, column)

    def _is_text(self, place: int) -> bool:
        return self._schema.columns[place].kind == "text"

    def is_text(self, place: int, text: str) -> Name:
        """Return the mask of rows that hold this text."""
        return self._graph.do("Equal", self.codes(place), self._code(place, text))

    def codes(self, place: int) -> Name:
        """Return text as numbers: those that predicates name, and missing text, have one each."""
        known = self._known(place)
        return self._graph.do(
            "LabelEncoder",
            self.column(place, "string"),
            domain="ai.onnx.ml",
            keys_strings=known,
            values_int64s=range(len(known)),
            default_int64=len(known),
        )

    def _known(self, place: int) -> tuple[str, ...]:
        return (MISSING_TEXT, *self._texts.get(place, ()))

    def _code(self, place: int, text: str) -> Name:
        return self._graph.constant(self._known(place).index(text), np.int64)


def is_one_matrix(schema: Schema) -> bool:
    """Say whether rows of this schema come in as one matrix."""
    return not schema.named and all(element_of(column) == "double" for column in schema.columns)


def element_of(column: ColumnType) -> Element:
    """Return the type in which a column comes in."""
    if column.kind == "something else":
        raise ConversionError(
            f"column {column.name!r} has no place in ONNX: expected numbers, text or moments, got something else; "
            "leave it out of the rows, and of the predicates"
        )
    return "string" if column.kind == "text" else "double"
