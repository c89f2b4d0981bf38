"""AlternatingFinder ends where no single change of the group or of the model gains epsilon, by enumeration."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from biasbounty import losses
from biasbounty.finders import AlternatingFinder
from biasbounty.finders.interface import contribution
from tests.finders.worlds import StumpClassifier, StumpRegressor, stump_answers

ABSOLUTE = losses.absolute(0, 4)
COSTS = losses.cost_matrix([[0, 0.3, 1], [0.6, 0, 0.2], [1, 0.5, 0]])
CASES: list[Any] = [
    ("zero_one", StumpClassifier(), range(2)),
    ("zero_one", StumpClassifier(), range(3)),
    (COSTS, StumpClassifier(), range(3)),
    (ABSOLUTE, StumpRegressor(), range(5)),
]


def _world(seed: int, values: Any, size: int = 80, columns: int = 5) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (size, columns))
    y = np.where(
        rng.random(size) < 0.6, (X[:, 0] + X[:, 1] * X[:, 2]) % len(values), rng.integers(0, len(values), size)
    )
    return X, y, np.where(X[:, 3] == 1, y[rng.permutation(size)], rng.integers(0, len(values), size))


def _stumps(X: Any, values: Any) -> list[Any]:
    return [stump_answers(stump, X) for stump in product(range(X.shape[1]), values, values)]


@pytest.mark.parametrize(("loss", "base", "values"), CASES, ids=["binary", "three classes", "costs", "numbers"])
@pytest.mark.parametrize("epsilon", [1e-9, 0.03])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_single_change_of_group_or_model_gains_epsilon(
    loss: Any, base: Any, values: Any, epsilon: float, weighted: bool
) -> None:
    for seed in range(12):
        X, y, before = _world(seed, values)
        weights = np.random.default_rng(seed).exponential(size=len(y)) if weighted else None
        finder = AlternatingFinder(base, StumpClassifier(), epsilon=epsilon, restarts=1 + seed % 3)
        found = finder.find(X, y, before, np.random.default_rng(seed), loss=loss, weights=weights)
        if found is None:
            continue
        group: Any = found.group
        model: Any = found.model
        mask, after = group(X), model(X)
        value = contribution(mask, before, after[mask], y, loss, weights)
        groups = [answers == 1 for answers in _stumps(X, range(2))]
        by_group = max(contribution(other, before, after[other], y, loss, weights) for other in groups)
        by_model = max(contribution(mask, before, other[mask], y, loss, weights) for other in _stumps(X, values))
        assert value > 0
        assert max(by_group, by_model) < value + epsilon + 1e-12


def test_it_climbs_beyond_the_first_group_and_model() -> None:
    """From the start with everyone the best model is found, then its group; that it goes on from there shows here."""
    values, gains = range(3), []
    for seed in range(20):
        X, y, before = _world(seed, values)
        reached = []
        for epsilon in (1e-9, 1.0):  # no refit gains 1, so that the second stays at its first pair
            finder = AlternatingFinder(StumpClassifier(), StumpClassifier(), epsilon=epsilon, restarts=1)
            found: Any = finder.find(X, y, before, np.random.default_rng(0))
            mask = found.group(X)
            reached.append(contribution(mask, before, found.model(X[mask]), y, "zero_one"))
        gains.append(reached[0] - reached[1])
    assert min(gains) >= 0
    assert max(gains) > 0.01


def test_more_restarts_never_find_less() -> None:
    for seed in range(5):
        X, y, before = _world(seed, range(3))
        found: list[Any] = [
            AlternatingFinder(StumpClassifier(), StumpClassifier(), restarts=restarts).find(
                X, y, before, np.random.default_rng(0)
            )
            for restarts in (1, 2, 5)
        ]
        values = [contribution(m := c.group(X), before, c.model(X[m]), y, "zero_one") for c in found]
        assert values == sorted(values)


@pytest.mark.parametrize("loss", ["zero_one", COSTS], ids=str)
def test_weights_are_as_good_as_duplicates(loss: Any) -> None:
    X, y, before = _world(3, range(3))
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    many: Any = [np.repeat(values, counts, axis=0) for values in (X, y, before)]
    finder = AlternatingFinder(StumpClassifier(), StumpClassifier(), restarts=2)
    weighed: Any = finder.find(X, y, before, np.random.default_rng(0), loss=loss, weights=counts)
    repeated: Any = finder.find(many[0], many[1], many[2], np.random.default_rng(0), loss=loss)
    assert (weighed.group(X) == repeated.group(X)).all()
    assert (weighed.model(X) == repeated.model(X)).all()


def test_the_same_seed_gives_the_same_certificate() -> None:
    X, y, before = _world(0, range(3), 500)
    base = DecisionTreeClassifier(max_features=1, max_depth=3)
    one, other = (AlternatingFinder(base, base).find(X, y, before, np.random.default_rng(4)) for _ in range(2))
    assert one is not None
    assert other is not None
    assert one.note == other.note
    first: Any = one
    second: Any = other
    assert (first.model(X) == second.model(X)).all()


@pytest.mark.parametrize("epsilon", [1e-300, 1e-17])
def test_an_epsilon_below_what_numbers_can_tell_still_ends(epsilon: float) -> None:
    X, y, before = _world(0, range(2))
    finder = AlternatingFinder(StumpClassifier(), StumpClassifier(), epsilon=epsilon)
    assert finder.find(X, y, before, np.random.default_rng(0)) is not None


def test_numbers_are_answered_within_the_span_and_in_the_type_of_the_labels() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] > 0, rng.integers(3, 9, 400), 0)
    found: Any = AlternatingFinder(DecisionTreeRegressor()).find(X, y, y * 0, rng, loss=losses.absolute(0, 10))
    answers = found.model(rng.normal(size=(400, 2)) * 100)
    assert answers.dtype == y.dtype
    assert answers.min() >= 0
    assert answers.max() <= 8


def test_a_row_of_no_weight_is_no_row() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] > 0, 0.8, 0.2)
    y[0] = 100.0
    loss, weights, finder = losses.absolute(0, 100), np.ones(300), AlternatingFinder(restarts=2)
    weights[0] = 0
    with_it: Any = finder.find(X, y, np.zeros(300), np.random.default_rng(0), loss=loss, weights=weights)
    without: Any = finder.find(X[1:], y[1:], np.zeros(299), np.random.default_rng(0), loss=loss)
    assert with_it.model.span.high == without.model.span.high == 0.8
    assert (with_it.model(X) == without.model(X)).all()


def test_progress_is_told_start_by_start() -> None:
    X, y, before = _world(0, range(2))
    told: list[tuple[int, int]] = []
    AlternatingFinder(restarts=2).find(
        X, y, before, np.random.default_rng(0), progress=lambda done, steps: told.append((done, steps))
    )
    assert told == [(1, 2), (2, 2)]
