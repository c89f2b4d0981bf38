"""Cuts: a column in a few bins, and the conditions that its bins can answer.

Numbers of few values have a bin for each, any others bins of about as many rows each, with ends rounded as far as their
distances allow; a value that many rows share has a bin of its own. Texts have a bin for each of the most frequent.
What is missing has a bin. Conditions are the ranges of neighbouring bins, the single values, pairs of values, and
IS NULL. A cut looks at features alone, never at labels.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from math import floor, isfinite, log10

import numpy as np
import numpy.typing as npt

from biasbounty.core.rows import Ids
from biasbounty.finders.conditions import Among, Condition, Missing, Named, Range
from biasbounty.finders.features import Feature, Floats

Codes = npt.NDArray[np.uint8]
MOST_BINS = 32
"""How many bins may be asked for."""
Choice = tuple[Condition, list[int]]
"""A condition, and the bins whose rows meet it."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A column's bin for each row, and its conditions, each the union of some bins."""

    place: int
    """The place of the column among the features."""
    codes: Codes
    conditions: tuple[Condition, ...]
    members: Floats
    """1 where the bin (second axis) is in the condition (first axis)."""

    def take(self, ids: Ids) -> "Cut":
        """Return the cut of some rows."""
        return replace(self, codes=self.codes[ids])

    def mask(self, condition: int) -> npt.NDArray[np.bool_]:
        """Say of each row whether it meets a condition."""
        return np.asarray((self.members[condition] > 0)[self.codes])


def cut(feature: Feature, place: int, values: Floats, bins: int, least: int) -> Cut:
    """Cut a column, given as `Features` has it; no condition is met by fewer rows than `least`, nor by all."""
    coded = _cut_texts if feature.kind == "text" else _cut_numbers
    codes, choices = coded(feature, values, bins)
    absent = np.isnan(values)
    last = int(codes.max()) + 1 if len(codes) else 0
    bin_of_row: Codes = np.where(absent, last, codes).astype(np.uint8)
    choices.append((Missing(feature), [last]))
    counts = np.bincount(bin_of_row, minlength=last + 1)
    kept = [choice for choice in choices if least <= counts[choice[1]].sum() < len(values)]
    members = np.zeros((len(kept), last + 1))
    for row, (_, own) in enumerate(kept):
        members[row, own] = 1
    return Cut(place, bin_of_row, tuple(condition for condition, _ in kept), members)


def _cut_texts(feature: Feature, values: Floats, bins: int) -> tuple[npt.NDArray[np.intp], list[Choice]]:
    """Give the most frequent texts a bin each, and all others one together, about which nothing is asked."""
    present = values[~np.isnan(values)].astype(np.intp)
    counts = np.bincount(present, minlength=len(feature.categories))
    frequent = np.argsort(-counts, kind="stable")[:bins]
    bin_of = np.full(len(feature.categories) + 1, len(frequent))
    bin_of[frequent] = np.arange(len(frequent))
    codes = bin_of[np.where(np.isnan(values), len(feature.categories), values).astype(np.intp)]
    texts = [feature.categories[at] for at in frequent]
    single = [(_named(feature, [text]), [at]) for at, text in enumerate(texts)]
    pairs = [(_named(feature, [texts[a], texts[b]]), [a, b]) for a, b in combinations(range(len(texts)), 2)]
    return codes, [*single, *pairs]


def _named(feature: Feature, texts: list[str]) -> Condition:
    return Named(Feature(feature.name, feature.kind, tuple(texts)))


def _cut_numbers(feature: Feature, values: Floats, bins: int) -> tuple[npt.NDArray[np.intp], list[Choice]]:
    """Give each value a bin if they are few, else each of the ranges between quantiles."""
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    ends = distinct[1:] if len(distinct) <= bins else _ends(distinct, counts, bins)
    codes = np.where(np.isnan(values), 0, np.searchsorted(ends, values, side="right"))
    starts = np.searchsorted(ends, distinct, side="right")
    alone = {int(at): float(distinct[starts == at][0]) for at in np.flatnonzero(np.bincount(starts) == 1)}
    return codes, [*_ranges(feature, ends.tolist(), alone), *_pairs(feature, alone)]


def _ends(distinct: Floats, counts: npt.NDArray[np.intp], bins: int) -> Floats:
    """Return where each bin but the first begins."""
    below = np.cumsum(counts)
    quantiles = distinct[np.searchsorted(below, below[-1] * np.arange(1, bins) / bins)]
    shared = np.flatnonzero(counts * bins >= below[-1])
    alone = np.concatenate([distinct[shared], distinct[shared[shared + 1 < len(distinct)] + 1]])
    ends = np.unique(np.concatenate([_rounded(np.unique(quantiles)), alone]))
    return np.asarray(ends[(ends > distinct[0]) & (ends <= distinct[-1])])


def _rounded(ends: Floats) -> Floats:
    """Round to the digits that tell neighbours apart to a tenth of their distance."""
    if len(ends) < 2:
        return ends
    digits = 1 - floor(log10(float(np.diff(ends).min())))
    rounded = np.round(ends, min(digits, 300))
    return rounded if all(map(isfinite, rounded)) else ends


def _ranges(feature: Feature, ends: list[float], alone: dict[int, float]) -> list[Choice]:
    """Return all ranges of neighbouring bins; one of a single value is that value, one of two values those."""
    size = len(ends) + 1
    choices: list[Choice] = []
    for first in range(size):
        for last in range(first, size):
            own = list(range(first, last + 1))
            if len(own) <= 2 and all(at in alone for at in own):
                condition: Condition = Among(feature, tuple(alone[at] for at in own))
            else:
                low, high = ends[first - 1] if first else None, ends[last] if last < size - 1 else None
                condition = Range(feature, low, high)
            choices.append((condition, own))
    return choices


def _pairs(feature: Feature, alone: dict[int, float]) -> list[Choice]:
    """Return the pairs of values that are no neighbours."""
    apart = [(a, b) for a, b in combinations(sorted(alone), 2) if b > a + 1]
    return [(Among(feature, (alone[a], alone[b])), [a, b]) for a, b in apart]
