"""SliceFinder finds what was planted, says it as predicate text, and passes nothing better by."""

import sqlite3
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from biasbounty import losses
from biasbounty.checks import verify_finder
from biasbounty.checks.finder import NUMBERS
from biasbounty.errors import SettingsError
from biasbounty.exchange.predicate_words import quoted_name
from biasbounty.finders import SliceFinder
from biasbounty.finders.cuts import cut
from biasbounty.finders.features import Features
from biasbounty.finders.lattice import Kept, Shortlist, combinations_of, sums_of, twins_last

SIZE = 6_000


def _people(seed: int = 0, size: int = SIZE) -> pd.DataFrame:
    """Draw rows with columns of every kind; some values are missing."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 90, size).astype(float)
    ages[rng.random(size) < 0.05] = np.nan
    return pd.DataFrame(
        {
            "age": ages,
            "income": rng.lognormal(10, 1, size),
            "job": rng.choice(["clerk", "cook", "judge", "nurse"], size),
            "order": rng.integers(1, 4, size),
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, size).astype("timedelta64[D]"),
        }
    )


PEOPLE = _people()
Y = (PEOPLE["income"] > 22_000).to_numpy().astype(int)
ELSEWHERE = ((PEOPLE["job"] == "cook") & (PEOPLE["age"] < 40)).to_numpy()
WRONG = np.where(ELSEWHERE, 1 - Y, Y)


def _find(X: Any = PEOPLE, y: Any = Y, predictions: Any = WRONG, finder: Any = None, **given: Any) -> Any:
    rng = np.random.default_rng(0)
    return (finder or SliceFinder(bins=12)).find(X, y, predictions, rng, **given)


@pytest.mark.parametrize("finder", [SliceFinder(), SliceFinder(depth=1), SliceFinder(depth=3, candidates=10)], ids=repr)
@pytest.mark.parametrize("loss", [losses.zero_one, NUMBERS], ids=["classes", "numbers"])
def test_it_keeps_the_contract_of_finders(finder: SliceFinder, loss: Any) -> None:
    verify_finder(finder, loss=loss)


@pytest.mark.parametrize("made", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_a_planted_slice_of_a_text_and_a_number_is_found_and_said(made: Any) -> None:
    X = made(PEOPLE)
    found = _find(X)
    mask = found.group(X)
    overlap = (mask & ELSEWHERE).sum() / (mask | ELSEWHERE).sum()
    assert overlap > 0.8
    assert found.note.startswith(found.group.words)
    assert "job = 'cook'" in found.group.words
    assert "age < 4" in found.group.words
    assert "SliceFinder: " in found.note


def test_a_missing_value_is_a_condition_of_its_own() -> None:
    gone = PEOPLE["age"].isna().to_numpy()
    found = _find(predictions=np.where(gone, 1 - Y, Y))
    assert found.group.words == "age IS NULL"
    assert (found.group(PEOPLE) == gone).all()


def test_numbers_are_sliced_where_labels_are_numbers_too() -> None:
    y = PEOPLE["income"].rank(pct=True).to_numpy()
    found = _find(y=y, predictions=np.where(ELSEWHERE, 1 - y, y), loss=losses.absolute(0, 1))
    assert "job = 'cook'" in found.group.words


@pytest.mark.parametrize("classes", [3, 5, 12])
def test_any_number_of_classes_is_sliced(classes: int) -> None:
    """With few classes each answer is relabelled apart, with more all alike, with many the challenger has to see it."""
    y = np.clip(PEOPLE["income"].to_numpy() // 8_000, 0, classes - 1).astype(int)
    found = _find(y=y, predictions=np.where(ELSEWHERE, (y + 1) % classes, y))
    assert "'cook'" in found.group.words
    assert (found.group(PEOPLE) | ~ELSEWHERE).mean() > 0.99


def _columns(words: str, X: pd.DataFrame) -> Any:
    """Ask a database which rows meet a predicate: the text says what the group does."""
    base = sqlite3.connect(":memory:")
    X.drop(columns="since", errors="ignore").reset_index().to_sql("rows", base, index=False)
    taken = [row for (row,) in base.execute(f'SELECT "index" FROM rows WHERE {words}')]  # noqa: S608
    return np.isin(np.arange(len(X)), taken)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_words_of_every_condition_mean_in_a_database_what_the_group_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = _people(seed, 60).drop(columns="since").rename(columns={"order": "or der", "job": "group"})
    features = Features(X)
    cuts = [
        cut(feature, at, features(X)[:, at], int(rng.integers(2, 9)), 1) for at, feature in enumerate(features.columns)
    ]
    columns = sorted(rng.choice(len(cuts), 2, replace=False).tolist())
    if any(not cuts[column].conditions for column in columns):
        return
    choices = tuple(int(rng.integers(len(cuts[column].conditions))) for column in columns)
    kept = Kept(tuple(columns), choices, 0.0, ())
    group = kept.group(cuts, features)
    assert (group(X) == kept.mask(cuts)).all()
    assert (group(X) == _columns(group.words, X)).all()
    assert (group(pl.from_pandas(X)) == kept.mask(cuts)).all()
    one = int(rng.integers(len(X)))
    assert group(X.iloc[[one]]).tolist() == [bool(kept.mask(cuts)[one])]


def test_names_that_are_no_plain_words_are_quoted() -> None:
    assert [quoted_name(name) for name in ("AGEP", "or", "a b", 'say "so"', "x1")] == [
        "AGEP",
        '"or"',
        '"a b"',
        '"say ""so"""',
        "x1",
    ]


