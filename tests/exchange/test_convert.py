"""Must-show 6: every estimator named round-trips on the census sample, mismatch counts printed.

`python -m pytest tests/exchange/test_convert.py -s -k table` prints the table.
"""

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import lightgbm
import numpy as np
import onnx
import pandas as pd
import polars as pl
import pytest
import torch
import xgboost
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from biasbounty import finders
from biasbounty.datasets import load_census
from biasbounty.errors import ConversionError, MissingExtraError
from biasbounty.exchange.convert import OPSETS, Mismatches, MismatchWarning, compare, convert
from biasbounty.exchange.converting.found import ROUNDING
from biasbounty.exchange.onnx_model import OnnxModel

FITTED = 4_000
ROWS = 20_000
SEX = {1: "male", 2: "female"}
MARITAL = {1: "married", 2: "widowed", 3: "divorced", 4: "separated", 5: "never"}
TEXT = ["SEX", "MAR"]


@cache
def _matrix() -> Any:
    return load_census().X[:ROWS].astype(np.float64)


@cache
def _employed() -> Any:
    return load_census().y[:ROWS]


def _amounts() -> Any:
    X = _matrix()
    return 1.0 + X[:, 0] * 370.1 + X[:, 1] ** 2


def _schooling() -> Any:
    return np.clip(_matrix()[:, 1] // 6, 0, 3).astype(np.int64)


@cache
def _frame(missing: bool = True) -> pd.DataFrame:
    """Return the sample with two columns of text, and a few values missing."""
    frame = pd.DataFrame(_matrix(), columns=list(load_census().columns))
    frame["SEX"], frame["MAR"] = frame["SEX"].map(SEX), frame["MAR"].map(MARITAL)
    rng = np.random.default_rng(0)
    if missing:
        frame.loc[rng.random(ROWS) < 0.05, "MAR"] = None
        frame.loc[rng.random(ROWS) < 0.05, "AGEP"] = np.nan
    return frame


def _numeric() -> list[str]:
    return [name for name in _frame().columns if name not in TEXT]


def _holed() -> Any:
    return np.where(np.random.default_rng(1).random(_matrix().shape) < 0.2, np.nan, _matrix())


def _mixed(encoder: Any) -> Any:
    text = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    return make_column_transformer((text, TEXT), (numbers, _numeric()))


def _some(X: Any) -> Any:
    return X[:FITTED] if isinstance(X, (np.ndarray, pl.DataFrame)) else X.iloc[:FITTED]


def _categories(X: pd.DataFrame) -> pd.DataFrame:
    return X.astype(dict.fromkeys(TEXT, "category"))


def _one_hot() -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


FORESTS: dict[str, Any] = {"n_estimators": 25, "random_state": 0}
ON_NUMBERS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "LogisticRegression": (_employed, lambda: make_pipeline(StandardScaler(), LogisticRegression())),
    "LogisticRegression, 4 classes": (_schooling, lambda: make_pipeline(MinMaxScaler(), LogisticRegression())),
    "RidgeClassifier": (_employed, RidgeClassifier),
    "SGDClassifier": (_employed, lambda: make_pipeline(RobustScaler(), SGDClassifier(random_state=0))),
    "LinearSVC": (_employed, lambda: make_pipeline(MaxAbsScaler(), LinearSVC())),
    "DecisionTreeClassifier": (_employed, lambda: DecisionTreeClassifier(random_state=0)),
    "RandomForestClassifier": (_employed, lambda: RandomForestClassifier(**FORESTS)),
    "RandomForestClassifier, 4 classes": (_schooling, lambda: RandomForestClassifier(max_depth=4, **FORESTS)),
    "ExtraTreesClassifier": (_employed, lambda: ExtraTreesClassifier(**FORESTS)),
    "GradientBoostingClassifier": (_employed, lambda: GradientBoostingClassifier(**FORESTS)),
    "GradientBoostingClassifier, 4 classes": (_schooling, lambda: GradientBoostingClassifier(**FORESTS)),
    "HistGradientBoostingClassifier": (_employed, lambda: HistGradientBoostingClassifier(max_iter=25)),
    "HistGradientBoostingClassifier, categories": (
        _employed,
        lambda: HistGradientBoostingClassifier(max_iter=25, categorical_features=[1, 2, 3]),
    ),
    "AdaBoostClassifier": (_employed, lambda: AdaBoostClassifier(**FORESTS)),
    "BaggingClassifier": (_employed, lambda: BaggingClassifier(n_estimators=5, random_state=0)),
    "DummyClassifier": (_employed, DummyClassifier),
    "VotingClassifier": (
        _employed,
        lambda: VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier(max_depth=4))], voting="soft"),
    ),
    "CalibratedClassifierCV": (_employed, lambda: CalibratedClassifierCV(DecisionTreeClassifier(max_depth=4))),
    "GaussianNB": (_employed, GaussianNB),
    "MLPClassifier": (
        _employed,
        lambda: make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=1000, tol=0.01, random_state=0)),
    ),
    "GridSearchCV": (_employed, lambda: GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 4]}, cv=2)),
    "union of scalers": (
        _employed,
        lambda: make_pipeline(
            make_union(StandardScaler(), RobustScaler(), PolynomialFeatures(2)),
            VarianceThreshold(),
            SelectKBest(k=20),
            DecisionTreeClassifier(random_state=0),
        ),
    ),
    "LGBMClassifier": (_employed, lambda: lightgbm.LGBMClassifier(n_estimators=25, verbose=-1)),
    "LGBMClassifier, 4 classes": (_schooling, lambda: lightgbm.LGBMClassifier(n_estimators=9, verbose=-1)),
    "XGBClassifier": (_employed, lambda: xgboost.XGBClassifier(n_estimators=25)),
    "XGBClassifier, 4 classes": (_schooling, lambda: xgboost.XGBClassifier(n_estimators=9)),
    "XGBClassifier, categories": (
        _employed,
        lambda: xgboost.XGBClassifier(
            n_estimators=25, enable_categorical=True, feature_types=["c" if k in (1, 2, 3) else "q" for k in range(16)]
        ),
    ),
    "LinearRegression": (_amounts, LinearRegression),
    "Ridge": (_amounts, Ridge),
    "Lasso": (_amounts, Lasso),
    "ElasticNet": (_amounts, ElasticNet),
    "PoissonRegressor": (_amounts, lambda: make_pipeline(StandardScaler(), PoissonRegressor())),
    "DecisionTreeRegressor": (_amounts, lambda: DecisionTreeRegressor(random_state=0)),
    "RandomForestRegressor": (_amounts, lambda: RandomForestRegressor(**FORESTS)),
    "ExtraTreesRegressor": (_amounts, lambda: ExtraTreesRegressor(**FORESTS)),
    "GradientBoostingRegressor": (_amounts, lambda: GradientBoostingRegressor(**FORESTS)),
    "HistGradientBoostingRegressor": (_amounts, lambda: HistGradientBoostingRegressor(max_iter=25)),
    "HistGradientBoostingRegressor, poisson": (
        _amounts,
        lambda: HistGradientBoostingRegressor(max_iter=25, loss="poisson"),
    ),
    "LGBMRegressor": (_amounts, lambda: lightgbm.LGBMRegressor(n_estimators=25, verbose=-1)),
    "LGBMRegressor, gamma": (
        _amounts,
        lambda: lightgbm.LGBMRegressor(n_estimators=25, objective="gamma", verbose=-1),
    ),
    "XGBRegressor": (_amounts, lambda: xgboost.XGBRegressor(n_estimators=25)),
    "XGBRegressor, gamma": (_amounts, lambda: xgboost.XGBRegressor(n_estimators=25, objective="reg:gamma")),
    "XGBRegressor, dart": (
        _amounts,
        lambda: xgboost.XGBRegressor(booster="dart", n_estimators=9, rate_drop=0.3, random_state=0),
    ),
}
"""What is fitted on numbers alone: its labels, and itself."""

