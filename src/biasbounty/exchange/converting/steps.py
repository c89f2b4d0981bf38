"""Steps: how pipelines, column transformers and the models in them are put into one graph.

Everything that has a writer of ours is written in double precision. The rest of scikit-learn goes through skl2onnx,
one step at a time. A step that has no form in ONNX is named.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from biasbounty.errors import ConversionError
from biasbounty.exchange.converting import forests, found, imputers, lightgbm, linear, xgboost
from biasbounty.exchange.converting.answers import Answer
from biasbounty.exchange.converting.columns import Blocks, matrix, numbers, select, width_of
from biasbounty.exchange.converting.encoders import encode
from biasbounty.exchange.converting.graph import Graph
from biasbounty.exchange.converting.rest import answer_by_skl2onnx, transform_by_skl2onnx

Model: TypeAlias = Callable[[Graph, Any, Blocks, str], Answer]
Transformer: TypeAlias = Callable[[Graph, Any, Blocks, str], Blocks]

_MODELS: Mapping[Model, str] = {
    forests.classify_by_tree: "DecisionTreeClassifier ExtraTreeClassifier",
    forests.regress_by_tree: "DecisionTreeRegressor ExtraTreeRegressor",
    forests.classify_by_forest: "RandomForestClassifier ExtraTreesClassifier",
    forests.regress_by_forest: "RandomForestRegressor ExtraTreesRegressor",
    forests.classify_by_boosting: "GradientBoostingClassifier",
    forests.regress_by_boosting: "GradientBoostingRegressor",
    forests.classify_by_histograms: "HistGradientBoostingClassifier",
    forests.regress_by_histograms: "HistGradientBoostingRegressor",
    linear.classify: "LogisticRegression LogisticRegressionCV RidgeClassifier RidgeClassifierCV SGDClassifier "
    "Perceptron PassiveAggressiveClassifier LinearSVC LinearDiscriminantAnalysis",
    linear.regress: "LinearRegression Ridge RidgeCV Lasso LassoCV ElasticNet ElasticNetCV BayesianRidge "
    "ARDRegression HuberRegressor SGDRegressor QuantileRegressor TheilSenRegressor LinearSVR Lars LassoLars "
    "OrthogonalMatchingPursuit",
    linear.regress_by_logarithm: "PoissonRegressor GammaRegressor",
    lightgbm.classify: "LGBMClassifier",
    lightgbm.regress: "LGBMRegressor LGBMRanker lightgbm.Booster",
    found.constant: "Constant",
    found.everyone: "Everyone",
    found.dummy: "DummyClassifier DummyRegressor",
    found.found_model: "FoundModel",
    found.found_group: "FoundGroup",
    found.worthwhile: "Worthwhile",
    found.cheapest: "Cheapest",
    found.clipped: "Clipped",
    xgboost.classify: "XGBClassifier XGBRFClassifier",
    xgboost.regress: "XGBRegressor XGBRFRegressor XGBRanker xgboost.Booster",
}
_TRANSFORMERS: Mapping[Transformer, str] = {
    encode: "OneHotEncoder OrdinalEncoder TargetEncoder",
    imputers.impute: "SimpleImputer",
    imputers.standardize: "StandardScaler RobustScaler MaxAbsScaler",
    imputers.stretch: "MinMaxScaler",
    imputers.choose: "SelectKBest SelectPercentile SelectFromModel SelectFpr SelectFdr SelectFwe "
    "GenericUnivariateSelect VarianceThreshold RFE RFECV SequentialFeatureSelector",
}
_LIBRARIES = ("sklearn", "lightgbm", "xgboost", "biasbounty")
_SEARCHES = {"GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"}
_THRESHOLDED = {"FixedThresholdClassifier", "TunedThresholdClassifierCV"}

WRITTEN = (
    "pipelines and column transformers of scikit-learn, its trees, forests, boosted trees and linear models, LightGBM, "
    "XGBoost, and torch modules"
)


def answer_of(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted model, whatever it is made of."""
    name = _name_of(model, who)
    if name == "Pipeline":
        for step, transformer in _steps_before_last(model):
            blocks = transformed(graph, transformer, blocks, f"step {step!r} of {who}")
        last, estimator = model.steps[-1]
        return answer_of(graph, estimator, blocks, f"step {last!r} of {who}")
    if name in _SEARCHES:
        _require_refitted(model, who)
        return answer_of(graph, model.best_estimator_, blocks, f"best estimator of {who}")
    if name == "FrozenEstimator":
        return answer_of(graph, model.estimator, blocks, who)
    write: Model | None = _writer(_MODELS, name)
    if write is not None:
        return write(graph, model, blocks, _with_type(who, model))
    _require_sklearn(model, who)
    _require_answers(model, who)
    return answer_by_skl2onnx(graph, model, blocks, _with_type(who, model))


