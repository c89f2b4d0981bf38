"""What is found: learned by any base estimator, within the labels; rules in words are true of the rows."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from biasbounty import losses
from biasbounty.errors import SettingsError
from biasbounty.finders import AlternatingFinder, TernaryFinder
from biasbounty.finders.features import Features
from biasbounty.finders.found import Everyone, FoundModel, learn

RNG = np.random.default_rng


def _gaps(seed: int = 0, size: int = 600) -> tuple[Any, Any]:
    """Draw rows with values missing here and there, and one column without any."""
    rng = RNG(seed)
    X = rng.normal(size=(size, 4))
    y = (X[:, 0] > 0).astype(int)
    X[rng.random(size) < 0.1, 1] = np.nan
    X[:, 3] = np.nan
    return X, y


@pytest.mark.parametrize(
    "base",
    [
        None,
        LinearRegression(),
        make_pipeline(StandardScaler(), Ridge()),
        HistGradientBoostingRegressor(max_iter=1),
        ExtraTreesRegressor(5),
        GridSearchCV(DecisionTreeRegressor(), {"max_depth": [1, 2]}, cv=2),
    ],
    ids=str,
)
def test_any_regressor_will_do_though_values_are_missing(base: Any) -> None:
    X, y = _gaps()
    found: Any = TernaryFinder(base).find(X, y, 1 - y, RNG(0))
    mask = found.group(X)
    assert mask.mean() > 0.9
    assert (found.model(X[mask]) == y[mask]).mean() > 0.9


@pytest.mark.parametrize(
    "base",
    [
        None,
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        HistGradientBoostingClassifier(max_iter=1),
        RandomForestClassifier(5),
        KNeighborsClassifier(),
    ],
    ids=str,
)
def test_any_classifier_will_do_though_values_are_missing(base: Any) -> None:
    X, y = _gaps()
    found: Any = AlternatingFinder(base).find(X, y, 1 - y, RNG(0))
    mask = found.group(X)
    assert mask.mean() > 0.4
    assert (found.model(X[mask]) == y[mask]).mean() > 0.9


def test_a_base_is_never_fitted_itself_and_gets_a_seed_where_it_has_none() -> None:
    base = DecisionTreeRegressor()
    X, y = _gaps()
    fitted = learn(base, X, y.astype(float), None, 7)
    assert fitted.random_state == 7
    assert base.random_state is None
    assert not hasattr(base, "tree_")
    assert learn(DecisionTreeRegressor(random_state=3), X, y.astype(float), None, 7).random_state == 3


def test_a_base_within_a_pipeline_is_told_the_weights_and_the_seed() -> None:
    X, y = _gaps()
    base = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=1))
    weights = np.where(y == 1, 9.0, 1.0)
    fitted = learn(base, X, y, weights, 7)
    tree = fitted[-1][-1]
    assert tree.random_state == 7
    assert tree.tree_.weighted_n_node_samples[0] == weights.sum()


def test_a_classifier_that_refuses_a_single_label_gives_way_to_it() -> None:
    X, y = _gaps()
    assert set(learn(LogisticRegression(), X, np.ones(len(y), int), None, 0).predict(X)) == {1}


def test_a_wrong_setting_is_told_though_there_is_a_single_label() -> None:
    X, y = _gaps()
    with pytest.raises(SettingsError, match="failed on 600 rows: expected it to fit, got InvalidParameterError"):
        learn(LogisticRegression(C=-1), X, np.ones(len(y), int), None, 0)


class Broken(DecisionTreeRegressor):  # type: ignore[misc]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        raise RuntimeError("out of order")


def test_a_base_that_fails_for_another_reason_is_told_though_there_is_a_single_label() -> None:
    X, y = _gaps()
    with pytest.raises(SettingsError, match=r"base Broken\(.*failed on 600 rows: .* got RuntimeError: out of order"):
        learn(Broken(), X, np.ones(len(y)), None, 0)


def test_a_base_that_cannot_answer_is_told() -> None:
    X, y = _gaps()
    with pytest.raises(SettingsError, match="failed when asked about 3 rows: expected answers, got ValueError"):
        AlternatingFinder(KNeighborsClassifier(7)).find(X[:3], y[:3], 1 - y[:3], RNG(0))


class Halved(BaseEstimator):  # type: ignore[misc]
    def predict(self, X: Any) -> Any:
        return X[:, 0] / 2


def test_an_estimator_is_asked_about_no_rows_without_being_asked() -> None:
    model = FoundModel(Features(np.zeros((1, 2))), Halved())
    assert model(np.zeros((0, 2))).shape == (0,)
    assert model(np.ones((2, 2))).tolist() == [0.5, 0.5]


def test_everyone_is_everyone() -> None:
    assert Everyone()(np.zeros((3, 1))).tolist() == [True] * 3


RULES: list[Any] = [
    (lambda X: X["age"] <= 30, r"age <= 30(\.\d+)? \("),
    (lambda X: X["age"] > 60, r"age > (59|60)(\.\d+)? \("),
    (lambda X: (X["age"] > 30) & (X["age"] <= 60), r"(29|30)(\.\d+)? < age <= (59|60)(\.\d+)? \("),
    (lambda X: X["city"] == "Ulm", r"city is 'Ulm' \("),
    (lambda X: X["pay"].isna(), r"pay is missing \("),
    (lambda X: X["pay"].notna(), r"pay is known \("),
    (lambda X: (X["age"] > 60) & X["pay"].isna(), r"(?=.*age > )(?=.*pay is missing)(?=.* and )"),
    (lambda X: X["since"] < pd.Timestamp("2010-01-01"), r"since <= (2009|2010)-\d\d-\d\dT"),
]


@pytest.mark.parametrize(("rule", "words"), RULES, ids=[words for _, words in RULES])
@pytest.mark.parametrize(
    "finder", [TernaryFinder(), AlternatingFinder(DummyClassifier())], ids=["ternary", "alternating"]
)
def test_a_group_found_says_its_rule(rule: Any, words: str, finder: Any) -> None:
    rng = RNG(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 4_000),
            "city": rng.choice(["Bonn", "Trier", "Ulm"], 4_000),
            "pay": np.where(rng.random(4_000) < 0.3, np.nan, rng.normal(size=4_000)),
            "since": pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 20 * 365, 4_000), "D"),
        }
    )
    y = np.asarray(rule(X)).astype(int)
    found: Any = finder.find(X, y, np.zeros(4_000, int), RNG(0))
    assert (found.group(X) == rule(X)).all()
    assert re.match(words, found.note), found.note


def test_a_group_that_takes_too_many_words_is_not_spelled_out() -> None:
    rng = RNG(0)
    X = rng.normal(size=(4_000, 2))
    y = (np.sin(X[:, 0] * 9) > 0).astype(int)
    found: Any = TernaryFinder().find(X, y, np.zeros(4_000, int), RNG(0))
    assert found.note.startswith("a group (TernaryFinder: ")


def test_what_is_said_of_the_rows_searched_is_so() -> None:
    X, y = _gaps()
    found: Any = AlternatingFinder().find(X, y, np.zeros(600, int), RNG(0), loss=losses.cost_matrix([[0, 0.5], [1, 0]]))
    mask = found.group(X)
    share, was, will = re.findall(r"([\d.]+)% .* from ([\d.]+) to ([\d.]+)\)", found.note)[0]
    assert float(share) == pytest.approx(100 * mask.mean(), abs=0.1)
    assert float(was) == pytest.approx(y[mask].mean(), abs=0.01)
    wrong = np.where(y == 1, 1.0, 0.5) * (found.model(X) != y)
    assert float(will) == pytest.approx(wrong[mask].mean(), abs=0.01)
