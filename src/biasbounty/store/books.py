"""Books: a bounty's ledger in the database, written in the same transaction as what it says.

Whoever writes holds the bounty's row until the end, so entries have no gaps and no two have one number.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from biasbounty.errors import NotFoundError
from biasbounty.ledger.canonical import canonical, parse
from biasbounty.ledger.chain import Head, extend, head_after
from biasbounty.ledger.entries import Line
from biasbounty.ledger.keys import SigningKey
from biasbounty.ledger.seals import Opening, open_seal, seal
from biasbounty.store.tables import bounties, lines, sealed, secrets

KEY, SEAL = "signing key", "secret of the seals"


@dataclass(frozen=True)
class Pen:
    """What it takes to write in a bounty's ledger: the key, the secret of its seals, and the hour."""

    bounty: str
    key: SigningKey
    secret: bytes
    now: str


def lock(connection: Connection, bounty: str) -> Row[Any]:
    """Return the bounty's row, and keep others from writing to the bounty until the transaction ends."""
    row = connection.execute(select(bounties).where(bounties.c.id == bounty).with_for_update()).one_or_none()
    if row is None:
        raise NotFoundError(f"bounty does not exist: expected the id of one, got {bounty!r:.80}")
    return row


def pen_for(connection: Connection, bounty: str, now: str) -> Pen:
    """Fetch what it takes to write in the ledger of a bounty."""
    named = dict(connection.execute(select(secrets.c.name, secrets.c.value).where(secrets.c.bounty == bounty)).all())
    return Pen(bounty, SigningKey.of(bytes(named[KEY])), bytes(named[SEAL]), now)


def write_entry(
    connection: Connection, pen: Pen, head: Head, kind: str, body: Mapping[str, Any], hidden: Any = None
) -> Line:
    """Append an entry; what is hidden is kept aside, and the entry holds a commitment to it."""
    if hidden is not None:
        body = {**body, "sealed": seal(pen.secret, head.size, hidden)}
        row = {"bounty": pen.bounty, "number": head.size, "value": canonical(hidden).decode()}
        connection.execute(sealed.insert().values(row))
    line = extend(head, kind, pen.now, body, pen.key)
    connection.execute(lines.insert().values(bounty=pen.bounty, number=line.entry.number, text=line.as_text()))
    after = head_after(line)
    where = bounties.c.id == pen.bounty
    connection.execute(bounties.update().where(where).values(size=after.size, head=after.hash))
    return line


def head_of(row: Row[Any]) -> Head:
    """Return the head of the ledger of a locked bounty."""
    return Head(row.size, row.head)


def read_lines(connection: Connection, bounty: str, start: int = 0, most: int | None = None) -> Iterator[bytes]:
    """Yield a ledger's lines from a number on."""
    chosen = select(lines.c.text).where(lines.c.bounty == bounty, lines.c.number >= start).order_by(lines.c.number)
    for (text,) in connection.execution_options(yield_per=1000).execute(chosen.limit(most)):
        yield bytes(text)


def read_openings(connection: Connection, bounty: str) -> Iterator[Opening]:
    """Yield what opens each sealed entry. For a closed bounty, or for its organizer."""
    secret = connection.scalar(select(secrets.c.value).where(secrets.c.bounty == bounty, secrets.c.name == SEAL))
    if secret is None:
        raise NotFoundError(f"bounty does not exist: expected the id of one, got {bounty!r:.80}")
    chosen = select(sealed.c.number, sealed.c.value).where(sealed.c.bounty == bounty).order_by(sealed.c.number)
    for number, value in connection.execute(chosen):
        yield open_seal(bytes(secret), number, parse(value.encode()))
