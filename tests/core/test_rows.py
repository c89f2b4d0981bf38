"""Rows of every kind are taken by number, and true places are found in order."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbounty.core.answers import mask_of
from biasbounty.core.rows import Rows, find_true
from biasbounty.errors import GroupError, SettingsError


@given(st.integers(0, 300), st.sampled_from([0.0, 0.02, 0.3, 1.0]), st.integers(0, 2**32))
def test_find_true_is_flatnonzero(n: int, weight: float, seed: int) -> None:
    mask = np.random.default_rng(seed).random(n) < weight
    assert find_true(mask).tolist() == np.flatnonzero(mask).tolist()
    assert find_true(mask[::2]).tolist() == np.flatnonzero(mask[::2]).tolist()
    assert find_true(mask[3:]).tolist() == np.flatnonzero(mask[3:]).tolist()


def test_a_vast_sparse_mask_is_searched_by_words() -> None:
    mask = np.random.default_rng(0).random(100_003) < 0.01
    mask[-1] = True
    assert find_true(mask).tolist() == np.flatnonzero(mask).tolist()


@pytest.mark.parametrize("make", [np.asarray, lambda X: np.asfortranarray(X), pd.DataFrame, pl.DataFrame])
def test_rows_are_taken_by_number_in_order_and_in_their_own_type(make: Callable[[Any], Any]) -> None:
    X = make(np.arange(12).reshape(4, 3))
    taken = Rows(X).take(np.array([3, 1]))
    assert type(taken.native) is type(X)
    assert np.asarray(taken.native).tolist() == [[9, 10, 11], [3, 4, 5]]
    assert (len(Rows(X)), len(taken)) == (4, 2)


@pytest.mark.parametrize(
    "make", [lambda a: pd.DataFrame({"a": a}), lambda a: pl.DataFrame({"a": a}), lambda a: a[:, None]]
)
def test_nothing_that_is_written_to_shielded_rows_reaches_the_rows_that_are_kept(make: Callable[[Any], Any]) -> None:
    kept = make(np.arange(5))

    def write(X: Any) -> None:
        if isinstance(X, pd.DataFrame):
            X.loc[X["a"] > 2, "a"] = 0
            X["a"] = 1
        elif isinstance(X, pl.DataFrame):
            X[0, "a"] = 9
        else:
            X += 1

    with contextlib.suppress(ValueError):  # numpy refuses
        write(Rows(kept).shielded())
    assert np.asarray(kept).ravel().tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("version", ["2.2.3", "3.0.0"])
def test_before_pandas_3_a_frame_is_copied_in_full(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Since pandas 3 a copy that shares its values is cut loose when it is written to."""
    kept = pd.DataFrame({"a": np.arange(5)})
    monkeypatch.setattr(pd, "__version__", version)
    shared = np.shares_memory(Rows(kept).shielded()["a"].to_numpy(), kept["a"].to_numpy())
    assert shared == version.startswith("3")


@pytest.mark.parametrize("rows", [[[1]], np.array(3), pl.LazyFrame({"a": [1]}), "AGEP"])
def test_what_has_no_rows_is_refused(rows: Any) -> None:
    with pytest.raises(
        SettingsError, match="rows have the wrong type: expected a numpy array, a pandas or a polars frame"
    ):
        Rows(rows)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 100])
def test_masks_of_polars_are_read_bit_by_bit_whatever_their_offset(n: int) -> None:
    values = np.random.default_rng(n).random(n) < 0.5
    series = pl.Series([True, False, True, *values.tolist()])[3:]
    assert mask_of(lambda X: series, Rows(np.zeros((n, 1)))).tolist() == values.tolist()


def test_a_null_or_an_expression_of_polars_is_no_mask() -> None:
    rows = Rows(np.zeros((2, 1)))
    with pytest.raises(GroupError, match="expected True, False, 0 or 1, got None at row 1"):
        mask_of(lambda X: pl.Series([True, None]), rows)
    with pytest.raises(GroupError, match="group has the wrong length"):
        mask_of(lambda X: pl.col("a") > 1, rows)