ON_MIXED: dict[str, Callable[[], Any]] = {
    "pipeline, OneHotEncoder, LogisticRegression": lambda: make_pipeline(_mixed(_one_hot()), LogisticRegression()),
    "pipeline, OrdinalEncoder, DecisionTree": lambda: make_pipeline(_mixed(OrdinalEncoder()), DecisionTreeClassifier()),
    "pipeline, TargetEncoder, RandomForest": lambda: make_pipeline(
        _mixed(TargetEncoder()), RandomForestClassifier(**FORESTS)
    ),
    "pipeline, rare categories, ExtraTrees": lambda: make_pipeline(
        _mixed(OneHotEncoder(min_frequency=0.2, drop="first")), ExtraTreesClassifier(**FORESTS)
    ),
    "pipeline, missing as a category": lambda: make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), [*TEXT, "SCHL"]), remainder="passthrough"
        ),
        HistGradientBoostingClassifier(max_iter=25),
    ),
    "pipeline, unknown as -1": lambda: make_pipeline(
        make_column_transformer(
            (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2), TEXT)
        ),
        GradientBoostingClassifier(**FORESTS),
    ),
    "pipeline, LGBMClassifier": lambda: make_pipeline(
        _mixed(_one_hot()).set_output(transform="pandas"), lightgbm.LGBMClassifier(n_estimators=25, verbose=-1)
    ),
    "pipeline, XGBClassifier": lambda: make_pipeline(_mixed(_one_hot()), xgboost.XGBClassifier(n_estimators=25)),
}
"""What is fitted on text and numbers."""


