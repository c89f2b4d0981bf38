"""Training in rounds, beside the fitting of its own base estimators in the same run; its memory, beside the rows."""

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import biasbounty as bb
from benchmarks.measure import Figure, at_most
from biasbounty.finders import AlternatingFinder, BountyClassifier, BountyRegressor, TernaryFinder, found, ternary

ROWS, COLUMNS = 300_000, 30
RUNS = 5
RATIO = 3
Array = npt.NDArray[Any]


class Clock:
    """Seconds spent in the `fit` of base estimators, and how many there were."""

    seconds, fits = 0.0, 0

    @classmethod
    def timed(cls, fit: Callable[[], object]) -> None:
        """Count one fit."""
        start = time.perf_counter()
        fit()
        cls.seconds += time.perf_counter() - start
        cls.fits += 1

    @classmethod
    def reset(cls) -> None:
        """Start anew."""
        cls.seconds, cls.fits = 0.0, 0


class TimedClassifier(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree that counts the time of its fits."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TimedClassifier":
        Clock.timed(lambda: DecisionTreeClassifier.fit(self, X, y, sample_weight))
        return self


class TimedRegressor(DecisionTreeRegressor):  # type: ignore[misc]
    """A tree that counts the time of its fits."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TimedRegressor":
        Clock.timed(lambda: DecisionTreeRegressor.fit(self, X, y, sample_weight))
        return self


def _rows(seed: int = 0) -> tuple[Array, Array]:
    """Draw rows of numbers and a score whose rule differs between groups, so that there are rounds to be trained."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS))
    X[:, 10:20] = rng.integers(0, 6, (ROWS, 10))
    X[:, 20:] = rng.integers(0, 2, (ROWS, 10))
    score = X[:, 0] + (X[:, 10] > 3) * X[:, 1] + 1.5 * (X[:, 20] == 1) * X[:, 2] + 0.3 * X[:, 11] - 0.8
    return X, score + 0.3 * rng.normal(size=ROWS)


def _frame(X: Array) -> pd.DataFrame:
    """Return the rows as a frame with five columns of text."""
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(COLUMNS)])
    words = np.array(["none", "one", "two", "three", "four", "five"], object)
    return frame.assign(**{f"x{at}": words[X[:, at].astype(int)] for at in range(10, 15)})


def _trees() -> tuple[TernaryFinder, AlternatingFinder, AlternatingFinder]:
    """Return the finders with the trees that they use where no base is given, timed: for classes, classes, numbers."""
    costs = TimedRegressor(max_depth=ternary.DEPTH, min_samples_leaf=ternary.LEAF)
    classes = TimedClassifier(max_depth=found.MODEL_DEPTH, min_samples_leaf=found.MODEL_LEAF)
    numbers = TimedRegressor(max_depth=found.MODEL_DEPTH, min_samples_leaf=found.MODEL_LEAF)
    groups = TimedClassifier(max_depth=found.GROUP_DEPTH, min_samples_leaf=found.GROUP_LEAF)
    return TernaryFinder(costs), AlternatingFinder(classes, groups), AlternatingFinder(numbers, groups)


def figures() -> Iterator[Figure]:
    """Yield the seconds of trainings beside those of their fits, and the peak of memory beside the rows."""
    X, score = _rows()
    y, coins = (score > 0).astype(int), np.random.default_rng(1).integers(0, 2, ROWS)
    by_costs, by_class, by_number = _trees()
    for epsilon in (0.05, 0.1):
        yield _speed("TernaryFinder, array", BountyClassifier(by_costs, epsilon=epsilon, random_state=0), X, y)
        yield _speed("TernaryFinder, frame", BountyClassifier(by_costs, epsilon=epsilon, random_state=0), _frame(X), y)
        yield _speed("AlternatingFinder, array", BountyClassifier(by_class, epsilon=epsilon, random_state=0), X, y)
        yield _speed("AlternatingFinder, array", BountyRegressor(by_number, epsilon=epsilon, random_state=0), X, score)
        nothing = BountyClassifier(by_costs, epsilon=epsilon, random_state=0)
        yield _speed("TernaryFinder, array, labels are coins: one search only", nothing, X, coins)
    judged = BountyClassifier(by_costs, checker=bb.Anytime(epsilon=0.005), random_state=0)
    yield _speed("TernaryFinder, array, Anytime", judged, X, y)
    for model in (BountyClassifier(by_costs, random_state=0), judged):
        yield _memory(model, X, y)


def _speed(what: str, model: Any, X: Any, y: Array) -> Figure:
    """Return the run of median ratio."""
    runs = sorted((_run(model, X, y) for _ in range(RUNS)), key=lambda run: run[0] / run[1])
    seconds, fitting = runs[RUNS // 2]
    name = f"{type(model).__name__}(epsilon={model.epsilon:g}), {what}"
    size = f"{ROWS:,} rows, {COLUMNS} columns; rounds: {model.n_rounds_} of {model.n_parts_} parts, fits: {Clock.fits}"
    return at_most(f"train {name} ({size}), beside its own base estimators' fitting", seconds, "s", fitting, RATIO)


def _run(model: Any, X: Any, y: Array) -> tuple[float, float]:
    """Return the seconds of a training, and those of them spent in the fits of its base estimators."""
    Clock.reset()
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start, Clock.seconds


def _memory(model: Any, X: Array, y: Array) -> Figure:
    gc.collect()
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    checker = "" if model.checker is None else f", checker={type(model.checker).__name__}"
    name = f"peak memory of training {type(model).__name__}(epsilon={model.epsilon:g}{checker})"
    return at_most(f"{name}, the rows included, beside the rows", X.nbytes + peak, "bytes", X.nbytes, RATIO)
