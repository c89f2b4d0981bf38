"""The manifest of an archive: JSON from a stranger, of which every part is asked for by the type it must have."""

import json
from dataclasses import dataclass
from typing import Any

from biasbounty.arrays import shown
from biasbounty.errors import ArchiveError


def json_of(manifest: dict[str, Any]) -> bytes:
    """Write a manifest down, in one way only."""
    return (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()


def manifest_in(data: bytes) -> "Entry":
    """Read a manifest."""
    try:
        return Entry("manifest", json.loads(data))
    except (ValueError, RecursionError) as error:
        raise ArchiveError(
            f"manifest cannot be read: expected JSON, got {shown(error, str)}; save the list anew"
        ) from error


@dataclass(frozen=True)
class Entry:
    """A part of a manifest: where it is, and what it holds."""

    where: str
    held: Any

    def get(self, name: str) -> "Entry":
        """Return what an object holds under a name; None where there is nothing."""
        if not isinstance(self.held, dict):
            raise self.wrong("an object")
        return Entry(f"{self.where}.{name}", self.held.get(name))

    def each(self, name: str) -> list["Entry"]:
        """Return the parts of a list."""
        part = self.get(name)
        if not isinstance(part.held, list):
            raise part.wrong("a list")
        return [Entry(f"{part.where}[{place}]", held) for place, held in enumerate(part.held)]

    def whole(self, name: str) -> int:
        """Return a whole number."""
        return self.get(name).as_whole()

    def text(self, name: str) -> str:
        """Return text."""
        part = self.get(name)
        if not isinstance(part.held, str):
            raise part.wrong("text")
        return part.held

    def text_or_none(self, name: str) -> str | None:
        """Return text, or None."""
        return None if self.get(name).held is None else self.text(name)

    def flag(self, name: str) -> bool:
        """Return true or false."""
        part = self.get(name)
        if not isinstance(part.held, bool):
            raise part.wrong("true or false")
        return part.held

    def as_whole(self) -> int:
        """Return the whole number that this is."""
        if not isinstance(self.held, int) or isinstance(self.held, bool) or not 0 <= self.held < 2**31:
            raise self.wrong("a whole number")
        return self.held

    def wrong(self, expected: str) -> ArchiveError:
        """Return the error that this is something else."""
        return ArchiveError(
            f"{self.where} is malformed: expected {expected}, got {shown(self.held)}; save the list anew"
        )
