"""Submitting: a submission is read, kept and written in the ledger before it is acknowledged.

What is malformed is refused at once, in words, and nothing changes. The ledger has an id and a commitment, not what
was handed in: others' submissions are nobody's business until they are accepted.
"""

import hmac
import json
import secrets
from dataclasses import dataclass
from hashlib import sha256
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
from biasbounty.store.books import find_bounty, head_of, is_id, lock, pen_for, write_entry
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

    @property
    def kind(self) -> str:
        """What kind of group it is."""
        return TEXT if isinstance(self.group, str) else ONNX


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
        schema = read_schema(find_bounty(connection, bounty).schema)
    group = read_handed(handed, schema)
    key = handed.key or secrets.token_hex(16)
    with context.database.write() as connection:
        row = lock(connection, bounty)
        earlier = _by_key(connection, bounty, hunter, key)
        if earlier is not None:
            return _same(earlier, handed, group)
        now = context.now()
        _require_open(row, now)
        _require_quota(connection, row, hunter, now)
        return _keep(connection, row, _Kept(hunter, handed, group, key, now))


def read_handed(handed: Handed, schema: Schema) -> bytes:
    """Return the group as the bytes to keep; raise a SubmissionError for whatever is malformed."""
    require_words(handed.note, "note")
    if not (isinstance(handed.key, str) and is_id(handed.key)):
        raise ServiceError(
            "key cannot be kept: expected at most 200 printable ASCII characters; use another one for each submission"
        )
    audit(handed.model, schema)
    if isinstance(handed.group, str):
        return str(parse(handed.group, schema)).encode()
    audit(handed.group, schema)
    return handed.group


def _by_key(connection: Connection, bounty: str, hunter: str, key: str) -> Row[Any] | None:
    where = (submissions.c.bounty == bounty, submissions.c.hunter == hunter, submissions.c.key == key)
    return connection.execute(select(submissions).where(*where)).one_or_none()


def _same(earlier: Row[Any], handed: Handed, group: bytes) -> Receipt:
    """Return the receipt of what was handed in before under this key; another thing under the key is a conflict."""
    given = (sha256(group).hexdigest(), sha256(handed.model).hexdigest())
    if given != (earlier.group_hash, earlier.model_hash):
        raise ConflictError("key was used before for another submission: expected the same again; use a new key")
    return receipt_of(earlier)


def receipt_of(row: Row[Any]) -> Receipt:
    """Return the receipt of a submission that was kept."""
    return Receipt(row.id, row.bounty, row.place, row.entry, row.entry_hash)


def _require_open(row: Row[Any], now: str) -> None:
    closes = json.loads(row.settings)["closes"]
    if row.state != "open" or (closes and now >= closes):
        state = row.state if row.state != "open" else "closed"
        raise ConflictError(f"bounty is {state}: expected an open one; nothing was taken")


def _require_quota(connection: Connection, row: Row[Any], hunter: str, now: str) -> None:
    """Raise once a hunter, or the team, has handed in enough today; what failed for our reasons does not count."""
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


@dataclass(frozen=True)
class _Kept:
    """What is kept of a submission."""

    hunter: str
    handed: Handed
    group: bytes
    key: str
    now: str


def _keep(connection: Connection, row: Row[Any], kept: _Kept) -> Receipt:
    pen, place = pen_for(connection, row.id, kept.now), row.received
    group, model = put(connection, kept.group, kept.handed.model)
    submission, secret = _id_of(pen.secret, place), {"group": group, "model": model, "group_kind": kept.handed.kind}
    body: dict[str, Any] = {"submission": submission, "place": place}
    (secret if json.loads(row.settings)["hide_leaderboard"] else body)["hunter"] = kept.hunter
    line = write_entry(connection, pen, head_of(row), "received", body, secret)
    connection.execute(bounties.update().where(bounties.c.id == row.id).values(received=place + 1))
    connection.execute(
        submissions.insert().values(
            id=submission,
            bounty=row.id,
            place=place,
            hunter=kept.hunter,
            key=kept.key,
            state="received",
            received=pen.now,
            group_kind=kept.handed.kind,
            group_hash=group,
            model_hash=model,
            note=kept.handed.note,
            entry=line.entry.number,
            entry_hash=line.hash,
            attempts=0,
        )
    )
    return Receipt(submission, row.id, place, line.entry.number, line.hash)


def _id_of(secret: bytes, place: int) -> str:
    """Return a submission's id: nobody can guess it, and it does not depend on what else is drawn."""
    return hmac.new(secret, b"submission %d" % place, sha256).hexdigest()[:16]
