"""SliceFinder: certificates whose group is a slice, a conjunction of conditions on up to three columns.

A slice says itself as predicate text. The search has three steps, each for far fewer slices than the one before:

1. Every slice is counted, from joint histograms: its rows, what they cost, and two estimates of what could be saved.
   One is exact for the simplest of models, those that answer one label wherever the newest round answers another. The
   other is by how much a challenger does better, a small forest fitted to the half of the rows that it is not asked
   about.
2. A shortlist takes in turn the slices of most savings by relabelling, of most savings under the challenger, and of the
   largest excess of cost over what as many rows cost on average; each sees what others miss
   (docs/decisions/0012-which-slices-get-a-model.md). Near copies of a slice on the list are put off.
3. A model is refitted on each of these, on one half of the rows, and contributes what it does on the other half.

No model can save more than all that a slice costs. So a slice whose losses on the second half come to no more than the
best contribution found there needs no model: this prunes soundly, nothing better is passed by.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from math import prod
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

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

Ranking: TypeAlias = Literal["contribution", "relabelling", "excess"]
MOST_COLUMNS = 3
ENOUGH = 20_000
"""A model that is only compared with others is fitted to so many rows at most."""
PLENTY, TREES = 20_000, 10
"""The challenger is a small forest, fitted to so many rows at most."""
BLOCK = 1 << 14
"""A model is asked about so many rows at a time, whose copies are then small beside all rows."""
MOST_RELABELLED = 3
"""With more classes, all answers of the newest round are relabelled alike; with more than the square of it, none."""
COUNTABLE = 4_000_000
"""Slices of the same columns are counted together; more than this take gigabytes."""
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
        found = self._ranked(searched, rng, 1, "contribution", progress)
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
        by: Ranking = "contribution",
    ) -> tuple[FoundSlice, ...]:
        """Return at most so many slices, each with a model, the best first; otherwise as `find`.

        What makes a slice good is the contribution of its model; or what is saved there by answering one label wherever
        the newest round answers another; or the excess of what it costs over what as many rows cost on average.
        """
        if by not in get_args(Ranking):
            raise SettingsError(f"by is unknown: expected one of {', '.join(get_args(Ranking))}, got {shown(by)}")
        searched = self._searched(X, y, predictions, rng, loss, weights)
        if by == "relabelling" and not _can_relabel(searched):
            raise SettingsError(
                f"labels cannot be ranked by relabelling: expected at most {MOST_RELABELLED**2} classes, got "
                f"{'numbers' if searched.classes is None else len(searched.classes)}; rank by contribution or excess"
            )
        return self._ranked(searched, rng, most, by, progress)

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
        self, searched: Searched, rng: np.random.Generator, most: int, by: Ranking, progress: Progress | None
    ) -> tuple[FoundSlice, ...]:
        if searched.is_perfect or len(searched) < 2:
            return ()
        halves, seed = Halves.drawn(len(searched), rng), seed_from(rng)
        cuts = [
            cut(feature, place, searched.matrix[:, place], self.bins, self.smallest)
            for place, feature in enumerate(searched.features.columns)
        ]
        _require_countable(cuts, self.depth)
        models = self.candidates if by == "contribution" else most
        steps = _Steps(progress, len(combinations_of(cuts, self.depth)) + models)
        fall = _challenged(searched, halves, seed)
        shortlists = self._shortlists(searched, cuts, fall, halves, steps)
        listed = _in_turn(*shortlists.values()) if by == "contribution" else iter(shortlists[by])
        slices = islice((kept for kept, _ in twins_last(listed, cuts, models)), models)
        refits = _Refits(searched, self.base, cuts, halves, seed, steps)
        found = refits.best(slices, most) if by == "contribution" else refits.all(slices)
        steps.end()
        return found

    def _shortlists(
        self, searched: Searched, cuts: list[Cut], fall: Floats, halves: Halves, steps: "_Steps"
    ) -> dict[str, list[Kept]]:
        """Count all slices; return those of most savings by relabelling, under the challenger, and of most excess."""
        before = _weighed(searched, searched.before)
        compared = np.zeros(len(searched))
        compared[halves.compare] = before[halves.compare]
        relabelled = _relabelled(searched)
        values = [None, _weighed(searched, np.ones(len(searched))), before, compared, _weighed(searched, fall)]
        values += [_weighed(searched, saving) for savings in relabelled for saving in savings]
        usual = before.mean()
        lists = {name: Shortlist(self.candidates * RESERVE) for name in ("relabelling", "challenger", "excess")}
        for columns in combinations_of(cuts, self.depth):
            rows, weight, losses, ceilings, falls, *savings = sums_of(cuts, columns, values)
            scores = (_most_saved(relabelled, savings, falls), falls, losses - usual * weight)
            for shortlist, score in zip(lists.values(), scores, strict=True):
                kept = (rows >= self.smallest) & (score > ROUNDING)
                shortlist.offer(columns, np.where(kept, score, -np.inf), np.stack([rows, ceilings]))
            steps.done()
        return {name: shortlist.best() for name, shortlist in lists.items()}


class _Steps:
    """Counts steps, and tells whoever wants to know."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.count = progress, total, 0

    def done(self) -> None:
        """Count one more."""
        self.count = min(self.count + 1, self.total)
        self._tell()

    def end(self) -> None:
        """Count all that were not needed."""
        if self.count < self.total:
            self.count = self.total
            self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.count, self.total)


