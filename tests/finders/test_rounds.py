"""Rounds in a world where the best model is known: training ends (epsilon, C)-optimal, by enumeration."""

from itertools import product

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import biasbounty as bb
from biasbounty.finders import AlternatingFinder, BountyClassifier, TernaryFinder
from biasbounty.finders.parts import Pieces, cut
from biasbounty.finders.rounds import DELTA
from tests.finders.worlds import Array, Enumerating, Pairs, World, cells, tables

ROWS = 300_000
KINDS = [0.3, 0.25, 0.2, 0.15, 0.1]


def _true_contributions(world: World, model: BountyClassifier, pairs: Pairs) -> list[float]:
    """Return what each pair would truly lower the risk of a trained model by."""
    X = world.every.astype(float)
    before, after = world.errors(model.predict(X)), [world.errors(other(X)) for other in pairs.models]
    masks = [group(X) for group in pairs.groups]
    return [float((before - own)[mask].sum()) for mask, own in product(masks, after)]


@pytest.mark.parametrize("seed", range(5))
def test_training_by_an_exact_finder_ends_epsilon_c_optimal_in_at_most_two_over_epsilon_rounds(seed: int) -> None:
    rng, epsilon, pairs = np.random.default_rng(seed), 0.1, Pairs.of_bits(3)
    world = World.drawn(rng, 3)
    X, y = world.rows(rng, ROWS)
    model = BountyClassifier(Enumerating(pairs), epsilon=epsilon, random_state=seed).fit(X, y)
    assert model.n_rounds_ <= 2 / epsilon
    assert model.stop_reason_.startswith(("rejected", "nothing found"))
    assert max(_true_contributions(world, model, pairs)) < epsilon


@pytest.mark.parametrize(
    "finder",
    [TernaryFinder(DecisionTreeRegressor()), TernaryFinder()],
    ids=["exact regressors", "the default tree, exact on three bits"],
)
@pytest.mark.parametrize("seed", range(3))
def test_training_by_the_ternary_finder_ends_optimal_among_all_groups_and_models(
    finder: TernaryFinder, seed: int
) -> None:
    rng, epsilon = np.random.default_rng(seed), 0.05
    world = World.drawn(rng, 3)
    X, y = world.rows(rng, ROWS)
    model = BountyClassifier(finder, epsilon=epsilon, random_state=seed).fit(X, y)
    before = world.errors(model.predict(world.every.astype(float)))
    falls = [before - world.errors(table) for table in tables(8, (0, 1))]
    best = max(float(fall[mask].sum()) for fall, mask in product(falls, tables(8, (False, True))))
    assert best < epsilon
    assert before.sum() - world.bayes_risk < epsilon
    assert model.n_rounds_ <= 2 / epsilon


