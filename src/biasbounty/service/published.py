"""Published: a bounty's rounds as a decision list, rebuilt from the accepted submissions."""

import json
from typing import Any

from sqlalchemy import select

from biasbounty.core.decision_list import Node, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import Predicate, parse
from biasbounty.exchange.schema import Schema
from biasbounty.service.context import Context
from biasbounty.service.rows import INITIAL, read_schema
from biasbounty.service.submitting import TEXT
from biasbounty.store.artifacts import get, get_file
from biasbounty.store.tables import bounties, rounds, submissions


def decision_list(context: Context, bounty: str) -> PointerDecisionList:
    """Return a bounty's newest round, with all rounds before it. Hunters stand in it by their ids."""
    with context.database.read() as connection:
        row = connection.execute(select(bounties).where(bounties.c.id == bounty)).one()
        schema, initial = read_schema(row.schema), OnnxModel(get_file(connection, bounty, INITIAL))
        chosen = (
            select(submissions, rounds.c.repairs)
            .join(rounds, rounds.c.submission == submissions.c.id)
            .where(rounds.c.bounty == bounty)
            .order_by(rounds.c.number)
        )
        accepted = connection.execute(chosen).all()
        nodes: list[Node] = []
        heads, groups = [0], []
        for each in accepted:
            group = _group(get(connection, each.group_hash), each.group_kind, schema)
            groups.append((group, each.hunter, each.note))
            nodes.append(UpdateNode(group, OnnxModel(get(connection, each.model_hash)), each.hunter, each.note))
            nodes.extend(_repair(groups[place], pointer) for place, pointer in json.loads(each.repairs))
            heads.append(len(nodes))
    return PointerDecisionList(initial, tuple(nodes), tuple(heads))


def _group(data: bytes, kind: str, schema: Schema) -> Predicate | OnnxModel:
    return parse(data.decode(), schema) if kind == TEXT else OnnxModel(data)


def _repair(protected: tuple[Any, str, str], pointer: int) -> RepairNode:
    group, hunter, note = protected
    return RepairNode(group, pointer, hunter, note)