def test_sums_over_slices_are_those_of_their_masks() -> None:
    rng, features = np.random.default_rng(3), Features(PEOPLE)
    cuts = [cut(feature, at, features(PEOPLE)[:, at], 4, 50) for at, feature in enumerate(features.columns)]
    values = rng.normal(size=SIZE)
    for columns in combinations_of(cuts, 3)[::4]:
        counted, summed = sums_of(cuts, columns, [None, values])
        for choices in list(product(*(range(len(cuts[column].conditions)) for column in columns)))[::37]:
            mask = Kept(columns, choices, 0.0, ()).mask(cuts)
            assert counted[choices] == mask.sum()
            assert summed[choices] == pytest.approx(values[mask].sum(), abs=1e-9)


def test_no_condition_is_met_by_fewer_rows_than_the_least_or_by_all() -> None:
    features = Features(PEOPLE)
    for at, feature in enumerate(features.columns):
        own = cut(feature, at, features(PEOPLE)[:, at], 8, 300)
        for condition in range(len(own.conditions)):
            assert 300 <= own.mask(condition).sum() < SIZE


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_a_shortlist_keeps_the_highest_scores_of_all_that_were_offered(seed: int, size: int) -> None:
    rng, shortlist, offered = np.random.default_rng(seed), Shortlist(size), []
    for number in range(12):
        scores = np.where(rng.random((3, 4)) < 0.3, -np.inf, rng.integers(0, 9, (3, 4)))
        shortlist.offer((number,), scores, scores[None])
        offered += scores[np.isfinite(scores)].tolist()
    kept = [one.score for one in shortlist.best()]
    assert kept == sorted(offered, reverse=True)[:size]


def test_twins_of_a_slice_come_last_and_none_is_lost() -> None:
    features = Features(PEOPLE)
    cuts = [cut(feature, at, features(PEOPLE)[:, at], 8, 50) for at, feature in enumerate(features.columns)]
    slices = [Kept((1,), (choice,), 0.0, ()) for choice in range(len(cuts[1].conditions))]
    ordered = list(twins_last(iter(slices), cuts, 50))
    assert sorted(one.choices for one, _ in ordered) == sorted(one.choices for one in slices)
    assert [twin for _, twin in ordered] == sorted(twin for _, twin in ordered)
    firsts = [one.mask(cuts) for one, twin in ordered if not twin]
    assert all((a & b).sum() <= 0.72 * (a | b).sum() for at, a in enumerate(firsts) for b in firsts[:at])