def _stepwise(seed: int, size: int) -> tuple[Array, Array]:
    """Draw a world of five kinds of rows, each with a label of its own: a round each, if models are constants."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(5, size, p=KINDS)
    return np.eye(5)[kind], np.where(rng.random(size) < 0.05, rng.integers(0, 5, size), kind)


SIMPLE = AlternatingFinder(DummyClassifier(), DecisionTreeClassifier(max_depth=1))


@pytest.fixture(scope="module")
def trained() -> BountyClassifier:
    return BountyClassifier(SIMPLE, epsilon=0.05, random_state=0).fit(*_stepwise(0, 100_000))


def test_several_rounds_are_accepted_and_each_lowers_the_risk_on_fresh_rows(trained: BountyClassifier) -> None:
    X, y = _stepwise(1, 50_000)
    rounds = range(trained.n_rounds_ + 1)
    risks = [float((trained.decision_list_.predict(X, round=round) != y).mean()) for round in rounds]
    assert trained.n_rounds_ >= 3
    assert np.diff(risks).max() < 0
    assert risks[-1] < risks[0] - 0.2


def test_what_is_said_of_the_rounds_is_true_on_fresh_rows(trained: BountyClassifier) -> None:
    X, y = _stepwise(2, 200_000)
    accepted = [trial for trial in trained.history_ if trial.accepted]
    assert [trial.round for trial in accepted] == list(range(1, trained.n_rounds_ + 1))
    for trial in accepted:
        before, after = (trained.decision_list_.predict(X, round=trial.round - back) != y for back in (1, 0))
        fall = float(before.mean() - after.mean())
        assert trial.contribution is not None
        assert trial.lower_bound is not None
        assert 0.75 * trained.epsilon <= trial.contribution
        assert trial.lower_bound < fall
        assert fall == pytest.approx(trial.contribution, abs=0.04)
        assert trial.note


def test_each_round_is_searched_and_tested_on_rows_of_its_own(trained: BountyClassifier) -> None:
    sizes = [len(part) for part in cut(Pieces(np.arange(100_000), np.ones(100_000)), 0.05)]
    assert trained.n_parts_ == len(sizes) == 31
    for trial, size in zip(trained.history_, sizes, strict=False):
        assert (trial.searched, trial.tested) == ((size + 1) // 2, size // 2)
    assert trained.guarantee_.startswith("Each round was tested on rows of its own")


def test_the_first_round_that_does_not_contribute_ends_the_training() -> None:
    model = BountyClassifier(epsilon=0.1, random_state=0).fit(*_coins(0, 60_000))
    (trial,) = model.history_
    assert not trial.accepted
    assert trial.contribution is not None
    assert trial.contribution < 0.075
    assert model.stop_reason_ == (
        f"rejected: what was found contributes {trial.contribution:.4g} on {trial.tested:,} fresh rows, "
        "less than the 0.075 asked for"
    )


def test_training_ends_when_the_parts_are_used_up() -> None:
    X, y = _stepwise(0, 3_300)
    model = BountyClassifier(SIMPLE, epsilon=0.05, random_state=0).fit(X, y)
    assert model.n_parts_ == model.n_rounds_ == 2
    assert model.stop_reason_ == ("parts used up: something was accepted in each of 2 (with more rows up to 40)")


def test_a_perfect_model_leaves_nothing_to_be_found() -> None:
    X = np.random.default_rng(0).integers(0, 2, (4_000, 2)).astype(float)
    model = BountyClassifier(epsilon=0.1, random_state=0).fit(X, X[:, 0].astype(int))
    searched = model.history_[-1].searched
    assert model.stop_reason_ == f"nothing found: the finder saw nothing to improve on {searched} rows"
    assert model.score(X, X[:, 0]) == 1


def _coins(seed: int, size: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(size, 5)), rng.integers(0, 2, size)


def test_labels_that_are_coins_are_left_alone_where_rows_are_many() -> None:
    """Tests are on 1,500 rows, of which at most all change: what is asked for is three standard errors and more."""
    for seed in range(10):
        assert BountyClassifier(epsilon=0.1, random_state=seed).fit(*_coins(seed, 60_000)).n_rounds_ == 0


def test_where_rows_are_few_what_chance_accepts_has_no_lower_bound() -> None:
    trials = [
        trial
        for seed in range(20)
        for trial in BountyClassifier(epsilon=0.1, random_state=seed).fit(*_coins(seed, 4_000)).history_
    ]
    assert {trial.lower_bound for trial in trials} == {None}
    assert sum(trial.accepted for trial in trials) <= 5


def _true_risk(model: BountyClassifier, round: int) -> float:
    """Return the risk in the stepwise world, exactly: of the noise, a fifth is right by chance."""
    right = model.decision_list_.predict(np.eye(5), round=round) == np.arange(5)
    return float(np.dot(KINDS, 1 - np.where(right, 0.96, 0.01)))


def test_lower_bounds_hold_in_nearly_all_trainings() -> None:
    """A training in twenty may have a bound that is wrong; of forty, more than six would be 1 in 100 unlikely."""
    wrong, bounds = 0, 0
    for seed in range(40):
        model = BountyClassifier(SIMPLE, epsilon=0.1, random_state=seed).fit(*_stepwise(seed, 8_000))
        falls = -np.diff([_true_risk(model, round) for round in range(model.n_rounds_ + 1)])
        claimed = [
            -1.0 if trial.lower_bound is None else trial.lower_bound for trial in model.history_ if trial.accepted
        ]
        wrong += any(bound > fall for bound, fall in zip(claimed, falls, strict=True))
        bounds += sum(bound > 0.02 for bound in claimed)
    assert DELTA == 0.05
    assert wrong <= 6
    assert bounds >= 40


@pytest.mark.parametrize("checker", [bb.Plain(0.01), bb.Anytime(epsilon=0.01, delta=0.05)], ids=["Plain", "Anytime"])
def test_a_checker_judges_all_rounds_on_one_half(checker: bb.Plain | bb.Anytime) -> None:
    X, y = _stepwise(0, 20_000)
    model = BountyClassifier(SIMPLE, epsilon=0.05, checker=checker, random_state=0).fit(X, y)
    assert model.n_rounds_ >= 3
    assert model.n_parts_ == 1
    assert {(trial.searched, trial.tested) for trial in model.history_} == {(10_000, 10_000)}
    assert all(trial.lower_bound is None for trial in model.history_)
    assert model.guarantee_ == checker.begin(10_000, repairs=True, zero_one=True).guarantee
    assert model.stop_reason_.startswith(("rejected", "nothing found"))
    assert float((model.predict(X) == y).mean()) > 0.85


def test_a_checker_may_stop_the_training() -> None:
    X, y = _stepwise(0, 20_000)
    checker = bb.Paper(0.01, 0.05, 2, allow_small_holdout=True)
    model = BountyClassifier(SIMPLE, checker=checker, random_state=0).fit(X, y)
    assert model.n_rounds_ == 2
    assert model.stop_reason_.startswith("Paper has stopped")


def test_rounds_by_a_checker_are_two_over_epsilon_at_most() -> None:
    X, y = _stepwise(0, 20_000)
    model = BountyClassifier(SIMPLE, epsilon=0.9, checker=bb.Plain(), random_state=0).fit(X, y)
    assert model.n_rounds_ == 3
    assert model.stop_reason_ == "enough rounds: 3 were accepted, the most there can be by 2/epsilon"


def test_cells_number_the_combinations() -> None:
    assert (cells(World(np.full(8, 1 / 8), np.zeros(8)).every) == np.arange(8)).all()