def _module(*last: torch.nn.Module) -> torch.nn.Module:
    torch.manual_seed(0)
    parts = (torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 8), torch.nn.ReLU(), torch.nn.Dropout(), *last)
    return torch.nn.Sequential(*parts).eval()


def _booster(kind: str) -> Any:
    X, y = _some(_matrix()), _schooling()[:FITTED]
    if kind == "lightgbm":
        return lightgbm.train({"objective": "binary", "verbose": -1}, lightgbm.Dataset(X, y > 1), 25)
    return xgboost.train({"objective": "multi:softprob", "num_class": 4}, xgboost.DMatrix(X, y), 9)


def _on_categories(model: Any) -> Any:
    return model.fit(_some(_categories(_frame())), _employed()[:FITTED])


FITTED_ALREADY: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "torch, one number": (_matrix, lambda: _module(torch.nn.Linear(8, 1))),
    "torch, scores of 3 classes": (_matrix, lambda: _module(torch.nn.Linear(8, 3))),
    "SVC": (
        lambda: _matrix()[:FITTED],
        lambda: make_pipeline(StandardScaler(), SVC()).fit(_matrix()[:1000], _employed()[:1000]),
    ),
    "SVR": (
        lambda: _matrix()[:FITTED],
        lambda: make_pipeline(StandardScaler(), SVR()).fit(_matrix()[:1000], _amounts()[:1000]),
    ),
    "lightgbm.Booster": (_matrix, lambda: _booster("lightgbm")),
    "xgboost.Booster, 4 classes": (_matrix, lambda: _booster("xgboost")),
    "RandomForestClassifier, missing numbers": (
        _holed,
        lambda: RandomForestClassifier(**FORESTS).fit(_some(_holed()), _employed()[:FITTED]),
    ),
    "XGBClassifier, missing numbers": (
        _holed,
        lambda: xgboost.XGBClassifier(n_estimators=25).fit(_some(_holed()), _employed()[:FITTED]),
    ),
    "LGBMClassifier, first missing later": (
        lambda: _holed() - 15,
        lambda: lightgbm.LGBMClassifier(n_estimators=25, verbose=-1).fit(_some(_matrix() - 15), _employed()[:FITTED]),
    ),
    "HistGradientBoosting, pandas categories": (
        lambda: _categories(_frame()),
        lambda: _on_categories(HistGradientBoostingClassifier(max_iter=25)),
    ),
    "LGBMClassifier, pandas categories": (
        lambda: _categories(_frame()),
        lambda: _on_categories(lightgbm.LGBMClassifier(n_estimators=25, verbose=-1)),
    ),
    "XGBClassifier, pandas categories": (
        lambda: _categories(_frame()),
        lambda: _on_categories(xgboost.XGBClassifier(n_estimators=25, enable_categorical=True, max_cat_to_onehot=1)),
    ),
}
"""What is handed in fitted: the rows that it is compared on, and itself."""


