"""Artifacts: bytes kept by their own SHA-256."""

from hashlib import sha256

from sqlalchemy import Connection, select

from biasbounty.errors import NotFoundError, StoreError
from biasbounty.store.tables import artifacts, files


def put(connection: Connection, data: bytes) -> str:
    """Keep bytes, once, and return their hash."""
    digest = sha256(data).hexdigest()
    if connection.scalar(select(artifacts.c.hash).where(artifacts.c.hash == digest)) is None:
        connection.execute(artifacts.insert().values(hash=digest, data=data))
    return digest


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
    digest = put(connection, data)
    connection.execute(files.insert().values(bounty=bounty, role=role, hash=digest))
    return digest


def get_file(connection: Connection, bounty: str, role: str) -> bytes:
    """Return the file that plays a part in a bounty."""
    digest = connection.scalar(select(files.c.hash).where(files.c.bounty == bounty, files.c.role == role))
    if digest is None:
        raise NotFoundError(f"bounty has no file {role!r}: expected one, got none")
    return get(connection, digest)
