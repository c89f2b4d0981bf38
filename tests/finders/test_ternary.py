"""TernaryFinder: exact when its regressors are; any number of classes; weights are duplicates."""

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from biasbounty import losses
from biasbounty.finders import TernaryFinder
from biasbounty.finders.interface import contribution
from biasbounty.values import Certificate
from tests.finders.worlds import best_by_enumeration

EXACT = DecisionTreeRegressor()
"""Grown until each cell of rows that are alike has its mean: exact for all functions of the cell."""
COSTS = losses.cost_matrix([[0, 0.3, 1], [0.6, 0, 0.2], [1, 0.5, 0]])


def _world(seed: int, classes: int, size: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (size, 2)), rng.integers(0, classes, size), rng.integers(0, classes, size)


def _value(found: Certificate, X: Any, y: Any, before: Any, loss: Any, weights: Any = None) -> float:
    group: Any = found.group
    model: Any = found.model
    mask = group(X)
    return contribution(mask, before, model(X[mask]), y, loss, weights)


@pytest.mark.parametrize(("classes", "loss"), [(2, "zero_one"), (3, "zero_one"), (3, COSTS)], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_with_exact_regressors_it_finds_the_best_of_all_groups_and_models(seed: int, classes: int, loss: Any) -> None:
    X, y, before = _world(seed, classes)
    found = TernaryFinder(EXACT).find(X, y, before, np.random.default_rng(0), loss=loss)
    best = best_by_enumeration(X, y, before, range(classes), loss)
    assert found is not None
    assert _value(found, X, y, before, loss) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_with_weights_it_finds_the_best_by_weight(seed: int) -> None:
    X, y, before = _world(seed, 3)
    weights = np.random.default_rng(seed).exponential(size=len(y))
    found = TernaryFinder(EXACT).find(X, y, before, np.random.default_rng(0), weights=weights)
    assert found is not None
    best = best_by_enumeration(X, y, before, range(3), "zero_one", weights)
    assert _value(found, X, y, before, "zero_one", weights) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("loss", ["zero_one", COSTS], ids=str)
def test_weights_are_as_good_as_duplicates(loss: Any) -> None:
    X, y, before = _world(3, 3)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    many: Any = [np.repeat(values, counts, axis=0) for values in (X, y, before)]
    weighed = TernaryFinder(EXACT).find(X, y, before, np.random.default_rng(0), loss=loss, weights=counts)
    repeated = TernaryFinder(EXACT).find(many[0], many[1], many[2], np.random.default_rng(0), loss=loss)
    assert weighed is not None
    assert repeated is not None
    _assert_alike(weighed, repeated, X)


def test_the_order_of_rows_does_not_matter() -> None:
    X, y, before = _world(5, 3)
    order = np.random.default_rng(1).permutation(len(y))
    one = TernaryFinder(EXACT).find(X, y, before, np.random.default_rng(0))
    other = TernaryFinder(EXACT).find(X[order], y[order], before[order], np.random.default_rng(0))
    assert one is not None
    assert other is not None
    _assert_alike(one, other, X)


def _assert_alike(one: Certificate, other: Certificate, X: Any) -> None:
    first: Any = one
    second: Any = other
    assert (first.group(X) == second.group(X)).all()
    assert (first.model(X) == second.model(X)).all()


def test_the_same_seed_gives_the_same_certificate() -> None:
    X, y, before = _world(5, 3, 300)
    base = DecisionTreeRegressor(max_features=1, max_depth=2)
    one, other = (TernaryFinder(base).find(X, y, before, np.random.default_rng(4)) for _ in range(2))
    assert one is not None
    assert other is not None
    _assert_alike(one, other, X)
    assert one.note == other.note


def test_nothing_is_found_where_nothing_errs_or_nothing_is_better() -> None:
    X, y, _ = _world(0, 2)
    assert TernaryFinder(EXACT).find(X, y, y, np.random.default_rng(0)) is None
    coins = np.tile([0, 1], 30)
    assert TernaryFinder(EXACT).find(np.zeros((60, 1)), coins, coins * 0, np.random.default_rng(0)) is None


def test_a_certificate_says_itself_in_words() -> None:
    X = np.random.default_rng(0).normal(size=(2000, 2))
    y = (X[:, 1] > 1).astype(int)
    found = TernaryFinder().find(X, y, np.zeros(2000, int), np.random.default_rng(0))
    assert found is not None
    assert found.note.startswith("x1 > ")
    assert "of the rows searched, where risk falls from 1 to 0" in found.note


def test_progress_is_told_class_by_class() -> None:
    X, y, before = _world(0, 3)
    told: list[tuple[int, int]] = []
    TernaryFinder(EXACT).find(
        X, y, before, np.random.default_rng(0), progress=lambda done, steps: told.append((done, steps))
    )
    assert told == [(1, 3), (2, 3), (3, 3)]
