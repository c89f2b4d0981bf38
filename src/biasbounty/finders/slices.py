"""SliceFinder: certificates whose group is a slice, a conjunction of conditions on up to three columns.

A slice says itself as predicate text. The search has three steps, each for far fewer slices than the one before:

1. Every slice is counted, from joint histograms: its rows, its losses, and by how much a challenger fitted to the other
   half of the rows does better there.
2. A shortlist takes in turn those of the largest fall under the challenger and those of the largest excess of loss over
   what as many rows cost on average. The first would be missed by the second where a model errs everywhere; the second
   by the first where the challenger sees too little of a small slice. Near copies of a slice on the list are put off.
3. A model is refitted on each of these, on one half of the rows, and contributes what it does on the other half.

No model can save more than all that a slice costs. So a slice whose losses on the second half come to no more than the
best contribution found there needs no model: this prunes soundly, nothing better is passed by.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from biasbounty.arrays import shown
from biasbounty.core.rows import Ids
from biasbounty.errors import SettingsError
from biasbounty.finders.conditions import SliceGroup
from biasbounty.finders.cuts import MOST_BINS, Cut, cut
from biasbounty.finders.features import Floats
from biasbounty.finders.found import FoundModel, learn_model, require_base, seed_from
from biasbounty.finders.interface import ROUNDING, Finder, Progress, Searched
from biasbounty.finders.lattice import Kept, Shortlist, combinations_of, sums_of, twins_last
from biasbounty.losses import Loss
from biasbounty.values import Certificate

MOST_COLUMNS = 3
ENOUGH = 20_000
"""A model that is only compared with others is fitted to so many rows at most."""
RESERVE = 20
"""The shortlist is so many times as long as the slices that get a model: many on it are near copies."""


@dataclass(frozen=True, eq=False)
class FoundSlice:
    """A slice, a model for it, and what the two contribute on the half of the rows that the model has not seen."""

    group: SliceGroup
    model: FoundModel
    rows: int
    contribution: float


@dataclass(frozen=True, eq=False)
class Halves:
    """The rows in two halves drawn at random: one to fit models to, and one to compare them on."""

    fit: Ids
    compare: Ids

    @staticmethod
    def drawn(size: int, rng: np.random.Generator) -> "Halves":
        """Draw the halves of so many rows."""
        order = rng.permutation(size)
        return Halves(order[: (size + 1) // 2], order[(size + 1) // 2 :])


class SliceFinder(Finder):
    """Finds a slice and a model for it.

    Args:
        base: The model, a classifier or for numbers a regressor of scikit-learn; a tree if not given.
        depth: On how many columns a slice may ask something: 1, 2 or 3.
        bins: Into how many parts a column of numbers is cut, and how many texts of a column are looked at.
        candidates: How many slices get a model of their own.
        smallest: How many rows a slice has at least.
    """

    def __init__(
        self, base: Any = None, depth: int = 2, bins: int = 8, candidates: int = 50, smallest: int = 50
    ) -> None:
        self.base, self.depth, self.bins = base, depth, bins
        self.candidates, self.smallest = candidates, smallest

    def find(
        self,
        X: Any,
        y: Any,
        predictions: Any,
        rng: np.random.Generator,
        *,
        loss: str | Loss = "zero_one",
        weights: Any = None,
        progress: Progress | None = None,
    ) -> Certificate | None:
        """Return the best slice, with a model refitted to all of its rows, or None if none contributes."""
        searched = self._searched(X, y, predictions, rng, loss, weights)
        found = self._ranked(searched, rng, 1, progress)
        if not found or not found[0].contribution > ROUNDING:
            return None
        group = found[0].group
        model = learn_model(searched, self.base, np.flatnonzero(group(X)), seed_from(rng))
        return None if model is None else searched.certificate(self, group, model, group.words)

    def rank(
        self,
        X: Any,
        y: Any,
        predictions: Any,
        rng: np.random.Generator,
        *,
        loss: str | Loss = "zero_one",
        weights: Any = None,
        progress: Progress | None = None,
        most: int = 10,
    ) -> tuple[FoundSlice, ...]:
        """Return the slices of largest contribution, the largest first; otherwise as `find`."""
        return self._ranked(self._searched(X, y, predictions, rng, loss, weights), rng, most, progress)

    def _searched(self, X: Any, y: Any, predictions: Any, rng: Any, loss: str | Loss, weights: Any) -> Searched:
        searched = Searched.of(X, y, predictions, rng, loss, weights)
        require_base(self.base, "base", classifier=searched.classes is not None)
        for name, value, most in (
            ("depth", self.depth, MOST_COLUMNS),
            ("bins", self.bins, MOST_BINS),
            ("candidates", self.candidates, None),
            ("smallest", self.smallest, None),
        ):
            _require_count(name, value, most)
        return searched

    def _ranked(
        self, searched: Searched, rng: np.random.Generator, most: int, progress: Progress | None
    ) -> tuple[FoundSlice, ...]:
        if searched.is_perfect or len(searched) < 2:
            return ()
        halves, seed = Halves.drawn(len(searched), rng), seed_from(rng)
        cuts = [
            cut(feature, place, searched.matrix[:, place], self.bins, self.smallest)
            for place, feature in enumerate(searched.features.columns)
        ]
        steps = _Steps(progress, len(combinations_of(cuts, self.depth)) + self.candidates)
        listed = self._listed(searched, cuts, _challenged(searched, self.base, halves, seed), halves, steps)
        slices = islice(twins_last(listed, cuts, self.candidates), self.candidates)
        return _refitted(searched, self.base, cuts, halves, (kept for kept, _ in slices), most, seed, steps)

    def _listed(
        self, searched: Searched, cuts: list[Cut], fall: Floats, halves: Halves, steps: "_Steps"
    ) -> Iterator[Kept]:
        """Count all slices, and yield the shortlisted: by fall and by excess of loss, in turn."""
        before = _weighed(searched, searched.before)
        compared = np.zeros(len(searched))
        compared[halves.compare] = before[halves.compare]
        values = [None, _weighed(searched, np.ones(len(searched))), before, _weighed(searched, fall), compared]
        usual = before.mean()
        lists = [Shortlist(self.candidates * RESERVE) for _ in range(2)]
        for columns in combinations_of(cuts, self.depth):
            rows, weight, losses, falls, ceilings = sums_of(cuts, columns, values)
            for shortlist, score in zip(lists, (falls, losses - usual * weight), strict=True):
                scores = np.where((rows >= self.smallest) & (score > 0), score, -np.inf)
                shortlist.offer(columns, scores, np.stack([rows, ceilings]))
            steps.done()
        yield from _in_turn(*(shortlist.best() for shortlist in lists))


class _Steps:
    """Counts steps, and tells whoever wants to know."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.count = progress, total, 0

    def done(self) -> None:
        self.count += 1
        if self.progress is not None:
            self.progress(min(self.count, self.total), self.total)