def _require_count(name: str, value: Any, most: int | None) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < 1 or (most is not None and value > most):
        wanted = "a whole number from 1" if most is None else f"a whole number from 1 to {most}"
        raise SettingsError(f"{name} is out of range: expected {wanted}, got {shown(value)}")


def _require_countable(cuts: list[Cut], depth: int) -> None:
    """Raise if the slices of some columns are too many to be counted at once."""
    most = prod(sorted((len(cut.conditions) for cut in cuts), reverse=True)[:depth])
    if most > COUNTABLE:
        raise SettingsError(
            f"slices are too many to count: expected at most {COUNTABLE:,} of {depth} columns, got {most:,}; search "
            "with fewer bins or a smaller depth"
        )


def _weighed(searched: Searched, values: Floats) -> Floats:
    return values if searched.weights is None else values * searched.weights


def _challenged(searched: Searched, halves: Halves, seed: int) -> Floats:
    """Return by how much the loss of each row falls under a challenger that was fitted to the other half."""
    forest = RandomForestRegressor if searched.classes is None else RandomForestClassifier
    challenger = forest(n_estimators=TREES, min_samples_leaf=20, max_features=0.5, n_jobs=1)
    fall = np.zeros(len(searched))
    for own, other in ((halves.fit, halves.compare), (halves.compare, halves.fit)):
        model = learn_model(searched, challenger, own[:PLENTY], seed)
        if model is not None:
            fall[other] = _fall(searched, model, other)
    return fall


def _can_relabel(searched: Searched) -> bool:
    return searched.classes is not None and len(searched.classes) <= MOST_RELABELLED**2


def _relabelled(searched: Searched) -> list[list[Floats]]:
    """Return what each row would save by another label, for each answer of the newest round; of many classes, for all.

    Where labels are numbers nothing is relabelled: the challenger has to see what can be saved.
    """
    classes = searched.classes
    if classes is None or not _can_relabel(searched):
        return []
    falls = [searched.fall(np.full(len(searched), label)) for label in classes]
    if len(classes) > MOST_RELABELLED:
        return [falls]
    answered = [searched.predictions == answer for answer in np.unique(searched.predictions)]
    return [[fall * own for fall in falls if (fall * own).any()] for own in answered]


def _most_saved(relabelled: list[list[Floats]], savings: list[Floats], like: Floats) -> Floats:
    """Return what the best relabelling of each slice saves, from the sums of what each label would save."""
    total, sums = np.zeros_like(like), iter(savings)
    for labels in relabelled:
        best = np.zeros_like(like)
        for _ in labels:
            best = np.maximum(best, next(sums))
        total += best
    return total


def _fall(searched: Searched, model: FoundModel, ids: Ids) -> Floats:
    """Return by how much the loss of some rows falls under a model, which is asked about a block of them at a time."""
    fall = np.zeros(len(ids))
    for first in range(0, len(ids), BLOCK):
        own = ids[first : first + BLOCK]
        after = searched.loss(model.of(searched.matrix[own]), searched.y[own])
        fall[first : first + BLOCK] = searched.before[own] - after
    return fall


def _in_turn(*lists: list[Kept]) -> Iterator[Kept]:
    """Yield from each list in turn, each slice once."""
    seen = set()
    for together in zip_longest(*lists):
        for kept in together:
            if kept is not None and (kept.columns, kept.choices) not in seen:
                seen.add((kept.columns, kept.choices))
                yield kept


@dataclass(frozen=True, eq=False)
class _Refits:
    """Models for slices: fitted on one half of the rows, compared on the other."""

    searched: Searched
    base: Any
    cuts: list[Cut]
    halves: Halves
    seed: int
    steps: _Steps

    def best(self, slices: Iterable[Kept], most: int) -> tuple[FoundSlice, ...]:
        """Refit on each slice that can still be among the best, and return those; of equals, the smallest first."""
        best: list[FoundSlice] = []
        for kept in slices:
            rows, ceiling = kept.sums[0], kept.sums[1] / len(self.halves.compare)
            if len(best) < most or (ceiling, -rows) > (best[-1].contribution, -best[-1].rows):
                best = sorted([*best, *self._found(kept)], key=lambda one: (-one.contribution, one.rows))[:most]
            self.steps.done()
        return tuple(best)

    def all(self, slices: Iterable[Kept]) -> tuple[FoundSlice, ...]:
        """Refit on each slice, and return them in the order they came."""
        found = []
        for kept in slices:
            found += self._found(kept)
            self.steps.done()
        return tuple(found)

    def _found(self, kept: Kept) -> list[FoundSlice]:
        """Return the slice with its model; nothing if no rows of it are there to fit to, or to compare on."""
        mask, searched = kept.mask(self.cuts), self.searched
        fitted, compared = (half[mask[half]] for half in (self.halves.fit, self.halves.compare))
        model = learn_model(searched, self.base, fitted[:ENOUGH], self.seed)
        if model is None or not len(compared):
            return []
        fall = _fall(searched, model, compared)
        total = float(fall.sum() if searched.weights is None else searched.weights[compared] @ fall)
        group = kept.group(self.cuts, searched.features)
        return [FoundSlice(group, model, int(kept.sums[0]), total / len(self.halves.compare))]
