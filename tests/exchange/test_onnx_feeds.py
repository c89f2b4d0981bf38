"""Rows become the tensors that a model takes in, in one way only."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from biasbounty.errors import RefusedError
from biasbounty.exchange.onnx_feeds import MISSING_TEXT, Element, Input, Table, as_numbers, feed, is_matrix

COLUMNS = {
    "age": [20, 30, 40],
    "pay": [1.5, None, 0.1],
    "job": ["cook", None, "judge"],
    "new": [True, False, True],
}
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
}


def _fed(X: Any, *inputs: Input, rows: Any = None) -> list[Any]:
    return list(feed(Table.of(X), inputs, rows).values())


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_columns_go_in_by_name_and_missing_values_are_marked(frame: Any) -> None:
    age, pay, job, new = _fed(
        frame,
        Input("age", "float", 2, 1),
        Input("pay", "double", 1),
        Input("job", "string", 2, 1),
        Input("new", "int64", 1),
    )
    assert (age.dtype, age.tolist()) == (np.float32, [[20], [30], [40]])
    assert pay.tolist()[::2] == [1.5, 0.1]
    assert np.isnan(pay[1])
    assert job.tolist() == [["cook"], [MISSING_TEXT], ["judge"]]
    assert (new.dtype, new.tolist()) == (np.int64, [1, 0, 1])


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_some_rows_go_in_in_the_order_asked_for(frame: Any) -> None:
    job, pay = _fed(frame, Input("job", "string", 1), Input("pay", "float", 1), rows=np.array([2, 0]))
    assert job.tolist() == ["judge", "cook"]
    assert pay.tolist() == [np.float32(0.1), 1.5]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.bool_, object])
def test_an_array_is_a_matrix_in_one_input(dtype: Any) -> None:
    X = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    (matrix,) = _fed(X, Input("anything", "float", 2, 2))
    assert (matrix.dtype, matrix.tolist()) == (np.float32, X.astype(float).tolist())
    (some,) = _fed(X, Input("anything", "double", 2), rows=np.array([1]))
    assert (some.dtype, some.tolist()) == (np.float64, [[1, 0]])


def test_a_frame_of_numbers_goes_into_a_matrix_too() -> None:
    (matrix,) = _fed(FRAMES["pandas"][["age", "new"]], Input("X", "float", 2, 2))
    assert matrix.tolist() == [[20, 1], [30, 0], [40, 1]]
    assert not is_matrix((Input("age", "float", 2, 1),), ("age",))


@pytest.mark.parametrize("element", ["float", "double", "int64"])
def test_numbers_are_cast_by_way_of_64_bits(element: Element) -> None:
    values = np.array([2**53 + 1, -(2**62), 3], np.int64)
    kinds = {"float": np.float32, "double": np.float64, "int64": np.int64}
    assert as_numbers(values, element).tolist() == values.astype(float).astype(kinds[element]).tolist()


def test_what_no_integer_holds_is_the_least_integer() -> None:
    given = np.array([np.nan, np.inf, -np.inf, 2.0**63, -(2.0**63), 1.9, -1.9])
    assert as_numbers(given, "int64").tolist() == [-(2**63)] * 5 + [1, -1]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Input("wage", "float", 2, 1), "names no column: expected one of age, pay, job, new"),
        (Input("job", "float", 2, 1), "is of another type: expected text, as 'job' holds, got numbers"),
        (Input("age", "string", 2, 1), "is of another type: expected numbers, as 'age' holds, got text"),
        (Input("X", "float", 2, 3), "fits no column and no matrix: expected 4 columns, got 3"),
        (Input("X", "float", 2, 4), "expected text, as 'job' holds"),
    ],
)
def test_an_input_that_fits_no_column_is_refused(wanted: Input, words: str) -> None:
    inputs = (wanted,) if wanted.name == "X" else (wanted, Input("pay", "float", 2, 1))
    with pytest.raises(RefusedError, match=words):
        _fed(FRAMES["pandas"], *inputs)
