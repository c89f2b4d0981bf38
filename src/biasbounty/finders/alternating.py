"""AlternatingFinder: certificates by alternating maximisation (Algorithm 6, corrected), for labels of any kind.

With the group held, the best model is the one of least risk on the group's rows. With the model held, the best group
tells the rows where the model does better than the newest round from those where it does worse, weighted by how much.
Either is refitted in turn, and the old one kept unless the new one gains epsilon, until at one and the same pair
neither refit gains. (The rule as printed compares whole sweeps and returns the pair after the last, which need not be
such a pair.) With exact base estimators no change of the group alone or of the model alone then gains epsilon.
Contributions lie in [-1, 1], so at most 2/epsilon refits improve and two more do not. The end depends on the start:
there are several.
"""

from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from biasbounty.arrays import Array, is_number, shown
from biasbounty.errors import SettingsError
from biasbounty.finders.features import Floats
from biasbounty.finders.found import (
    FoundGroup,
    FoundModel,
    group_rule,
    learn_group,
    learn_model,
    require_base,
    seed_from,
)
from biasbounty.finders.interface import Finder, Mask, Progress, Searched
from biasbounty.losses import Loss
from biasbounty.values import Certificate


@dataclass(frozen=True, eq=False)
class Pair:
    """A group and a model, as fitted and on the rows searched, and what they contribute there."""

    group: FoundGroup
    mask: Mask
    model: FoundModel
    fall: Floats
    """By how much the loss of each row falls if the model answers it."""
    value: float


class AlternatingFinder(Finder):
    """Finds a group and a model in turn, until neither can be bettered alone.

    Args:
        base: The model, a classifier or for numbers a regressor of scikit-learn; a tree if not given.
        group_base: The classifier that tells who is in the group; a small tree if not given.
        epsilon: What a refit has to gain, in contribution.
        restarts: From how many starts: everyone, the rows where the newest round errs most, then cuts at random.
    """

    def __init__(self, base: Any = None, group_base: Any = None, epsilon: float = 0.001, restarts: int = 3) -> None:
        self.base, self.group_base, self.epsilon, self.restarts = base, group_base, epsilon, restarts

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
        """Return the best pair that was reached from all starts, or None if none contributes."""
        searched = Searched.of(X, y, predictions, rng, loss, weights)
        self._require_settings(searched)
        if searched.is_perfect:
            return None
        best: Pair | None = None
        for done in range(self.restarts):
            reached = self._climb(searched, _start(searched, done, rng), seed_from(rng))
            if reached is not None and (best is None or reached.value > best.value):
                best = reached
            if progress is not None:
                progress(done + 1, self.restarts)
        if best is None:
            return None
        return searched.certificate(self, best.group, best.model, group_rule(searched, best.group))

    def _require_settings(self, searched: Searched) -> None:
        require_base(self.base, "base", classifier=searched.classes is not None)
        require_base(self.group_base, "group_base", classifier=True)
        if not (is_number(self.epsilon) and 0 < self.epsilon <= 1):
            raise SettingsError(
                f"epsilon is outside its range: expected above 0 and up to 1, got {shown(self.epsilon)}"
            )
        if not (isinstance(self.restarts, (int, np.integer)) and self.restarts >= 1):
            raise SettingsError(f"restarts cannot be used: expected a whole number from 1, got {shown(self.restarts)}")

    def _climb(self, searched: Searched, start: Mask, seed: int) -> Pair | None:
        """Refit from a start until neither refit gains.

        A refit is a function of the pair, so that the half just refitted needs no second try at the pair it made.
        """
        model = learn_model(searched, self.base, np.flatnonzero(start), seed)
        pair = None if model is None else self._with_group(searched, model, _fall(searched, model), seed)
        if pair is None:
            return None
        refits, idle = cycle((self._refit_model, self._refit_group)), 1
        while idle < 2:
            refitted = next(refits)(searched, pair, seed)
            if refitted is None or refitted.value - pair.value < self.epsilon:
                idle += 1
            else:
                pair, idle = refitted, 1
        return pair

    def _refit_model(self, searched: Searched, pair: Pair, seed: int) -> Pair | None:
        model = learn_model(searched, self.base, np.flatnonzero(pair.mask), seed)
        return None if model is None else _pair(searched, pair.group, pair.mask, model, _fall(searched, model))

    def _refit_group(self, searched: Searched, pair: Pair, seed: int) -> Pair | None:
        return self._with_group(searched, pair.model, pair.fall, seed)

    def _with_group(self, searched: Searched, model: FoundModel, fall: Floats, seed: int) -> Pair | None:
        """Return the model with the group of those it does better on; where it never differs, any group will do."""
        ids = np.flatnonzero(fall)
        if len(searched.weighed(ids)):
            group = learn_group(searched, self.group_base, ids, fall[ids] > 0, np.abs(fall[ids]), seed)
        else:
            inside = np.ones(len(searched), np.bool_)
            group = learn_group(searched, self.group_base, searched.everyone, inside, None, seed)
        return None if group is None else _pair(searched, group, group.of(searched.matrix), model, fall)


def _fall(searched: Searched, model: FoundModel) -> Floats:
    return searched.fall(model.of(searched.matrix))


def _pair(searched: Searched, group: FoundGroup, mask: Mask, model: FoundModel, fall: Floats) -> Pair:
    return Pair(group, mask, model, fall, searched.mean(mask * fall))


def _start(searched: Searched, number: int, rng: np.random.Generator) -> Mask:
    """Return the rows of a start: everyone, then those that cost more than most, then cuts of a column at random."""
    if number == 0:
        return np.ones(len(searched), np.bool_)
    if number == 1:
        return np.asarray(searched.before > min(searched.mean(searched.before), searched.before.max() / 2))
    column: Array = searched.matrix[:, rng.integers(searched.matrix.shape[1])]
    cut, above = column[rng.integers(len(column))], rng.random() < 0.5
    mask = column >= cut if above else column <= cut
    return mask if mask.any() else np.ones(len(searched), np.bool_)
