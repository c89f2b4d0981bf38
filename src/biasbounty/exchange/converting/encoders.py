"""Encoders: each category is looked up, then whatever the fitted encoder makes of it, in a table that it filled itself.

So dropped, infrequent and missing categories come out as the encoder has them. A category that it has not seen gets
the row of the unknown; where it was fitted to raise an error, zeros (OneHotEncoder) or NaN.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from biasbounty.arrays import Array, is_number, shown
from biasbounty.errors import ConversionError
from biasbounty.exchange.columns import is_absent
from biasbounty.exchange.converting.columns import (
    Block,
    Blocks,
    as_objects,
    joined_block,
    numbers,
    require_kind,
    singles,
    vector,
)
from biasbounty.exchange.converting.graph import Graph
from biasbounty.exchange.onnx_feeds import MISSING_TEXT


def encode(graph: Graph, encoder: Any, blocks: Blocks, who: str) -> Blocks:
    """Add a fitted OneHotEncoder, OrdinalEncoder or TargetEncoder."""
    encoded = []
    for place, (block, categories) in enumerate(zip(singles(graph, blocks), encoder.categories_, strict=True)):
        codes = code(graph, block, categories.tolist(), who)
        table = _table(encoder, place, who)
        if table.shape[1]:
            rows = graph.add("Gather", graph.constant(table), codes, axis=0)
            encoded.append(Block(rows, "double", table.shape[1]))
    joined = joined_block(graph, tuple(encoded))
    return numbers(joined.value, joined.width)


def coded(graph: Graph, block: Block, categories: Sequence[Any], who: str) -> Block:
    """Return the place of each value among the categories as a number; NaN if it is none of them."""
    places = np.array([[*range(len(categories)), np.nan]]).T
    looked_up = graph.add("Gather", graph.constant(places), code(graph, block, categories, who), axis=0)
    return Block(looked_up, "double", 1, block.name)


def code(graph: Graph, block: Block, categories: Sequence[Any], who: str) -> str:
    """Return the place of each value among the categories, their number if it is none of them: shape [N]."""
    given = [(place, value) for place, value in enumerate(categories) if not is_absent(value)]
    absent = next((place for place, value in enumerate(categories) if is_absent(value)), len(categories))
    text = any(isinstance(value, str) for _, value in given) or (not given and block.element == "string")
    if not all(isinstance(value, str) if text else is_number(value) for _, value in given):
        raise ConversionError(
            f"{who} cannot be converted: expected categories that are all text or all numbers, got "
            f"{shown(list(categories))}; make the column one or the other"
        )
    require_kind((block,), text, who)
    lookup = _code_of_text if text else _code_of_number
    return lookup(graph, block, given, absent, len(categories))


def _code_of_text(graph: Graph, block: Block, given: list[tuple[int, str]], absent: int, unknown: int) -> str:
    known = [(absent, MISSING_TEXT), *given]
    return graph.add(
        "LabelEncoder",
        vector(graph, block),
        domain="ai.onnx.ml",
        keys_strings=[text for _, text in known],
        values_int64s=[place for place, _ in known],
        default_int64=unknown,
    )


def _code_of_number(graph: Graph, block: Block, given: list[tuple[int, float]], absent: int, unknown: int) -> str:
    value = vector(graph, block)
    value = value if block.element == "float" else graph.cast(value, "float")
    if not given:  # a lookup needs something to look up
        return _where_missing(graph, value, absent, graph.constant(np.int64(unknown)))
    codes = graph.add(
        "LabelEncoder",
        value,
        domain="ai.onnx.ml",
        keys_floats=[float(np.float32(number)) for _, number in given],
        values_int64s=[place for place, _ in given],
        default_int64=unknown,
    )
    return _where_missing(graph, value, absent, codes)


def _where_missing(graph: Graph, value: str, absent: int, codes: str) -> str:
    return graph.add("Where", graph.add("IsNaN", value), graph.constant(np.int64(absent)), codes)


def _table(encoder: Any, place: int, who: str) -> Array:
    """Return what the encoder makes of each category of a column, one row for each, and last of the unknown."""
    widths = [int(width) for width in getattr(encoder, "_n_features_outs", [1] * len(encoder.categories_))]
    own = slice(sum(widths[:place]), sum(widths[: place + 1]))
    categories = encoder.categories_[place].tolist()
    rows = np.empty((len(categories), len(encoder.categories_)), object)
    rows[:] = as_objects([known[0] for known in encoder.categories_])
    rows[:, place] = as_objects(categories)
    known = _transformed(encoder, rows)[:, own]
    if known.shape[1] != widths[place]:
        raise ConversionError(
            f"{who} cannot be converted: expected {widths[place]} columns for one column, got {known.shape[1]}; use a "
            "OneHotEncoder or OrdinalEncoder"
        )
    return np.vstack([known, _unknown_row(encoder, rows, place, own, known.shape[1])])


def _unknown_row(encoder: Any, rows: Array, place: int, own: slice, width: int) -> Array:
    if getattr(encoder, "handle_unknown", None) == "error":
        return np.full((1, width), 0.0 if hasattr(encoder, "_n_features_outs") else np.nan)
    stranger = rows[:1].copy()
    text = any(isinstance(value, str) for value in encoder.categories_[place].tolist())
    stranger[0, place] = MISSING_TEXT if text else _other_than(encoder.categories_[place])
    return _transformed(encoder, stranger)[:, own]


def _other_than(categories: Array) -> float:
    present = [float(value) for value in categories.tolist() if not is_absent(value)]
    return max(present, default=0.0) + 1.0


def _transformed(encoder: Any, rows: Array) -> Array:
    """Have the encoder transform; that these rows carry no names and that one is unknown is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        made = encoder.transform(_like_fitted(encoder, rows))
    made = made.toarray() if hasattr(made, "toarray") else made
    return np.asarray(made, np.float64)


def _like_fitted(encoder: Any, rows: Array) -> Any:
    """Return the rows in the type of the categories, where all columns share one."""
    kinds = {categories.dtype.kind for categories in encoder.categories_}
    return rows.astype(encoder.categories_[0].dtype) if len(kinds) == 1 and kinds <= set("iuf") else rows