def _round_trip(name: str, fitted: Any, X: Any, row_wise: bool = True) -> None:
    """Convert and compare; the file is plain, of the one pair of opsets, and proved row-wise."""
    data = convert(fitted, X)
    found = compare(fitted, data, X)
    sys.stdout.write(f"\n{name:45} {found.rows:7} rows {found.count:4} mismatches {len(data):9,} bytes")
    assert found == Mismatches(len(X), 0)
    proto = onnx.load_from_string(data)
    onnx.checker.check_model(proto, full_check=True)
    assert {each.domain: each.version for each in proto.opset_import} == OPSETS
    assert len(proto.graph.output) == 1
    assert OnnxModel(data).row_wise is row_wise


@pytest.mark.parametrize("name", ON_NUMBERS)
def test_table_estimators_of_numbers_answer_alike_in_onnx(name: str) -> None:
    labels, make = ON_NUMBERS[name]
    _round_trip(name, make().fit(_some(_matrix()), labels()[:FITTED]), _matrix())


@pytest.mark.parametrize("name", ON_MIXED)
def test_table_pipelines_of_text_and_numbers_answer_alike_in_onnx(name: str) -> None:
    _round_trip(name, ON_MIXED[name]().fit(_some(_frame()), _employed()[:FITTED]), _frame())


@pytest.mark.parametrize("name", FITTED_ALREADY)
def test_table_what_is_fitted_already_answers_alike_in_onnx(name: str) -> None:
    rows, fitted = FITTED_ALREADY[name]
    _round_trip(name, fitted(), rows())


@pytest.mark.parametrize("missing", [False, True])
def test_table_polars_frames_are_converted_as_pandas_frames_are(missing: bool) -> None:
    X = pl.from_pandas(_frame(missing))
    pipeline = make_pipeline(_mixed(_one_hot()), RandomForestClassifier(**FORESTS))
    _round_trip(f"pipeline on polars, missing={missing}", pipeline.fit(_some(X), _employed()[:FITTED]), X)


def test_inputs_are_the_columns_that_the_model_reads_by_name() -> None:
    X = _frame().rename(columns={"SCHL": "label", "RELP": "a b", "DIS": "gather_7", "MIL": "answer"})
    pipeline = make_pipeline(
        make_column_transformer((_one_hot(), ["SEX"]), ("passthrough", ["label", "a b", "gather_7", "answer"])),
        DecisionTreeClassifier(max_depth=6),
    ).fit(_some(X), _employed()[:FITTED])
    data = convert(pipeline, X)
    inputs = {value.name: value.element for value in OnnxModel(data).inputs}
    assert inputs == {"SEX": "string", "label": "float", "a b": "float", "gather_7": "float", "answer": "float"}
    assert (OnnxModel(data)(X[X.columns[::-1]]) == pipeline.predict(X)).all()


def test_an_array_is_one_matrix_and_doubles_only_where_float32_rounds_them() -> None:
    for X, element in ((_matrix(), "float"), (_matrix() + 0.1, "double")):
        tree = DecisionTreeClassifier(max_depth=5).fit(_some(X), _employed()[:FITTED])
        (only,) = OnnxModel(convert(tree, X)).inputs
        assert (only.element, only.rank, only.width) == (element, 2, 16)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (lambda y: y, "i"),
        (lambda y: y.astype(np.bool_), "b"),
        (lambda y: y * 2.0, "f"),
        (lambda y: np.array(["no", "yes"])[y], "U"),
        (lambda y: np.array(["no", "yes"], object)[y], "U"),
    ],
)
@pytest.mark.parametrize(
    "model",
    [DecisionTreeClassifier(max_depth=4), GaussianNB(), lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1)],
)
def test_labels_keep_their_type(model: Any, labels: Any, kind: str) -> None:
    y = labels(_employed())
    fitted = model.fit(_some(_matrix()), y[:FITTED])
    answers = OnnxModel(convert(fitted, _matrix()))(_matrix())
    assert answers.dtype.kind == kind
    assert (answers == fitted.predict(_matrix())).all()


