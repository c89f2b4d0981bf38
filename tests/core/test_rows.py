"""Rows of every kind are taken by number, and true places are found in order."""

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
