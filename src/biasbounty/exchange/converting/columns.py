"""Columns in a graph: what a converter's step takes in and gives out, in numbers of double precision or in text.

Each column of a frame is an input of its own, named as the column; an array of numbers is one matrix. Inputs are of
type float, which is official, unless the rows hold numbers that float32 rounds. Inside the graph numbers are of double
precision, as they are inside scikit-learn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from biasbounty.arrays import Array, shown
from biasbounty.errors import ConversionError
from biasbounty.exchange.columns import Column, Kind
from biasbounty.exchange.converting.graph import Graph
from biasbounty.exchange.onnx_feeds import Table

Element: TypeAlias = Literal["float", "double", "string"]

MATRIX = "rows"
"""What the input is called when the rows are one matrix of numbers."""


@dataclass(frozen=True)
class Block:
    """Some columns side by side: a value of the graph, of shape [N, width]."""

    value: str
    element: Element
    width: int
    name: str = ""
    """The column it came from, if it is one."""
    kind: Kind = "numbers"
    none: bool = False
    """Whether missing text is None in the rows, which scikit-learn tells apart from NaN."""


Blocks: TypeAlias = tuple[Block, ...]


def take_in(graph: Graph, X: Any) -> Blocks:
    """Give the graph its inputs: one matrix for an array of numbers, one input for each column of anything else."""
    table = Table.of(X)
    if table.matrix is not None:
        element = _numeric_element([table.matrix])
        name = MATRIX if MATRIX not in table.names else f"{MATRIX}_"
        return (Block(graph.take_in(name, element, len(table.names)), element, len(table.names)),)
    given = enumerate(zip(table.names, table.columns, strict=True))
    return tuple(_column(graph, name, column, _has_none(X, place)) for place, (name, column) in given)


def _column(graph: Graph, name: str, column: Column, none: bool) -> Block:
    element: Element = "string" if column.kind == "text" else _numeric_element([column.values])
    return Block(graph.take_in(name, element, 1), element, 1, name, column.kind, none)


def _has_none(X: Any, place: int) -> bool:
    """Say whether missing text of a column is None: it always is but in numpy and pandas."""
    column = X[:, place] if isinstance(X, np.ndarray) else X.iloc[:, place] if hasattr(X, "iloc") else None
    if column is None:
        return True
    return bool(column.dtype == object and any(value is None for value in column))


def _numeric_element(arrays: Sequence[Array]) -> Element:
    """Say float if float32 holds all of the numbers, else double."""
    with np.errstate(over="ignore", invalid="ignore"):
        whole = (np.array_equal(a.astype(np.float32).astype(a.dtype), a, equal_nan=a.dtype.kind == "f") for a in arrays)
        return "float" if all(whole) else "double"


def require_kind(blocks: Blocks, text: bool, who: str) -> None:
    """Raise unless all columns are text, or all numbers."""
    for block in blocks:
        if block.kind not in ("numbers", "nothing", "text"):
            raise ConversionError(
                f"column {shown(block.name)} cannot be converted: expected numbers or text, got {block.kind}; make it "
                "a number before fitting"
            )
        if (block.element == "string") != text:
            wanted, got = ("text", "numbers") if text else ("numbers", "text")
            advice = "take text columns through an OneHotEncoder or OrdinalEncoder before it, in a pipeline around it"
            where = f" in column {shown(block.name)}" if block.name else ""
            raise ConversionError(f"{who} cannot be converted: expected {wanted}, got {got}{where}; {advice}")


def matrix(graph: Graph, blocks: Blocks, who: str, element: Element = "double") -> str:
    """Return all columns as one matrix of numbers."""
    require_kind(blocks, False, who)
    if len({block.element for block in blocks}) > 1:
        blocks = tuple(_cast(graph, block, "double") for block in blocks)
    joined = joined_block(graph, blocks)
    return _cast(graph, joined, element).value


def joined_block(graph: Graph, blocks: Blocks) -> Block:
    """Put blocks of one element type side by side."""
    if len(blocks) == 1:
        return blocks[0]
    name = graph.add("Concat", *(block.value for block in blocks), axis=1)
    return Block(name, blocks[0].element, width_of(blocks), none=any(block.none for block in blocks))


def _cast(graph: Graph, block: Block, element: Element) -> Block:
    if block.element == element:
        return block
    return Block(graph.cast(block.value, element), element, block.width, block.name)


def numbers(value: str, width: int) -> Blocks:
    """Return a value of double precision as the one block of its columns."""
    return (Block(value, "double", width),)


def width_of(blocks: Blocks) -> int:
    """Count the columns."""
    return sum(block.width for block in blocks)


def select(graph: Graph, blocks: Blocks, places: Sequence[int]) -> Blocks:
    """Return the columns at these places, in this order."""
    if list(places) == list(range(width_of(blocks))):
        return blocks
    owners = [(block, at) for block in blocks for at in range(block.width)]
    runs: list[tuple[Block, list[int]]] = []
    for block, at in (owners[place] for place in places):
        if runs and runs[-1][0] is block:
            runs[-1][1].append(at)
        else:
            runs.append((block, [at]))
    return tuple(_some_of(graph, block, places) for block, places in runs)


def singles(graph: Graph, blocks: Blocks) -> Blocks:
    """Return each column as a block of its own."""
    return tuple(_some_of(graph, block, [at]) for block in blocks for at in range(block.width))


def _some_of(graph: Graph, block: Block, places: list[int]) -> Block:
    if places == list(range(block.width)):
        return block
    name = graph.add("Gather", block.value, graph.constant(np.array(places, np.int64)), axis=1)
    return Block(name, block.element, len(places), block.name, block.kind, block.none)


def vector(graph: Graph, block: Block) -> str:
    """Return one column as a tensor of one axis."""
    return graph.add("Squeeze", block.value, graph.constant(np.array([1], np.int64)))


def as_objects(values: Any) -> Array:
    """Return values as an array of objects, as given."""
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array
