"""Withdrawing: a hunter may take back a submission that no worker has taken up. Its place is passed over."""

from sqlalchemy import select

from biasbounty.errors import ConflictError
from biasbounty.service.context import Context
from biasbounty.store.books import head_of, lock, pen_for, write_entry
from biasbounty.store.tables import submissions


def withdraw(context: Context, submission: str) -> None:
    """Take back a submission; raise ConflictError once it is being scored, since its answer may be on the way."""
    mine = submissions.c.id == submission
    with context.database.write() as connection:
        bounty = connection.scalar(select(submissions.c.bounty).where(mine))
        row = lock(connection, str(bounty))
        changed = connection.execute(
            submissions.update().where(mine, submissions.c.state == "received").values(state="withdrawn")
        )
        if not changed.rowcount:
            raise ConflictError("submission is taken up: expected one that waits; it can no longer be withdrawn")
        pen = pen_for(connection, row.id, context.now())
        write_entry(connection, pen, head_of(row), "withdrawn", {"submission": submission})
