"""Chain: the ledger as a sequence of signed entries, each bound to the one before. Pure: no storage, no clock.

The first entry names the key; an entry of the kind "key" names the next one, and is still signed by the one before.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from biasbounty.errors import LedgerError
from biasbounty.ledger.entries import BEFORE_ALL, Entry, Line, read_line
from biasbounty.ledger.keys import SigningKey, VerifyingKey


@dataclass(frozen=True)
class Head:
    """How far a ledger goes: how many entries, and the hash of the last. A receipt is one."""

    size: int = 0
    hash: str = BEFORE_ALL


def extend(head: Head, kind: str, time: str, body: Mapping[str, Any], key: SigningKey) -> Line:
    """Return the line that comes after a head."""
    entry = Entry(head.size, kind, time, body, head.hash)
    return Line(entry, key.sign(entry.digest))


def head_after(line: Line) -> Head:
    """Return the head of a ledger whose last line this is."""
    return Head(line.entry.number + 1, line.hash)


def verified(lines: Iterable[bytes], receipts: Iterable[Head] = (), key: str | None = None) -> Iterator[Line]:
    """Yield the lines of a ledger; raise LedgerError at the first that is wrong. Trust none before the end.

    A line's hash covers all lines before it and their signatures. So of all signatures by one key the last vouches for
    every byte before it: that one is verified, when the key changes and at the end.

    Args:
        lines: The lines, in order.
        receipts: Heads that were handed out; the ledger must go through each of them.
        key: The bounty's first public key, if it is known from elsewhere; else the first entry is believed.
    """
    head, last, signer = Head(), None, None if key is None else VerifyingKey(key)
    due = _by_size(receipts)
    for text in lines:
        last = read_line(text)
        _verify_follows(head, last.entry)
        signer = signer or VerifyingKey(_named_key(last.entry))
        if last.entry.kind == "key" or not head.size:
            _verify_signed(signer, last)
        if last.entry.kind == "key":
            signer = VerifyingKey(_named_key(last.entry))
        head = head_after(last)
        _verify_receipt(due.pop(head.size, None), head)
        yield last
    if last is not None and signer is not None and last.entry.kind != "key":
        _verify_signed(signer, last)
    if due:
        raise LedgerError(f"ledger is shorter than a receipt: expected {max(due)} entries, got {head.size}")


def _verify_signed(signer: VerifyingKey, line: Line) -> None:
    signer.verify_signature(line.entry.digest, line.signature, f"entry {line.entry.number}")


def _by_size(receipts: Iterable[Head]) -> dict[int, str]:
    due: dict[int, str] = {}
    for receipt in receipts:
        if due.setdefault(receipt.size, receipt.hash) != receipt.hash:
            raise LedgerError(f"receipts differ at entry {receipt.size - 1}: expected one hash, got two")
    return due


def _verify_follows(head: Head, entry: Entry) -> None:
    if entry.number != head.size:
        raise LedgerError(f"entry is out of order: expected number {head.size}, got {entry.number}")
    if entry.previous != head.hash:
        raise LedgerError(f"entry {entry.number} does not follow: expected the hash {head.hash} before it, got another")


def _named_key(entry: Entry) -> str:
    named = entry.body.get("key")
    if not isinstance(named, str):
        raise LedgerError(f"entry {entry.number} names no key: expected one in its body, got none")
    return named


def _verify_receipt(expected: str | None, head: Head) -> None:
    if expected not in (None, head.hash):
        raise LedgerError(
            f"ledger was rewritten: expected the hash {expected} at entry {head.size - 1}, as the receipt says, got "
            f"{head.hash}"
        )
