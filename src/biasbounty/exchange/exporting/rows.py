"""Rows in the graph: a leaf is asked about those rows that reach it, gathered; at once, or one by one in a Scan.

What a leaf takes in is just what `onnx_feeds.feed` would hand it: columns are cast once, for all leaves and rows. In a
Scan nothing is reshaped: onnxruntime 1.30 and earlier fail where they join such a step to one of the leaf's own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.core.answers import LabelType
from biasbounty.exchange.exporting.columns import NUMBERS, Columns
from biasbounty.exchange.exporting.embed import embed
from biasbounty.exchange.exporting.graph import BOOL, Graph, Name
from biasbounty.exchange.exporting.labels import as_labels, as_mask, dtype_of, element_of
from biasbounty.exchange.onnx_feeds import Input, is_matrix
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.schema import Schema


@dataclass(frozen=True)
class Leaf:
    """A group or model in ONNX: what it is called, its graph in the opsets of the file, and whether it is row-wise."""

    who: str
    model: Any
    inputs: tuple[Input, ...]
    row_wise: bool

    @staticmethod
    def of(function: OnnxModel, model: Any, who: str) -> "Leaf":
        """Take a leaf, its model in the opsets of the file."""
        return Leaf(who, model, function.inputs, function.row_wise)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type it answers in."""
        return dtype_of(self.model.graph.output[0].type.tensor_type.elem_type)


@dataclass(frozen=True)
class Rows:
    """The columns, and how a leaf is asked about rows of them."""

    columns: Columns
    schema: Schema

    def labels(self, graph: Graph, leaf: Leaf, rows: Name, labels: LabelType) -> Name:
        """Return the labels that a model gives to some rows; `rows` are their numbers."""
        element = element_of(labels.dtype)
        return graph.where_any(
            rows,
            element,
            lambda then: self._asked(
                then,
                leaf,
                rows,
                element,
                lambda within, answers: as_labels(within, answers, leaf.dtype, labels, leaf.who),
            ),
            lambda other: other.append("Constant", [], value=_nothing(element)),
        )

    def mask(self, graph: Graph, leaf: Leaf, rows: Name, nobody: Name) -> Name:
        """Return the mask, over all rows, of those among some that are in a group."""

        def members(then: Graph) -> Name:
            answers = self._asked(
                then, leaf, rows, BOOL, lambda within, answers: as_mask(within, answers, leaf.dtype, leaf.who)
            )
            return then.do("ScatterElements", nobody, rows, answers)

        return graph.where_any(rows, BOOL, members, lambda other: other.do("Identity", nobody))

    def _asked(self, graph: Graph, leaf: Leaf, rows: Name, element: int, read: Any) -> Name:
        """Ask a leaf about rows, and read its answers."""
        feeds = self._feeds(graph, leaf, rows)
        if leaf.row_wise:
            standing = [each.name for each in leaf.inputs if each.rank == 2 and not self._is_matrix(leaf)]
            feeds |= {name: _shaped(graph, feeds[name], [-1, 1]) for name in standing}
            answers = read(graph, embed(graph, leaf.model, feeds))
        else:
            answers = self._one_by_one(graph, leaf, feeds, element, read)
        return graph.append("Reshape", [answers, graph.constant([-1], np.int64)])

    def _shape(self, leaf: Leaf, each: Input) -> list[int]:
        """Return the shape of an input, less its first axis."""
        if self._is_matrix(leaf):
            return [len(self.schema.columns)]
        return [1] * (each.rank - 1)

    def _is_matrix(self, leaf: Leaf) -> bool:
        return is_matrix(leaf.inputs, tuple(column.name for column in self.schema.columns))

    def _feeds(self, graph: Graph, leaf: Leaf, rows: Name) -> dict[str, Name]:
        """Return the rows' part of each input: of a matrix [rows, columns], of a column [rows]."""
        if self._is_matrix(leaf):
            whole = self.columns.matrix(leaf.inputs[0].element)
            return {leaf.inputs[0].name: graph.do("Gather", whole, rows)}
        places = self.schema.places
        return {
            each.name: graph.do("GatherElements", self.columns.column(places[each.name], each.element), rows)
            for each in leaf.inputs
        }

    def _one_by_one(self, graph: Graph, leaf: Leaf, feeds: dict[str, Name], element: int, read: Any) -> Name:
        """Ask a leaf about each row alone, as a table of one row."""
        from onnx import helper

        body, inputs, outside = graph.inner(), {}, []
        for each in leaf.inputs:
            shape = [1, *self._shape(leaf, each)]
            inputs[each.name] = helper.make_tensor_value_info(body.fresh(), NUMBERS[each.element], shape)
            outside.append(_shaped(graph, feeds[each.name], [-1, *shape]))
        answer = read(body, embed(body, leaf.model, {name: given.name for name, given in inputs.items()}))
        alone = body.append("Flatten", [answer], axis=0)
        return graph.append(
            "Scan",
            outside,
            body=body.subgraph(alone, element, [1, 1], list(inputs.values())),
            num_scan_inputs=len(inputs),
        )


def _shaped(graph: Graph, tensor: Name, shape: list[int]) -> Name:
    return graph.do("Reshape", tensor, graph.constant(shape, np.int64))


def _nothing(element: int) -> Any:
    from onnx import helper

    return helper.make_tensor("", element, [0], [])
