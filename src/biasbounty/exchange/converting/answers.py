"""Answers in a graph: scores become labels of the type that the fitted model has, numbers stay numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import shown
from biasbounty.errors import ConversionError
from biasbounty.exchange.converting.graph import Graph

_ELEMENTS = {"b": "bool", "i": "int64", "u": "int64", "f": "double", "U": "string"}


@dataclass(frozen=True)
class Answer:
    """What a graph answers: a value of shape [N] or [N, 1], and its element type."""

    value: str
    element: str
    rank: int


def largest(graph: Graph, scores: str, classes: Any) -> Answer:
    """Answer the class of the largest score, the first of them where several are."""
    return label(graph, graph.add("ArgMax", scores, axis=1, keepdims=0), classes, 1)


def above(graph: Graph, score: str, classes: Any, op: str = "Greater", bound: float = 0.0) -> Answer:
    """Answer the second class where the one score, of shape [N, 1], is above the bound, else the first."""
    place = graph.cast(graph.add(op, score, graph.constant(np.float64(bound))), "int64")
    return label(graph, place, classes, 2)


def by_scores(graph: Graph, scores: str, classes: Any) -> Answer:
    """Answer by margins: one for two classes, else one for each."""
    return above(graph, scores, classes) if len(classes) == 2 else largest(graph, scores, classes)


def label(graph: Graph, place: str, classes: Any, rank: int) -> Answer:
    """Answer the class at a place."""
    classes = np.asarray(classes)
    if classes.dtype.kind == "O" and all(isinstance(each, str) for each in classes.tolist()):
        classes = classes.astype(str)
    element = _ELEMENTS.get(classes.dtype.kind)
    if element is None or classes.ndim != 1:
        raise ConversionError(
            f"model has labels of an unknown type: expected numbers, booleans or text, got {shown(classes.tolist())}; "
            "fit it on such labels"
        )
    known = (
        classes.astype(np.int64)
        if element == "int64"
        else classes.astype(np.float64)
        if element == "double"
        else classes
    )
    return Answer(graph.add("Gather", graph.constant(known), place, axis=0), element, rank)


def number(value: str) -> Answer:
    """Answer a number of double precision, of shape [N, 1]."""
    return Answer(value, "double", 2)
