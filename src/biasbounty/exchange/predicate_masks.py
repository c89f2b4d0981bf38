"""Masks: a term asked of columns, in SQL's logic of three values; where the answer is not true, the row is not in.

NOT is first carried to the leaves, each of which then says where it is *true* (or, under a NOT, where it is *false*).
Of a value that is missing it says neither, so no third value is ever kept: AND and OR of such masks are exact. Values
are fitted to the column's type beforehand, so that every comparison is exact and in the type of the column. Rows are
asked in blocks that stay in the cache.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from biasbounty.arrays import Array, Mask
from biasbounty.exchange.columns import Column
from biasbounty.exchange.predicate_terms import Absent, All, Among, Between, Comparison, Not, Some, Term

Question: TypeAlias = Callable[[slice], Mask]
"""Says which rows of a block are in; the answer is a new array."""
Fitted: TypeAlias = tuple[str, Any] | bool
"""A sign and a value of the column's own type, or what the comparison says of every value."""

BLOCK = 1 << 15
FEW = 8
"""So many values are compared one by one."""
CONTRARY = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_UFUNCS: dict[str, Any] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def mask_where(term: Term, columns: Mapping[str, Column], size: int) -> Mask:
    """Return where the term is true."""
    question = _question(term, columns, wanted=True)
    mask = np.empty(size, np.bool_)
    for start in range(0, size, BLOCK):
        block = slice(start, min(start + BLOCK, size))
        mask[block] = question(block)
    return mask


def _question(term: Term, columns: Mapping[str, Column], *, wanted: bool) -> Question:
    """Return the question where a term is true, or where it is false."""
    match term:
        case Not(inner):
            return _question(inner, columns, wanted=not wanted)
        case All(terms) | Some(terms):
            parts = [_question(one, columns, wanted=wanted) for one in terms]
            return _joined(np.logical_and if isinstance(term, All) == wanted else np.logical_or, parts)
        case Between(subject, low, high):
            ends = All((Comparison(subject, ">=", low), Comparison(subject, "<=", high)))
            return _question(ends, columns, wanted=wanted)
    return _leaf(term, columns[term.subject.name], wanted=wanted)


def _joined(join: Any, parts: list[Question]) -> Question:
    def ask(block: slice) -> Mask:
        mask = parts[0](block)
        for part in parts[1:]:
            join(mask, part(block), out=mask)
        return mask

    return ask


def _leaf(leaf: Comparison | Among | Absent, column: Column, *, wanted: bool) -> Question:
    if isinstance(leaf, Absent):
        present = _present(column)
        return present if not wanted else lambda block: ~present(block)
    if column.kind == "nothing":
        return _never
    if column.kind == "text":
        return _of_text(leaf, column, wanted=wanted)
    if isinstance(leaf, Among):
        return _among(leaf.values, column, wanted=wanted)
    return _compared(leaf.sign if wanted else CONTRARY[leaf.sign], leaf.value, column)


def _never(block: slice) -> Mask:
    return np.zeros(block.stop - block.start, np.bool_)


def _present(column: Column) -> Question:
    """Return the question where there is a value."""
    values, missing = column.values, column.missing
    if column.kind == "text":
        return _by_code(column, [text is not None for text in column.texts])
    if missing is not None and values.dtype.kind == "f":
        return lambda block: ~(missing[block] | np.isnan(values[block]))
    if missing is not None:
        return lambda block: ~missing[block]
    if values.dtype.kind == "f":
        return lambda block: ~np.isnan(values[block])
    return lambda block: np.ones(block.stop - block.start, np.bool_)


def _by_code(column: Column, answers: list[bool]) -> Question:
    """Return the question that answers alike wherever the text is the same, and no where there is none."""
    table, codes = np.array([*answers, False], np.bool_), column.values
    return lambda block: table[codes[block]]


def _of_text(leaf: Comparison | Among, column: Column, *, wanted: bool) -> Question:
    """Ask the different texts; they are ordered by their code points."""
    if isinstance(leaf, Among):
        among = frozenset(leaf.values)
        return _by_code(column, [text is not None and (text in among) == wanted for text in column.texts])
    compare, value = _COMPARE[leaf.sign], leaf.value
    return _by_code(column, [text is not None and compare(text, value) == wanted for text in column.texts])


def _compared(sign: str, value: Any, column: Column) -> Question:
    """Ask numbers; NaN meets no comparison but <>, where it is left out."""
    fitted = _fitted(sign, value, column.values.dtype)
    if isinstance(fitted, bool):
        return _present(column) if fitted else _never
    values, missing = column.values, column.missing
    compare, bound = _UFUNCS[fitted[0]], fitted[1]
    if missing is None and not (fitted[0] == "<>" and values.dtype.kind == "f"):
        return lambda block: compare(values[block], bound)
    present = _present(column)

    def ask(block: slice) -> Mask:
        mask: Mask = compare(values[block], bound)
        mask &= present(block)
        return mask

    return ask


def _among(values: tuple[Any, ...], column: Column, *, wanted: bool) -> Question:
    fitted = [_fitted("=", value, column.values.dtype) for value in values]
    held = np.array([one[1] for one in fitted if not isinstance(one, bool)], column.values.dtype)
    present = _present(column)
    if not len(held):
        return _never if wanted else present

    def ask(block: slice) -> Mask:
        mask = _is_among(column.values[block], held)
        if not wanted:
            np.logical_not(mask, out=mask)
        if not wanted or column.missing is not None:
            mask &= present(block)
        return mask

    return ask


def _is_among(values: Array, held: Array) -> Mask:
    """Say which values are among some that are in order."""
    if len(held) > FEW:
        places = np.minimum(np.searchsorted(held, values), len(held) - 1)
        return np.asarray(held[places] == values)
    mask: Mask = values == held[0]
    for one in held[1:]:
        mask |= values == one
    return mask


def _fitted(sign: str, value: Any, dtype: np.dtype[Any]) -> Fitted:
    """Say a comparison in the column's own type, where it is exact."""
    return fitted_to_floats(sign, value, dtype) if dtype.kind == "f" else _fitted_to_wholes(sign, value, dtype)


def fitted_to_floats(sign: str, value: Any, dtype: np.dtype[Any]) -> Fitted:
    """Compare with the nearest number of this type; where that is another number, no value lies between the two."""
    with np.errstate(over="ignore"):
        near = dtype.type(float(value))
    exact = float(near)
    if exact == value:
        return sign, near
    if sign in ("=", "<>"):
        return sign == "<>"
    below = sign in ("<", "<=")
    if exact > value:
        return ("<" if below else ">="), near
    return ("<=" if below else ">"), near


def _fitted_to_wholes(sign: str, value: Any, dtype: np.dtype[Any]) -> Fitted:
    """Compare with a whole number that this type holds; what lies beyond all of them decides alone."""
    if value != int(value):
        if sign in ("=", "<>"):
            return sign == "<>"
        sign, value = ("<=", math.floor(value)) if sign in ("<", "<=") else (">=", math.ceil(value))
    value, limits = int(value), np.iinfo(dtype)
    if value > limits.max:
        return sign in ("<", "<=", "<>")
    if value < limits.min:
        return sign in (">", ">=", "<>")
    return sign, dtype.type(value)
