"""What is proved row-wise answers each row as if it were alone; what looks at other rows is never proved."""

import io
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from onnx import ModelProto, helper, printer

from biasbounty.exchange.onnx_rows import why_not_row_wise
from tests.exchange.hostile import nested, node
from tests.exchange.mixing import X, graph_of, mixing
from tests.exchange.onnx_models import FLOAT, above_mean, below, equal_to, matrix_below
from tests.exchange.row_graphs import ROWS, Writer, run

GRAPHS, SEEDS = 150, 10
MIXING = mixing()


def _is_row_wise(model: Any, rows: Any) -> bool:
    """Say whether some rows answer the same among all, alone, and in another order."""
    whole = run(model, rows)
    if whole.shape[:1] != (len(rows),):
        return False
    order = np.random.default_rng(0).permutation(len(rows))
    for some in (order, [1], [0], [3, 1], [2, 2, 4, 0, 1, 3]):
        try:
            found = run(model, rows[some])
        except Exception:  # onnxruntime's own: it does not run for every number of rows
            return False
        if found.shape != (len(some), *whole.shape[1:]):
            return False
        if not np.allclose(found, whole[some], rtol=1e-4, atol=1e-5, equal_nan=True):
            return False
    return True


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_graph_that_is_proved_treats_each_row_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    proved = 0
    for turn in range(GRAPHS):
        writer = Writer(rng, ROWS if turn % 2 else 4)
        writer.write(int(rng.integers(1, 9)))
        model = writer.model()
        if why_not_row_wise(model) is None:
            proved += 1
            assert _is_row_wise(model, writer.X), printer.to_text(model)
    assert proved > GRAPHS / 10


def test_most_random_graphs_that_treat_rows_alone_are_proved() -> None:
    """A proof that is never found is sound, and of no use."""
    rng = np.random.default_rng(99)
    alone = proved = 0
    for _ in range(150):
        writer = Writer(rng, 4)
        writer.write(3)
        model = writer.model()
        alone += (is_alone := _is_row_wise(model, writer.X))
        proved += is_alone and why_not_row_wise(model) is None
    assert alone >= proved > 0.9 * alone > 20


@pytest.mark.parametrize("name", MIXING)
def test_what_mixes_rows_is_not_proved(name: str) -> None:
    model = MIXING[name]
    assert why_not_row_wise(model) is not None
    assert not _is_row_wise(model, X), "the graph does not mix rows: it shows nothing"


BY_SHAPE = [
    "Shape t > shape",
    "Gather shape [0] > count",
    "Concat count [-1] > wanted axis=0",
    "Reshape x wanted > rows",
    "ReduceSum rows [1] > sums",
    "Gather x [0] > column axis=1",
    "Add sums column",
]
"""Sums each row, if the shape of t has the number of rows."""


@pytest.mark.parametrize(
    ("lines", "name"),
    [(["Relu x > t", *BY_SHAPE], "t"), (["Relu x > t", *BY_SHAPE, "Relu x > other"], "other")],
    ids=["declared itself", "declared of one that is merged with it"],
)
@pytest.mark.parametrize("field", ["output", "value_info"])
def test_what_is_declared_to_be_of_one_row_is_not_proved(lines: list[str], name: str, field: str) -> None:
    """Onnxruntime takes a declared shape for the shape: here it would sum all rows."""
    model = graph_of(*lines)
    assert why_not_row_wise(model) is None
    assert _is_row_wise(model, X)
    getattr(model.graph, field).append(helper.make_tensor_value_info(name, FLOAT, [1, 3]))
    reason = f"tensor {name!r} is declared to be of another shape than it has: leave that out"
    assert why_not_row_wise(model) == reason
    assert not _is_row_wise(model, X) or (field, name) == ("value_info", "other")


def test_a_last_output_may_be_declared_wrong_as_old_converters_do() -> None:
    model = graph_of("Relu x > t", "Gather t [0] axis=1")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("answer", FLOAT, [1]))
    assert why_not_row_wise(model) is None
    assert _is_row_wise(model, X)


def test_an_input_wider_than_can_be_is_not_proved() -> None:
    model = graph_of("Relu x")
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 2**50
    assert why_not_row_wise(model) == "an input makes a tensor that is larger than any can be"