@pytest.mark.parametrize("seed", range(6))
def test_pruning_passes_nothing_better_by(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slice found contributes as much as the best of the same shortlist when every one of it gets a model."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (2_000, 4)).astype(float)
    y = (X[:, 0] + rng.integers(0, 3, 2_000) > 3).astype(int)
    predictions = np.where((X[:, 1] > 2) & (rng.random(2_000) < 0.9), 1 - y, y)
    finder = SliceFinder(DecisionTreeClassifier(max_depth=3), candidates=60)
    every = finder.rank(X, y, predictions, np.random.default_rng(0), most=10_000)
    pruned = finder.rank(X, y, predictions, np.random.default_rng(0), most=1)
    assert len(every) == 60
    assert pruned[0].contribution == max(one.contribution for one in every)
    assert [one.contribution for one in every] == sorted((one.contribution for one in every), reverse=True)


def test_fewer_models_are_fitted_where_pruning_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    original = DummyClassifier.fit

    def counted(self: Any, *args: Any, **settings: Any) -> Any:
        fits.append(1)
        return original(self, *args, **settings)

    monkeypatch.setattr(DummyClassifier, "fit", counted)
    X = np.random.default_rng(0).integers(0, 6, (4_000, 5)).astype(float)
    predictions = np.where(X[:, 0] == 2, 0, 1)
    finder = SliceFinder(DummyClassifier(strategy="most_frequent"), candidates=50)
    found = finder.find(X, np.ones(4_000, int), predictions, np.random.default_rng(0))
    assert found is not None
    assert found.group.words == "x0 = 2"  # type: ignore[union-attr]
    assert len(fits) < 25


def test_what_a_slice_contributes_is_no_more_than_what_it_costs() -> None:
    found = SliceFinder().rank(PEOPLE, Y, WRONG, np.random.default_rng(0), most=50)
    for one in found:
        assert one.contribution <= ((WRONG != Y) & one.group(PEOPLE)).mean() * 1.2
        assert one.rows == one.group(PEOPLE).sum() >= 50


def test_slices_can_be_ranked_by_what_they_cost_beyond_others() -> None:
    coins = np.where((PEOPLE["job"] == "judge").to_numpy(), np.random.default_rng(1).integers(0, 2, SIZE), Y)
    found = SliceFinder().rank(PEOPLE, coins, Y, np.random.default_rng(0), by="excess", most=5)
    assert found[0].group.words == "job = 'judge'"
    assert abs(found[0].contribution) < 0.02
    assert len(found) == 5
    with pytest.raises(SettingsError, match="by is unknown: expected one of contribution, .*, excess, got 'size'"):
        SliceFinder().rank(PEOPLE, coins, Y, np.random.default_rng(0), by="size")  # type: ignore[arg-type]


def test_slices_can_be_ranked_by_what_another_label_saves() -> None:
    """Coins cost more than what is upside down, but no label saves anything there."""
    judge = (PEOPLE["job"] == "judge").to_numpy()
    y = np.where(judge, np.random.default_rng(1).integers(0, 2, SIZE), Y)
    found = SliceFinder(bins=12).rank(PEOPLE, y, WRONG, np.random.default_rng(0), by="relabelling", most=3)
    assert "'cook'" in found[0].group.words
    assert found[0].group(PEOPLE)[ELSEWHERE].mean() > 0.95
    assert (
        "judge" not in SliceFinder().rank(PEOPLE, y, WRONG, np.random.default_rng(0), by="relabelling")[1].group.words
    )


def test_weights_move_what_is_found() -> None:
    judge = (PEOPLE["job"] == "judge").to_numpy()
    predictions = np.where(ELSEWHERE | (judge & (PEOPLE["age"] > 60).to_numpy()), 1 - Y, Y)
    heavy = np.where(judge, 0.01, 1.0)
    assert "cook" in _find(predictions=predictions, weights=heavy).group.words
    assert "judge" in _find(predictions=predictions, weights=1.01 - heavy).group.words


def test_any_base_will_do() -> None:
    found = _find(finder=SliceFinder(LogisticRegression(), bins=12))
    assert "job = 'cook'" in found.group.words


def test_it_is_repeatable_and_goes_by_the_seed_alone() -> None:
    assert _find().note == _find().note


@pytest.mark.parametrize("size", [1, 2, 3, 49])
def test_rows_too_few_for_a_slice_hold_none(size: int) -> None:
    assert _find(PEOPLE[:size], Y[:size], 1 - Y[:size]) is None


def test_a_slice_of_one_row_is_no_obstacle() -> None:
    X = np.arange(40.0)[:, None]
    found = _find(X, np.ones(40, int), (np.arange(40) != 7).astype(int), SliceFinder(smallest=1))
    assert found is None or found.group(X)[7]


def test_columns_without_any_value_are_no_obstacle() -> None:
    X = PEOPLE.assign(nothing=np.nan, none=None)
    assert _find(X).group.words == _find().group.words
    assert _find(X[["nothing", "none"]]) is None


def test_a_text_not_seen_before_meets_no_condition() -> None:
    group = _find().group
    assert group(PEOPLE[:50].assign(job="poet")).tolist() == [False] * 50


def test_rows_of_another_make_are_refused_in_words() -> None:
    group = _find().group
    with pytest.raises(SettingsError, match="rows lack a column of the slice .*: expected job"):
        group(PEOPLE.drop(columns="job"))
    with pytest.raises(
        SettingsError, match="rows have other columns than those that the slice was found on: expected 5"
    ):
        group(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("finder", "words"),
    [
        (SliceFinder(depth=4), "depth is out of range: expected a whole number from 1 to 3, got 4"),
        (SliceFinder(bins=0), "bins is out of range: expected a whole number from 1 to 32, got 0"),
        (SliceFinder(candidates=1.5), "candidates is out of range: expected a whole number from 1, got 1.5"),  # type: ignore[arg-type]
        (SliceFinder(smallest=True), "smallest is out of range: expected a whole number from 1, got True"),
        (SliceFinder(base="tree"), "base is no estimator"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_in_words(finder: SliceFinder, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        _find(finder=finder)


def test_slices_too_many_to_count_are_refused_before_memory_runs_out() -> None:
    X = np.random.default_rng(0).normal(size=(3_000, 3))
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(
        SettingsError, match="slices are too many to count: .* search with fewer bins or a smaller depth"
    ):
        _find(X, y, 1 - y, SliceFinder(bins=32, depth=3, smallest=1))


def test_labels_that_no_label_can_be_put_in_place_of_are_refused_by_that_ranking() -> None:
    y = PEOPLE["income"].rank(pct=True).to_numpy()
    given = (PEOPLE, y, 1 - y, np.random.default_rng(0))
    with pytest.raises(
        SettingsError, match="labels cannot be ranked by relabelling: expected at most 9 classes, got numbers"
    ):
        SliceFinder().rank(*given, loss=NUMBERS, by="relabelling")


def test_the_order_of_rows_hides_no_slice() -> None:
    """Two columns are equal in the first rows only: slices of both are no twins."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60_000, 2)).astype(float)
    X[:6_000, 1] = X[:6_000, 0]
    errors = ((X == 1).any(axis=1)).astype(int)
    ranked = SliceFinder(depth=1).rank(X, errors, np.zeros(60_000, int), np.random.default_rng(0), by="excess", most=5)
    assert {"x0 = 1", "x1 = 1"} <= {one.group.words for one in ranked}


@pytest.mark.parametrize("candidates", [10, 900])
def test_progress_is_told_to_the_end(candidates: int) -> None:
    told: list[tuple[int, int]] = []
    finder = SliceFinder(depth=1, candidates=candidates)  # there are fewer than 900 slices
    finder.find(PEOPLE, Y, WRONG, np.random.default_rng(0), progress=lambda *at: told.append(at))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {told[0][1]}
    assert told[-1][0] == told[-1][1]


def test_where_nothing_errs_nothing_is_found() -> None:
    assert _find(predictions=Y) is None
