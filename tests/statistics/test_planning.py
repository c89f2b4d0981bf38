"""A plan's figures are what the checkers then report, and what it finds is enough and no more than enough."""

import itertools
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

import biasbounty as bb
from biasbounty.core.anytime import AnytimeExamination
from biasbounty.core.transcript import Question
from biasbounty.errors import SettingsError
from biasbounty.statistics.forecast import PublicEvidence
from biasbounty.statistics.numbers import digits
from biasbounty.statistics.plan_figures import MOST_ROWS, MOST_SUBMISSIONS, PAYOUT_STEPS
from biasbounty.statistics.planning import Limits

PLANS = [
    bb.plan(rows=40_000, submissions=1000),
    bb.plan(rows=2000, epsilon=0.3, submissions=50, acceptances=4),
    bb.plan(rows=40_000, epsilon=0.005, submissions=200, acceptances=0, delta=0.01),
    bb.plan(epsilon=0.02, submissions=30, acceptances=30, disagreement=0.1),
    bb.plan(rows=60_000, epsilon=0.01, submissions=40, acceptances=3, pot=100_000),
]
EACH_PLAN = pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.rows} rows")


def _opened(plan: bb.Plan, *, public: bool = False) -> AnytimeExamination:
    checker = bb.Anytime(plan.epsilon, plan.delta)
    examination = checker.begin(plan.rows, repairs=True, zero_one=True, public=public)
    assert isinstance(examination, AnytimeExamination)
    return examination


def _after_all(plan: bb.Plan, seed: int = 0, *, public: bool = False) -> AnytimeExamination:
    """Answer all submissions, the planned number of them accepted in any order, each with one repair step: done."""
    rng, examination = np.random.default_rng(seed), _opened(plan, public=public)
    levels = bb.Payouts(plan.pot).levels
    for accepted in rng.permutation(np.arange(plan.submissions) < plan.acceptances):
        foretold = [PublicEvidence(plan.rows, mean, 0.02) if public else None for mean in rng.normal(0, 0.004, 2)]
        question = Question("submission", levels, foretold[0], np.arange(levels) if public else None)
        examination = examination.pose(question).after(int(rng.integers(levels)) if accepted else None)
        if accepted:
            pairs = int(rng.integers(1, 50))
            step = Question("repair", pairs, foretold[1], np.arange(pairs) if public else None)
            examination = examination.pose(step).after(None)
    return examination


def _words(plan: bb.Plan) -> str:
    """Return what a plan says, as one line."""
    return " ".join(str(plan).split())


@EACH_PLAN
def test_the_planned_resolutions_are_those_that_the_examination_reports_at_first_and_after_all(plan: bb.Plan) -> None:
    assert plan.first_resolution == _opened(plan).resolution(plan.disagreement)
    for seed in (0, 1):
        examination = _after_all(plan, seed)
        assert plan.nats == pytest.approx(examination.nats_spent)
        assert plan.resolution == pytest.approx(examination.resolution(plan.disagreement))


