"""Columns: what a submission answered, once, on public and holdout rows; the judge works from these alone.

The judge's rows are row numbers, and its groups and models look the answers up. So labels and features stay apart: who
scores has no labels, who judges has no features and calls nothing of a stranger's.
"""

import io
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from biasbounty.arrays import Array, Mask
from biasbounty.errors import StoreError


def numbered(size: int, start: int = 0) -> Array:
    """Return so many rows as their numbers."""
    return np.arange(start, start + size)[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Answers:
    """A group's mask over all rows (public ones first, then the holdout's), and a model's answers for its rows."""

    mask: Mask
    answers: Array
    whole: bool = True
    """Whether it answered for the holdout; else its group has no rows there."""

    def group(self, rows: Array) -> Mask:
        """Say whether rows, by number, are in the group."""
        said: Mask = self.mask[rows[:, 0]]
        return said

    def model(self, rows: Array) -> Array:
        """Answer for rows of the group, by number."""
        said: Array = self.answers[self._places[rows[:, 0]]]
        return said

    @cached_property
    def _places(self) -> Array:
        return np.cumsum(self.mask) - 1

    def as_bytes(self) -> bytes:
        """Return this as bytes to be kept: labels of a few kinds as numbers for these, and all of it compressed."""
        kinds, answers = _coded(self.answers)
        packed = io.BytesIO()
        np.savez(
            packed, mask=np.packbits(self.mask), size=len(self.mask), whole=self.whole, answers=answers, kinds=kinds
        )
        return zlib.compress(packed.getvalue(), 1)

    @staticmethod
    def of(data: bytes) -> "Answers":
        """Read what was kept; nothing in it is ever unpickled."""
        try:
            with np.load(io.BytesIO(zlib.decompress(data)), allow_pickle=False) as kept:
                mask = np.unpackbits(kept["mask"], count=int(kept["size"])).astype(np.bool_)
                kinds, answers = kept["kinds"], kept["answers"]
                return Answers(mask, kinds[answers] if len(kinds) else answers, bool(kept["whole"]))
        except (ValueError, KeyError, OSError, EOFError, zlib.error) as error:
            raise StoreError(f"scores cannot be read: expected a mask and answers, got {error}") from error


def _coded(answers: Array) -> tuple[Array, Array]:
    """Return the kinds of answers there are, and a byte or two for each answer; no kinds where that would not be less.

    Floats stay as they are, to the last bit.
    """
    if answers.dtype.hasobject:
        answers = answers.astype(str)
    if answers.dtype.kind == "f" or answers.dtype.itemsize == 1 or not len(answers):
        return answers[:0], answers
    kinds, codes = np.unique(answers, return_inverse=True)
    if len(kinds) > 1 << 16:
        return answers[:0], answers
    return kinds, codes.astype(np.uint8 if len(kinds) <= 1 << 8 else np.uint16)


@dataclass(frozen=True, eq=False)
class Initial:
    """The initial model's answers for all rows."""

    answers: Array

    def __call__(self, rows: Array) -> Any:
        """Answer for rows, by number."""
        return self.answers[rows[:, 0]]
