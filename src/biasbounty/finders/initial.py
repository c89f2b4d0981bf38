"""Initial models: what a training starts from, and answers kept within a declared range."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import Array
from biasbounty.core.answers import ask
from biasbounty.finders.interface import Floats
from biasbounty.losses import Loss
from biasbounty.values import RowFunction


@dataclass(frozen=True, eq=False)
class Constant:
    """Answers the same for each row: the one value of an array."""

    answer: Array

    def __call__(self, X: Any) -> Array:
        """Answer for each row."""
        return np.repeat(self.answer, len(X))


@dataclass(frozen=True, eq=False)
class Clipped:
    """A model whose answers are moved into a range."""

    model: RowFunction
    low: float
    high: float

    def __call__(self, X: Any) -> Array:
        """Answer for each row; what is no number is left as it is, to be refused."""
        answers = ask(self.model, X)
        return np.clip(answers, self.low, self.high) if answers.dtype.kind in "biuf" else answers


def best_constant(candidates: Array, y: Array, shares: Floats | None, loss: Loss) -> tuple[Constant, float]:
    """Return the candidate of least risk, the first of equals, and its risk."""
    constants = [Constant(candidates[at : at + 1]) for at in range(len(candidates))]
    risks = [float(np.average(loss(constant(y), y), weights=shares)) for constant in constants]
    at = int(np.argmin(risks))
    return constants[at], risks[at]


def centres(y: Floats, shares: Floats | None) -> Floats:
    """Return the mean and a median: the best constants for squared and for absolute distance."""
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(np.ones(len(y)) if shares is None else shares[order])
    median = y[order][np.searchsorted(reached, reached[-1] / 2)]
    return np.array([np.clip(np.average(y, weights=shares), y.min(), y.max()), median])
