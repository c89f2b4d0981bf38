"""Artifacts: bytes kept by their own SHA-256."""

from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from biasbounty.errors import NotFoundError, StoreError
from biasbounty.store.tables import artifacts, files

_INSERT: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


def put(connection: Connection, *contents: bytes) -> list[str]:
    """Keep bytes, each once, and return their hashes; two who keep the same at once do not hinder each other."""
    hashes = {sha256(data).hexdigest(): data for data in contents}
    insert = _INSERT[connection.dialect.name]
    for digest, data in sorted(hashes.items()):  # in one order, so that no two wait for each other
        if connection.scalar(select(artifacts.c.hash).where(artifacts.c.hash == digest)) is None:
            connection.execute(insert(artifacts).values(hash=digest, data=data).on_conflict_do_nothing())
    return [sha256(data).hexdigest() for data in contents]


def get(connection: Connection, digest: str) -> bytes:
    """Return the bytes of a hash, as they were put in."""
    data = connection.scalar(select(artifacts.c.data).where(artifacts.c.hash == digest))
    if data is None:
        raise NotFoundError(f"artifact is not here: expected one of the hash {digest[:12]}..., got none")
    kept = bytes(data)
    if sha256(kept).hexdigest() != digest:
        raise StoreError(f"artifact {digest[:12]}... was changed on disk: expected its own hash, got another")
    return kept


def put_file(connection: Connection, bounty: str, role: str, data: bytes) -> str:
    """Keep the file that plays a part in a bounty, and return its hash."""
    (digest,) = put(connection, data)
    connection.execute(files.insert().values(bounty=bounty, role=role, hash=digest))
    return digest


def hash_of_file(connection: Connection, bounty: str, role: str) -> str:
    """Return the hash of the file that plays a part in a bounty."""
    digest = connection.scalar(select(files.c.hash).where(files.c.bounty == bounty, files.c.role == role))
    if digest is None:
        raise NotFoundError(f"bounty has no file {role!r:.40}: expected one, got none")
    return str(digest)


def get_file(connection: Connection, bounty: str, role: str) -> bytes:
    """Return the file that plays a part in a bounty."""
    return get(connection, hash_of_file(connection, bounty, role))
