"""ExamplesFinder: certificates from rows that a hunter flags: learn the group from them, then a model on the group.

A hunter who cannot say the rule can often point: these are the people whom the model fails. The flagged rows and all
others weigh the same in all, so that the group holds the rows that are more like the flagged than most are, however few
were flagged. The rule learned is said in words, for the hunter to agree with or not.
"""

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from biasbounty.arrays import Array, Mask, as_array
from biasbounty.errors import SettingsError
from biasbounty.finders.found import GROUP_DEPTH, GROUP_LEAF, require_base, seed_from
from biasbounty.finders.group_first import group_first
from biasbounty.finders.interface import Finder, Progress, Searched
from biasbounty.losses import Loss
from biasbounty.values import Certificate

LEAVES = 4
"""A region has to hold about one in so many of the flagged rows, where those are few."""


class ExamplesFinder(Finder):
    """Finds the group that flagged rows are examples of, and a model for it.

    Args:
        flags: Of the rows to be searched, those that are flagged: a boolean for each row, or their numbers.
        base: The model, a classifier or for numbers a regressor of scikit-learn; a tree if not given.
        group_base: The classifier that tells who is in the group; a small tree if not given.
    """

    def __init__(self, flags: Any, base: Any = None, group_base: Any = None) -> None:
        self.flags, self.base, self.group_base = flags, base, group_base

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
        """Return the group learned from the flags and a model fitted to it, or None if that does not contribute."""
        searched = Searched.of(X, y, predictions, rng, loss, weights)
        require_base(self.base, "base", classifier=searched.classes is not None)
        require_base(self.group_base, "group_base", classifier=True)
        flagged, seed = _flagged(self.flags, len(searched)), seed_from(rng)
        if searched.is_perfect:
            return None
        share = searched.mean(flagged.astype(float))
        return group_first(
            self,
            searched,
            flagged,
            np.where(flagged, 1 - share, share),
            seed,
            base=self.base,
            group_base=_small_tree(int(flagged.sum())) if self.group_base is None else self.group_base,
            progress=progress,
        )


def _small_tree(flagged: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=GROUP_DEPTH, min_samples_leaf=max(1, min(GROUP_LEAF, flagged // LEAVES)))


def _are_bits(given: Array) -> bool:
    """Say whether these are 0 and 1 for each row, and not the numbers of two rows."""
    return len(given) > 2 and given.dtype.kind in "iuf" and bool(np.isin(given, (0, 1)).all())


def _flagged(flags: Any, size: int) -> Mask:
    """Return flags as booleans, one for each row."""
    given = as_array(flags)
    if given.shape == (size,) and (given.dtype == np.bool_ or _are_bits(given)):
        flagged = given.astype(np.bool_)
    elif given.dtype.kind in "iu" and given.ndim == 1:
        outside = given[(given < 0) | (given >= size)]
        if len(outside):
            raise SettingsError(
                f"flags name rows that are not there: expected numbers from 0 to {size - 1}, got {outside[0]}"
            )
        flagged = np.zeros(size, np.bool_)
        flagged[given] = True
    else:
        raise SettingsError(
            f"flags cannot be read: expected {size} booleans, or the numbers of the flagged rows, "
            f"got {given.dtype} of shape {given.shape}"
        )
    if not flagged.any() or flagged.all():
        raise SettingsError(
            f"flags tell nothing apart: expected some rows flagged and some not, got {int(flagged.sum())} of {size}"
        )
    return flagged
