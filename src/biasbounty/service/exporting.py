"""Exporting: a bounty's ledger as one file (`ledger.exported`), for everyone, or whole for its organizer."""

from collections.abc import Iterator
from typing import BinaryIO

from sqlalchemy import Connection, select

from biasbounty.ledger.entries import read_line
from biasbounty.ledger.exported import LEDGER, OPENINGS, WORDS, Writer
from biasbounty.ledger.verification import required_artifacts
from biasbounty.service.context import Context
from biasbounty.service.rows import HOLDOUT_LABELS, HOLDOUT_ROWS
from biasbounty.store.artifacts import get, hash_of_file
from biasbounty.store.books import find_bounty, read_lines, read_openings, read_words
from biasbounty.store.tables import submissions


def export(context: Context, bounty: str, file: BinaryIO, *, everything: bool = False) -> None:
    """Write a bounty's export; everything is for its organizer alone."""
    with context.database.read() as connection, Writer(file) as writer:
        row = find_bounty(connection, bounty)
        writer.write_lines(LEDGER, read_lines(connection, bounty))
        writer.write_lines(WORDS, (said.as_text() for said in read_words(connection, bounty)))
        if everything or row.state == "closed":
            openings = read_openings(connection, bounty, everything=everything)
            writer.write_lines(OPENINGS, (opening.as_text() for opening in openings))
        for digest in _shown(connection, bounty):
            writer.write_artifact(digest, get(connection, digest))
        for digest in _secret(connection, bounty) if everything else ():
            if not writer.has(digest):
                writer.write_artifact(digest, get(connection, digest))


def _shown(connection: Connection, bounty: str) -> Iterator[str]:
    yield from required_artifacts(read_line(text) for text in list(read_lines(connection, bounty)))


def _secret(connection: Connection, bounty: str) -> Iterator[str]:
    for role in (HOLDOUT_ROWS, HOLDOUT_LABELS):
        yield hash_of_file(connection, bounty, role)
    chosen = select(submissions.c.group_hash, submissions.c.model_hash).where(submissions.c.bounty == bounty)
    for pair in connection.execute(chosen.order_by(submissions.c.place)).all():
        yield from pair
