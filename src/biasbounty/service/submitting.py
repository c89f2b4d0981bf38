"""Submitting: a submission is read, kept and written in the ledger before it is acknowledged.

What is malformed is refused at once, in words, and nothing changes. The ledger has an id and a commitment, not what
was handed in: others' submissions are nobody's business until they are accepted.
"""

import secrets as random
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from biasbounty.errors import ConflictError, QuotaError, ServiceError
from biasbounty.exchange.onnx_audit import audit
from biasbounty.exchange.predicate import parse
from biasbounty.exchange.schema import Schema
from biasbounty.given import require_words
from biasbounty.service.context import Context
from biasbounty.service.rows import read_schema
from biasbounty.store.artifacts import put
from biasbounty.store.books import head_of, lock, pen_for, write_entry
from biasbounty.store.tables import bounties, hunters, submissions

TEXT, ONNX = "predicate", "onnx"


@dataclass(frozen=True)
class Handed:
    """What a hunter hands in."""

    group: str | bytes
    """Predicate text, or ONNX."""
    model: bytes
    note: str = ""
    key: str = ""
    """Any text of the hunter's own: handed in twice with the same key, it is one submission."""


@dataclass(frozen=True)
class Receipt:
    """What a hunter gets for it: its place, and where the ledger says so."""

    submission: str
    bounty: str
    place: int
    entry: int
    head: str
    """The hash of that entry. A ledger that does not go through it was rewritten."""


def submit(context: Context, bounty: str, hunter: str, handed: Handed) -> Receipt:
    """Take a submission; once this returns it is on disk, and will be judged in its place."""
    with context.database.read() as connection:
        schema = read_schema(_bounty(connection, bounty).schema)
    group = read_handed(handed, schema)
    key = handed.key or random.token_hex(16)
    with context.database.write() as connection:
        row = lock(connection, bounty)
        earlier = _by_key(connection, bounty, hunter, key)
        if earlier is not None:
            return _same(connection, earlier, handed, group)
        _require_open(row, context.now())
        _require_quota(connection, row, hunter, context.now())
        return _keep(connection, context, row, hunter, handed, group, key)


def read_handed(handed: Handed, schema: Schema) -> bytes:
    """Return the group as the bytes to keep; raise a SubmissionError for whatever is malformed."""
    require_words(handed.note, "note")
    if not isinstance(handed.key, str) or len(handed.key) > 200:
        raise ServiceError("key is too long: expected text of at most 200 characters; use one for each submission")
    audit(handed.model, schema)
    if isinstance(handed.group, str):
        return str(parse(handed.group, schema)).encode()
    audit(handed.group, schema)
    return handed.group


def _bounty(connection: Connection, bounty: str) -> Row[Any]:
    from biasbounty.errors import NotFoundError

    row = connection.execute(select(bounties).where(bounties.c.id == bounty)).one_or_none()
    if row is None:
        raise NotFoundError(f"bounty does not exist: expected the id of one, got {bounty!r:.80}")
    return row


def _by_key(connection: Connection, bounty: str, hunter: str, key: str) -> Row[Any] | None:
    where = (submissions.c.bounty == bounty, submissions.c.hunter == hunter, submissions.c.key == key)
    return connection.execute(select(submissions).where(*where)).one_or_none()


def _same(connection: Connection, earlier: Row[Any], handed: Handed, group: bytes) -> Receipt:
    """Return the receipt of what was handed in before under this key; another thing under the key is a conflict."""
    kept = (earlier.group_hash, earlier.model_hash)
    if (put(connection, group), put(connection, handed.model)) != kept:
        raise ConflictError("key was used before for another submission: expected the same again; use a new key")
    return receipt_of(connection, earlier)


def receipt_of(connection: Connection, row: Row[Any]) -> Receipt:
    """Return the receipt of a submission that was kept."""
    from biasbounty.ledger.entries import read_line
    from biasbounty.store.books import read_lines

    (text,) = read_lines(connection, row.bounty, row.entry, 1)
    return Receipt(row.id, row.bounty, row.place, row.entry, read_line(text).entry.hash)


def _require_open(row: Row[Any], now: str) -> None:
    import json

    closes = json.loads(row.settings)["closes"]
    if row.state != "open" or (closes and now >= closes):
        state = row.state if row.state != "open" else "closed"
        raise ConflictError(f"bounty is {state}: expected an open one; nothing was taken")


def _require_quota(connection: Connection, row: Row[Any], hunter: str, now: str) -> None:
    """Raise once a hunter, or the team, has handed in enough today; what failed for our reasons does not count."""
    import json

    quota = json.loads(row.settings)["quota"]
    team = connection.scalar(select(hunters.c.team).where(hunters.c.id == hunter))
    who = [hunter] if team is None else list(connection.scalars(select(hunters.c.id).where(hunters.c.team == team)))
    today = select(func.count()).where(
        submissions.c.bounty == row.id,
        submissions.c.hunter.in_(who),
        submissions.c.received >= now[:10],
        submissions.c.state != "failed",
    )
    if (connection.scalar(today) or 0) >= quota:
        raise QuotaError(f"quota is used up: expected at most {quota} submissions a day; come again tomorrow (UTC)")


def _keep(
    connection: Connection, context: Context, row: Row[Any], hunter: str, handed: Handed, group: bytes, key: str
) -> Receipt:
    pen, submission = pen_for(connection, row.id, context.now()), random.token_hex(8)
    place, hashes = row.received, (put(connection, group), put(connection, handed.model))
    hidden = {"group": hashes[0], "model": hashes[1], "note": handed.note}
    body = {"submission": submission, "place": place, "hunter": hunter}
    line = write_entry(connection, pen, head_of(row), "received", body, hidden)
    connection.execute(bounties.update().where(bounties.c.id == row.id).values(received=place + 1))
    connection.execute(
        submissions.insert().values(
            id=submission,
            bounty=row.id,
            place=place,
            hunter=hunter,
            key=key,
            state="received",
            received=pen.now,
            group_kind=TEXT if isinstance(handed.group, str) else ONNX,
            group_hash=hashes[0],
            model_hash=hashes[1],
            note=handed.note,
            entry=line.entry.number,
            attempts=0,
        )
    )
    return Receipt(submission, row.id, place, line.entry.number, line.entry.hash)
