"""Withdrawing: a hunter may take back a submission until it is judged. Its place is passed over.

Whether a worker has taken it up makes no difference, so that nobody learns when one did; and an answer that nobody saw
has told nothing.
"""

from sqlalchemy import select

from biasbounty.errors import ConflictError
from biasbounty.service.context import Context
from biasbounty.service.lifecycle import announce
from biasbounty.store.books import head_of, lock, pen_for, write_entry
from biasbounty.store.tables import leases, scores, submissions


def withdraw(context: Context, submission: str) -> None:
    """Take back a submission; raise ConflictError once it is judged, or was refused, in its turn."""
    mine = submissions.c.id == submission
    with context.database.write() as connection:
        row = lock(connection, str(connection.scalar(select(submissions.c.bounty).where(mine))))
        waits = (mine, submissions.c.place >= row.judged, submissions.c.state != "withdrawn")
        if not connection.execute(submissions.update().where(*waits).values(state="withdrawn", reason=None)).rowcount:
            raise ConflictError("submission is over: expected one that waits; it can no longer be withdrawn")
        for table in (leases, scores):
            connection.execute(table.delete().where(table.c.submission == submission))
        place = connection.scalar(select(submissions.c.place).where(mine))
        pen, body = pen_for(connection, row.id, context.now()), {"submission": submission, "place": place}
        line = write_entry(connection, pen, head_of(row), "withdrawn", body)
        announce(connection, row.id, "withdrawn", body, line.entry.number)
