"""The lattice of slices: what is summed over the rows of every slice, from joint histograms of a few columns at a time.

A joint histogram is one pass over the rows; the sums of all slices of its columns follow from it by small matrix
products, so that a slice costs a few multiplications, however many rows there are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty.arrays import Mask
from biasbounty.finders.conditions import SliceGroup
from biasbounty.finders.cuts import Cut
from biasbounty.finders.features import Features, Floats

Columns: TypeAlias = tuple[int, ...]
"""The numbers of some cuts."""
TWINS = 0.7
"""Slices that share more of their rows than this, of all rows in either, are twins."""
SKETCH = 4096
"""How many rows, spread over all, tell whether slices are twins."""


@dataclass(frozen=True)
class Kept:
    """A slice that was kept: its cuts, the condition of each, and what was summed over its rows."""

    columns: Columns
    choices: tuple[int, ...]
    score: float
    sums: tuple[float, ...]

    def mask(self, cuts: Sequence[Cut]) -> Mask:
        """Say of each row whether it is in the slice."""
        own = [cuts[column].mask(choice) for column, choice in zip(self.columns, self.choices, strict=True)]
        return np.asarray(np.logical_and.reduce(own))

    def group(self, cuts: Sequence[Cut], features: Features) -> SliceGroup:
        """Return the slice as a function of rows."""
        chosen = [
            (cuts[column].conditions[choice], cuts[column].place)
            for column, choice in zip(self.columns, self.choices, strict=True)
        ]
        conditions, places = zip(*chosen, strict=True)
        return SliceGroup(conditions, places, len(features.columns), features.named)


def combinations_of(cuts: Sequence[Cut], depth: int) -> list[Columns]:
    """Return every combination of at most so many cuts, the smallest first."""
    asked = [at for at, each in enumerate(cuts) if each.conditions]
    return [columns for size in range(1, depth + 1) for columns in combinations(asked, size)]


def sums_of(cuts: Sequence[Cut], columns: Columns, values: Sequence[Floats | None]) -> Floats:
    """Return sums over the rows of every slice of these columns; values that are None count rows.

    The first axis is the values, each further one the conditions of one of the columns.
    """
    sizes = [cuts[column].members.shape[1] for column in columns]
    joint: npt.NDArray[np.intp] = np.zeros(1, np.intp)
    for column, size in zip(columns, sizes, strict=True):
        joint = joint * size + cuts[column].codes
    cells = int(np.prod(sizes))
    counted = [np.bincount(joint, each, minlength=cells) for each in values]
    totals = np.stack(counted).astype(np.float64).reshape(-1, *sizes)
    for axis, column in enumerate(columns, start=1):
        totals = np.moveaxis(np.tensordot(totals, cuts[column].members, axes=(axis, 1)), -1, axis)
    return np.asarray(totals, np.float64)


class Shortlist:
    """The slices of highest score, of all that are offered; of equals, those offered first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._floor = -np.inf
        self._columns: list[Columns] = []
        self._shapes: list[tuple[int, ...]] = []
        self._kept: list[Floats] = []
        """Arrays whose rows are: score, number of the combination, place in it, sums."""
        self._count = 0

    def offer(self, columns: Columns, scores: Floats, sums: Floats) -> None:
        """Offer the slices of a combination; one whose score is -inf is none."""
        flat = scores.ravel()
        own = _best(flat, np.flatnonzero(flat > self._floor), self.size)
        if not len(own):
            return
        number = np.full(len(own), len(self._columns))
        self._columns.append(columns)
        self._shapes.append(scores.shape)
        self._kept.append(np.vstack([flat[own], number, own, sums.reshape(len(sums), -1)[:, own]]))
        self._count += len(own)
        if self._count > 4 * self.size:
            self._cut()

    def _cut(self) -> None:
        together = np.hstack(self._kept)
        own = _best(together[0], np.arange(together.shape[1]), self.size)
        self._kept, self._count = [together[:, own]], len(own)
        if len(own) == self.size:
            self._floor = float(together[0, own].min())

    def best(self) -> list[Kept]:
        """Return what was kept, the highest score first."""
        if not self._kept:
            return []
        together = np.hstack(self._kept)
        order = np.argsort(-together[0], kind="stable")[: self.size]
        return [self._entry(together[:, at]) for at in order]

    def _entry(self, entry: Floats) -> Kept:
        number, place = int(entry[1]), int(entry[2])
        choices = np.unravel_index(place, self._shapes[number])
        return Kept(self._columns[number], tuple(map(int, choices)), float(entry[0]), tuple(entry[3:].tolist()))


def _best(scores: Floats, own: npt.NDArray[np.intp], size: int) -> npt.NDArray[np.intp]:
    """Return the places of the highest scores, in order of place."""
    if len(own) <= size:
        return own
    return own[np.sort(np.argsort(-scores[own], kind="stable")[:size])]


def twins_last(slices: Iterator[Kept], cuts: Sequence[Cut], most: int) -> Iterator[tuple[Kept, bool]]:
    """Put off each slice that is the twin of an earlier one; say of each whether it is.

    At most so many are compared.
    """
    rows = min(SKETCH, len(cuts[0].codes)) if cuts else 0
    spread = np.linspace(0, len(cuts[0].codes) - 1, rows).astype(np.intp) if cuts else np.zeros(0, np.intp)
    few = [cut.take(spread) for cut in cuts]
    seen = np.zeros((0, rows), np.bool_)
    later = []
    for each in slices:
        own = each.mask(few)
        if len(seen) < most and _is_twin(own, seen):
            later.append(each)
            continue
        seen = np.vstack([seen, own]) if len(seen) < most else seen
        yield each, False
    yield from ((each, True) for each in later)


def _is_twin(own: Mask, seen: npt.NDArray[Any]) -> bool:
    shared = (seen & own).sum(axis=1)
    return bool((shared > TWINS * (seen | own).sum(axis=1)).any())
