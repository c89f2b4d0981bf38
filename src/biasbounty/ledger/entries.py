"""Entries: what a ledger is made of. Each holds the hash of the line before, so that none can be changed unseen.

A line of the ledger is canonical JSON: {"entry": {...}, "hash": "...", "signature": "..."}. The signature is the
bounty's Ed25519 over a fixed prefix and the SHA-256 of the entry's own canonical text. The hash is SHA-256 of that text
followed by the signature: so it covers every byte of the line, and through the hash before it all lines so far; whoever
signed the last line has signed them all.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from biasbounty.errors import LedgerError
from biasbounty.ledger.canonical import canonical, parse

BEFORE_ALL = "0" * 64
"""What the first entry holds in place of the hash of the line before."""
_SIGNATURE = re.compile("[0-9a-f]{128}")
_START = b'{"entry":'
_END = len(b',"hash":"","signature":""}') + 64 + 128


@dataclass(frozen=True)
class Entry:
    """Something that happened in a bounty: its number, what kind it is of, when, and what."""

    number: int
    kind: str
    time: str
    body: Mapping[str, Any]
    previous: str

    def as_json(self) -> dict[str, Any]:
        """Return the entry as a JSON object."""
        return {
            "body": dict(self.body),
            "kind": self.kind,
            "number": self.number,
            "previous": self.previous,
            "time": self.time,
        }

    @cached_property
    def text(self) -> bytes:
        """The entry's canonical text."""
        return canonical(self.as_json())

    @property
    def digest(self) -> str:
        """The SHA-256 of the entry's text, in hexadecimal: what is signed."""
        return sha256(self.text).hexdigest()


@dataclass(frozen=True)
class Line:
    """An entry with the signature of the bounty's key."""

    entry: Entry
    signature: str

    @cached_property
    def hash(self) -> str:
        """The hash of the line, in hexadecimal."""
        return hash_of(self.entry.text, self.signature)

    def as_text(self) -> bytes:
        """Return the line of the ledger, without a line break."""
        rest = canonical({"hash": self.hash, "signature": self.signature})
        return _START + self.entry.text + b"," + rest[1:]


def hash_of(entry: bytes, signature: str) -> str:
    """Return the hash of the line of an entry's text and its signature."""
    return sha256(entry + signature.encode()).hexdigest()


def read_line(text: bytes) -> Line:
    """Read a line of a ledger; raise LedgerError unless it is one, and its hash its own."""
    whole = _object(parse(text), {"entry": dict, "hash": str, "signature": str})
    fields = _object(whole["entry"], {"body": dict, "kind": str, "number": int, "previous": str, "time": str})
    entry = Entry(fields["number"], fields["kind"], fields["time"], fields["body"], fields["previous"])
    if not _SIGNATURE.fullmatch(whole["signature"]):
        raise LedgerError(f"entry {entry.number} has no signature: expected 128 digits, got {whole['signature']!r:.60}")
    entry.__dict__["text"] = text[len(_START) : -_END]  # the text is canonical, so this is what canonical() would say
    line = Line(entry, whole["signature"])
    if line.hash != whole["hash"]:
        raise LedgerError(f"entry {entry.number} was changed: expected the hash {whole['hash'][:80]}, got {line.hash}")
    return line


def _object(value: Any, kinds: Mapping[str, type]) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != kinds.keys():
        got = ", ".join(sorted(value)) if isinstance(value, dict) else type(value).__name__
        raise LedgerError(f"entry has other fields: expected {', '.join(sorted(kinds))}, got {got[:100]}")
    for name, kind in kinds.items():
        if type(value[name]) is not kind:
            raise LedgerError(f"entry's {name} is of another kind: expected {kind.__name__}, got {value[name]!r:.60}")
    return value
