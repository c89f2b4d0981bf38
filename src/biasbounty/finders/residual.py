"""ResidualFinder: certificates from a classifier of where the newest round errs, for labels of any kind.

The group holds the rows that are expected to cost more than a row does on average: a classifier is shown which rows do,
each weighted by how far its loss is from the mean. (Unweighted, it would find nothing where errors are everywhere the
rarer case.) The model is then fitted to the group's rows. Where the newest round errs most need not be where another
model errs less: a group of coins is found here and does not contribute.
"""

from typing import Any

import numpy as np

from biasbounty.finders.found import require_base, seed_from
from biasbounty.finders.group_first import group_first
from biasbounty.finders.interface import ROUNDING, Finder, Progress, Searched
from biasbounty.losses import Loss
from biasbounty.values import Certificate


class ResidualFinder(Finder):
    """Finds the group where the newest round costs more than on average, and a model for it.

    Args:
        base: The model, a classifier or for numbers a regressor of scikit-learn; a tree if not given.
        group_base: The classifier that tells who is in the group; a small tree if not given.
    """

    def __init__(self, base: Any = None, group_base: Any = None) -> None:
        self.base, self.group_base = base, group_base

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
        """Return the group of costly rows and a model fitted to it, or None if that does not contribute."""
        searched = Searched.of(X, y, predictions, rng, loss, weights)
        require_base(self.base, "base", classifier=searched.classes is not None)
        require_base(self.group_base, "group_base", classifier=True)
        if searched.is_perfect:
            return None
        seed, excess = seed_from(rng), searched.before - searched.mean(searched.before)
        excess[np.abs(excess) <= ROUNDING] = 0
        return group_first(
            self,
            searched,
            excess >= 0,
            np.abs(excess),
            seed,
            base=self.base,
            group_base=self.group_base,
            progress=progress,
        )
