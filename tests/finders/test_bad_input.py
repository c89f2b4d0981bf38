"""Bad input: clear words or right answers, never silence."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from biasbounty import losses
from biasbounty.errors import HoldoutError, LossError, SettingsError
from biasbounty.finders import AlternatingFinder, BountyClassifier, BountyRegressor, Finder, TernaryFinder

SIZE = 400
X = np.random.default_rng(0).normal(size=(SIZE, 3))
Y = (X[:, 0] > 0).astype(int)
ZEROS = np.zeros(SIZE, int)
FRAME = pd.DataFrame({"a": X[:, 0], "t": np.where(X[:, 1] > 0, "p", "q")})
BOTH = pytest.mark.parametrize("finder", [TernaryFinder(), AlternatingFinder()], ids=["ternary", "alternating"])
EITHER = pytest.mark.parametrize("estimator", [BountyClassifier, BountyRegressor])


def _find(finder: Finder, **given: Any) -> Any:
    arguments: dict[str, Any] = {"X": X, "y": Y, "predictions": ZEROS, "rng": np.random.default_rng(0)} | given
    return finder.find(**arguments)


LABELS: list[Any] = [
    (X[:, 0], SettingsError, "labels are no classes: expected whole numbers, booleans or text for zero_one"),
    (np.where(Y, np.inf, 0), SettingsError, "labels are no classes: .* got inf"),
    (np.where(Y, np.nan, 0), HoldoutError, r"labels are missing: expected a value, got nan at row 0 \(and \d+ more\)"),
    ([None] * SIZE, HoldoutError, "labels are missing"),
    (np.full(SIZE, "a"), SettingsError, "predictions are of another type than the labels: expected text, got numbers"),
    (["a", 1] * (SIZE // 2), SettingsError, r"labels have mixed types: .* got \['int', 'str'\]"),
    (np.full(SIZE, "2020-01-01", "datetime64[D]"), SettingsError, "labels have an unknown type"),
    (np.column_stack([Y, Y]), SettingsError, r"labels have the wrong length: expected 400, .* got shape \(400, 2\)"),
    (Y[1:], SettingsError, r"labels have the wrong length: expected 400, one for each row, got shape \(399,\)"),
]


@BOTH
@pytest.mark.parametrize(("y", "error", "words"), LABELS, ids=[words[:40] for _, _, words in LABELS])
def test_labels_that_cannot_be_taken_are_refused_in_words(finder: Finder, y: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        _find(finder, y=y)


GIVEN: list[Any] = [
    ({"predictions": ZEROS[1:]}, SettingsError, "predictions have the wrong length: expected 400"),
    ({"predictions": np.full(SIZE, np.nan)}, HoldoutError, "predictions are missing"),
    ({"X": X[:0], "y": Y[:0], "predictions": ZEROS[:0]}, SettingsError, "rows are empty: expected at least one row"),
    ({"X": X[:, :0]}, SettingsError, "rows have no columns: expected at least one feature"),
    ({"X": X.tolist()}, SettingsError, "rows have the wrong type: .* got list"),
    ({"rng": 0}, SettingsError, "rng is no generator: .* got int; make one by numpy.random.default_rng"),
    ({"loss": "nope"}, SettingsError, "loss cannot be used"),
    (
        {"weights": np.full(SIZE, np.nan)},
        SettingsError,
        "weights are no weights: expected finite numbers from 0, got nan",
    ),
    ({"weights": np.where(Y, np.inf, 1)}, SettingsError, "weights are no weights: .* got inf at row 0"),
    ({"weights": -np.ones(SIZE)}, SettingsError, "weights are no weights: .* got -1.0 at row 0"),
    ({"weights": np.zeros(SIZE)}, SettingsError, "weights are all 0"),
    ({"weights": np.ones(3)}, SettingsError, "weights have the wrong shape or type: expected 400 numbers"),
    ({"weights": ["a"] * SIZE}, SettingsError, "weights have the wrong shape or type: .* got object"),
    (
        {"y": Y + 5, "loss": losses.cost_matrix([[0, 1], [1, 0]])},
        HoldoutError,
        "labels for cost_matrix are of no class",
    ),
    ({"y": Y * 9, "loss": losses.absolute(0, 5)}, HoldoutError, "labels for absolute are outside its range"),
    ({"predictions": ZEROS + 7, "loss": losses.absolute(0, 1)}, LossError, "absolute is outside its range at row 0"),
]


@BOTH
@pytest.mark.parametrize(("given", "error", "words"), GIVEN, ids=[words[:40] for _, _, words in GIVEN])
def test_what_is_malformed_is_refused_in_words(finder: Finder, given: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        _find(finder, **given)


SETTINGS: list[Any] = [
    (TernaryFinder(LogisticRegression()), "base is of the wrong kind: expected a scikit-learn regressor"),
    (TernaryFinder(Ridge), "base is no estimator: expected a scikit-learn regressor, got <class"),
    (TernaryFinder(3), "base is no estimator: expected a scikit-learn regressor, got 3"),
    (AlternatingFinder(Ridge()), "base is of the wrong kind: expected a scikit-learn classifier"),
    (AlternatingFinder(group_base=Ridge()), "group_base is of the wrong kind: expected a scikit-learn classifier"),
    (AlternatingFinder(epsilon=0), "epsilon is outside its range: expected above 0 and up to 1, got 0"),
    (AlternatingFinder(epsilon=np.nan), "epsilon is outside its range"),
    (AlternatingFinder(restarts=0), "restarts cannot be used: expected a whole number from 1, got 0"),
    (clone(AlternatingFinder()).set_params(restarts=1.5), "restarts cannot be used"),
]


@pytest.mark.parametrize(("finder", "words"), SETTINGS, ids=[words for _, words in SETTINGS])
def test_settings_that_cannot_be_used_are_refused_in_words(finder: Finder, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        _find(finder)


def test_numbers_to_come_close_to_are_not_for_the_ternary_finder() -> None:
    with pytest.raises(SettingsError, match="labels are numbers to come close to: .* search with AlternatingFinder"):
        _find(TernaryFinder(), y=X[:, 0], loss=losses.absolute(-9, 9))


def test_more_classes_than_can_be_searched_are_refused() -> None:
    with pytest.raises(SettingsError, match="labels are of too many classes: expected at most 100, got 400"):
        _find(TernaryFinder(), y=np.arange(SIZE))


def test_a_base_that_cannot_count_by_weight_is_refused_where_weights_are_needed() -> None:
    with pytest.raises(SettingsError, match=r"base KNeighborsClassifier\(\) cannot count rows by weight"):
        _find(AlternatingFinder(KNeighborsClassifier()), weights=np.arange(SIZE) + 1.0)


@BOTH
def test_constant_labels_are_found_where_they_are_missed(finder: Finder) -> None:
    found = _find(finder, y=ZEROS + 1)
    assert found.group(X).all()
    assert (found.model(X) == 1).all()
    assert _find(finder, y=ZEROS) is None


@BOTH
@pytest.mark.parametrize("size", [1, 2])
def test_one_row_or_two_are_enough_to_be_right(finder: Finder, size: int) -> None:
    y = np.arange(size)
    found = _find(finder, X=X[:size], y=np.ones_like(y), predictions=np.zeros_like(y))
    assert found.group(X[:size]).all()
    assert (found.model(X[:size]) == 1).all()


@BOTH
def test_a_group_of_one_row_is_no_obstacle(finder: Finder) -> None:
    """No tree of the default size can set one row apart: nothing is found, or something right; a finer one can."""
    y = ZEROS.copy()
    y[7] = 1
    found = _find(finder, y=y)
    assert found is None or (found.model(X[found.group(X)]) == y[found.group(X)]).mean() > 0.5
    fine = AlternatingFinder(DecisionTreeClassifier(), DecisionTreeClassifier())
    assert np.flatnonzero(_find(fine, y=y).model(X)).tolist() == [7]


@BOTH
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_column_without_values_changes_nothing(finder: Finder, frame: Any) -> None:
    with_it = frame({"a": X[:, 0], "b": X[:, 1], "gone": [None] * SIZE})
    without = frame({"a": X[:, 0], "b": X[:, 1]})
    one, other = _find(finder, X=with_it), _find(finder, X=without)
    assert (one.group(with_it) == other.group(without)).all()
    assert (one.model(with_it) == other.model(without)).all()


@BOTH
def test_where_all_is_missing_nothing_is_found(finder: Finder) -> None:
    assert _find(finder, X=np.full((SIZE, 2), np.nan), y=np.tile([0, 1], SIZE // 2)) is None


FITS: list[Any] = [
    ({"X": FRAME[:0], "y": Y[:0]}, SettingsError, "rows are empty: expected at least one row"),
    ({"X": FRAME[[]]}, SettingsError, "rows have no columns"),
    ({"y": Y[1:]}, SettingsError, r"labels have the wrong length: expected 400, one for each row, got shape \(399,\)"),
    ({"y": np.where(Y, np.nan, 0)}, HoldoutError, "labels are missing: expected a value, got nan"),
    (
        {"X": X, "y": np.array(["a", None] * (SIZE // 2), object)},
        HoldoutError,
        "labels are missing: .* got None at row 1",
    ),
    ({"y": np.where(Y, np.inf, 0)}, SettingsError, "labels are no (classes|numbers)"),
    ({"X": pl.DataFrame(FRAME.to_dict("list")).lazy()}, SettingsError, "rows are not in memory: .* got LazyFrame"),
    ({"sample_weight": np.full(SIZE, np.nan)}, SettingsError, "sample_weight is no weight: .* got nan at row 0"),
    ({"sample_weight": np.where(Y, np.inf, 1)}, SettingsError, "sample_weight is no weight: .* got inf"),
    ({"sample_weight": -np.ones(SIZE)}, SettingsError, "sample_weight is no weight: .* got -1.0"),
    ({"sample_weight": np.zeros(SIZE)}, SettingsError, "sample_weight is zero for all rows"),
    ({"sample_weight": np.ones(3)}, SettingsError, "sample_weight has the wrong shape or type: expected 400 numbers"),
    (
        {"sample_weight": np.full(SIZE, 1e308)},
        SettingsError,
        r"sample_weight is too large: expected none above 1e\+100",
    ),
    ({"progress": True}, SettingsError, "progress cannot be called: .* got True"),
    ({"X": FRAME.assign(t=["x", 1] * (SIZE // 2))}, SettingsError, "column t mixes text and numbers"),
]


@EITHER
@pytest.mark.parametrize(("given", "error", "words"), FITS, ids=[words[:40] for _, _, words in FITS])
def test_estimators_refuse_in_words_what_they_cannot_learn_from(
    estimator: Any, given: Any, error: Any, words: str
) -> None:
    with pytest.raises(error, match=words):
        estimator().fit(**({"X": FRAME, "y": Y} | given))


ESTIMATORS: list[Any] = [
    ({"epsilon": 0}, "epsilon is out of range: expected 0 < epsilon <= 1, got 0"),
    ({"epsilon": np.nan}, "epsilon is out of range"),
    ({"epsilon": "small"}, "epsilon is out of range"),
    ({"finder": AlternatingFinder}, "finder is none: expected a finder such as AlternatingFinder"),
    ({"finder": AlternatingFinder(), "base": Ridge()}, "base is given beside a finder: expected one of them, got both"),
    ({"base": 3}, "base is no estimator: expected a scikit-learn regressor, got 3"),
    ({"base": Ridge}, "base is no estimator"),
    ({"checker": "Anytime"}, r"checker is none: expected a checker such as Anytime\(\), got 'Anytime'"),
    ({"initial": LogisticRegression()}, r"initial model is not fitted: .*FrozenEstimator\(model\)"),
    ({"initial": 3}, "initial model cannot be called"),
    ({"loss": "nope"}, "loss cannot be used"),
]


@EITHER
@pytest.mark.parametrize(("settings", "words"), ESTIMATORS, ids=[words[:40] for _, words in ESTIMATORS])
def test_estimators_refuse_settings_in_words(estimator: Any, settings: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        estimator(**settings).fit(X, Y)


def test_a_loss_of_the_other_kind_is_refused_in_words() -> None:
    with pytest.raises(SettingsError, match="loss is one of classes: .* for classes there is BountyClassifier"):
        BountyRegressor(loss="zero_one").fit(X, Y)
    with pytest.raises(SettingsError, match="labels are numbers to come close to"):
        BountyClassifier(loss="squared").fit(X, Y)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        BountyClassifier().fit(X, X[:, 0])


@EITHER
def test_constant_labels_are_answered_and_said(estimator: Any) -> None:
    model = estimator().fit(FRAME, ZEROS + 3)
    assert model.predict(FRAME).tolist() == [3] * SIZE
    assert model.stop_reason_.startswith("constant labels: each is 3")
    assert (model.history_, model.n_parts_, model.n_rounds_) == ((), 0, 0)
    assert model.guarantee_ == "Nothing was tested."


def test_constant_labels_are_trained_towards_where_there_is_a_model_to_start_from() -> None:
    wrong = FrozenEstimator(DecisionTreeClassifier().fit(X, Y))
    model = BountyClassifier(initial=wrong, epsilon=0.5, random_state=0).fit(X, ZEROS)
    assert model.n_rounds_ == 1
    assert model.score(X, ZEROS) > 0.95


def test_constant_labels_span_no_range_to_train_in() -> None:
    start = FrozenEstimator(Ridge().fit(X, Y))
    with pytest.raises(SettingsError, match="labels span no range: .* declare the range: loss=losses.squared"):
        BountyRegressor(initial=start).fit(X, ZEROS)
    declared = BountyRegressor(initial=start, loss=losses.squared(0, 1), epsilon=0.5, random_state=0).fit(X, ZEROS)
    assert np.abs(declared.predict(X)).mean() < np.clip(start.predict(X), 0, 1).mean()


@EITHER
def test_categories_not_seen_before_are_answered_as_missing_ones(estimator: Any) -> None:
    y = (FRAME["t"] == "p").astype(int)
    model = estimator(epsilon=0.5, random_state=0).fit(FRAME, y)
    strange = pd.DataFrame({"a": [0.5, 0.5], "t": ["never seen", None]})
    answers = model.predict(strange)
    assert answers[0] == answers[1]
    assert set(answers) <= {0, 1}


@EITHER
def test_rows_of_another_make_are_refused_when_asked(estimator: Any) -> None:
    model = estimator(epsilon=0.5, random_state=0).fit(FRAME, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAME[["a"]])
    with pytest.raises(Exception, match="column a is of another kind .*: expected numbers, got text"):
        model.predict(FRAME.assign(a="much"))
    with pytest.raises(Exception, match="not fitted"):
        estimator().predict(FRAME)


@EITHER
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_handful_of_rows_is_answered(estimator: Any, size: int) -> None:
    model = estimator(random_state=0).fit(X[:size], Y[:size])
    assert model.predict(X).shape == (SIZE,)
    assert model.stop_reason_
