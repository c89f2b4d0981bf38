"""Columns: what a submission answered, once, on public and holdout rows; the judge works from these alone.

The judge's rows are row numbers, and its groups and models look the answers up. So labels and features stay apart: who
scores has no labels, who judges has no features and calls nothing of a stranger's.
"""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import Array, Mask
from biasbounty.errors import ModelError, StoreError


def numbered(size: int, start: int = 0) -> Array:
    """Return so many rows as their numbers."""
    return np.arange(start, start + size)[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Answers:
    """A group's mask over all rows (public ones first, then the holdout's), and a model's answers for its rows."""

    mask: Mask
    answers: Array

    def group(self, rows: Array) -> Mask:
        """Say whether rows, by number, are in the group."""
        said: Mask = self.mask[rows[:, 0]]
        return said

    def model(self, rows: Array) -> Array:
        """Answer for rows of the group, by number."""
        said: Array = self.answers[self._places[rows[:, 0]]]
        return said

    @property
    def _places(self) -> Array:
        return np.cumsum(self.mask) - 1

    def as_bytes(self) -> bytes:
        """Return this as bytes to be kept."""
        if self.answers.dtype.hasobject:
            raise ModelError("model has answers of an unknown type: expected numbers, booleans or text, got objects")
        packed = io.BytesIO()
        np.savez(packed, mask=np.packbits(self.mask), size=len(self.mask), answers=self.answers)
        return packed.getvalue()

    @staticmethod
    def of(data: bytes) -> "Answers":
        """Read what was kept; nothing in it is ever unpickled."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as kept:
                size = int(kept["size"])
                return Answers(np.unpackbits(kept["mask"], count=size).astype(np.bool_), kept["answers"])
        except (ValueError, KeyError, OSError, EOFError) as error:
            raise StoreError(f"scores cannot be read: expected a mask and answers, got {error}") from error


@dataclass(frozen=True, eq=False)
class Initial:
    """The initial model's answers for all rows."""

    answers: Array

    def __call__(self, rows: Array) -> Any:
        """Answer for rows, by number."""
        return self.answers[rows[:, 0]]
