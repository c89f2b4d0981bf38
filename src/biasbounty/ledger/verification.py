"""Verification of an export: its chain and signatures, its artifacts, and what was sealed. Needs nothing but the file.

`verify_ledger` says that the file is what the bounty's key signed; `ledger.replay` says whether that adds up.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from hashlib import sha256
from typing import Any

from biasbounty.errors import LedgerError
from biasbounty.ledger.chain import Head, verified
from biasbounty.ledger.entries import Line
from biasbounty.ledger.exported import Exported
from biasbounty.ledger.seals import SEALED, WORDS, Opening, verify_opening


def verify_ledger(exported: Exported, receipts: Iterable[Head] = (), key: str | None = None) -> None:
    """Raise LedgerError unless all of an exported ledger is as it was signed.

    Args:
        exported: The export.
        receipts: Heads that were handed out: a submission's receipt says that of its entry.
        key: The bounty's first public key, if it is known from elsewhere.
    """
    sealed: dict[int, str] = {}
    handed_in: set[int] = set()
    said: dict[int, str] = {}
    openings, needed = None, set(exported.hashes)
    for line in verified(exported.lines, receipts, key):
        sealed |= _committed(line, SEALED)
        handed_in.update({line.entry.number} if line.entry.kind == "received" else ())
        said |= _committed(line, WORDS)
        openings = text_of(line.entry.body, "openings") if line.entry.kind == "closed" else openings
        needed.update(required_artifacts([line]) if exported.archive is not None else ())
    if not exported.lines:
        raise LedgerError("ledger is empty: expected at least one entry, got none")
    _verify_openings(exported.openings, sealed, "openings")
    _verify_openings(exported.words, said, "words")
    _verify_all_open(exported, openings, sealed.keys() - handed_in)
    for digest in sorted(needed):
        exported.artifact(digest)


def required_artifacts(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the hashes of the artifacts that everyone may have: the rows and models that are no secret."""
    for line in lines:
        body = line.entry.body
        if line.entry.kind == "opened":
            yield from (text_of(body, name) for name in ("model", "train", "public"))
        elif line.entry.kind == "judged" and body.get("accepted") is True:
            yield from (text_of(body, name) for name in ("group", "model"))


def text_of(body: Mapping[str, Any], name: str) -> str:
    """Return a field of an entry that is text."""
    value = body.get(name)
    if not isinstance(value, str):
        raise LedgerError(f"entry lacks a field: expected {name!r} with text, got {value!r:.60}")
    return value


def _committed(line: Line, field: str) -> dict[int, str]:
    return {line.entry.number: text_of(line.entry.body, field)} if field in line.entry.body else {}


def _verify_openings(openings: Iterable[Opening], commitments: Mapping[int, str], what: str) -> None:
    seen: set[int] = set()
    for opening in openings:
        if opening.number not in commitments or opening.number in seen:
            raise LedgerError(f"{what} open what was not sealed: expected a sealed entry, once, got {opening.number}")
        seen.add(opening.number)
        verify_opening(opening, commitments[opening.number])


def _verify_all_open(exported: Exported, digest: str | None, due: Set[int]) -> None:
    """Raise unless a closed bounty's export opens all that is due, by the file that its last entry names.

    What was handed in is not: only an organizer's own export opens that.
    """
    if digest is None or exported.archive is None:
        return
    shown = [opening for opening in exported.openings if opening.number in due]
    text = b"\n".join(opening.as_text() for opening in shown)
    if sha256(text).hexdigest() != digest:
        raise LedgerError(f"openings are others: expected the file {digest} that the close names, got another")
    if len(shown) != len(due):
        raise LedgerError(f"openings are incomplete: expected {len(due)}, got {len(shown)}")
