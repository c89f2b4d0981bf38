"""Entries: what a ledger is made of. Each holds the hash of the one before, so that none can be changed unseen.

A line of the ledger is canonical JSON: {"entry": {...}, "hash": "...", "signature": "..."}. The hash is SHA-256 of the
entry's own canonical text; the signature is the bounty's Ed25519 over a fixed prefix and that hash.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from biasbounty.errors import LedgerError
from biasbounty.ledger.canonical import canonical, parse

BEFORE_ALL = "0" * 64
"""What the first entry holds in place of the hash of the one before."""


@dataclass(frozen=True)
class Entry:
    """Something that happened in a bounty: its number, what kind it is of, when, and what."""

    number: int
    kind: str
    time: str
    body: Mapping[str, Any]
    previous: str

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the entry's canonical text, in hexadecimal."""
        return sha256(canonical(self.as_json())).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return the entry as a JSON object."""
        return {
            "body": dict(self.body),
            "kind": self.kind,
            "number": self.number,
            "previous": self.previous,
            "time": self.time,
        }


@dataclass(frozen=True)
class Line:
    """An entry with the signature of the bounty's key."""

    entry: Entry
    signature: str

    def as_text(self) -> bytes:
        """Return the line of the ledger, without a line break."""
        return canonical({"entry": self.entry.as_json(), "hash": self.entry.hash, "signature": self.signature})


def read_line(text: bytes) -> Line:
    """Read a line of a ledger; raise LedgerError unless it is one, and its hash that of its entry."""
    whole = _object(parse(text), {"entry": dict, "hash": str, "signature": str})
    fields = _object(whole["entry"], {"body": dict, "kind": str, "number": int, "previous": str, "time": str})
    entry = Entry(fields["number"], fields["kind"], fields["time"], fields["body"], fields["previous"])
    if entry.hash != whole["hash"]:
        raise LedgerError(f"entry {entry.number} was changed: expected the hash {whole['hash']}, got {entry.hash}")
    return Line(entry, whole["signature"])


def _object(value: Any, kinds: Mapping[str, type]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(kinds):
        got = ", ".join(sorted(value)) if isinstance(value, dict) else type(value).__name__
        raise LedgerError(f"entry has other fields: expected {', '.join(sorted(kinds))}, got {got[:100]}")
    for name, kind in kinds.items():
        if type(value[name]) is not kind:
            raise LedgerError(f"entry's {name} is of another kind: expected {kind.__name__}, got {value[name]!r:.60}")
    return value
