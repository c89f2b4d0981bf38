"""Populations whose every contribution is known exactly: what is true of a claim is then no matter of opinion.

A population is a file of rows. A row's label is 1 with a chance that belongs to the row: a coin where labels are pure
noise, 0 or 1 where the file is census data. A holdout is drawn with replacement from the file, which thus is the
population, and E Z is a sum over its rows.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty.datasets import load_census

Mask: TypeAlias = npt.NDArray[np.bool_]
Answers: TypeAlias = npt.NDArray[np.int8]
"""An answer, 0 or 1, for each row of the file."""


@dataclass(frozen=True, eq=False)
class Population:
    """A file of rows, the model to be attacked, and what anybody may know of them."""

    name: str
    chances: npt.NDArray[np.float64]
    """Of each row, the chance that its label is 1. Hunters do not see this."""
    initial: Answers
    doubtful: Mask
    """The rows where the initial model is known to be about as good as a coin: there an attack costs nothing."""
    fixes: tuple[Mask, ...] = ()
    """Disjoint groups on which the opposite of the initial model is known to be better."""

    def __len__(self) -> int:
        return len(self.chances)

    def contribution(self, group: Mask, before: Answers, after: Answers) -> float:
        """Return E Z exactly: every term is a half or a whole."""
        worse = np.where(before == 1, 1 - self.chances, self.chances)
        better = np.where(after == 1, 1 - self.chances, self.chances)
        return float((worse - better)[group].sum() / len(self))

    def risk(self, answers: Answers) -> float:
        """Return the true risk of a model."""
        return float(np.where(answers == 1, 1 - self.chances, self.chances).mean())

    def draw(self, rng: np.random.Generator, size: int) -> tuple[npt.NDArray[np.intp], Answers]:
        """Draw rows and their labels, with replacement; a row is its number in the file."""
        rows = rng.integers(0, len(self), size)
        return rows, (rng.random(size) < self.chances[rows]).astype(np.int8)


def noise(coins: int = 4_000, *, fixes: int = 0, fixed_rows: int = 0) -> Population:
    """Return coins for labels, of which nothing that is claimed is true: E Z = 0.

    Beside them there may be fixes: groups of so many rows each, on which the model is surely wrong.
    """
    number = np.arange(coins + fixes * fixed_rows) - coins
    chances = np.where(number < 0, 0.5, 1.0)
    parts = tuple(number // fixed_rows == part for part in range(fixes)) if fixes else ()
    return Population("noise", chances, np.zeros(len(chances), np.int8), number < 0, parts)


@cache
def census(rows: int | None = None) -> Population:
    """Return the census sample, or its first rows: is one employed, says a stump; fixes and doubts by age and sex."""
    from sklearn.tree import DecisionTreeClassifier

    sample = load_census()
    X, y = sample.X[:rows], sample.y[:rows]
    stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    initial: Any = stump.predict(X).astype(np.int8)
    age, sex = (X[:, sample.column(name)] for name in ("AGEP", "SEX"))
    cells = 2 * age + (sex == 1)
    errors = np.bincount(cells, initial != y) / np.maximum(np.bincount(cells), 1)
    sizes = np.bincount(cells)
    doubtful = (abs(errors - 0.5) < 0.1)[cells]
    worst = [cell for cell in np.argsort(-errors * sizes) if errors[cell] > 0.6]
    fixes = tuple(np.isin(cells, worst[at : at + 4]) for at in range(0, len(worst), 4))
    return Population("census", y.astype(float), initial, doubtful, fixes)