@pytest.mark.parametrize(
    "model",
    [
        ExtraTreesClassifier(**FORESTS),
        HistGradientBoostingClassifier(max_iter=25),
        GradientBoostingClassifier(),
        lightgbm.LGBMClassifier(n_estimators=25, n_jobs=1, verbose=-1),
        xgboost.XGBClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_thresholds_fall_alike_for_numbers_that_float32_does_not_hold(model: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(ROWS, 5)) * [1, 1e3, 1e-6, 1e9, 0.1]
    y = (X[:, 0] + X[:, 1] / 1e3 > X[:, 4]).astype(np.int64)
    fitted = model.fit(_some(X), y[:FITTED])
    assert compare(fitted, convert(fitted, X), X).count == 0


def test_a_value_that_the_encoder_has_not_seen_is_answered_as_it_does() -> None:
    pipeline = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3), ["MAR"]),
            (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["SEX", "SCHL"]),
        ),
        DecisionTreeClassifier(),
    ).fit(_some(_frame(missing=False)), _employed()[:FITTED])
    data = convert(pipeline, _frame(missing=False))
    strange = _frame(missing=False).assign(SEX="other", SCHL=99.5, MAR=["unheard of", "married"] * (ROWS // 2))
    assert (OnnxModel(data)(strange) == pipeline.predict(strange)).all()


def test_objects_in_an_array_are_columns_of_text_and_numbers() -> None:
    X = _frame(missing=False)[["SEX", "SCHL", "AGEP"]].to_numpy(object)
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(), [0]), (StandardScaler(), [1, 2])), LogisticRegression()
    ).fit(X[:FITTED], _employed()[:FITTED])
    _round_trip("pipeline on objects", pipeline, X)


def test_conversion_changes_neither_rows_nor_model() -> None:
    frame, X = _frame().copy(), _matrix().copy()
    fitted = make_pipeline(_mixed(_one_hot()), LogisticRegression()).fit(_some(_frame()), _employed()[:FITTED])
    before = fitted.predict(_frame())
    convert(fitted, _frame())
    pd.testing.assert_frame_equal(frame, _frame())
    assert (fitted.predict(_frame()) == before).all()
    module = _module(torch.nn.Linear(8, 1)).train()
    parts = list(module.children())
    parts[0].eval()
    convert(module, _matrix())
    assert [part.training for part in parts] == [False, True, True, True, True]
    assert (_matrix() == X).all()


def test_boosted_trees_that_were_fitted_on_a_frame_are_converted_without_a_warning() -> None:
    X = _frame(missing=False)[_numeric()]
    for model, y in ((GradientBoostingRegressor(), _amounts()), (GradientBoostingClassifier(), _schooling())):
        fitted = _fit(model.set_params(n_estimators=3), X, y)
        assert compare(fitted, convert(fitted, X), X).count == 0


def test_a_transformer_that_is_frozen_is_converted_as_it_is() -> None:
    X = _frame()[TEXT].fillna("none")
    frozen = FrozenEstimator(_one_hot().fit(_some(X)))
    fitted = _fit(make_pipeline(frozen, LogisticRegression()), X)
    assert compare(fitted, convert(fitted, X), X).count == 0


def test_nothing_is_printed_and_no_file_or_path_is_named(capfd: Any) -> None:
    data = convert(_module(torch.nn.Linear(8, 3)), _matrix())
    convert(_fit(GaussianNB()), _matrix()[:500])
    assert capfd.readouterr() == ("", "")
    assert not any(word in data for word in (b"site-packages", b".py", b"forward", b"namespace"))


class _Doubling(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any = None) -> "_Doubling":
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return X * 2


class _Branching(torch.nn.Module):
    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return rows[:, 0] if rows.sum() > 0 else rows[:, 1]


class _Mixing(torch.nn.Module):
    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return rows[:, 0] - rows[:, 0].mean()


class _Cubic(torch.nn.Module):
    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return rows.reshape(-1, 4, 4)


def _fit(model: Any, X: Any = None, y: Any = None) -> Any:
    X = _matrix() if X is None else X
    return model.fit(_some(X), _employed()[:FITTED] if y is None else y[:FITTED])


def _dated() -> pd.DataFrame:
    return _frame()[["SCHL"]].assign(when=pd.Timestamp("2020-01-01"))