def test_a_reason_names_the_node_and_says_what_it_does() -> None:
    reasons = [why_not_row_wise(MIXING[name]) for name in ("softmax over rows", "the first row")]
    assert reasons == [
        "node 'answer' (Softmax) works along the axis of the rows: expected a later one",
        "node 'first' (Gather) works along the axis of the rows: expected another one",
    ]


def test_only_what_the_first_output_needs_is_asked_about() -> None:
    model = graph_of("Relu x", "CumSum x zero > sums")
    model.graph.output.append(helper.make_tensor_value_info("sums", FLOAT, None))
    assert why_not_row_wise(model) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: graph.ClearField("output"),
        lambda graph: setattr(graph.output[0], "name", "ghost"),
        lambda graph: setattr(graph.input[0].type.tensor_type.shape.dim[0], "dim_value", 5),
        lambda graph: graph.input[0].type.Clear(),
        lambda graph: graph.node.append(node("Neg", "x")),
        lambda graph: graph.node[0].attribute.append(helper.make_attribute("axis", 1)),
        lambda graph: graph.node[0].CopyFrom(node("RandomUniformLike", "x")),
        lambda graph: graph.node[0].CopyFrom(node("Nobody", "x", domain="knows")),
        lambda graph: graph.node[0].CopyFrom(node("Relu", "later")),
    ],
    ids=[
        "no output",
        "no such output",
        "five rows",
        "no type",
        "twice",
        "attribute twice",
        "random",
        "unknown",
        "later",
    ],
)
def test_what_is_not_understood_is_not_proved(change: Any) -> None:
    model = graph_of("Softmax x axis=1")
    assert why_not_row_wise(model) is None
    change(model.graph)
    assert why_not_row_wise(model) is not None


@pytest.mark.parametrize(
    "lines",
    [
        [f"Concat {' '.join([last] * 1000)} > {name} axis=0" for last, name in (("[1]", "b"), ("b", "c"), ("c", "d"))],
        [
            f"Concat {last} {last} > t{turn} axis=1"
            for turn, last in enumerate(["x", *(f"t{at}" for at in range(3000))])
        ],
        [f"Tile {last} [1,9000000000] > t{turn}" for turn, last in enumerate(["x", *(f"t{at}" for at in range(3000))])],
        [f"Unsqueeze {last} [1] > t{turn}" for turn, last in enumerate(["x", *(f"t{at}" for at in range(3000))])],
    ],
    ids=["sizes", "lengths", "times", "axes"],
)
def test_a_proof_takes_no_more_than_the_graph_is_worth(lines: list[str]) -> None:
    """Each of these would have it count for years, or fill the memory, if it followed sizes wherever they lead."""
    last = lines[-1].split("> ")[1].split()[0]
    assert why_not_row_wise(graph_of(*lines, f"Reshape x {last}")) is not None
    assert why_not_row_wise(graph_of(*lines, f"Identity {last}")) is not None


def test_functions_are_not_followed() -> None:
    model = graph_of("Relu x")
    model.functions.add().name = "Relu"
    assert why_not_row_wise(model) is not None


@pytest.mark.parametrize(
    ("data", "proved"),
    [
        (below("a", 1), True),
        (matrix_below(0, 1, 2), True),
        (equal_to("t", "x"), True),
        (above_mean(2), False),
        (nested(3), False),
    ],
)
def test_models_of_other_tests_are_seen_for_what_they_are(data: bytes, proved: bool) -> None:
    assert (why_not_row_wise(ModelProto.FromString(data)) is None) == proved


def _converted() -> dict[str, Any]:
    """Return what the converters of scikit-learn, LightGBM and XGBoost write."""
    import lightgbm
    import xgboost
    from onnxmltools import convert_lightgbm, convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType
    from skl2onnx import to_onnx

    rows, y = _data()
    labels, kinds = y.astype(int), [("X", FloatTensorType([None, 3]))]
    models = {
        type(each[-1] if hasattr(each, "steps") else each).__name__ + str(place): to_onnx(
            each.fit(rows, labels), rows[:1], options={"zipmap": False} if hasattr(each, "predict_proba") else None
        )
        for place, each in enumerate(_estimators())
    }
    for kind in (lightgbm.LGBMClassifier, lightgbm.LGBMRegressor):
        fitted = kind(n_estimators=3, verbose=-1).fit(rows, labels)
        models[kind.__name__] = convert_lightgbm(fitted, initial_types=kinds, zipmap=False)
    for kind in (xgboost.XGBClassifier, xgboost.XGBRegressor):
        models[kind.__name__] = convert_xgboost(kind(n_estimators=3).fit(rows, labels), initial_types=kinds)
    return {**models, "mixed columns": _mixed()}


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3)).astype(np.float32)
    return rows, np.digitize(rows[:, 0] + rows[:, 1] ** 2, [0.3, 1.0])


