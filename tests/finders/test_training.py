"""Training: functions of the rows and the seed alone; what the settings mean; any initial model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from biasbounty import losses
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.finders import AlternatingFinder, BountyClassifier, BountyRegressor, TernaryFinder
from biasbounty.finders.parts import Pieces, cut
from biasbounty.finders.rounds import HEAVY_ROWS

EITHER = pytest.mark.parametrize("estimator", [BountyClassifier, BountyRegressor])


def _world(seed: int = 0, size: int = 6_000) -> tuple[Any, Any]:
    """Draw rows whose rule differs where the third feature is large."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 3))
    return X, np.where(X[:, 2] > 0.5, X[:, 1] > 0, X[:, 0] > 0).astype(int)


@EITHER
def test_the_order_of_rows_does_not_matter(estimator: Any) -> None:
    X, y = _world()
    order = np.random.default_rng(1).permutation(len(y))
    one, other = estimator(random_state=0).fit(X, y), estimator(random_state=0).fit(X[order], y[order])
    fresh = _world(2)[0]
    assert (one.predict(fresh) == other.predict(fresh)).all()
    assert (one.history_, one.stop_reason_) == (other.history_, other.stop_reason_)
    assert one.n_rounds_ >= 1


@EITHER
def test_weights_are_as_good_as_duplicates(estimator: Any) -> None:
    X, y = _world()
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighed = estimator(random_state=0).fit(X, y, sample_weight=counts)
    repeated = estimator(random_state=0).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    fresh = _world(2)[0]
    assert (weighed.predict(fresh) == repeated.predict(fresh)).all()
    assert weighed.history_ == repeated.history_
    assert weighed.n_rounds_ >= 1


@EITHER
def test_the_same_seed_gives_the_same_model_and_another_another(estimator: Any) -> None:
    X, y = _world()
    fresh = _world(2)[0]
    first, again, other = (estimator(random_state=seed).fit(X, y).predict(fresh) for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_a_random_state_is_drawn_from() -> None:
    X, y = _world()
    state = np.random.RandomState(0)
    notes = [BountyClassifier(random_state=state).fit(X, y).history_ for _ in range(2)]
    assert notes[0] != notes[1]


def test_weights_below_one_are_not_cut_and_above_are_said() -> None:
    X, y = _world()
    light = BountyClassifier(random_state=0).fit(X, y, sample_weight=np.random.default_rng(0).random(len(y)))
    heavy = BountyClassifier(random_state=0).fit(X, y, sample_weight=np.full(len(y), 2))
    assert sum(light.decision_list_.heads) > 0
    assert HEAVY_ROWS not in light.guarantee_
    assert heavy.guarantee_.endswith(HEAVY_ROWS)
    pieces = {"light": 6_000, "heavy": 12_000}  # a row of weight 2 is two
    parts = {name: cut(Pieces(np.arange(size), np.ones(size)), light.epsilon) for name, size in pieces.items()}
    assert light.history_[0].searched == (len(parts["light"][0]) + 1) // 2
    assert heavy.history_[0].searched == (len(parts["heavy"][0]) + 1) // 2


def test_weights_move_the_answers() -> None:
    X = np.zeros((4_000, 1))
    y = np.tile([0, 0, 0, 1], 1_000)
    weights = np.where(y == 1, 1.0, 0.1)
    assert set(BountyClassifier(random_state=0).fit(X, y).predict(X)) == {0}
    assert set(BountyClassifier(random_state=0).fit(X, y, sample_weight=weights).predict(X)) == {1}


@pytest.mark.parametrize("weighted", [False, True])
def test_more_is_learned_than_the_best_constant_and_the_contribution_is_by_weight(weighted: bool) -> None:
    X, y = _world(0, 20_000)
    weights = np.where(X[:, 2] > 0.5, 1.0, 0.25) if weighted else None
    model = BountyClassifier(random_state=0).fit(X, y, sample_weight=weights)
    fresh, truth = _world(5, 50_000)
    shares = np.where(fresh[:, 2] > 0.5, 1.0, 0.25) if weighted else None
    risks = [
        np.average(model.decision_list_.predict(fresh, round=round) != truth, weights=shares)
        for round in range(model.n_rounds_ + 1)
    ]
    assert risks[-1] < 0.12
    accepted = [trial for trial in model.history_ if trial.accepted]
    for trial, fall in zip(accepted, -np.diff(risks), strict=True):
        assert trial.contribution == pytest.approx(fall, abs=0.05)
        assert trial.lower_bound is None or trial.lower_bound < fall


@pytest.mark.parametrize("loss", ["squared", "absolute", losses.squared(-10, 10), losses.absolute(-10, 10)], ids=str)
def test_a_regressor_comes_close_by_any_distance(loss: Any) -> None:
    X, y = _world(0, 8_000)
    target = y * 3 + X[:, 0] * 0.1
    model = BountyRegressor(loss=loss, random_state=0).fit(X, target)
    assert model.score(X, target) > 0.6
    assert model.n_rounds_ >= 1
    assert model.range_ == ((-10, 10) if not isinstance(loss, str) else (target.min(), target.max()))


def test_a_regressor_answers_within_the_range_of_its_labels() -> None:
    X, y = _world()
    far = FrozenEstimator(LinearRegression().fit(X, y * 100 - 50))
    model = BountyRegressor(initial=far, random_state=0).fit(X, y)
    answers = model.predict(X * 50)
    assert answers.min() >= 0
    assert answers.max() <= 1


def test_for_squared_loss_epsilon_counts_in_units_of_r_squared() -> None:
    X, y = _world(0, 20_000)
    model = BountyRegressor(epsilon=0.1, random_state=0).fit(X, y * 7.0)
    fresh, truth = _world(3, 50_000)
    scores = [
        1 - np.mean((model.decision_list_.predict(fresh, round=round) - truth * 7) ** 2) / np.var(truth * 7)
        for round in range(model.n_rounds_ + 1)
    ]
    assert model.n_rounds_ >= 1
    assert np.diff(scores).min() > 0.075 - 0.04
    least = float(model.stop_reason_.rsplit("less than the ", 1)[1].split()[0])
    assert least == pytest.approx(0.075 * 0.25, rel=0.05)  # labels of 0 and 7 err by a quarter of the range squared


def test_a_model_can_be_started_from_and_is_bettered_where_it_fails() -> None:
    X, y = _world()
    start = LogisticRegression().fit(X[:, :1], y)
    model = BountyClassifier(initial=lambda X: start.predict(X[:, :1]), random_state=0).fit(*_world(1))
    assert (model.decision_list_.predict(X, round=0) == start.predict(X[:, :1])).all()
    assert model.score(X, y) > start.score(X[:, :1], y) + 0.1
    large = X[:, 2] > 0.5
    assert model.score(X[large], y[large]) > start.score(X[large, :1], y[large]) + 0.3


@pytest.mark.parametrize(
    ("estimator", "start"),
    [
        (BountyClassifier, DecisionTreeClassifier(max_depth=8)),
        (BountyRegressor, DecisionTreeRegressor(max_depth=8)),
    ],
)
def test_a_good_model_is_left_as_it_is(estimator: Any, start: Any) -> None:
    start.fit(*_world(0))
    model = estimator(initial=FrozenEstimator(start), random_state=0).fit(*_world(1))
    fresh, truth = _world(2)
    assert model.score(fresh, truth) >= start.score(fresh, truth) - 0.01
    assert model.n_rounds_ == 0
    assert model.stop_reason_.startswith(("rejected", "nothing found"))


def test_a_base_chooses_the_finder_it_is_for() -> None:
    X, y = _world()
    assert "TernaryFinder" in BountyClassifier(random_state=0).fit(X, y).history_[0].note
    by_costs = BountyClassifier(base=DecisionTreeRegressor(max_depth=3), random_state=0).fit(X, y)
    by_class = BountyClassifier(base=DecisionTreeClassifier(max_depth=3), random_state=0).fit(X, y)
    by_number = BountyRegressor(base=DecisionTreeRegressor(max_depth=3), random_state=0).fit(X, y)
    notes = [model.history_[0].note for model in (by_costs, by_class, by_number)]
    assert ["TernaryFinder" in note for note in notes] == [True, False, False]
    assert ["AlternatingFinder" in note for note in notes] == [False, True, True]


def test_a_loss_with_costs_is_what_is_lowered() -> None:
    X, y = _world(0, 20_000)
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.3, 1 - y, y)
    costs = losses.cost_matrix([[0, 0.1], [1, 0]])
    model = BountyClassifier(loss=costs, epsilon=0.02, random_state=0).fit(X, noisy)
    assert (model.predict(X) == 1).mean() > 0.9  # to miss a 1 costs ten times as much, so that 1 is safer


