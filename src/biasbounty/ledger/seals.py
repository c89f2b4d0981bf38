"""Seals: what depends on the holdout is in the ledger from the start, and shown only when the bounty closes.

An entry holds a commitment: SHA-256 of a salt and the value's canonical text. The salt is HMAC-SHA256 of the bounty's
secret and the entry's number, so each is another and none can be guessed; opening one tells nothing of the others.

Words are committed to in the same way, with a salt of their own, and shown at once: whoever wrote them can have them
erased, and the ledger still verifies.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from biasbounty.errors import LedgerError
from biasbounty.ledger.canonical import canonical

SEALED, WORDS = "sealed", "words"
"""The fields of an entry's body that hold a commitment."""
_LABELS = {SEALED: b"seal of entry %d", WORDS: b"words of entry %d"}


@dataclass(frozen=True)
class Opening:
    """A sealed value with its salt: what opens the commitment of an entry."""

    number: int
    salt: str
    value: Any

    @property
    def commitment(self) -> str:
        """The commitment that this opens."""
        return sha256(bytes.fromhex(self.salt) + canonical(self.value)).hexdigest()

    def as_text(self) -> bytes:
        """Return the opening as a line of a file."""
        return canonical({"number": self.number, "salt": self.salt, "value": self.value})


def open_seal(secret: bytes, number: int, value: Any, field: str = SEALED) -> Opening:
    """Return the opening of the value sealed in the entry of this number."""
    salt = hmac.new(secret, _LABELS[field] % number, sha256).hexdigest()
    return Opening(number, salt, value)


def seal(secret: bytes, number: int, value: Any, field: str = SEALED) -> str:
    """Return the commitment to a value in the entry of this number."""
    return open_seal(secret, number, value, field).commitment


def verify_opening(opening: Opening, commitment: str) -> None:
    """Raise LedgerError unless this is what was sealed."""
    if opening.commitment != commitment:
        raise LedgerError(
            f"entry {opening.number} was sealed with another value: expected the commitment {commitment}, got "
            f"{opening.commitment}"
        )