def _estimators() -> list[Any]:
    from sklearn import ensemble, linear_model, naive_bayes, neural_network, preprocessing, svm, tree
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    few = {"n_estimators": 3, "random_state": 0}
    return [
        tree.DecisionTreeClassifier(max_depth=3),
        tree.DecisionTreeRegressor(max_depth=3),
        ensemble.RandomForestClassifier(**few),
        ensemble.ExtraTreesRegressor(**few),
        ensemble.GradientBoostingClassifier(**few),
        ensemble.GradientBoostingRegressor(**few),
        ensemble.AdaBoostClassifier(**few),
        ensemble.BaggingClassifier(**few),
        linear_model.LogisticRegression(),
        linear_model.SGDClassifier(random_state=0),
        linear_model.Ridge(),
        linear_model.RidgeClassifier(),
        svm.LinearSVC(),
        svm.SVC(),
        svm.SVR(),
        naive_bayes.GaussianNB(),
        neural_network.MLPClassifier((4,), max_iter=300, random_state=0),
        CalibratedClassifierCV(linear_model.LogisticRegression(), cv=2),
        make_pipeline(SimpleImputer(), preprocessing.StandardScaler(), linear_model.LogisticRegression()),
        make_pipeline(preprocessing.PolynomialFeatures(2), preprocessing.RobustScaler(), linear_model.Lasso()),
        make_pipeline(preprocessing.KBinsDiscretizer(3, encode="onehot-dense"), linear_model.LogisticRegression()),
        make_pipeline(preprocessing.MinMaxScaler(), preprocessing.Normalizer(), tree.DecisionTreeClassifier()),
    ]


def _mixed() -> Any:
    """Return a pipeline on columns of numbers and text."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    rows, y = _data()
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"a": rows[:, 0], "b": rows[:, 1], "c": rng.choice(["u", "v"], 200), "d": rng.integers(0, 4, 200)}
    )
    parts = [
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
        ("text", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["c"]),
        ("whole", OrdinalEncoder(), ["d"]),
    ]
    fitted = make_pipeline(ColumnTransformer(parts), RandomForestClassifier(3, random_state=0)).fit(frame, y)
    kinds = {"a": FloatTensorType, "b": FloatTensorType, "c": StringTensorType, "d": Int64TensorType}
    columns = [(name, kind([None, 1])) for name, kind in kinds.items()]
    return to_onnx(fitted, initial_types=columns, options={"zipmap": False})


def test_what_converters_write_is_proved() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = _converted()
    reasons = {name: why_not_row_wise(model) for name, model in models.items()}
    assert {name: reason for name, reason in reasons.items() if reason is not None} == {}
    assert len(reasons) == 27


def _networks() -> dict[str, Any]:
    import torch
    from torch import nn

    class Embedding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.known, self.last = nn.Embedding(10, 4), nn.Linear(6, 1)

        def forward(self, x: Any) -> Any:
            """Embed the first column."""
            embedded = self.known(x[:, 0].long().clamp(0, 9))
            return self.last(torch.cat([embedded, x.view(x.shape[0], -1)[:, 1:]], 1)).squeeze(1)

    return {
        "layers": nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1), nn.Sigmoid()),
        "norms": nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ELU(), nn.LayerNorm(8), nn.Linear(8, 1)),
        "softmax": nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2), nn.Softmax(1)),
        "embedding": Embedding(),
    }


@pytest.mark.parametrize("name", ["layers", "norms", "softmax", "embedding"])
def test_what_torch_writes_is_proved(name: str) -> None:
    import torch

    network = _networks()[name].eval()
    buffer: Any = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        axes = {"x": {0: "rows"}}
        torch.onnx.export(network, (torch.zeros(4, 3),), buffer, dynamo=False, input_names=["x"], dynamic_axes=axes)
        shapes = ({0: torch.export.Dim("rows")},)
        newer = torch.onnx.export(network, (torch.zeros(4, 3),), dynamo=True, dynamic_shapes=shapes, verbose=False)
    assert why_not_row_wise(ModelProto.FromString(buffer.getvalue())) is None
    assert newer is not None
    assert why_not_row_wise(newer.model_proto) is None
