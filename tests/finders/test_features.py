"""Features: rows of any kind become numbers row by row, in the same way when learning and when answering."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from biasbounty.errors import SettingsError
from biasbounty.finders.features import LARGEST, Features, columns_of

COLUMNS: dict[str, list[Any]] = {
    "whole": [3, 1, 2],
    "fraction": [0.5, None, -1.5],
    "flag": [True, False, True],
    "text": ["b", "a", None],
}
NAN = float("nan")
MATRIX = np.array([[3, 0.5, 1, 1], [1, NAN, 0, 0], [2, -1.5, 1, NAN]])
FRAMES = [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pl.DataFrame(COLUMNS).to_arrow()]
IDS = ["pandas", "polars", "arrow"]


@pytest.mark.parametrize("frame", FRAMES, ids=IDS)
def test_columns_become_numbers_and_what_is_missing_nan(frame: Any) -> None:
    features = Features(frame)
    assert np.array_equal(features(frame), MATRIX, equal_nan=True)
    assert features.names == tuple(COLUMNS)


def test_frames_of_any_kind_are_alike() -> None:
    learned = Features(FRAMES[0])
    assert all(np.array_equal(learned(frame), MATRIX, equal_nan=True) for frame in FRAMES)


def test_an_array_of_numbers_is_taken_whole_and_as_by_columns() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[0, 0], X[1, 1] = np.nan, 1e300
    objects = Features(X)(X.astype(object))
    assert np.array_equal(Features(X)(X), objects, equal_nan=True)
    assert Features(X)(X)[1, 1] == LARGEST
    assert Features(X).names == ("x0", "x1", "x2")


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64, np.float32])
def test_numbers_of_any_width_are_the_same_numbers(dtype: Any) -> None:
    X = np.array([[0, 1], [1, 0]])
    assert (Features(X.astype(dtype))(X.astype(dtype)) == X).all()


def test_the_array_learned_from_is_never_changed() -> None:
    X = np.full((3, 2), 1e300)
    Features(X)(X)
    assert (X == 1e300).all()


def test_moments_become_seconds_in_any_unit() -> None:
    moment = datetime(1970, 1, 2, tzinfo=UTC)
    for unit in ("s", "ms", "us", "ns"):
        X = pd.DataFrame({"when": np.array(["1970-01-02", "NaT"], f"datetime64[{unit}]")})
        assert np.array_equal(Features(X)(X)[:, 0], [86400.0, NAN], equal_nan=True)
    polars = pl.DataFrame({"when": [moment], "took": [timedelta(minutes=1)]})
    assert Features(polars)(polars).tolist() == [[86400.0, 60.0]]


def test_numbers_among_objects_are_numbers() -> None:
    X = pd.DataFrame({"a": pd.Series([1, Decimal("2.5"), None, pd.NA, float("nan"), True], dtype=object)})
    assert np.array_equal(Features(X)(X)[:, 0], [1, 2.5, NAN, NAN, NAN, 1], equal_nan=True)


@pytest.mark.parametrize("kind", ["category", "str", "object"])
def test_a_category_not_seen_before_is_missing(kind: str) -> None:
    learned = Features(pd.DataFrame({"a": pd.Series(["u", "v"], dtype=kind)}))
    assert np.array_equal(learned(pd.DataFrame({"a": ["v", "w", "u"]}))[:, 0], [1, NAN, 0], equal_nan=True)


def test_an_answer_about_a_row_does_not_depend_on_the_other_rows() -> None:
    frame = FRAMES[0]
    features = Features(frame)
    alone = np.vstack([features(frame.iloc[at : at + 1]) for at in range(3)])
    assert np.array_equal(alone, features(frame), equal_nan=True)


def test_columns_are_known_by_their_names() -> None:
    frame = FRAMES[1]
    assert np.array_equal(Features(frame)(frame.select(reversed(COLUMNS))), MATRIX, equal_nan=True)
    assert np.array_equal(Features(frame)(frame.with_columns(more=pl.lit(1))), MATRIX, equal_nan=True)


def test_a_column_without_any_value_says_nothing_now_or_later() -> None:
    empty = pd.DataFrame({"a": [1.0, 2.0], "b": [None, None]})
    full = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert np.array_equal(Features(empty)(full), [[1, NAN], [2, NAN]], equal_nan=True)
    assert np.array_equal(Features(full)(empty), [[1, NAN], [2, NAN]], equal_nan=True)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.zeros(3), "rows have the wrong shape: expected two dimensions"),
        (np.zeros((3, 0)), "rows have no columns"),
        ([[1, 2]], "rows have the wrong type"),
        (pl.DataFrame({"a": [1]}).lazy(), "rows have the wrong type: .* got LazyFrame"),
        (pd.Series([1, 2]), "rows have the wrong type"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "columns share a name"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "columns share a name"),
        (pd.DataFrame({"a": ["x", 1]}), "column a mixes text and numbers: .* got 'x'|column a is no feature: .* got 1"),
        (pd.DataFrame({"a": [object()]}), "column a is no feature"),
        (pl.DataFrame({"a": [[1, 2]]}), "column a is no feature"),
        (np.zeros((2, 1), complex), "column x0 is no feature: .* got complex128"),
    ],
    ids=str,
)
def test_what_is_no_feature_is_refused_in_words(rows: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Features(rows)


def test_rows_of_another_make_are_refused_in_words() -> None:
    learned = Features(FRAMES[0])
    with pytest.raises(SettingsError, match=r"rows lack columns that were learned from: expected \['text'\]"):
        learned(FRAMES[0].drop(columns="text"))
    with pytest.raises(SettingsError, match="column text is of another kind .* expected text, got numbers"):
        learned(FRAMES[0].assign(text=1))
    with pytest.raises(SettingsError, match="other columns than those learned from: expected 2, got 3"):
        Features(np.zeros((1, 2)))(np.zeros((1, 3)))


def test_no_rows_are_rows_too() -> None:
    assert Features(FRAMES[0])(FRAMES[0].iloc[:0]).shape == (0, 4)
    assert Features(np.zeros((1, 2)))(np.zeros((0, 2))).shape == (0, 2)


def test_columns_of_a_frame_come_with_their_names() -> None:
    assert [name for name, _ in columns_of(FRAMES[1])] == list(COLUMNS)


ODD: list[Any] = [
    pd.Series(["v", "u", None], dtype="category"),
    pd.Series(["v", "u", None], dtype="category").cat.add_categories("unused"),
    pd.Series(["v", "u", None], dtype="string"),
    pd.Series(["v", "u", "w"], dtype=object).replace("w", pd.NA),
    pl.Series(["v", "u", None], dtype=pl.Categorical),
    pl.Series(["v", "u", None], dtype=pl.Enum(["unused", "v", "u"])),
    pl.Series(["v", "u", None]),
]


@pytest.mark.parametrize("series", ODD, ids=lambda series: f"{type(series).__module__.split('.')[0]} {series.dtype}")
def test_text_of_any_make_is_numbered_in_order(series: Any) -> None:
    frame = pd.DataFrame({"a": series}) if isinstance(series, pd.Series) else pl.DataFrame({"a": series})
    learned = Features(frame)
    assert learned.columns[0].categories == ("u", "v")
    assert np.array_equal(learned(frame)[:, 0], [1, 0, NAN], equal_nan=True)
    assert np.array_equal(learned(frame[1:])[:, 0], [0, NAN], equal_nan=True)


def test_texts_that_all_differ_are_numbered_in_blocks_as_at_once() -> None:
    frame = pl.DataFrame({"a": [f"{at:04}" for at in range(1000)]})
    learned = Features(frame)
    blocks = list(learned.in_blocks(frame, 64))
    assert [len(block) for block in blocks] == [64] * 15 + [40]
    assert np.concatenate(blocks)[:, 0].tolist() == learned(frame)[:, 0].tolist() == list(range(1000))


def test_categories_that_are_numbers_are_numbers() -> None:
    frame = pd.DataFrame({"a": pd.Series([30, 4, 30], dtype="category")})
    assert Features(frame)(frame)[:, 0].tolist() == [30, 4, 30]


def test_text_that_arrow_cannot_hold_is_text_still() -> None:
    frame = pd.DataFrame({"a": pd.Series(["\ud800", "u", None], dtype=object)})
    assert np.array_equal(Features(frame)(frame)[:, 0], [1, 0, NAN], equal_nan=True)
