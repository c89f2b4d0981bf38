"""Imputers, scalers and selectors: arithmetic on columns, in double precision as in scikit-learn."""

from typing import Any

import numpy as np

from biasbounty.arrays import Array, shown
from biasbounty.errors import ConversionError
from biasbounty.exchange.columns import is_absent
from biasbounty.exchange.converting.columns import (
    Block,
    Blocks,
    as_objects,
    matrix,
    numbers,
    require_kind,
    select,
    width_of,
)
from biasbounty.exchange.converting.graph import Graph
from biasbounty.exchange.onnx_feeds import MISSING_TEXT


def impute(graph: Graph, imputer: Any, blocks: Blocks, who: str) -> Blocks:
    """Add a fitted SimpleImputer, of numbers or text."""
    kept: list[Block] = []
    indicators: list[Block] = []
    first = 0
    flagged = set(imputer.indicator_.features_.tolist()) if imputer.indicator_ is not None else set()
    for block in blocks:
        places = range(first, first + block.width)
        fills = as_objects([imputer.statistics_[place] for place in places])
        missing = _missing(graph, block, imputer.missing_values, who)
        filled = _filled(graph, block, missing, fills)
        kept += select(graph, (filled,), [at for at, fill in enumerate(fills) if not is_absent(fill)])
        flags = Block(graph.cast(missing, "double"), "double", block.width)
        indicators += select(graph, (flags,), [at for at, place in enumerate(places) if place in flagged])
        first += block.width
    return (*kept, *indicators)


def _missing(graph: Graph, block: Block, mark: Any, who: str) -> str:
    text = block.element == "string"
    require_kind((block,), text, who)
    if not text and is_absent(mark):
        return graph.add("IsNaN", block.value)
    if isinstance(mark, str) != text and not is_absent(mark):
        raise ConversionError(
            f"{who} cannot be converted: expected a mark of missing values that is of the column's type, got "
            f"{shown(mark)}; use np.nan"
        )
    if text:
        return graph.add("Equal", block.value, graph.constant(as_objects([_marked(mark, block)])))
    return graph.add("Equal", block.value, graph.constant(np.array([mark], _dtype(block))))


def _marked(mark: Any, block: Block) -> str:
    """Return the text that an imputer replaces; one that looks for NaN leaves None as it is, and replaces nothing."""
    if not is_absent(mark):
        return str(mark)
    return MISSING_TEXT if (mark is None) == block.none else MISSING_TEXT + MISSING_TEXT


def _dtype(block: Block) -> type:
    return np.float32 if block.element == "float" else np.float64


def _filled(graph: Graph, block: Block, missing: str, fills: Array) -> Block:
    """Return the block with its missing values filled."""
    if block.element == "string":
        texts = as_objects(["" if is_absent(fill) else str(fill) for fill in fills]).reshape(1, -1)
        return Block(
            graph.add("Where", missing, graph.constant(texts), block.value), "string", block.width, none=block.none
        )
    values = graph.constant(np.array([fills], np.float64))
    given = block.value if block.element == "double" else graph.cast(block.value, "double")
    return Block(graph.add("Where", missing, values, given), "double", block.width)


def standardize(graph: Graph, scaler: Any, blocks: Blocks, who: str) -> Blocks:
    """Add a fitted StandardScaler, RobustScaler or MaxAbsScaler: subtract, then divide."""
    value = matrix(graph, blocks, who)
    robust = type(scaler).__name__ == "RobustScaler"
    center = getattr(scaler, "center_" if robust else "mean_", None)
    if center is not None and getattr(scaler, "with_mean", True):
        value = graph.add("Sub", value, graph.constant(np.asarray(center, np.float64)))
    if scaler.scale_ is not None:
        value = graph.add("Div", value, graph.constant(np.asarray(scaler.scale_, np.float64)))
    return numbers(value, width_of(blocks))


def stretch(graph: Graph, scaler: Any, blocks: Blocks, who: str) -> Blocks:
    """Add a fitted MinMaxScaler."""
    value = graph.add("Mul", matrix(graph, blocks, who), graph.constant(np.asarray(scaler.scale_, np.float64)))
    value = graph.add("Add", value, graph.constant(np.asarray(scaler.min_, np.float64)))
    if scaler.clip:
        low, high = (graph.constant(np.float64(bound)) for bound in scaler.feature_range)
        value = graph.add("Clip", value, low, high)
    return numbers(value, width_of(blocks))


def choose(graph: Graph, selector: Any, blocks: Blocks, who: str) -> Blocks:  # noqa: ARG001
    """Add a fitted selector of features."""
    return select(graph, blocks, selector.get_support(indices=True).tolist())
