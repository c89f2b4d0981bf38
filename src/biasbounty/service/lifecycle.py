"""Lifecycle: a bounty is open, paused, closing or closed.

Closing takes no more submissions; once all that were received are judged, it is closed, and what was sealed is opened:
the ledger's last entry names the file of openings. A closed bounty stays closed, since its holdout is known by then.
"""

import json
from typing import Any

from sqlalchemy import Connection, Row

from biasbounty.errors import ConflictError
from biasbounty.ledger.canonical import canonical
from biasbounty.service.context import Context
from biasbounty.store.artifacts import put_file
from biasbounty.store.books import head_of, lock, pen_for, read_openings, write_entry
from biasbounty.store.tables import bounties, events

OPENINGS = "openings"
MOVES = {"pause": ("open", "paused"), "resume": ("paused", "open"), "close": ("open", "closing")}
"""From which state to which."""


def move(context: Context, bounty: str, verb: str) -> str:
    """Pause, resume or close a bounty; return its new state."""
    before, after = MOVES[verb]
    with context.database.write() as connection:
        row = lock(connection, bounty)
        allowed = (before, "paused") if verb == "close" else (before,)
        if row.state not in allowed:
            raise ConflictError(f"bounty is {row.state}: expected it {' or '.join(allowed)} to {verb} it")
        _enter(connection, context, row, after)
    finish(context, bounty)
    return after


def finish(context: Context, bounty: str) -> bool:
    """Close a closing bounty if all that was received is judged; return whether it was closed now."""
    with context.database.write() as connection:
        row = lock(connection, bounty)
        if row.state != "closing" or row.judged < row.received:
            return False
        lines = [
            canonical({"number": opening.number, "salt": opening.salt, "value": opening.value})
            for opening in read_openings(connection, bounty)
        ]
        digest = put_file(connection, bounty, OPENINGS, b"\n".join(lines))
        _enter(connection, context, row, "closed", {"openings": digest})
    return True


def annotate(context: Context, bounty: str, body: dict[str, Any]) -> int:
    """Write a note or a dispute in the ledger; return its entry's number."""
    with context.database.write() as connection:
        row = lock(connection, bounty)
        line = write_entry(connection, pen_for(connection, bounty, context.now()), head_of(row), "note", body)
        connection.execute(events.insert().values(bounty=bounty, kind="note", body=json.dumps(body)))
    return line.entry.number


def _enter(
    connection: Connection, context: Context, row: Row[Any], state: str, body: dict[str, Any] | None = None
) -> None:
    pen = pen_for(connection, row.id, context.now())
    write_entry(connection, pen, head_of(row), state, body or {})
    connection.execute(bounties.update().where(bounties.c.id == row.id).values(state=state))
    connection.execute(events.insert().values(bounty=row.id, kind=state, body="{}"))
