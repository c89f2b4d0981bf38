"""Leaves of an export: the groups and models of a list as what a file can hold, which is predicates and ONNX.

Fitted estimators are converted, given rows; what is neither is a ConversionError that names the node.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from biasbounty.core.decision_list import Node, PointerDecisionList, UpdateNode
from biasbounty.errors import BiasBountyError, ConversionError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import Predicate, parse
from biasbounty.exchange.schema import Schema
from biasbounty.values import RowFunction


@dataclass(frozen=True)
class Part:
    """A group or model of a list, and what it is called."""

    who: str
    function: Any


def parts_of(decision_list: PointerDecisionList) -> Iterator[Part]:
    """Yield the initial model, then each node's group and model, oldest first."""
    yield Part("initial model", decision_list.initial)
    for number, node in enumerate(decision_list.nodes, start=1):
        yield Part(f"group of node {number}", node.group)
        if isinstance(node, UpdateNode):
            yield Part(f"model of node {number}", node.model)


def as_data(decision_list: PointerDecisionList, X: Any) -> PointerDecisionList:
    """Return the list with every fitted estimator converted to ONNX; it answers as the file will."""
    initial = _as_onnx(decision_list.initial, "initial model", X)
    nodes = tuple(_node_as_data(node, number, X) for number, node in enumerate(decision_list.nodes, start=1))
    return PointerDecisionList(initial, nodes, decision_list.heads, labels=decision_list.labels)


def _node_as_data(node: Node, number: int, X: Any) -> Node:
    group = _group_as_data(node.group, f"group of node {number}", X)
    if isinstance(node, UpdateNode):
        return replace(node, group=group, model=_as_onnx(node.model, f"model of node {number}", X))
    return replace(node, group=group)


def _group_as_data(group: RowFunction, who: str, X: Any) -> Predicate | OnnxModel:
    """Return a group as a predicate, if it is one or says itself as one (a slice does), or else as ONNX."""
    if isinstance(group, Predicate):
        return group
    words = getattr(group, "words", None)
    if X is not None and isinstance(words, str):
        return parse(words, Schema.of(X, categories=False))
    return _as_onnx(group, who, X)


def _as_onnx(function: RowFunction, who: str, X: Any) -> OnnxModel:
    if isinstance(function, OnnxModel):
        return function
    if isinstance(function, Predicate):
        raise ConversionError(f"{who} is a predicate: expected a model, got {function}; only groups are predicates")
    from biasbounty.exchange.convert import is_convertible

    kind = type(function).__name__
    if not is_convertible(function):
        raise ConversionError(
            f"{who} is code: expected a predicate, ONNX or a fitted estimator, got {kind}; write a group as a "
            "predicate, and fit a model (a DummyClassifier is one constant)"
        )
    if X is None:
        raise ConversionError(
            f"{who} is a fitted estimator: expected rows to convert it by, got none; pass X=, rows like those it was "
            f"fitted on, or submit bb.to_onnx(fitted, X) in place of this {kind}"
        )
    return _converted(function, who, X)


def _converted(function: RowFunction, who: str, X: Any) -> OnnxModel:
    from biasbounty.exchange.convert import convert

    try:
        return OnnxModel(convert(function, X))
    except BiasBountyError as error:
        raise ConversionError(f"{who} cannot be converted: {error}") from error
