"""TernaryFinder: certificates by cost-sensitive classification (section 4.2.1 of the paper), for any number of classes.

Deferring to the newest round costs nothing; answering class c costs loss(c, y) - loss(f(x), y), which is below 0
where c does better. One regressor learns the cost of each class. The group is where some predicted cost is below 0, the
model answers the class of least predicted cost (of equals, the lowest). If the regressors predict the mean cost of each
cell of a partition exactly, the certificate found is the best of all that are constant on its cells.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeRegressor

from biasbounty.arrays import Array
from biasbounty.errors import SettingsError
from biasbounty.finders.features import Floats
from biasbounty.finders.found import (
    FoundGroup,
    FoundModel,
    Region,
    ask_base,
    in_words,
    learn,
    require_base,
    rows_for,
    seed_from,
    tree_regions,
)
from biasbounty.finders.interface import MOST_CLASSES, ROUNDING, Finder, Progress, Searched
from biasbounty.losses import Loss
from biasbounty.values import Certificate

DEPTH, LEAF = 6, 20
"""The depth and smallest leaf of the trees used where no base is given."""


@dataclass(frozen=True, eq=False)
class Costs:
    """Regressors of what it costs to answer each class rather than to defer."""

    classes: Array
    regressors: tuple[Any, ...]

    def __call__(self, matrix: Floats) -> Floats:
        """Predict the cost of each class (columns) for each row."""
        return np.column_stack([ask_base(regressor, matrix) for regressor in self.regressors]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Worthwhile:
    """Calls 1 the rows that some class is expected to answer better than the newest round does."""

    costs: Costs

    def predict(self, matrix: Floats) -> npt.NDArray[np.int64]:
        """Return 1 where some predicted cost is below 0."""
        return np.asarray(self.costs(matrix).min(axis=1) < -ROUNDING, np.int64)


@dataclass(frozen=True, eq=False)
class Cheapest:
    """Answers the class of least predicted cost."""

    costs: Costs

    def predict(self, matrix: Floats) -> Array:
        """Return the cheapest class of each row; of equals, the lowest."""
        return np.asarray(self.costs.classes[self.costs(matrix).argmin(axis=1)])


class TernaryFinder(Finder):
    """Finds a group and a model at once, by regressors of what each class costs.

    Args:
        base: The regressor of cost, any of scikit-learn; a tree of moderate depth if not given.
    """

    def __init__(self, base: Any = None) -> None:
        self.base = base

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
        """Return the certificate that the regressors of cost imply, or None if it does not contribute."""
        require_base(self.base, "base", classifier=False)
        searched = Searched.of(X, y, predictions, rng, loss, weights)
        classes = _classes_of(searched)
        if searched.is_perfect:
            return None
        costs = self._learn(searched, classes, seed_from(rng), progress)
        group = FoundGroup(searched.features, Worthwhile(costs))
        model = FoundModel(searched.features, Cheapest(costs))
        return searched.certificate(self, group, model, in_words(searched, _regions(costs)))

    def _learn(self, searched: Searched, classes: Array, seed: int, progress: Progress | None) -> Costs:
        base = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=LEAF) if self.base is None else self.base
        counted = searched.weighed(searched.everyone)
        matrix, weights = (
            rows_for(searched, base, counted),
            None if searched.weights is None else searched.weights[counted],
        )
        regressors = []
        for done, answer in enumerate(classes, start=1):
            cost = -searched.fall(np.full(len(searched), answer))[counted]
            regressors.append(learn(base, matrix, cost, weights, seed))
            if progress is not None:
                progress(done, len(classes))
        return Costs(classes, tuple(regressors))


def _classes_of(searched: Searched) -> Array:
    if searched.classes is None:
        raise SettingsError(
            f"labels are numbers to come close to: expected classes, with a loss of classes such as zero_one or "
            f"cost_matrix, got the loss {searched.loss.name}; search with AlternatingFinder or ResidualFinder"
        )
    if len(searched.classes) > MOST_CLASSES:
        raise SettingsError(
            f"labels are of too many classes: expected at most {MOST_CLASSES}, got {len(searched.classes):,}; for "
            "numbers to come close to, use losses.absolute(low, high) and another finder"
        )
    return searched.classes


def _regions(costs: Costs) -> list[Region] | None:
    """Return the regions where some class is expected to do better, or None if the regressors are no trees."""
    found = [
        tree_regions(regressor, lambda values: np.asarray(values[:, 0, 0] < -ROUNDING))
        for regressor in costs.regressors
    ]
    if any(regions is None for regions in found):
        return None
    return [region for regions in found if regions for region in regions]
