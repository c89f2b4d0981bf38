"""The estimators among others: scikit-learn's own checks, frames, pipelines, searches, fairlearn."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn.metrics import MetricFrame, selection_rate
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from biasbounty.finders import AlternatingFinder, BountyClassifier, BountyRegressor

EITHER = pytest.mark.parametrize("estimator", [BountyClassifier, BountyRegressor])
EXPECTED_FAILURES: dict[str, str] = {}
"""Checks of scikit-learn that may fail, each with its reason: there is none."""
NOT_RUN = {"check_array_api_input"}
"""Run only where SCIPY_ARRAY_API is set before scipy is imported, and then only about numpy's own arrays."""


@EITHER
@pytest.mark.parametrize("settings", [{}, {"epsilon": 0.1}], ids=["default epsilon", "epsilon 0.1"])
def test_the_checks_of_scikit_learn_pass(estimator: Any, settings: Any) -> None:
    results = check_estimator(
        estimator(**settings), expected_failed_checks=EXPECTED_FAILURES, on_skip=None, on_fail="raise"
    )
    statuses = {result["check_name"]: result["status"] for result in results}
    assert len(results) > 50
    assert "check_sample_weight_equivalence_on_dense_data" in statuses
    assert {name for name, status in statuses.items() if status != "passed"} <= NOT_RUN


def _frame(seed: int = 0, size: int = 6_000) -> tuple[pd.DataFrame, Any]:
    """Draw rows where the rule for people from Ulm is another."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, size),
            "pay": np.where(rng.random(size) < 0.1, np.nan, rng.normal(size=size)),
            "city": rng.choice(["Bonn", "Trier", "Ulm"], size),
            "fit": rng.random(size) < 0.5,
        }
    )
    return X, np.where(X["city"] == "Ulm", X["age"] > 50, X["fit"]).astype(int)


FRAMES = pytest.mark.parametrize(
    "made", [lambda X: X, pl.from_pandas, lambda X: pl.from_pandas(X).to_arrow()], ids=["pandas", "polars", "arrow"]
)


@EITHER
@FRAMES
def test_frames_of_any_kind_are_learned_from_alike(estimator: Any, made: Any) -> None:
    X, y = _frame()
    fresh, truth = _frame(1)
    model = estimator(random_state=0).fit(made(X), y)
    assert model.score(made(fresh), truth) > 0.9
    assert (model.predict(made(fresh)) == estimator(random_state=0).fit(X, y).predict(fresh)).all()


@FRAMES
def test_names_of_features_are_kept_and_asked_for(made: Any) -> None:
    X, y = _frame()
    model = BountyClassifier(random_state=0).fit(made(X), y)
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(made(X[["pay", "age", "city", "fit"]]))


@pytest.mark.parametrize("series", [pd.Series, pl.Series, list], ids=["pandas", "polars", "list"])
def test_labels_come_as_series_or_list(series: Any) -> None:
    X, y = _frame()
    words = np.array(["no", "yes"])[y]
    model = BountyClassifier(random_state=0).fit(X, series(words.tolist()))
    assert (model.predict(X) == words).mean() > 0.9
    assert model.classes_.tolist() == ["no", "yes"]


@EITHER
def test_a_clone_is_like_new_and_a_pickle_answers_alike(estimator: Any) -> None:
    X, y = _frame()
    model = estimator(finder=AlternatingFinder(restarts=1), random_state=0).fit(X, y)
    copied = clone(model)
    assert not hasattr(copied, "decision_list_")
    assert copied.get_params()["finder__restarts"] == 1
    assert (copied.fit(X, y).predict(X) == model.predict(X)).all()
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()  # noqa: S301, made here


@EITHER
def test_it_works_at_the_end_of_a_pipeline(estimator: Any) -> None:
    X, y = _frame()
    numbers = X[["age", "pay", "fit"]].to_numpy(float)
    told: list[int] = []
    name = estimator.__name__.lower()
    steps = make_pipeline(StandardScaler(), estimator(random_state=0))
    steps.fit(numbers, y, **{f"{name}__progress": lambda done, of: told.append(done)})
    assert steps.score(numbers, y) > 0.2
    assert told


@EITHER
def test_a_grid_is_searched_over_its_settings_and_those_of_its_finder(estimator: Any) -> None:
    X, y = _frame(0, 3_000)
    grid = {"epsilon": [0.05, 1.0], "finder__restarts": [1, 2]}
    search = GridSearchCV(estimator(AlternatingFinder(), random_state=0), grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_["epsilon"] == 0.05
    assert search.best_score_ > 0.5


def test_an_initial_model_survives_cross_validation_when_frozen() -> None:
    X, y = _frame(0, 3_000)
    start = DecisionTreeClassifier(max_depth=1).fit(X[["fit"]], y)
    frozen = FrozenEstimator(make_pipeline(_Column("fit"), start).fit(X, y))
    scores = cross_val_score(BountyClassifier(initial=frozen, random_state=0), X, y, cv=2, error_score="raise")
    assert scores.min() > start.score(X[["fit"]], y)


class _Column(StandardScaler):  # type: ignore[misc]
    """Passes one column on."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, X: Any, y: Any = None) -> "_Column":
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return X[[self.name]]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X).transform(X)


def test_fairlearn_reads_its_answers_by_group() -> None:
    X, y = _frame(0, 20_000)
    numbers = X[["age", "fit"]].to_numpy(float)
    start = LogisticRegression().fit(numbers, y)
    model = BountyClassifier(random_state=0).fit(X, y)
    fresh, truth = _frame(1, 20_000)
    metrics = {"accuracy": accuracy_score, "selection": selection_rate}
    before, after = (
        MetricFrame(metrics=metrics, y_true=truth, y_pred=answers, sensitive_features=fresh["city"])
        for answers in (start.predict(fresh[["age", "fit"]].to_numpy(float)), model.predict(fresh))
    )
    assert after.group_min()["accuracy"] > before.group_min()["accuracy"] + 0.1
    assert after.difference()["accuracy"] < before.difference()["accuracy"]
    assert after.by_group.loc["Ulm", "accuracy"] == pytest.approx(
        (model.predict(fresh) == truth)[(fresh["city"] == "Ulm").to_numpy()].mean()
    )
