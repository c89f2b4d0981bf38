"""Rounds: a decision list as JSON. Groups and models are named by text or hash; the ledger tells who accepted them."""

from bisect import bisect_left
from typing import Any

from biasbounty.core.decision_list import Node, PointerDecisionList, UpdateNode
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.server.shapes import NodeShape, Part, Rounds


def rounds_of(listed: PointerDecisionList) -> Rounds:
    """Return the newest round of a list, with all before it."""
    heads = listed.heads
    nodes = [_node(number, node, bisect_left(heads, number)) for number, node in enumerate(listed.nodes, start=1)]
    return Rounds(round=len(heads) - 1, heads=list(heads), initial=_part(listed.initial), nodes=nodes)


def _node(number: int, node: Node, round: int) -> NodeShape:
    return NodeShape(
        number=number,
        round=round,
        kind="update" if isinstance(node, UpdateNode) else "repair",
        group=_part(node.group),
        model=_part(node.model) if isinstance(node, UpdateNode) else None,
        pointer=None if isinstance(node, UpdateNode) else node.pointer,
        hunter=node.hunter,
        note=node.note,
    )


def _part(function: Any) -> Part:
    return Part(onnx=function.digest) if isinstance(function, OnnxModel) else Part(predicate=str(function))
