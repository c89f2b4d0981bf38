"""Lifecycle: a bounty is open, paused, closing or closed.

Closing takes no more submissions; once all that were received are judged, it is closed, and what was sealed is opened:
the ledger's last entry but notes names the file of openings. A bounty that is closing can be reopened; a closed one
stays closed, since its holdout is known by then.
"""

import json
from typing import Any

from sqlalchemy import Connection, Row

from biasbounty.errors import ConflictError
from biasbounty.service.context import Context
from biasbounty.service.standing import read_standing
from biasbounty.store.artifacts import put_file
from biasbounty.store.books import Words, find_bounty, head_of, lock, pen_for, read_openings, write_entry
from biasbounty.store.tables import bounties, events

OPENINGS = "openings"
MOVES: dict[str, tuple[tuple[str, ...], str]] = {
    "pause": (("open",), "paused"),
    "resume": (("paused",), "open"),
    "close": (("open", "paused"), "closing"),
    "reopen": (("closing",), "open"),
}
"""From which states to which."""


def move(context: Context, bounty: str, verb: str) -> str:
    """Pause, resume, close or reopen a bounty; return its new state."""
    before, after = MOVES[verb]
    with context.database.write() as connection:
        row = lock(connection, bounty)
        if row.state not in before:
            raise ConflictError(f"bounty is {row.state}: expected it {' or '.join(before)} to {verb} it")
        if after == "open" and _is_over(row, context):
            raise ConflictError("bounty's last day is over: expected an earlier one; open a new bounty")
        if after == "open" and (why := read_standing(row.standing).stopped):
            raise ConflictError(f"{why}; open a new bounty on a fresh holdout")
        enter(connection, context, row, after)
    return "closed" if finish(context, bounty) else after


def close_in_time(context: Context, row: Row[Any]) -> None:
    """Close a bounty whose last hour has come."""
    if row.state in ("open", "paused") and _is_over(row, context):
        with context.database.write() as connection:
            locked = lock(connection, row.id)
            if locked.state in ("open", "paused"):
                enter(connection, context, locked, "closing")


def _is_over(row: Row[Any], context: Context) -> bool:
    closes = json.loads(row.settings)["closes"]
    return bool(closes and context.now() >= closes)


def finish(context: Context, bounty: str) -> bool:
    """Close a closing bounty if all that was received is judged; return whether it was closed now."""
    with context.database.read() as connection:
        if not _is_done(find_bounty(connection, bounty)):
            return False
    with context.database.write() as connection:
        row = lock(connection, bounty)
        if not _is_done(row):
            return False
        lines = [opening.as_text() for opening in read_openings(connection, bounty)]
        digest = put_file(connection, bounty, OPENINGS, b"\n".join(lines))
        enter(connection, context, row, "closed", {"openings": digest})
    return True


def _is_done(row: Row[Any]) -> bool:
    return bool(row.state == "closing" and row.judged >= row.received)


def annotate(context: Context, bounty: str, body: dict[str, Any], said: Words) -> int:
    """Write a note or a dispute in the ledger; return its entry's number."""
    with context.database.write() as connection:
        row = lock(connection, bounty)
        pen = pen_for(connection, bounty, context.now())
        line = write_entry(connection, pen, head_of(row), "note", body, said=said)
        announce(connection, bounty, "note", body, line.entry.number)
    return line.entry.number


def enter(
    connection: Connection,
    context: Context,
    row: Row[Any],
    state: str,
    body: dict[str, Any] | None = None,
    said: Words | None = None,
) -> None:
    """Bring a locked bounty into a state, and say so in its ledger."""
    pen = pen_for(connection, row.id, context.now())
    line = write_entry(connection, pen, head_of(row), state, body or {}, said=said)
    connection.execute(bounties.update().where(bounties.c.id == row.id).values(state=state))
    announce(connection, row.id, state, body or {}, line.entry.number)


def announce(connection: Connection, bounty: str, kind: str, body: dict[str, Any], entry: int) -> None:
    """Tell pages and webhooks. Whoever does holds the bounty's row, so that events are seen in order."""
    connection.execute(events.insert().values(bounty=bounty, kind=kind, entry=entry, body=json.dumps(body)))
