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
from biasbounty.ledger.seals import SEALED, WORDS, Opening, open_seal, seal
from biasbounty.store.tables import bounties, lines, sealed, secrets, submissions, words

KEY, SEAL = "signing key", "secret of the seals"
MOST = 2**31 - 1


@dataclass(frozen=True)
class Pen:
    """What it takes to write in a bounty's ledger: the key, the secret of its seals, and the hour."""

    bounty: str
    key: SigningKey
    secret: bytes
    now: str


@dataclass(frozen=True)
class Words:
    """What somebody wrote, for all to read; the hunter may have it erased."""

    text: str
    hunter: str | None = None


def find_bounty(connection: Connection, bounty: str, *, locked: bool = False) -> Row[Any]:
    """Return a bounty's row."""
    chosen = select(bounties).where(bounties.c.id == bounty)
    row = None
    if is_id(bounty):
        row = connection.execute(chosen.with_for_update(key_share=True) if locked else chosen).one_or_none()
    if row is None:
        raise NotFoundError(f"bounty does not exist: expected the id of one, got {bounty!r:.80}")
    return row


def is_id(text: str) -> bool:
    """Say whether text can be an id at all: no database is asked about anything else."""
    return len(text) <= 200 and text.isascii() and text.isprintable()


def lock(connection: Connection, bounty: str) -> Row[Any]:
    """Return the bounty's row, and keep others from writing to the bounty until the transaction ends."""
    return find_bounty(connection, bounty, locked=True)


def pen_for(connection: Connection, bounty: str, now: str) -> Pen:
    """Fetch what it takes to write in the ledger of a bounty."""
    chosen = select(secrets.c.name, secrets.c.value).where(secrets.c.bounty == bounty).order_by(secrets.c.since)
    newest = {name: bytes(value) for name, value in connection.execute(chosen)}
    return Pen(bounty, SigningKey.of(newest[KEY]), newest[SEAL], now)


def write_entry(
    connection: Connection,
    pen: Pen,
    head: Head,
    kind: str,
    body: Mapping[str, Any],
    hidden: Any = None,
    said: Words | None = None,
) -> Line:
    """Append an entry; what is hidden, and what was said, is kept aside, and the entry holds commitments to it."""
    number = head.size
    if hidden is not None:
        body = {**body, SEALED: seal(pen.secret, number, hidden)}
        row = {"bounty": pen.bounty, "number": number, "value": canonical(hidden).decode()}
        connection.execute(sealed.insert().values(row))
    if said is not None and said.text:
        body = {**body, WORDS: seal(pen.secret, number, said.text, WORDS)}
        row = {"bounty": pen.bounty, "number": number, "hunter": said.hunter, "text": said.text}
        connection.execute(words.insert().values(row))
    line = extend(head, kind, pen.now, body, pen.key)
    connection.execute(lines.insert().values(bounty=pen.bounty, number=number, text=line.as_text()))
    after = head_after(line)
    where = bounties.c.id == pen.bounty
    connection.execute(bounties.update().where(where).values(size=after.size, head=after.hash))
    return line


def head_of(row: Row[Any]) -> Head:
    """Return the head of the ledger of a locked bounty."""
    return Head(row.size, row.head)


def read_lines(connection: Connection, bounty: str, start: int = 0, most: int | None = None) -> Iterator[bytes]:
    """Yield a ledger's lines from a number on."""
    first = min(max(start, 0), MOST)
    chosen = select(lines.c.text).where(lines.c.bounty == bounty, lines.c.number >= first).order_by(lines.c.number)
    few = None if most is None else min(max(most, 0), MOST)
    for (text,) in connection.execution_options(yield_per=1000).execute(chosen.limit(few)):
        yield bytes(text)


def read_openings(connection: Connection, bounty: str, *, everything: bool = False) -> Iterator[Opening]:
    """Yield what opens each entry that is opened at the close: what was handed in stays sealed.

    Everything, for the organizer alone, opens that as well.
    """
    chosen = select(sealed.c.number, sealed.c.value).where(sealed.c.bounty == bounty).order_by(sealed.c.number)
    if not everything:
        handed_in = select(submissions.c.entry).where(submissions.c.bounty == bounty)
        chosen = chosen.where(sealed.c.number.not_in(handed_in))
    secret = _Secrets(connection, bounty)
    for number, value in connection.execute(chosen):
        yield open_seal(secret.at(number), number, parse(value.encode()))


def read_words(connection: Connection, bounty: str) -> Iterator[Opening]:
    """Yield what was said in entries and not erased, as openings of their commitments."""
    chosen = select(words.c.number, words.c.text).where(words.c.bounty == bounty).order_by(words.c.number)
    secret = _Secrets(connection, bounty)
    for number, text in connection.execute(chosen):
        yield open_seal(secret.at(number), number, text, WORDS)


class _Secrets:
    """The secrets of a bounty's seals, each by the entries that it holds for."""

    def __init__(self, connection: Connection, bounty: str) -> None:
        chosen = select(secrets.c.since, secrets.c.value).where(secrets.c.bounty == bounty, secrets.c.name == SEAL)
        self._kept = [(since, bytes(value)) for since, value in connection.execute(chosen.order_by(secrets.c.since))]

    def at(self, number: int) -> bytes:
        """Return the secret that holds for an entry."""
        """Return the secret that was in use at an entry."""
        return [secret for since, secret in self._kept if since <= number][-1]


def change_secrets(connection: Connection, pen: Pen, head: Head, key: SigningKey, secret: bytes) -> Line:
    """Write the entry that changes the key, and keep the new key and secret from the next entry on.

    Old secrets of seals are kept, since they open what they sealed; an old key is good for nothing and forgotten.
    """
    line = write_entry(connection, pen, head, "key", {"key": key.public})
    connection.execute(secrets.delete().where(secrets.c.bounty == pen.bounty, secrets.c.name == KEY))
    put_secrets(connection, pen.bounty, key, secret, line.entry.number + 1)
    return line


def put_secrets(connection: Connection, bounty: str, key: SigningKey, secret: bytes, since: int = 0) -> None:
    """Keep a key and a secret of seals, from an entry on."""
    for name, value in ((KEY, key.secret), (SEAL, secret)):
        connection.execute(secrets.insert().values(bounty=bounty, name=name, since=since, value=value))