REFUSED: dict[str, tuple[Callable[[], Any], Callable[[], Any], str]] = {
    "code": (lambda: lambda X: X, _matrix, "got function, which is code; write a group as predicate text"),
    "class": (lambda: LinearSVC, _matrix, "got the class LinearSVC; make one, fit it"),
    "unfitted": (LogisticRegression, _matrix, r"model is not fitted: .* got LogisticRegression\(\); call fit first"),
    "unfitted pipeline": (lambda: make_pipeline(StandardScaler(), LinearSVC()), _matrix, "model is not fitted"),
    "own step": (
        lambda: _fit(make_pipeline(_Doubling(), DecisionTreeClassifier(max_depth=2))),
        _matrix,
        r"step '_doubling' of model cannot be converted: expected one of pipelines .* got tests\._Doubling",
    ),
    "function step": (
        lambda: _fit(make_pipeline(FunctionTransformer(np.log1p), DecisionTreeClassifier(max_depth=2))),
        _matrix,
        r"step 'functiontransformer' of model cannot be converted: .*FunctionTransformer\(log1p\); compute",
    ),
    "no converter": (lambda: _fit(KNeighborsClassifier()), _matrix, "cannot be converted: .* graphs within graphs"),
    "wrong converter": (
        lambda: _fit(make_pipeline(PolynomialFeatures(2), BaggingClassifier(SGDClassifier(), n_estimators=2))),
        _matrix,
        "converted model does not run: .* take another model in its place",
    ),
    "imprecise": (
        lambda: _fit(make_pipeline(PowerTransformer(), LogisticRegression()), y=_schooling()),
        _matrix,
        r"answers otherwise: expected at most 1% of rows to differ, got \d+ of 20000 rows .*row \d+: fitted \d, conv",
    ),
    "fewer columns": (lambda: _fit(LinearRegression()), lambda: _matrix()[:, :3], "expected 16, got 3; hand in all"),
    "other columns": (
        lambda: _fit(DecisionTreeClassifier(), _frame()[["SCHL", "AGEP"]]),
        lambda: _frame()[["SCHL", "DIS"]],
        r"expected \['SCHL', 'AGEP'\], got \['SCHL', 'DIS'\]",
    ),
    "dates": (
        lambda: _fit(DecisionTreeClassifier(), _dated().assign(when=1.0)),
        _dated,
        "column 'when' cannot be converted: expected numbers or text, got moments; make it a number",
    ),
    "bare text": (
        lambda: _fit(DecisionTreeClassifier(), _frame()[["SEX"]].assign(SEX=1.0)),
        lambda: _frame()[["SEX"]],
        "expected numbers, got text in column 'SEX'; take text columns through an OneHotEncoder",
    ),
    "several answers": (
        lambda: _fit(RandomForestRegressor(2), y=_matrix()[:, :2]),
        _matrix,
        "expected one answer for each row, got 2; fit one model each",
    ),
    "encoded dates": (
        lambda: _fit(make_pipeline(_one_hot(), DecisionTreeClassifier()), _dated()[["when"]]),
        lambda: _dated()[["when"]],
        "step 'onehotencoder' of model, OneHotEncoder, cannot be converted: expected categories",
    ),
    "search without its best": (
        lambda: _fit(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=2, refit=False)),
        _matrix,
        "expected a GridSearchCV that was fitted with refit=True, got refit=False; fit the estimator that it chose",
    ),
    "threshold": (
        lambda: _fit(FixedThresholdClassifier(LogisticRegression(max_iter=2000), threshold=0.1)),
        _matrix,
        "the likeliest class, got FixedThresholdClassifier; fit its estimator with class_weight=",
    ),
    "transformer": (
        lambda: _fit(StandardScaler()),
        _matrix,
        "expected a model that has predict, got StandardScaler; make a pipeline",
    ),
    "rows not given": (lambda: _fit(LinearRegression()), lambda: None, "rows are not given: .* hand in public rows"),
    "no rows": (lambda: _fit(LinearRegression()), lambda: _matrix()[:0], "rows are none: expected at least one"),
    "linear booster": (
        lambda: _fit(xgboost.XGBRegressor(booster="gblinear", n_estimators=2)),
        _matrix,
        "expected trees, got booster='gblinear'",
    ),
    "other mark of missing": (
        lambda: _fit(xgboost.XGBRegressor(missing=1.0, n_estimators=2)),
        _matrix,
        "expected missing=NaN, got missing=1.0; put NaN in the rows",
    ),
    "linear trees": (
        lambda: _fit(lightgbm.LGBMRegressor(linear_tree=True, n_estimators=2, verbose=-1)),
        _matrix,
        "expected neither linear_tree nor zero_as_missing, got one of them",
    ),
    "branching module": (_Branching, _matrix, "expected a module that torch.onnx.export takes .* free of branches"),
    "mixing module": (_Mixing, _matrix, "answers otherwise: .* one row at a time"),
    "module of matrices": (_Cubic, _matrix, r"got \[20000, 4, 4\] for 20000 rows; return one of these"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_converted_says_why_and_what_to_do(name: str) -> None:
    make, rows, words = REFUSED[name]
    with pytest.raises(ConversionError, match=words):
        convert(make(), rows())


@pytest.mark.parametrize(
    ("package", "model", "words"),
    [
        ("onnx", LinearRegression(), r"conversion needs onnx: install biasbounty\[convert\]"),
        ("skl2onnx", GaussianNB(), r"model, GaussianNB, needs skl2onnx to be converted: install biasbounty\[convert\]"),
    ],
)
def test_a_package_that_is_absent_is_named(package: str, model: Any, words: str, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=words):
        convert(_fit(model), _matrix())


def test_a_few_mismatches_are_told_in_a_warning_with_their_places() -> None:
    """Two codes that float32 does not tell apart are two categories to scikit-learn, and one to a file."""
    codes, y = np.arange(1000) % 2, np.arange(1000) % 2
    codes[[1, 3, 5, 7]], y[[1, 3]] = [2**24, 2**24, 2**24 + 1, 2**24 + 1], 0
    X = pd.DataFrame({"code": codes})
    fitted = make_pipeline(OneHotEncoder(sparse_output=False), DecisionTreeClassifier()).fit(X, y)
    with pytest.warns(MismatchWarning, match=r"2 of 1000 rows are answered otherwise \(rows \d, \d; row \d: fitted"):
        assert isinstance(convert(fitted, X), bytes)


def test_trees_that_tie_answer_the_first_class() -> None:
    """scikit-learn's own answers differ there by the last bit of a sum; nowhere else may a forest's file differ."""
    forest = _fit(RandomForestClassifier(10, random_state=0))
    shares = forest.predict_proba(_matrix())
    tied = np.abs(shares[:, 0] - shares[:, 1]) < 1e-12
    answers = OnnxModel(convert(forest, _matrix()))(_matrix())
    assert tied.sum() > 5
    assert not answers[tied].any()
    assert (answers == forest.predict(_matrix()))[~tied].all()


def test_what_finders_find_answers_alike_in_onnx() -> None:
    assert ROUNDING == finders.interface.ROUNDING
    for X in (_matrix(), _frame()):
        for finder in (finders.TernaryFinder(), finders.AlternatingFinder(), finders.ResidualFinder()):
            some, y = _some(X), _employed()[:FITTED]
            found = finder.find(some, y, np.zeros(FITTED, np.int64), np.random.default_rng(0))
            assert found is not None
            for function in (found.group, found.model):
                data = convert(function, X)
                assert compare(function, data, X).count == 0
                assert OnnxModel(data).row_wise


def test_mismatches_read_well() -> None:
    assert str(Mismatches(7, 0)) == "all 7 rows are answered alike"
    words = "2 of 7 rows are answered otherwise, by at most 0.5 (rows 1, 3; row 1: fitted 1.0, converted 1.5)"
    assert str(Mismatches(7, 2, (1, 3), 0.5, (1.0, 1.5))) == words
    assert Mismatches(8, 2).share == 0.25


def test_comparison_counts_labels_exactly_and_numbers_within_the_tolerance() -> None:
    X = _matrix()[:100]
    data = convert(_fit(DecisionTreeRegressor(max_depth=3), y=_amounts()), X)

    class _Shifted:
        def __init__(self, by: Any) -> None:
            self.by = by

        def predict(self, rows: Any) -> Any:
            return OnnxModel(data)(rows) * (1 + self.by)

    assert compare(_Shifted(1e-6), data, X).count == 0
    found = compare(_Shifted(np.where(np.arange(100) % 50 == 7, 1e-4, 0.0)), data, X)
    assert (found.rows, found.count, found.places) == (100, 2, (7, 57))
