"""20,000 mutants of valid models: each is refused, fails, or answers each row; nobody crashes, nobody waits."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from onnx import helper

from biasbounty.errors import RefusedError, SubmissionFailedError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.sandbox import Sandbox
from tests.exchange.hostile import tree
from tests.exchange.mutants import mutant
from tests.exchange.onnx_models import FLOAT, INT64, TEXT, above_mean, matrix_below, model_of

SEEDS, CASES = 20, 1_000
MATRIX = np.array([[1.0, 2.0], [-3.0, 0.5], [np.nan, 4.0], [0.0, 0.0]])
FRAME = pd.DataFrame({"age": [18, 40, 65, 90], "pay": [1.5, np.nan, -2.0, 3e9], "job": ["cook", None, "judge", ""]})


def _learned(operator: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(operator, inputs.split(), outputs.split(), domain="ai.onnx.ml", **attributes)


def _forest() -> bytes:
    """Return a classifier of two trees of three leaves each, behind an imputer."""
    trees = {
        "nodes_treeids": [0] * 5 + [1] * 5,
        "nodes_nodeids": [*range(5)] * 2,
        "nodes_featureids": [0, 1, 0, 0, 0, 1, 0, 0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"] * 2,
        "nodes_values": [0.5, 1.5, 0.0, 0.0, 0.0, 0.25, 3.5, 0.0, 0.0, 0.0],
        "nodes_truenodeids": [1, 3, 0, 0, 0] * 2,
        "nodes_falsenodeids": [2, 4, 0, 0, 0] * 2,
        "class_treeids": [0, 0, 0, 1, 1, 1],
        "class_nodeids": [2, 3, 4] * 2,
        "class_ids": [0, 1, 2, 2, 1, 0],
        "class_weights": [0.5, 0.25, 0.25, 0.125, 0.5, 0.5],
        "classlabels_int64s": [0, 1, 2],
    }
    nodes = [
        _learned("Imputer", "X", "whole", imputed_value_floats=[0.0, 1.0], replaced_value_float=float("nan")),
        _learned("TreeEnsembleClassifier", "whole", "answer scores", **trees),
    ]
    return model_of(nodes, [("X", FLOAT, ["N", 2])], ("answer", INT64, ["N"]))


def _network() -> bytes:
    """Return a network of two layers that answers with the larger of two outputs."""
    rng = np.random.default_rng(0)
    shapes = {"first": [2, 4], "shift": [4], "second": [4, 2]}
    constants = [
        helper.make_tensor(name, FLOAT, shape, rng.normal(size=shape).ravel()) for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Gemm", ["X", "first", "shift"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["rectified"]),
        helper.make_node("MatMul", ["rectified", "second"], ["outputs"]),
        helper.make_node("Softmax", ["outputs"], ["scores"], axis=1),
        helper.make_node("ArgMax", ["scores"], ["answer"], axis=1, keepdims=0),
    ]
    return model_of(nodes, [("X", FLOAT, ["N", 2])], ("answer", INT64, ["N"]), constants)


def _pipeline() -> bytes:
    """Return a linear model of scaled numbers and encoded text, that answers with text."""
    names = helper.make_tensor("names", TEXT, [2], [b"no", b"yes"])  # type: ignore[list-item]
    nodes = [
        helper.make_node("Concat", ["age", "pay"], ["numbers"], axis=1),
        _learned("Scaler", "numbers", "scaled", offset=[40.0, 0.0], scale=[0.05, 1e-3]),
        _learned("OneHotEncoder", "job", "hot", cats_strings=["cook", "judge"], zeros=1),
        helper.make_node("Reshape", ["hot", "flat"], ["coded"]),
        helper.make_node("Concat", ["scaled", "coded"], ["features"], axis=1),
        _learned(
            "LinearClassifier",
            "features",
            "label scores",
            coefficients=[0.5, 1.0, -1.0, 2.0, -0.5, -1.0, 1.0, -2.0],
            intercepts=[0.1, -0.1],
            classlabels_ints=[0, 1],
            post_transform="SOFTMAX",
        ),
        helper.make_node("Gather", ["names", "label"], ["answer"]),
    ]
    inputs: list[Any] = [("age", FLOAT, ["N", 1]), ("pay", FLOAT, ["N", 1]), ("job", TEXT, ["N", 1])]
    flat = helper.make_tensor("flat", INT64, [2], [-1, 2])
    return model_of(nodes, inputs, ("answer", TEXT, ["N"]), [names, flat])


def _encoded() -> bytes:
    """Return a model that maps text to numbers."""
    mapped = _learned(
        "LabelEncoder", "job", "answer", keys_strings=["cook", "judge", ""], values_int64s=[3, 1, 2], default_int64=9
    )
    return model_of([mapped], [("job", TEXT, ["N", 1])], ("answer", INT64, ["N", 1]))


OF_MATRIX = (tree(), _forest(), _network(), matrix_below(1, 0.75, 2), above_mean(2))
OF_FRAME = (_pipeline(), _encoded())


@pytest.fixture(scope="module")
def sandboxes() -> Iterator[tuple[Sandbox, Sandbox]]:
    with Sandbox(MATRIX, memory_mb=256, seconds=2) as first, Sandbox(FRAME, memory_mb=256, seconds=2) as second:
        yield first, second


@pytest.mark.parametrize("data", [*OF_MATRIX, *OF_FRAME], ids=range(7))
def test_what_is_mutated_is_valid(data: bytes) -> None:
    X = MATRIX if data in OF_MATRIX else FRAME
    assert len(set(OnnxModel(data)(X).tolist())) > 1 or data == OF_MATRIX[-1]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_mutant_is_refused_or_fails_or_answers_each_row(seed: int, sandboxes: tuple[Sandbox, Sandbox]) -> None:
    rng, outcomes = np.random.default_rng(seed), Counter[str]()
    for case in range(CASES):
        of_frame = case % 3 == 0
        data = mutant(OF_FRAME if of_frame else OF_MATRIX, rng)
        outcomes[_outcome(sandboxes[of_frame], data)] += 1
    print(seed, dict(outcomes))  # noqa: T201 - shown with -s
    assert outcomes.keys() <= {"refused", "failed", "answered"}
    assert min(outcomes["refused"], outcomes["answered"]) > CASES / 20
    assert sandboxes[0].predict(OF_MATRIX[1]).tolist() == OnnxModel(OF_MATRIX[1])(MATRIX).tolist()
    assert sandboxes[1].predict(OF_FRAME[0]).tolist() == OnnxModel(OF_FRAME[0])(FRAME).tolist()


def _outcome(sandbox: Sandbox, data: bytes) -> str:
    """Say how one ends; whatever else it may do fails the test."""
    try:
        answers = sandbox.predict(data)
    except RefusedError as refused:
        return "refused" if refused.reasons else "refused without a reason"
    except SubmissionFailedError as failed:
        return "failed" if str(failed).startswith("model ") else str(failed)
    if answers.shape != (4,):
        return "answered in another shape"
    return "answered" if _same(answers[2:3], sandbox.predict(data, rows=[2])) else "answered otherwise alone"


def _same(first: Any, second: Any) -> bool:
    is_float = first.dtype.kind == "f"
    return bool(np.allclose(first, second, equal_nan=True) if is_float else (first == second).all())