def transformed(graph: Graph, step: Any, blocks: Blocks, who: str) -> Blocks:
    """Add a fitted transformer, whatever it is made of."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return blocks
    name = _name_of(step, who)
    if name == "Pipeline":
        for inner, transformer in step.steps:
            blocks = transformed(graph, transformer, blocks, f"step {inner!r} of {who}")
        return blocks
    if name == "ColumnTransformer":
        return _by_columns(graph, step, blocks, who)
    if name == "FrozenEstimator":
        return transformed(graph, step.estimator, blocks, who)
    if name == "FeatureUnion":
        return _union(graph, step, blocks, who)
    if name == "FunctionTransformer":
        return _by_function(step, blocks, who)
    write: Transformer | None = _writer(_TRANSFORMERS, name)
    if write is not None:
        return write(graph, step, blocks, _with_type(who, step))
    _require_sklearn(step, who)
    return transform_by_skl2onnx(graph, step, blocks, _with_type(who, step))


def is_known(fitted: Any) -> bool:
    """Say whether this is of a library whose models are converted."""
    return type(fitted).__module__.split(".")[0] in _LIBRARIES


def _writer(writers: Mapping[Any, str], name: str) -> Any:
    return next((write for write, names in writers.items() if name in names.split()), None)


def _name_of(fitted: Any, who: str) -> str:
    """Return the name of a type of a library that is known, with the library's where only that tells it apart."""
    library, name = type(fitted).__module__.split(".")[0], type(fitted).__name__
    if not is_known(fitted):
        raise _unknown(fitted, who)
    return f"{library}.{name}" if name == "Booster" else name


def _require_refitted(search: Any, who: str) -> None:
    if not hasattr(search, "best_estimator_"):
        raise ConversionError(
            f"{who} cannot be converted: expected a {type(search).__name__} that was fitted with refit=True, got "
            f"refit={search.refit!r}; fit the estimator that it chose"
        )


def _require_answers(fitted: Any, who: str) -> None:
    if not callable(getattr(fitted, "predict", None)):
        raise ConversionError(
            f"{who} cannot be converted: expected a model that has predict, got {type(fitted).__name__}; make a "
            "pipeline of it and a classifier or regressor"
        )


def _require_sklearn(fitted: Any, who: str) -> None:
    """Raise for what neither we nor skl2onnx have heard of, or what skl2onnx forgets the threshold of."""
    if type(fitted).__module__.split(".")[0] != "sklearn":
        raise _unknown(fitted, who)
    if type(fitted).__name__ in _THRESHOLDED:
        raise ConversionError(
            f"{who} cannot be converted: expected a classifier that answers the likeliest class, got "
            f"{type(fitted).__name__}; fit its estimator with class_weight= in place of a threshold"
        )


def _unknown(fitted: Any, who: str) -> ConversionError:
    library, name = type(fitted).__module__.split(".")[0], type(fitted).__name__
    return ConversionError(
        f"{who} cannot be converted: expected one of {WRITTEN}, got {library}.{name}; take an estimator of these "
        "libraries in its place, or export it to ONNX yourself"
    )


def _with_type(who: str, fitted: Any) -> str:
    return f"{who}, {type(fitted).__name__},"


def _steps_before_last(model: Any) -> Iterator[tuple[str, Any]]:
    yield from model.steps[:-1]


def _by_columns(graph: Graph, step: Any, blocks: Blocks, who: str) -> Blocks:
    made: Blocks = ()
    for name, transformer, _ in step.transformers_:
        places = list(step._transformer_to_input_indices.get(name, ()))
        if not places or (isinstance(transformer, str) and transformer == "drop"):
            continue
        own = transformed(graph, transformer, select(graph, blocks, places), f"step {name!r} of {who}")
        made += _weighed(graph, own, (step.transformer_weights or {}).get(name), who)
    return made


def _union(graph: Graph, step: Any, blocks: Blocks, who: str) -> Blocks:
    made: Blocks = ()
    for name, transformer in step.transformer_list:
        if not (isinstance(transformer, str) and transformer == "drop"):
            own = transformed(graph, transformer, blocks, f"step {name!r} of {who}")
            made += _weighed(graph, own, (step.transformer_weights or {}).get(name), who)
    return made


def _weighed(graph: Graph, blocks: Blocks, weight: float | None, who: str) -> Blocks:
    if weight is None:
        return blocks
    value = graph.add("Mul", matrix(graph, blocks, who), graph.constant(np.float64(weight)))
    return numbers(value, width_of(blocks))


def _by_function(step: Any, blocks: Blocks, who: str) -> Blocks:
    """Let only the function pass that changes nothing; any other is code."""
    if step.func is not None:
        name = getattr(step.func, "__name__", type(step.func).__name__)
        raise ConversionError(
            f"{who} cannot be converted: expected steps that hold no code, got FunctionTransformer({name}); compute "
            "that column beforehand, or take a scaler or encoder in its place"
        )
    return blocks
