"""Masks in the graph: a predicate as operations on columns, which mean just what `predicate_masks` means.

NOT is carried to the leaves, as there: a condition says where it is true, or where it is false, and of a missing value
says neither.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from biasbounty.exchange.exporting.columns import Columns
from biasbounty.exchange.exporting.graph import Graph, Name
from biasbounty.exchange.exporting.texts import pattern_below
from biasbounty.exchange.predicate_masks import CONTRARY, fitted_to_floats
from biasbounty.exchange.predicate_terms import Absent, All, Among, Between, Comparison, Not, Some, Term

Places = Mapping[str, int]


class Masks:
    """Writes predicates into a graph."""

    def __init__(self, graph: Graph, columns: Columns, is_text: Iterable[bool]) -> None:
        self._graph, self._columns, self._is_text = graph, columns, tuple(is_text)

    def where(self, term: Term, places: Places, *, wanted: bool = True) -> Name:
        """Return where a term is true, or where it is false."""
        match term:
            case Not(inner):
                return self.where(inner, places, wanted=not wanted)
            case All(terms) | Some(terms):
                masks = [self.where(one, places, wanted=wanted) for one in terms]
                return self._graph.joined("And" if isinstance(term, All) == wanted else "Or", masks)
            case Between(subject, low, high):
                ends = All((Comparison(subject, ">=", low), Comparison(subject, "<=", high)))
                return self.where(ends, places, wanted=wanted)
            case Absent(subject):
                present = self._columns.present(places[subject.name])
                return self._graph.do("Not", present) if wanted else present
            case Among(subject, values):
                return self._among(places[subject.name], values, wanted=wanted)
        return self._compared(places[term.subject.name], term.sign if wanted else CONTRARY[term.sign], term.value)

    def _among(self, place: int, values: tuple[Any, ...], *, wanted: bool) -> Name:
        equal = self._graph.joined("Or", [self._compared(place, "=", value) for value in values])
        if wanted:
            return equal
        return self._graph.do("And", self._graph.do("Not", equal), self._columns.present(place))

    def _compared(self, place: int, sign: str, value: Any) -> Name:
        return self._text(place, sign, value) if self._is_text[place] else self._number(place, sign, value)

    def _number(self, place: int, sign: str, value: Any) -> Name:
        fitted = fitted_to_floats(sign, value, np.dtype(np.float64))
        if isinstance(fitted, bool):
            present = self._columns.present(place)
            return present if fitted else self._graph.do("Xor", present, present)
        return self._graph.compared(fitted[0], self._columns.column(place), self._graph.constant(fitted[1]))

    def _text(self, place: int, sign: str, text: str) -> Name:
        """Compare text by its code points: what comes before a text is told by a regular expression."""
        graph, columns = self._graph, self._columns
        equal = columns.is_text(place, text)
        if sign == "=":
            return equal
        found = equal
        if sign != "<>":
            below = graph.do("RegexFullMatch", columns.column(place, "string"), pattern=pattern_below(text))
            found = below if sign in ("<", ">=") else graph.do("Or", below, equal)
        if sign in (">=", ">", "<>"):
            found = graph.do("Not", found)
        return graph.do("And", found, columns.present(place))
