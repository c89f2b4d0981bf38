"""ResidualFinder and ExamplesFinder learn a group first, then a model on it."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from biasbounty import losses
from biasbounty.checks import verify_finder
from biasbounty.checks.finder import NUMBERS
from biasbounty.errors import SettingsError
from biasbounty.finders import ExamplesFinder, ResidualFinder

SIZE = 4_000
RNG = np.random.default_rng(2)
X = pd.DataFrame({"a": RNG.normal(size=SIZE), "b": RNG.normal(size=SIZE), "c": RNG.choice(["p", "q", "r"], SIZE)})
Y = (X["a"] > 0).to_numpy().astype(int)
FAILED = ((X["b"] > 0.5) & (X["c"] == "q")).to_numpy()
WRONG = np.where(FAILED, 1 - Y, Y)


def _find(finder: Any, y: Any = Y, predictions: Any = WRONG, X: Any = X, **given: Any) -> Any:
    return finder.find(X, y, predictions, np.random.default_rng(0), **given)


@pytest.mark.parametrize("loss", [losses.zero_one, NUMBERS], ids=["classes", "numbers"])
def test_both_keep_the_contract_of_finders(loss: Any) -> None:
    verify_finder(ResidualFinder(), loss=loss)
    upside_down = np.random.default_rng(0).normal(size=(1_200, 3))[:, 1] > 0.5
    verify_finder(ExamplesFinder(upside_down), loss=loss)


@pytest.mark.parametrize("made", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_where_errors_are_is_found_and_said(made: Any) -> None:
    rows = made(X)
    found = _find(ResidualFinder(), X=rows)
    assert (found.group(rows) == FAILED).mean() > 0.99
    assert "c is 'q'" in found.note
    assert "b > 0.5" in found.note


def test_errors_rarer_than_a_half_everywhere_are_found_too() -> None:
    rare = FAILED & (np.random.default_rng(1).random(SIZE) < 0.4)
    found = _find(ResidualFinder(LogisticRegression()), y=np.ones(SIZE, int), predictions=np.where(rare, 0, 1))
    assert (found.group(X) == FAILED).mean() > 0.99


def test_where_labels_are_coins_residuals_are_no_certificate() -> None:
    coins = np.where(FAILED, RNG.integers(0, 2, SIZE), Y)
    found = _find(
        ResidualFinder(DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=2)), y=coins, predictions=Y
    )
    assert found is None or "risk falls" in found.note


def test_k_classes_and_weights_are_taken() -> None:
    y = X["a"].rank(pct=True).mul(4).clip(upper=3.9).to_numpy().astype(int)
    predictions = np.where(FAILED, (y + 1) % 4, y)
    found = _find(ResidualFinder(), y=y, predictions=predictions, weights=np.where(X["c"] == "q", 3, 1))
    assert (found.group(X) == FAILED).mean() > 0.99


def test_a_few_flagged_rows_are_enough_for_the_group_they_are_examples_of() -> None:
    few = np.flatnonzero(FAILED)[:25]
    found = _find(ExamplesFinder(few))
    mask = found.group(X)
    assert mask[few].all()
    assert (mask & FAILED).sum() / (mask | FAILED).sum() > 0.5
    assert "c is 'q'" in found.note


def test_flags_may_be_booleans_of_any_make_or_numbers_of_rows() -> None:
    rows = np.flatnonzero(FAILED)
    notes = {
        _find(ExamplesFinder(flags)).note
        for flags in (FAILED, pd.Series(FAILED), FAILED.tolist(), FAILED.astype(int), rows, rows.tolist())
    }
    assert len(notes) == 1


def test_flagged_rows_that_no_model_does_better_on_give_nothing() -> None:
    assert _find(ExamplesFinder((X["b"] < -1).to_numpy())) is None


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            [True] * 3,
            "flags cannot be read: expected 4000 booleans, or the numbers of the flagged rows, got bool of shape",
        ),
        (["a"], "flags cannot be read"),
        (np.linspace(0, 1, SIZE), "flags cannot be read: .* got float64 of shape"),
        (np.zeros(SIZE), "flags tell nothing apart: .* got 0 of 4000"),
        ([5, SIZE], "flags name rows that are not there: expected numbers from 0 to 3999, got 4000"),
        ([-1], "flags name rows that are not there"),
        (np.zeros(SIZE, bool), "flags tell nothing apart: expected some rows flagged and some not, got 0 of 4000"),
        (np.ones(SIZE, bool), "flags tell nothing apart: .* got 4000 of 4000"),
    ],
)
def test_flags_that_cannot_be_used_are_refused_in_words(flags: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        _find(ExamplesFinder(flags))


@pytest.mark.parametrize(
    "finder", [ResidualFinder, lambda **settings: ExamplesFinder([1, 2], **settings)], ids=["residual", "examples"]
)
@pytest.mark.parametrize("name", ["base", "group_base"])
def test_a_base_of_the_wrong_kind_is_refused_in_words(finder: Any, name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is no estimator"):
        _find(finder(**{name: 3}))


@pytest.mark.parametrize("size", [998, 999, 1_000, 3_000])
def test_where_all_rows_cost_the_same_everyone_is_the_group_whatever_rounding_says(size: int) -> None:
    y = np.full(size, 0.7)
    found = _find(ResidualFinder(), y=y, predictions=np.full(size, 0.6), X=X[:size], loss=losses.absolute(0, 1))
    assert found is not None
    assert found.group(X[:size]).all()


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_handful_of_rows_is_no_obstacle(size: int) -> None:
    found = _find(ResidualFinder(), y=np.ones(size, int), predictions=np.zeros(size, int), X=X[:size])
    assert found is not None
    assert found.group(X[:size]).all()


def test_a_single_flagged_row_is_an_example() -> None:
    found = _find(ExamplesFinder([int(np.flatnonzero(FAILED)[0])]))
    assert found is None or found.group(X)[np.flatnonzero(FAILED)[0]]


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    _find(ResidualFinder(), progress=lambda *at: told.append(at))
    assert told == [(1, 2), (2, 2)]
