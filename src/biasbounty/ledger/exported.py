"""Exported: a bounty's ledger as one file, that anyone can keep, pass on and verify without the service.

A zip archive of `ledger.jsonl` (the lines), `words.jsonl` (what was said in entries), `openings.jsonl` (once it is
closed, what was sealed) and `artifacts/HASH` (rows and models). An organizer's own export has the openings
from the start, and the artifacts of the holdout and of all submissions. The lines alone, as text, are an export too.
"""

import io
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from biasbounty.errors import LedgerError
from biasbounty.ledger.canonical import parse
from biasbounty.ledger.seals import Opening

LEDGER, WORDS, OPENINGS, ARTIFACTS = "ledger.jsonl", "words.jsonl", "openings.jsonl", "artifacts/"
MOST_BYTES = 1 << 32
"""An archive that unpacks to more than so many bytes is not read."""
_THEN = (1980, 1, 1, 0, 0, 0)

_UNREADABLE = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What `zipfile` raises of strange bytes; RuntimeError, of what is encrypted or packed in a way unknown to it."""


@dataclass(frozen=True, eq=False)
class Exported:
    """An export that was read, and not verified."""

    lines: tuple[bytes, ...]
    words: tuple[Opening, ...] = ()
    openings: tuple[Opening, ...] = ()
    archive: zipfile.ZipFile | None = field(default=None, repr=False)

    @staticmethod
    def read(file: Path | bytes) -> "Exported":
        """Read an export from a file, or from its bytes."""
        try:
            return _read(file)
        except _UNREADABLE as error:
            raise LedgerError(f"export cannot be read: expected a zip archive or lines, got {error}") from error

    @cached_property
    def hashes(self) -> frozenset[str]:
        """The hashes of the artifacts that are there."""
        names = [] if self.archive is None else self.archive.namelist()
        return frozenset(name.removeprefix(ARTIFACTS) for name in names if name.startswith(ARTIFACTS))

    def artifact(self, digest: str) -> bytes:
        """Return an artifact; raise LedgerError unless it is there, and what its hash says."""
        if self.archive is None or digest not in self.hashes:
            raise LedgerError(f"export lacks an artifact: expected one of the hash {digest[:80]}, got none")
        try:
            data = self.archive.read(ARTIFACTS + digest)
        except _UNREADABLE as error:
            raise LedgerError(f"artifact {digest} cannot be read: expected its bytes, got {error}") from error
        if sha256(data).hexdigest() != digest:
            raise LedgerError(f"artifact was changed: expected the hash {digest}, got {sha256(data).hexdigest()}")
        return data


def _read(file: Path | bytes) -> Exported:
    source = io.BytesIO(file) if isinstance(file, bytes) else file
    if not zipfile.is_zipfile(source):
        text = file if isinstance(file, bytes) else file.read_bytes()
        return Exported(_lines(text))
    archive = zipfile.ZipFile(source)
    size = sum(each.file_size for each in archive.infolist())
    if size > MOST_BYTES:
        raise LedgerError(f"export is too large: expected at most {MOST_BYTES} bytes in all, got {size}")
    if LEDGER not in archive.namelist():
        raise LedgerError(f"export has no ledger: expected {LEDGER} in it, got {', '.join(archive.namelist())[:200]}")
    words, openings = (_openings(archive, name) for name in (WORDS, OPENINGS))
    return Exported(_lines(archive.read(LEDGER)), words, openings, archive)


def _lines(text: bytes) -> tuple[bytes, ...]:
    return tuple(text.removesuffix(b"\n").split(b"\n")) if text else ()


def _openings(archive: zipfile.ZipFile, name: str) -> tuple[Opening, ...]:
    if name not in archive.namelist():
        return ()
    return read_openings(archive.read(name))


def read_openings(text: bytes) -> tuple[Opening, ...]:
    """Read a file of openings."""
    return tuple(_opening(parse(line)) for line in _lines(text))


def _opening(value: Any) -> Opening:
    kinds = {"number": int, "salt": str}
    if not isinstance(value, dict) or set(value) != {"number", "salt", "value"}:
        raise LedgerError("opening is none: expected a number, a salt and a value, got other fields")
    if any(type(value[name]) is not kind for name, kind in kinds.items()) or not _is_hex(value["salt"]):
        raise LedgerError("opening is none: expected a whole number and a salt in hexadecimal, got others")
    return Opening(**value)


def _is_hex(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


class Writer:
    """Writes an export; the same contents give the same bytes."""

    def __init__(self, file: Any) -> None:
        self._archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._there: set[str] = set()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def write_lines(self, name: str, lines: Iterable[bytes]) -> None:
        """Write lines of text."""
        with self._archive.open(_named(name), "w", force_zip64=True) as file:
            for line in lines:
                file.write(line + b"\n")

    def write_artifact(self, digest: str, data: bytes) -> None:
        """Write an artifact, once."""
        if digest not in self._there:
            self._there.add(digest)
            self._archive.writestr(_named(ARTIFACTS + digest), data)

    def has(self, digest: str) -> bool:
        """Say whether an artifact was written."""
        return digest in self._there


def _named(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _THEN)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info