def _require_count(name: str, value: Any, most: int | None) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < 1 or (most is not None and value > most):
        wanted = "a whole number from 1" if most is None else f"a whole number from 1 to {most}"
        raise SettingsError(f"{name} is out of range: expected {wanted}, got {shown(value)}")


def _weighed(searched: Searched, values: Floats) -> Floats:
    return values if searched.weights is None else values * searched.weights


def _challenged(searched: Searched, base: Any, halves: Halves, seed: int) -> Floats:
    """Return by how much the loss of each row falls under a challenger that was fitted to the other half."""
    fall = np.zeros(len(searched))
    for own, other in ((halves.fit, halves.compare), (halves.compare, halves.fit)):
        model = learn_model(searched, base, own[:ENOUGH], seed)
        if model is not None:
            fall[other] = _fall(searched, model, other)
    return fall


def _fall(searched: Searched, model: FoundModel, ids: Ids) -> Floats:
    """Return by how much the loss of some rows falls under a model."""
    after = searched.loss(model.of(searched.matrix[ids]), searched.y[ids])
    return np.asarray(searched.before[ids] - after)


def _in_turn(*lists: list[Kept]) -> Iterator[Kept]:
    """Yield from each list in turn, each slice once."""
    seen = set()
    for together in zip_longest(*lists):
        for kept in together:
            if kept is not None and (kept.columns, kept.choices) not in seen:
                seen.add((kept.columns, kept.choices))
                yield kept


def _refitted(
    searched: Searched,
    base: Any,
    cuts: list[Cut],
    halves: Halves,
    slices: Iterator[Kept],
    most: int,
    seed: int,
    steps: _Steps,
) -> tuple[FoundSlice, ...]:
    """Refit a model on each slice that can still be among the best, and return those, the best first."""
    best: list[FoundSlice] = []
    for kept in slices:
        ceiling = kept.sums[1] / len(halves.compare)
        if len(best) < most or ceiling > best[-1].contribution:
            found = _with_model(searched, base, cuts, halves, kept, seed)
            best = sorted([*best, *found], key=lambda one: -one.contribution)[:most]
        steps.done()
    return tuple(best)


def _with_model(
    searched: Searched, base: Any, cuts: list[Cut], halves: Halves, kept: Kept, seed: int
) -> list[FoundSlice]:
    """Return the slice with a model fitted on one half; nothing if it has no rows there."""
    mask = kept.mask(cuts)
    fitted, compared = (half[mask[half]] for half in (halves.fit, halves.compare))
    model = learn_model(searched, base, fitted[:ENOUGH], seed)
    if model is None or not len(compared):
        return []
    fall = _fall(searched, model, compared)
    total = float(fall.sum() if searched.weights is None else searched.weights[compared] @ fall)
    return [FoundSlice(kept.group(cuts, searched.features), model, int(kept.sums[0]), total / len(halves.compare))]