@pytest.mark.parametrize("finder", [TernaryFinder(), AlternatingFinder()], ids=["ternary", "alternating"])
def test_any_number_of_classes_of_any_kind(finder: Any) -> None:
    X, y = _world(0, 10_000)
    names = np.array(["none", "some", "very many"])[y + (X[:, 0] > 1)]
    model = BountyClassifier(finder, epsilon=0.1, random_state=0).fit(X, names)
    assert model.score(X, names) > 0.75
    assert set(model.predict(X)) <= set(names) == set(model.classes_)


def test_what_is_fitted_is_a_pointer_decision_list_that_explains_itself() -> None:
    X, y = _world()
    model = BountyClassifier(AlternatingFinder(), random_state=0).fit(X, y)
    assert isinstance(model.decision_list_, PointerDecisionList)
    assert (model.decision_list_.predict(X) == model.predict(X)).all()
    assert any("AlternatingFinder" in explanation.note for explanation in model.decision_list_.explain(X[:50]))


@EITHER
def test_progress_is_told_and_ends_with_all(estimator: Any) -> None:
    X, y = _world()
    told: list[tuple[int, int]] = []
    estimator(random_state=0).fit(X, y, progress=lambda done, steps: told.append((done, steps)))
    fractions = [done / steps for done, steps in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert len(told) > 3


def test_the_example_of_the_docs_works_when_pasted(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    exec(compile(code, "docs/training.md", "exec"), {})  # noqa: S102, our own page
    printed = capsys.readouterr().out.splitlines()
    said = [line.rsplit("  # ", 1)[1] for line in code.splitlines() if line.startswith("print")]
    assert printed[:2] == said[:2]
    assert "x2 > 1.0" in printed[2]
    assert len(printed) == len(said)


def test_every_setting_and_every_fitted_attribute_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
    for estimator in (BountyClassifier(random_state=0), BountyRegressor(random_state=0)):
        fitted = [name for name in vars(estimator.fit(*_world())) if name.endswith("_") and not name.startswith("_")]
        for name in {*estimator.get_params(), *fitted} - {"n_features_in_"}:
            assert f"`{name}`" in page, name
