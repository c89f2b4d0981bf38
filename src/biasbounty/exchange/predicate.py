"""Predicates: groups as text, which is data and never code.

    AGEP < 25 AND RAC1P IN (1, 2) AND NOT (SEX = 2 OR SCHL BETWEEN 16 AND 20)

A small part of SQL's WHERE: columns compared with values (= <> < <= > >= IN BETWEEN, IS NULL), AND, OR, NOT. The logic
is SQL's of three values; a row for which the text is not true is not in the group. `parse` counts tokens before
anything is parsed, has sqlglot parse them, takes only the nodes it knows, and binds these to a schema; all that is
wrong is a PredicateError, in words. Nothing of the text is ever executed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import Mask, shown
from biasbounty.errors import PredicateError
from biasbounty.exchange.columns import Column, Kind, column_at, names_of
from biasbounty.exchange.predicate_masks import mask_where
from biasbounty.exchange.predicate_terms import Term, leaves
from biasbounty.exchange.predicate_words import quoted_name
from biasbounty.exchange.schema import Schema


@dataclass(frozen=True)
class Asked:
    """A column that a predicate asks about: its name, its place in the schema, and what it holds there."""

    name: str
    place: int
    kind: Kind


@dataclass(frozen=True)
class Predicate:
    """A group as a condition on columns: called on rows it says which are in, `str()` is its canonical text."""

    term: Term
    columns: tuple[Asked, ...]
    width: int
    """How many columns the schema has."""
    named: bool
    """Whether those have names, or only places."""

    def __call__(self, X: Any) -> Mask:
        """Say of each row whether it is in the group."""
        names = names_of(X)
        by_name = self.named and not isinstance(X, np.ndarray)
        places = dict(zip(names, range(len(names)), strict=True)) if by_name else self._own_places(len(names))
        columns = {asked.name: self._column(X, asked, places.get(asked.name)) for asked in self.columns}
        return mask_where(self.term, columns, len(X))

    def _own_places(self, width: int) -> dict[str, int]:
        if width != self.width:
            raise PredicateError(
                f"rows have other columns than the schema: expected {self.width}, got {width}; hand in all of them"
            )
        return {asked.name: asked.place for asked in self.columns}

    def _column(self, X: Any, asked: Asked, place: int | None) -> Column:
        if place is None:
            raise PredicateError(
                f"rows lack a column of the predicate {shown(str(self))}: expected {quoted_name(asked.name)}, got "
                "none of that name; hand it in"
            )
        column = column_at(X, place)
        if column.kind not in (asked.kind, "nothing") and asked.kind not in ("nothing", "something else"):
            raise PredicateError(
                f"column {quoted_name(asked.name)} is of another kind than in the schema: expected {asked.kind}, got "
                f"{column.kind}; prepare all rows in the same way"
            )
        return column

    def __str__(self) -> str:
        return str(self.term)


def parse(text: str, schema: Schema) -> Predicate:
    """Read predicate text for rows of a schema; raise PredicateError, in words, for whatever is wrong with it."""
    if not isinstance(text, str):
        raise PredicateError(f"predicate is no text: expected a str, got {type(text).__name__}; write AGEP < 25, say")
    if not isinstance(schema, Schema):
        raise PredicateError(
            f"schema is none: expected a Schema, got {type(schema).__name__}; make one by Schema.of(X)"
        )
    from biasbounty.exchange.predicate_binding import verify_bound
    from biasbounty.exchange.predicate_syntax import term_of
    from biasbounty.exchange.predicate_tokens import require_small, tokens_of

    term = term_of(tokens_of(text))
    verify_bound(term, schema)
    require_small(str(term), "predicate, in its canonical form,")
    names = dict.fromkeys(leaf.subject.name for leaf in leaves(term))
    asked = (Asked(name, schema.places[name], schema.columns[schema.places[name]].kind) for name in names)
    return Predicate(term, tuple(asked), len(schema.columns), schema.named)
