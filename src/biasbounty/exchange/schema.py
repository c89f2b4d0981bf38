"""Schema: which columns rows have, what each holds, and which texts are known in it.

A schema is not secret: predicates are bound to it, and what is wrong with them is said in its words. So texts may only
come from rows that may be shown; of rows that may not, `Schema.of(X, categories=False)` tells names and kinds alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from biasbounty.exchange.columns import Column, Kind, columns_of, names_of

MOST_CATEGORIES = 1000
"""A column of more different texts than this is free text: any text may be asked for."""


@dataclass(frozen=True)
class ColumnType:
    """One column: its name, what it holds, and the texts known in it, if these are known."""

    name: str
    kind: Kind
    categories: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Schema:
    """The columns of some rows.

    `Schema.of(X)` reads it off an array, whose columns are x0, x1 and so on, or a frame of pandas, polars or Arrow.
    """

    columns: tuple[ColumnType, ...]
    named: bool = True
    """Whether the columns have names, or only places."""

    @staticmethod
    def of(X: Any, *, categories: bool = True) -> "Schema":
        """Read the schema off rows; with `categories=False` names and kinds alone, nothing of the values."""
        names = names_of(X)
        columns = (_type_of(name, column, categories) for name, column in zip(names, columns_of(X), strict=True))
        return Schema(tuple(columns), not isinstance(X, np.ndarray))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each column, by its name."""
        return {column.name: place for place, column in enumerate(self.columns)}


def _type_of(name: str, column: Column, categories: bool) -> ColumnType:
    if column.kind != "text" or not categories:
        return ColumnType(name, column.kind)
    held = np.flatnonzero(np.bincount(column.values.astype(np.int64) + 1, minlength=1)[1:])
    known = sorted({text for code in held.tolist() if (text := column.texts[code]) is not None})
    return ColumnType(name, column.kind, tuple(known) if len(known) <= MOST_CATEGORIES else None)
