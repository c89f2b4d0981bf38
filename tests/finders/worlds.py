"""Worlds and searchers for the tests of finders: few different rows, so that groups and models can be enumerated."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from biasbounty.finders.interface import Finder, Progress, contribution
from biasbounty.losses import Loss
from biasbounty.values import Certificate

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Table:
    """A function of rows whose columns are bits: the answer of each combination."""

    answers: Array

    def __call__(self, X: Any) -> Array:
        """Look up the answer of each row."""
        return np.asarray(self.answers[cells(X)])


def cells(X: Any) -> Array:
    """Return the number of each row's combination of bits."""
    bits = np.asarray(X, np.int64)
    return np.asarray(bits @ (1 << np.arange(bits.shape[1])))


@dataclass(frozen=True)
class World:
    """Rows of bits, all combinations known with their chance, and the chance of label 1 in each."""

    chance: Array
    ones: Array

    @staticmethod
    def drawn(rng: np.random.Generator, bits: int) -> "World":
        """Draw a world."""
        return World(rng.dirichlet(np.full(1 << bits, 2.0)), rng.uniform(0, 1, 1 << bits))

    @property
    def every(self) -> Array:
        """One row of each combination, by number."""
        bits = len(self.chance).bit_length() - 1
        return (np.arange(len(self.chance))[:, None] >> np.arange(bits)) & 1

    def rows(self, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        """Draw rows and labels."""
        drawn = rng.choice(len(self.chance), size, p=self.chance)
        return self.every[drawn].astype(float), (rng.random(size) < self.ones[drawn]).astype(int)

    def errors(self, answers: Array) -> Array:
        """Return the chance of a mistake in each combination, times that of the combination."""
        return np.asarray(self.chance * np.where(answers == 1, 1 - self.ones, self.ones))

    @property
    def bayes_risk(self) -> float:
        """The least risk there is."""
        return float((self.chance * np.minimum(self.ones, 1 - self.ones)).sum())


def tables(size: int, values: Any) -> Iterator[Array]:
    """Yield all functions of so many combinations."""
    for table in product(values, repeat=size):
        yield np.array(table)


def best_by_enumeration(X: Array, y: Array, before: Array, values: Any, loss: Any, weights: Any = None) -> float:
    """Return the largest contribution of all pairs of a group and a model that are functions of the combination."""
    size = 1 << X.shape[1]
    masks = [table[cells(X)] for table in tables(size, [False, True])]
    models = [table[cells(X)] for table in tables(size, values)]
    return max(contribution(mask, before, after[mask], y, loss, weights) for mask, after in product(masks, models))


@dataclass(frozen=True)
class Pairs:
    """An enumerable class: all pairs of one of these groups and one of these models."""

    groups: tuple[Table, ...]
    models: tuple[Table, ...]

    @staticmethod
    def of_bits(bits: int) -> "Pairs":
        """Return groups by up to two bits, or everyone; models by one bit, or the same for everyone."""
        X = (np.arange(1 << bits)[:, None] >> np.arange(bits)) & 1
        literals = [X[:, at] == value for at in range(bits) for value in (0, 1)]
        groups = [
            np.ones(len(X), np.bool_),
            *literals,
            *(a & b for a, b in product(literals, literals) if (a & b).any()),
        ]
        models = [np.zeros(len(X), int), np.ones(len(X), int), *(literal.astype(int) for literal in literals)]
        return Pairs(tuple(map(Table, groups)), tuple(map(Table, models)))


class Enumerating(Finder):
    """Finds the best of an enumerable class, exactly."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs

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
        """Compare all pairs on the rows."""
        best, found = 0.0, None
        for group, model in product(self.pairs.groups, self.pairs.models):
            mask = group(X)
            value = contribution(mask, predictions, model(X[mask]), y, loss, weights)
            if value > best:
                best, found = value, Certificate(group, model)
        return found


class Stump(BaseEstimator):  # type: ignore[misc]
    """Answers one of two values by one column; exact over all such functions, by enumeration."""

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> "Stump":
        """Take the stump of least weighted cost."""
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.classes_ = np.unique(y)
        self.stump_ = min(
            product(range(X.shape[1]), self.classes_, self.classes_),
            key=lambda stump: float((weights * self._cost(stump_answers(stump, X), y)).sum()),
        )
        return self

    def predict(self, X: Array) -> Array:
        """Answer by the stump."""
        return np.asarray(stump_answers(self.stump_, X))

    @abstractmethod
    def _cost(self, answers: Array, y: Array) -> Array:
        """Return what each answer costs."""


class StumpClassifier(ClassifierMixin, Stump):  # type: ignore[misc]
    """Exact for mistakes."""

    def _cost(self, answers: Array, y: Array) -> Array:
        return np.asarray(answers != y)


class StumpRegressor(RegressorMixin, Stump):  # type: ignore[misc]
    """Exact for absolute distances, over the values seen."""

    def _cost(self, answers: Array, y: Array) -> Array:
        return np.asarray(np.abs(answers - y))


def stump_answers(stump: Any, X: Array) -> Array:
    """Return the answers of a stump: one value above a half of its column, the other elsewhere."""
    column, low, high = stump
    return np.asarray(np.where(X[:, column] > 0.5, high, low))