def test_a_real_bounty_then_reports_the_planned_resolution() -> None:
    rng, n = np.random.default_rng(0), 4000
    rows, labels = np.arange(n).reshape(-1, 1), rng.integers(0, 2, n)
    bounty = bb.Bounty(lambda X: 1 - labels[X[:, 0]], rows, labels, checker=bb.Anytime(0.1, 0.05))
    verdicts = [bounty.submit(lambda X: X[:, 0] < n // 2, lambda X: labels[X[:, 0]])]
    noise = rng.integers(0, 2, n)
    verdicts += [bounty.submit(lambda X: X[:, 0] < n // 2, lambda X: noise[X[:, 0]]) for _ in range(3)]
    assert [verdict.accepted for verdict in verdicts] == [True, False, False, False]
    plan = bb.plan(rows=n, epsilon=0.1, submissions=4, acceptances=1, disagreement=0.3)
    assert plan.nats == pytest.approx(bounty.nats_spent)
    assert plan.resolution == bounty.resolution(0.3)


@EACH_PLAN
def test_the_paper_s_figures_are_those_of_its_checker(plan: bb.Plan) -> None:
    paper = bb.Paper(plan.epsilon, plan.delta, plan.submissions)
    assert plan.paper_rows == paper.rows_needed()
    assert plan.paper_epsilon == paper.supported_epsilon(plan.rows)


def test_where_the_paper_s_bound_supports_epsilon_it_is_set_to_it_and_where_it_supports_none_it_says_so() -> None:
    plan = bb.plan(rows=10**9, epsilon=0.5, submissions=10)
    assert plan.paper_resolution == 3 / 8
    assert "supports this epsilon too" in _words(plan)
    plan = bb.plan(rows=100, epsilon=0.5, submissions=10)
    assert plan.paper_epsilon is None
    assert plan.paper_resolution is None
    assert "supports no epsilon on so many rows. For epsilon = 0.5 it needs" in _words(plan)


@EACH_PLAN
def test_what_is_reliably_seen_is_accepted_at_least_nine_times_in_ten(plan: bb.Plan) -> None:
    seen, d, runs = plan.reliably_sees, plan.disagreement, 1000
    assert seen is not None
    posed = _after_all(plan).pose(Question("submission"))
    draws = np.random.default_rng(0).multinomial(plan.rows, [(d + seen) / 2, (d - seen) / 2, 1 - d], runs)
    accepted = sum(
        posed.passes(bb.Evidence(plan.rows, int(wins - losses), int(wins + losses))) for wins, losses, _ in draws
    )
    assert binomtest(accepted, runs, 0.9, alternative="less").pvalue > 1e-4


def test_any_two_of_rows_epsilon_and_submissions_settle_the_third_and_it_is_the_least_or_the_most() -> None:
    by_epsilon = bb.plan(rows=40_000, submissions=1000)
    assert (by_epsilon.found, by_epsilon.is_enough) == ("epsilon", True)
    assert not bb.plan(rows=40_000, submissions=1000, epsilon=by_epsilon.epsilon - 0.0001).is_enough
    by_rows = bb.plan(epsilon=0.01, submissions=1000)
    assert (by_rows.found, by_rows.is_enough) == ("rows", True)
    assert not bb.plan(epsilon=0.01, submissions=1000, rows=by_rows.rows - 1000).is_enough
    by_submissions = bb.plan(rows=40_000, epsilon=0.02)
    assert (by_submissions.found, by_submissions.is_enough) == ("submissions", True)
    assert not bb.plan(rows=40_000, epsilon=0.02, submissions=by_submissions.submissions + 10).is_enough


def test_rows_or_epsilon_alone_are_planned_for_a_thousand_submissions() -> None:
    assert bb.plan(rows=40_000) == bb.plan(rows=40_000, submissions=1000)
    assert bb.plan(epsilon=0.01) == bb.plan(epsilon=0.01, submissions=1000)


def test_what_is_not_said_of_acceptances_and_disagreement_goes_by_submissions_and_epsilon() -> None:
    plan = bb.plan(rows=40_000, epsilon=0.01, submissions=500)
    assert (plan.acceptances, plan.disagreement) == (5, 0.02)
    plan = bb.plan(rows=40_000, epsilon=0.1, submissions=5000)
    assert (plan.acceptances, plan.disagreement) == (2, 0.2)
    assert bb.plan(rows=40_000, epsilon=0.8, submissions=2).acceptances == 1


def test_with_neither_rows_nor_epsilon_rows_are_found_for_an_epsilon_of_a_hundredth_or_what_is_possible() -> None:
    for given_alone in ({}, {"submissions": 10}, {"delta": 0.1}, {"pot": 5}, {"acceptances": 3}):
        plan = bb.plan(**given_alone)
        assert (plan.found, plan.epsilon) == ("rows", 0.01)
        assert plan.is_enough
    assert bb.plan(disagreement=0.005).epsilon == 0.005
    assert bb.plan(acceptances=250).epsilon < 0.01


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"rows": 0}, "rows is out of range: expected a whole number from 1 to 1,000,000,000, got 0"),
        ({"rows": 1.5}, "rows is out of range"),
        ({"rows": True}, "rows is out of range"),
        ({"rows": 9, "submissions": 0}, "submissions is out of range"),
        ({"rows": 9, "acceptances": -1}, "acceptances is out of range"),
        ({"rows": 9, "pot": -1}, "pot is out of range: expected a whole number from 0, got -1"),
        ({"rows": 9, "delta": 1}, "delta is out of range: expected at least 0.00000001 and less than 1, got 1"),
        ({"rows": 9, "delta": None}, "delta is out of range"),
        ({"epsilon": 0}, "epsilon is out of range"),
        ({"epsilon": float("nan")}, "epsilon is out of range"),
        ({"rows": 9, "disagreement": 1.1}, "disagreement is out of range: expected at least .* and at most 1, got 1.1"),
        ({"epsilon": 0.1, "disagreement": 0.05}, "epsilon is out of reach: expected at most the disagreement, 0.05"),
        ({"rows": 9, "submissions": 3, "acceptances": 4}, "expected at most one for each of 3 submissions, got 4"),
        ({"epsilon": 0.1, "acceptances": 20}, "expected at most 19, since each lowers holdout risk by more than"),
    ],
)
def test_figures_that_cannot_be_are_refused_with_what_to_do(figures: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        bb.plan(**figures)


def test_where_nothing_is_enough_the_nearest_plan_says_so() -> None:
    too_few = bb.plan(rows=5000, epsilon=0.01)
    assert (too_few.found, too_few.submissions, too_few.is_enough) == ("submissions", 1, False)
    too_fine = bb.plan(epsilon=0.00001)
    assert (too_fine.found, too_fine.rows, too_fine.is_enough) == ("rows", MOST_ROWS, False)
    too_alike = bb.plan(rows=40_000, submissions=1000, acceptances=20, disagreement=0.02)
    assert (too_alike.found, too_alike.is_enough) == ("epsilon", False)
    assert too_alike.reliably_sees is not None
    for plan in (too_few, too_fine, too_alike):
        assert "That is not enough for epsilon" in _words(plan)
    assert bb.plan(rows=10**8, epsilon=0.5).submissions == MOST_SUBMISSIONS


def test_a_submission_that_disagrees_on_too_few_rows_is_seen_by_none_and_the_words_say_so() -> None:
    plan = bb.plan(rows=500, epsilon=0.02, submissions=1000)
    assert (plan.resolution, plan.reliably_sees, plan.is_enough) == (None, None, False)
    assert "reliably sees none of these submissions" in _words(plan)


def _moved(plan: bb.Plan, figure: str, way: int) -> bb.Plan:
    """Move one figure a little beyond its limit."""
    limit = getattr(plan.limits, figure)
    beyond = limit + way if figure == "acceptances" else limit * (1 + 0.02 * way)
    return replace(plan, **{figure: round(beyond) if isinstance(limit, int) else beyond})


def test_each_limit_of_a_plan_is_just_enough_by_itself() -> None:
    plan = bb.plan(rows=40_000, epsilon=0.032, submissions=1000)
    assert (plan.is_enough, plan.found) == (True, None)
    ways = {"rows": -1, "epsilon": -1, "delta": -1, "submissions": 1, "acceptances": 1, "disagreement": 1}
    for figure, way in ways.items():
        assert replace(plan, **{figure: getattr(plan.limits, figure)}).is_enough, figure
        assert not _moved(plan, figure, way).is_enough, figure
    assert f"each by itself, {plan.limits.rows:,} rows, epsilon = {plan.limits.epsilon:g}, delta" in _words(plan)


def test_limits_say_what_would_be_enough_where_the_plan_is_not_and_none_where_nothing_would() -> None:
    plan = bb.plan(rows=40_000, epsilon=0.018, submissions=1000, acceptances=10, disagreement=0.02)
    assert not plan.is_enough
    assert plan.limits.rows is not None
    assert plan.limits.rows > 40_000
    assert plan.limits.submissions is not None
    assert plan.limits.submissions < 1000
    hopeless = bb.plan(rows=3, epsilon=0.02, submissions=1000).limits
    assert replace(hopeless, rows=None) == Limits(None, None, None, None, None, None)


def test_smaller_epsilons_see_more_and_epsilon_0_the_most() -> None:
    plan = bb.plan(rows=40_000, submissions=1000)
    checker = bb.Anytime(0, plan.delta)
    assert plan.finest is not None
    assert plan.reliably_sees is not None
    assert plan.finest < plan.reliably_sees
    zero = replace(_after_all(plan), settings=checker).resolution(plan.disagreement)
    assert zero is not None
    assert plan.finest == pytest.approx(zero + 1.2816 * (plan.disagreement / plan.rows) ** 0.5)


def test_a_pot_s_answers_are_paid_for_and_its_payouts_are_those_of_the_bounty() -> None:
    assert bb.Payouts(1).levels == PAYOUT_STEPS + 1
    settled: dict[str, Any] = {"rows": 40_000, "epsilon": 0.0457, "submissions": 100, "acceptances": 7}
    unpaid, paid = bb.plan(**settled), bb.plan(**settled, pot=12_345)
    assert paid.nats == pytest.approx(unpaid.nats + 7 * log(1001))
    assert unpaid.payout == 0
    payouts = bb.Payouts(12_345)
    assert paid.payout == payouts.cents(payouts.level(bb.Evidence(10_000, 457, 600)), 0)
    assert "Telling payouts costs 48 of the" in _words(paid)


@pytest.mark.parametrize("seed", range(3))
def test_with_public_rows_answers_cost_at_most_ln_2_more_and_no_less_passes_than_at_first(seed: int) -> None:
    plan = bb.plan(rows=40_000, epsilon=0.005, submissions=100, acceptances=3)
    examination = _after_all(plan, seed, public=True)
    assert examination.nats_spent <= plan.nats + log(2)
    seeing = examination.resolution(plan.disagreement)
    assert seeing is not None
    assert plan.first_resolution is not None
    assert seeing >= plan.first_resolution


def test_a_curve_goes_through_the_planned_rows_and_never_rises() -> None:
    plan = bb.plan(rows=40_000, submissions=1000)
    points = plan.curve(21)
    (here,) = (point for point in points if point.rows == plan.rows)
    assert (here.first, here.last, here.reliably_sees) == (plan.first_resolution, plan.resolution, plan.reliably_sees)
    assert here.paper == plan.paper_resolution
    assert [point.rows for point in points] == sorted({point.rows for point in points})
    assert (points[0].rows, points[-1].rows) == (400, plan.paper_rows)
    for figure in ("first", "last", "reliably_sees", "paper"):
        seen = [getattr(point, figure) for point in points if getattr(point, figure) is not None]
        assert len(seen) > 10
        assert all(later <= 1.02 * earlier for earlier, later in itertools.pairwise(seen)), figure


SHARE = st.integers(-400, 0).map(lambda power: float(f"{10 ** (power / 100):.4g}"))


FIGURES = st.fixed_dictionaries(
    {},
    optional={
        "rows": st.integers(1, 10**6),
        "epsilon": SHARE,
        "delta": SHARE.filter(lambda delta: delta < 1),
        "submissions": st.integers(1, 10**5),
        "acceptances": st.integers(0, 300),
        "disagreement": SHARE,
        "pot": st.just(1000),
    },
)


@settings(max_examples=60)
@given(FIGURES)
def test_whatever_is_given_is_kept_and_the_words_fit_80_columns(figures: dict[str, Any]) -> None:
    try:
        plan = bb.plan(**figures)
    except SettingsError:
        assume(False)
    assert {name: getattr(plan, name) for name in figures} == figures
    assert plan.is_enough == (plan.reliably_sees is not None and plan.reliably_sees <= plan.epsilon)
    assert all(len(line) < 80 for line in str(plan).splitlines())


def test_at_real_sizes_the_paper_s_bound_needs_a_billion_rows_where_anytime_needs_a_few_hundred_thousand() -> None:
    plan = bb.plan(epsilon=0.01)
    assert plan.rows < 300_000
    assert plan.paper_rows > 10**9
    assert "1,023,551,808 rows" in _words(plan)


def test_numbers_are_written_without_exponents_and_rounded_up_where_that_is_safe() -> None:
    assert [digits(number) for number in (1_000_000, 0.0347, 0.00001, 0.123456, 1.0)] == [
        *("1,000,000", "0.0347", "0.00001", "0.123"),
        "1",
    ]
    assert [digits(number, up=True) for number in (0.20001, 0.1 + 0.2, 0.02)] == ["0.201", "0.3", "0.02"]
    assert digits(0.123456, 6) == "0.123456"
