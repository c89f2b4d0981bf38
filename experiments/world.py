"""A world whose truth is known: people of the census, each with a chance of being employed that belongs to the row.

The features are those of the census file, drawn with replacement; the chance is what a forest fitted to the file says,
and from here on it is the truth. So E Z of any claim is a sum over the file's rows, exact; and a million fresh people
can be drawn, as a check that needs no formula.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.populations import Answers, Mask, Population
from biasbounty.datasets import NamedGroup, Sample, demographic_groups

Ids = npt.NDArray[np.intp]
DOUBT = 0.2
"""Rows whose chance is so near a half are where a claim is hardly better or worse than a coin."""
TRAIN, HOLDOUT = 56_104, 14_027
"""As many rows as the first experiment has."""


@dataclass(frozen=True, eq=False)
class World:
    """Rows, the chance of each, and what hunters have to learn from: rows and labels drawn from it."""

    X: npt.NDArray[np.int64]
    chances: npt.NDArray[np.float64]
    groups: tuple[NamedGroup, ...]
    train: tuple[Ids, Answers]
    initial: Answers
    """What a stump fitted to the training draw says of each row."""

    @cached_property
    def population(self) -> Population:
        """The truth, as the benchmarks' attackers and referees know it."""
        doubtful = np.asarray(abs(self.chances - 0.5) < DOUBT, np.bool_)
        return Population("census with known chances", self.chances, self.initial, doubtful)

    @property
    def least_risk(self) -> float:
        """The risk of the best model that there can be."""
        return float(np.minimum(self.chances, 1 - self.chances).mean())


@dataclass(frozen=True, eq=False)
class Fresh:
    """People drawn anew, counted by row of the file: how many, and how many of them have label 1."""

    people: npt.NDArray[np.int64]
    ones: npt.NDArray[np.int64]

    def contribution(self, group: Mask, before: Answers, after: Answers) -> float:
        """Return by how much fewer of them are answered wrong."""
        return float((self._wrong(before) - self._wrong(after))[group].sum() / self.people.sum())

    def risk(self, answers: Answers) -> float:
        """Return the share of them that are answered wrong."""
        return float(self._wrong(answers).sum() / self.people.sum())

    def _wrong(self, answers: Answers) -> npt.NDArray[np.int64]:
        return np.where(answers == 1, self.people - self.ones, self.ones)


def known_world(sample: Sample, rng: np.random.Generator, train: int = TRAIN) -> World:
    """Fit the chances, draw the training rows, and fit the initial stump to them."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    forest = RandomForestClassifier(n_estimators=30, min_samples_leaf=30, random_state=0).fit(sample.X, sample.y)
    chances = np.asarray(forest.predict_proba(sample.X)[:, 1], np.float64)
    ids = rng.integers(0, len(chances), train)
    labels = drawn_labels(chances[ids], rng)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(sample.X[ids], labels)
    return World(sample.X, chances, demographic_groups(sample.columns), (ids, labels), table_of(stump, sample.X))


def drawn_labels(chances: npt.NDArray[np.float64], rng: np.random.Generator) -> Answers:
    """Draw a label for each chance."""
    return (rng.random(len(chances)) < chances).astype(np.int8)


def table_of(model: Any, X: npt.NDArray[np.int64]) -> Answers:
    """Return what a fitted model says of each row of the file."""
    return np.asarray(model.predict(X), np.int8)


def fresh_people(world: World, rng: np.random.Generator, size: int) -> Fresh:
    """Draw so many people anew."""
    ids, labels = world.population.draw(rng, size)
    people = np.bincount(ids, minlength=len(world.chances))
    return Fresh(people, np.bincount(ids, weights=labels, minlength=len(people)).astype(np.int64))
