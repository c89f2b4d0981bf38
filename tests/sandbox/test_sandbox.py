"""A sandbox answers as the same model does in process, on rows of any kind and number."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
from onnx import TensorProto, helper

from biasbounty.errors import RefusedError, SettingsError, SubmissionFailedError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.sandbox import Sandbox
from tests.exchange.onnx_models import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT64,
    TEXT,
    above_mean,
    below,
    equal_to,
    matrix_below,
    model_of,
)

SIZE = 500
NUMBERS = {FLOAT: "float32", DOUBLE: "float64", INT64: "int64"}


def frame(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    job = rng.choice(np.array(["cook", "judge", "\U0001f600", "", None], object), SIZE)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 90, SIZE),
            "pay": np.where(rng.random(SIZE) < 0.1, np.nan, rng.normal(0, 1e9, SIZE)),
            "job": job,
            "born": pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 10_000, SIZE), "D"),
            "married": rng.random(SIZE) < 0.5,
            "nothing": np.full(SIZE, np.nan),
            "big": pd.array(rng.integers(0, 2**62, SIZE), "Int64"),
        }
    )


def echo(column: str, element: int) -> bytes:
    """Return a model whose answer is a column."""
    return model_of(
        [helper.make_node("Identity", [column], ["answer"])],
        [(column, element, ["N", 1])],
        ("answer", element, ["N", 1]),
    )


def cast(element: int) -> bytes:
    """Return a model whose answer is the first column of a matrix as another type."""
    nodes = [
        helper.make_node("Gather", ["X", "place"], ["column"], axis=1),
        helper.make_node("Cast", ["column"], ["answer"], to=element),
    ]
    place = helper.make_tensor("place", INT64, [1], [0])
    return model_of(nodes, [("X", FLOAT, ["N", 2])], ("answer", element, ["N", 1]), [place])


def same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_columns_of_a_frame_are_answered_as_in_process(kind: str) -> None:
    whole = frame()
    X: Any = whole if kind == "pandas" else pl.from_pandas(whole)
    X = X.to_arrow() if kind == "arrow" else X
    models = [echo(name, element) for name in whole if name != "job" for element in NUMBERS]
    models += [echo("job", TEXT), equal_to("job", "\U0001f600"), below("pay", 0.0), below("age", 40)]
    chosen = np.array([3, 3, 0, SIZE - 1, 17])
    with Sandbox(X) as sandbox:
        for data in models:
            inside = OnnxModel(data)(X)
            assert same(sandbox.predict(data), inside)
            assert same(sandbox.predict(data, chosen), inside[chosen])
            assert same(sandbox.run(data, X), inside)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool", ">f8", "float16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_answered_as_in_process(dtype: str, order: Any) -> None:
    rng = np.random.default_rng(2)
    X = np.asarray(rng.normal(0, 3, (SIZE, 4)).astype(dtype), order=order)
    with Sandbox(X) as sandbox:
        for data in (matrix_below(2, 0.5, 4), below("x1", 1.0), echo("x3", DOUBLE)):
            inside = OnnxModel(data)(X)
            assert same(sandbox.predict(data), inside)
            assert same(sandbox.run(data, X[::2]), inside[::2])


ANSWERS = [
    *(BOOL, FLOAT, DOUBLE, INT64, TEXT, TensorProto.INT8, TensorProto.INT16, TensorProto.INT32),
    *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
]


@pytest.mark.parametrize("element", ANSWERS, ids=TensorProto.DataType.Name)
def test_answers_of_every_type_come_back_as_in_process(element: int) -> None:
    X = np.arange(12.0).reshape(6, 2)
    with Sandbox(X) as sandbox:
        assert same(sandbox.predict(cast(element)), OnnxModel(cast(element))(X))


def test_rows_are_places_or_booleans() -> None:
    X = np.arange(20.0).reshape(10, 2)
    data = cast(FLOAT)
    with Sandbox(X) as sandbox:
        assert sandbox.predict(data, np.arange(10) > 6).tolist() == [14, 16, 18]
        assert sandbox.predict(data, [9, 0]).tolist() == [18, 0]
        for rows in ([10], [-1], [0.5], [[0]], np.ones(9, np.bool_)):
            with pytest.raises(
                SettingsError, match=r"rows are not of this sandbox: expected places from 0 to 9 or 10 b"
            ):
                sandbox.predict(data, rows)


def test_no_rows_have_no_answers_and_run_nothing() -> None:
    with Sandbox(np.zeros((10, 2))) as sandbox:
        assert sandbox.predict(cast(FLOAT), []).shape == (0,)
        assert sandbox.predict(cast(FLOAT), np.zeros(10, np.bool_)).shape == (0,)
        assert sandbox.run(cast(FLOAT), np.zeros((0, 2))).shape == (0,)
    with Sandbox(np.zeros((0, 2))) as sandbox:
        assert sandbox.predict(cast(FLOAT)).shape == (0,)


def test_a_model_that_mixes_rows_answers_as_if_each_were_alone() -> None:
    X = np.random.default_rng(3).normal(size=(50, 2))
    with Sandbox(X) as sandbox:
        assert (sandbox.predict(above_mean(2)) == 0).all(), "no row is above its own mean"


def test_a_million_rows_are_answered() -> None:
    X = np.random.default_rng(4).normal(size=(1_000_000, 10))
    with Sandbox(X) as sandbox:
        assert (sandbox.predict(matrix_below(7, 0.25, 10)) == (X[:, 7].astype(np.float32) < 0.25)).all()


def test_what_the_audit_refuses_is_refused_and_not_run() -> None:
    with Sandbox(np.zeros((10, 2))) as sandbox:
        with pytest.raises(RefusedError):
            sandbox.predict(b"nonsense")
        with pytest.raises(RefusedError):
            sandbox.run(b"nonsense", np.zeros((1, 2)))


def test_an_input_that_fits_no_column_is_refused() -> None:
    with Sandbox(np.zeros((10, 2))) as sandbox:
        for data in (below("age", 40), matrix_below(0, 1.0, 3), equal_to("x0", "cook")):
            with pytest.raises(RefusedError):
                sandbox.predict(data)


def test_what_fails_inside_is_told_in_words_without_paths() -> None:
    node = helper.make_node("Reshape", ["X", "shape"], ["answer"])
    shape = helper.make_tensor("shape", INT64, [1], [7])
    data = model_of([node], [("X", FLOAT, ["N", 2])], ("answer", FLOAT, ["N"]), [shape])
    with Sandbox(np.zeros((10, 2))) as sandbox:
        with pytest.raises((SubmissionFailedError, RefusedError)) as caught:
            sandbox.predict(data)
        assert "/" not in str(caught.value).replace("and/or", "")
        with pytest.raises(SubmissionFailedError, match=r"[Rr]eshape"):
            sandbox.execute(data, {"X": np.zeros((3, 2), np.float32)})


def test_tensors_are_executed_as_they_are() -> None:
    data = model_of(
        [helper.make_node("Identity", ["text"], ["same"]), helper.make_node("Shape", ["text"], ["shape"])],
        [("text", TEXT, ["N", 2, "M"])],
        ("same", TEXT, ["N", 2, "M"]),
    )
    model = helper.make_tensor_value_info("shape", INT64, [3])
    import onnx

    proto = onnx.ModelProto.FromString(data)
    proto.graph.output.append(model)
    text = np.array([[["a", "b"], ["", "\U0001f600"]]], object)
    with Sandbox(np.zeros((1, 1))) as sandbox:
        both = sandbox.execute(proto.SerializeToString(), {"text": text})
        assert both["same"].tolist() == text.tolist()
        assert both["shape"].tolist() == [1, 2, 2]
        assert list(sandbox.execute(proto.SerializeToString(), {"text": text}, ["shape"])) == ["shape"]


@pytest.mark.parametrize("settings", [{"memory_mb": 0}, {"seconds": -1}, {"seconds": float("nan")}, {"memory_mb": "1"}])
def test_settings_that_cannot_be_are_refused(settings: Any) -> None:
    with pytest.raises(SettingsError, match=r"is not usable: expected a number above 0, got"):
        Sandbox(np.zeros((1, 1)), **settings)


def test_a_child_warms_up_on_a_model_that_answers_what_it_is_asked() -> None:
    from biasbounty.sandbox.jobs import IDENTITY

    one = helper.make_tensor_value_info("x", FLOAT, ["N"])
    other = helper.make_tensor_value_info("y", FLOAT, ["N"])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [one], [other])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    assert made.SerializeToString() == IDENTITY


def test_importing_the_sandbox_imports_neither_onnx_nor_onnxruntime() -> None:
    import subprocess
    import sys

    code = "import sys, biasbounty.sandbox; print({'onnx', 'onnxruntime', 'pyseccomp', 'sklearn'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "set()\n"
