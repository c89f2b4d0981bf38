"""Published: a bounty's rounds as a decision list, rebuilt from the accepted submissions.

While the leaderboard is hidden, whose each submission was is left out.
"""

import json
from typing import Any

from sqlalchemy import Connection, Row, or_, select

from biasbounty.core.decision_list import Node, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.errors import NotFoundError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import Predicate, parse
from biasbounty.exchange.schema import Schema
from biasbounty.service.context import Context
from biasbounty.service.rows import INITIAL, SHOWN, read_schema
from biasbounty.service.submitting import TEXT
from biasbounty.store.artifacts import get, get_file
from biasbounty.store.books import find_bounty, is_id, read_lines
from biasbounty.store.tables import files, rounds, submissions


def decision_list(context: Context, bounty: str, round: int | None = None) -> PointerDecisionList:
    """Return a round, the newest if none is given, with all rounds before it. Hunters stand in it by their ids."""
    with context.database.read() as connection:
        row = find_bounty(connection, bounty)
        newest = require_round(row, round)
        schema, initial = read_schema(row.schema), OnnxModel(get_file(connection, bounty, INITIAL))
        hidden = is_hidden(row)
        nodes: list[Node] = []
        heads, groups = [0], []
        for each in _accepted(connection, bounty, newest):
            group = read_group(get(connection, each.group_hash), each.group_kind, schema)
            whose = (group, None if hidden else each.hunter, each.note)
            groups.append(whose)
            nodes.append(UpdateNode(group, OnnxModel(get(connection, each.model_hash)), *whose[1:]))
            nodes.extend(_repair(groups[place], pointer) for place, pointer in json.loads(each.repairs))
            heads.append(len(nodes))
    return PointerDecisionList(initial, tuple(nodes), tuple(heads))


def require_round(row: Row[Any], round: int | None) -> int:
    """Return a round's number, of the newest if none is given; raise NotFoundError if there is no such round."""
    if round is not None and not 0 <= round <= row.round:
        raise NotFoundError(f"round does not exist: expected a number from 0 to {row.round}, got {round}")
    return int(row.round) if round is None else round


def is_hidden(row: Row[Any]) -> bool:
    """Say whether it is hidden, for now, who was paid what."""
    return bool(json.loads(row.settings)["hide_leaderboard"]) and row.state != "closed"


def is_shown(connection: Connection, bounty: str, digest: str) -> bool:
    """Say whether everyone may have the artifact of a hash."""
    if not is_id(digest):
        return False
    of_rounds = select(submissions.c.id).join(rounds, rounds.c.submission == submissions.c.id)
    either = or_(submissions.c.group_hash == digest, submissions.c.model_hash == digest)
    of_opening = select(files.c.role).where(files.c.bounty == bounty, files.c.role.in_(SHOWN), files.c.hash == digest)
    accepted = connection.scalar(of_rounds.where(rounds.c.bounty == bounty, either).limit(1))
    return accepted is not None or connection.scalar(of_opening.limit(1)) is not None


def entry_of_round(context: Context, bounty: str, round: int) -> bytes:
    """Return the line of the ledger that published a round."""
    chosen = select(submissions.c.verdict_entry).join(rounds, rounds.c.submission == submissions.c.id)
    where = (rounds.c.bounty == bounty, rounds.c.number == round)
    with context.database.read() as connection:
        (line,) = read_lines(connection, bounty, connection.scalar(chosen.where(*where)) or 0, 1)
    return line


def _accepted(connection: Connection, bounty: str, newest: int) -> list[Row[Any]]:
    chosen = (
        select(submissions, rounds.c.repairs)
        .join(rounds, rounds.c.submission == submissions.c.id)
        .where(rounds.c.bounty == bounty, rounds.c.number <= newest)
        .order_by(rounds.c.number)
    )
    return list(connection.execute(chosen).all())


def read_group(data: bytes, kind: str, schema: Schema) -> Predicate | OnnxModel:
    """Read a group as it was kept."""
    return parse(data.decode(), schema) if kind == TEXT else OnnxModel(data)


def _repair(protected: tuple[Any, str | None, str], pointer: int) -> RepairNode:
    group, hunter, note = protected
    return RepairNode(group, pointer, hunter, note)
