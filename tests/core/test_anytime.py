"""P5 and P6: the charges of what is not better never exceed the budget, whatever the hunters do."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import biasbounty as bb
from biasbounty import checks
from biasbounty.core import anytime
from biasbounty.core.anytime import AnytimeExamination
from biasbounty.core.transcript import Question
from biasbounty.errors import SettingsError
from biasbounty.statistics.bounds import upper_bound
from biasbounty.statistics.forecast import PublicEvidence

DELTA, ROWS = 0.05, 39_393


def _begin(*, public: bool = False, **settings: float) -> AnytimeExamination:
    examination = bb.Anytime(**{"delta": DELTA, **settings}).begin(ROWS, repairs=True, zero_one=True, public=public)
    assert isinstance(examination, AnytimeExamination)
    return examination


def _foretold(mean: float) -> PublicEvidence:
    return PublicEvidence(ROWS, mean, 0.02)


BLIND = (Question("submission"), Question("submission", 3), Question("repair", 1), Question("repair", 3))
HOPEFUL, HOPELESS = _foretold(0.012), _foretold(-0.004)
FORETOLD = (
    Question("submission", 1, HOPEFUL),
    Question("submission", 1, HOPELESS),
    Question("submission", 3, _foretold(0.004), np.array([1, 0, 2])),
    Question("repair", 3, HOPEFUL, np.array([2, 0, 1])),
    Question("repair", 2, HOPELESS, np.array([0, 1])),
)
CODES = pytest.mark.parametrize(("questions", "public"), [(BLIND, False), (FORETOLD, True)], ids=["blind", "foretold"])


def _responses(question: Question) -> list[int | None]:
    return [None, *range(question.alternatives)]


@CODES
def test_the_weights_of_all_answers_to_a_question_add_up_to_the_weight_before(
    questions: tuple[Question, ...], public: bool
) -> None:
    examination = _begin(public=public)
    for step in range(24):
        posed = examination.pose(questions[step % len(questions)])
        after = [exp(posed.after(response).log_weight) for response in _responses(questions[step % len(questions)])]
        assert sum(after) == pytest.approx(exp(examination.log_weight))
        examination = posed.after(0 if step % 3 == 1 else None)


def _charge(examination: AnytimeExamination, question: Question, nulls: tuple[int, ...]) -> float:
    """Return the charge of a question of which these alternatives are null, in units of delta.

    A submission is null as a whole or not at all: whichever payout level it reaches, it has one test.
    """
    posed = examination.pose(question)
    share = exp(posed.log_level) / DELTA
    if question.kind == "submission":
        return share if nulls else 0.0
    return share * sum(exp(examination.code.log_alternative(posed.asked, null)) for null in nulls)


def _assignments(question: Question) -> list[tuple[int, ...]]:
    """Return every way in which alternatives of a question can be null."""
    every = range(question.alternatives)
    if question.kind == "submission":
        return [(), tuple(every)]
    return [nulls for size in range(question.alternatives + 1) for nulls in combinations(every, size)]


def _most_charged(examination: AnytimeExamination, questions: tuple[Question, ...], depth: int) -> float:
    """Return the largest sum of the charges of live nulls, over all trees of this depth and all assignments.

    Whoever asks chooses the next question after every answer, and which alternatives are null. A branch on which a null
    was accepted is no longer live, so the largest sum below each live answer is found by itself.
    """
    if depth == 0:
        return 0.0
    best = 0.0
    for question in questions:
        posed = examination.pose(question)
        below = {
            response: _most_charged(posed.after(response), questions, depth - 1) for response in _responses(question)
        }
        for nulls in _assignments(question):
            live = sum(value for response, value in below.items() if response not in nulls)
            best = max(best, _charge(examination, question, nulls) + live)
    return best


@CODES
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_p5_over_every_tree_the_charges_of_live_nulls_add_up_to_at_most_one(
    questions: tuple[Question, ...], public: bool, depth: int
) -> None:
    most = _most_charged(_begin(public=public), questions, depth)
    assert most <= 1 + 1e-12
    assert most >= 0.4


@cache
def _most_on_counts(examination: AnytimeExamination, depth: int) -> float:
    """Return the same over deeper trees, where alternatives are alike and only their number matters."""
    if depth == 0:
        return 0.0
    best = 0.0
    for question in BLIND[::2] + BLIND[3:]:
        posed, m = examination.pose(question), question.alternatives
        done = _most_on_counts(posed.after(None), depth - 1)
        accepted = _most_on_counts(posed.after(0), depth - 1)
        for nulls in range(m + 1):
            best = max(best, nulls / m * exp(posed.log_level) / DELTA + done + (m - nulls) * accepted)
    return best


def test_p5_holds_over_every_tree_of_seven_questions_too() -> None:
    assert 0.5 <= _most_on_counts(_begin(), 7) <= 1 + 1e-12


BIG = Question("repair", 12, HOPEFUL, np.random.default_rng(0).permutation(12))
STYLES: list[Callable[[Question, np.random.Generator], int | None]] = [
    lambda question, rng: None,
    lambda question, rng: 0,
    lambda question, rng: None if question.public is HOPELESS else 0,
    lambda question, rng: None if rng.random() < 0.5 else int(rng.integers(question.alternatives)),
]


def _walks(public: bool, steps: int = 150) -> Iterator[tuple[AnytimeExamination, Question]]:
    """Yield the questions of long walks down the tree, by hunters and answers of several kinds."""
    questions = (*FORETOLD, BIG) if public else (*BLIND, Question("repair", 12))
    for seed, style in enumerate(STYLES):
        rng, examination = np.random.default_rng(seed), _begin(public=public)
        for _ in range(steps):
            question = questions[rng.integers(len(questions))]
            yield examination, question
            examination = examination.pose(question).after(style(question, rng))


def _tested_at(examination: AnytimeExamination, question: Question, alternative: int) -> float:
    """Return the level that the test is really given, in units of delta."""
    levels = []

    def spy(evidence: bb.Evidence, tau: float, log_level: float, *, zero_one: bool) -> bool:
        levels.append(log_level)
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anytime, "passes", spy)
        examination.pose(question).passes(bb.Evidence(ROWS, 900, 900), alternative)
    (level,) = levels
    return exp(level) / DELTA


@pytest.mark.parametrize("public", [False, True])
def test_p5_at_every_node_of_long_walks_what_is_charged_and_what_stays_live_is_at_most_what_was_there(
    public: bool,
) -> None:
    """The step of the proof: for the worst choice of what is null, pair by pair."""

    def phi(examination: AnytimeExamination) -> float:
        return exp(examination.log_weight) / (1 + examination.rejected)

    for examination, question in _walks(public):
        after = {response: phi(examination.pose(question).after(response)) for response in _responses(question)}
        alternatives = range(question.alternatives)
        if question.kind == "submission":
            levels = {_tested_at(examination, question, each) for each in alternatives}
            assert len(levels) == 1, "one test, whichever payout level it would be"
            most = after[None] + max(levels.pop(), sum(after[each] for each in alternatives))
        else:
            most = after[None] + sum(max(_tested_at(examination, question, each), after[each]) for each in alternatives)
        assert most <= phi(examination) * (1 + 1e-9)


@pytest.mark.parametrize("public", [False, True])
def test_p5_a_question_s_level_is_exactly_its_share_of_the_weight_and_a_no_takes_just_that_share(public: bool) -> None:
    for examination, question in _walks(public):
        posed, before = examination.pose(question), 1 / (1 + examination.rejected)
        share = before - 1 / (1 + posed.after(None).rejected)
        assert posed.after(0).rejected == examination.rejected, "any other answer gives it back"
        whole = exp(posed.log_level) / DELTA
        assert whole == pytest.approx(share * exp(examination.log_weight))
        parts = [_tested_at(examination, question, each) for each in range(question.alternatives)]
        if question.kind == "repair":
            assert sum(parts) == pytest.approx(whole)
        else:
            assert parts == pytest.approx([whole] * question.alternatives)


def _most_bounded(examination: AnytimeExamination, questions: tuple[Question, ...], depth: int) -> float:
    """Return the largest sum, over all trees of this depth, of the levels of P6's bounds, in units of delta."""
    if depth == 0:
        return 0.0
    best = 0.0
    for question in questions:
        posed = examination.pose(question)
        bounds = exp(posed.log_bound_level) * (question.alternatives if question.kind == "repair" else 1) / DELTA
        below = sum(_most_bounded(posed.after(response), questions, depth - 1) for response in _responses(question))
        best = max(best, bounds + below)
    return best


@CODES
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_p6_over_every_tree_the_levels_of_upper_bounds_add_up_to_at_most_one(
    questions: tuple[Question, ...], public: bool, depth: int
) -> None:
    most = _most_bounded(_begin(public=public), questions, depth)
    assert 0.2 <= most <= 1 + 1e-12


def test_without_its_rules_the_charges_would_exceed_the_budget() -> None:
    """The enumeration can tell: a repair step that tests every pair at the whole level is caught by it."""
    examination, question = _begin(), Question("repair", 3)
    posed = examination.pose(question)
    charge, done = 3 * exp(posed.log_level) / DELTA, exp(posed.after(None).log_weight)
    assert charge + done / 2 > 1


def test_a_level_is_fixed_by_the_transcript_and_public_rows() -> None:
    submission = Question("submission")
    posed = _begin().pose(submission)
    assert posed.log_level == pytest.approx(log(DELTA / 2))
    assert posed.log_bound_level == pytest.approx(log(DELTA / 2 / 2)), "charged with the rejection"
    assert posed.after(0).pose(submission).log_level == pytest.approx(log(DELTA / 2 / 2)), "its share given back"
    assert posed.after(None).pose(submission).log_level == pytest.approx(log(DELTA / 6 / 2)), "the next share"
    assert _begin() == _begin()


def test_a_pair_is_tested_at_its_own_part_of_the_level() -> None:
    examination, evidence = _begin(), bb.Evidence(ROWS, 430, 900)
    assert examination.pose(Question("repair", 1)).passes(evidence)
    crowd = examination.pose(Question("repair", 10**15))
    assert not crowd.passes(evidence)
    order = np.array([1, 0])
    ranked = _begin(public=True).pose(Question("repair", 2, HOPEFUL, order))
    levels = [_begin(public=True).code.log_alternative(ranked.asked, pair) for pair in (0, 1)]
    assert levels[1] > levels[0]
    assert exp(levels[0]) + exp(levels[1]) == pytest.approx(1)


def test_hopeless_submissions_cost_almost_nothing_and_give_later_ones_their_share() -> None:
    seeing, blind = _begin(public=True), _begin()
    for _ in range(200):
        seeing = seeing.pose(Question("submission", 1, HOPELESS)).after(None)
        blind = blind.pose(Question("submission")).after(None)
    assert seeing.nats_spent < blind.nats_spent + log(2)
    assert seeing.rejected < 1 < 100 < blind.rejected
    assert seeing.pose(Question("submission", 1, HOPEFUL)).log_level > blind.pose(Question("submission")).log_level + 5


def test_an_answer_outside_its_alphabet_is_refused() -> None:
    with pytest.raises(SettingsError, match="expected None or 0 to 2, got 3"):
        _begin().pose(Question("repair", 3)).after(3)


def test_it_keeps_the_contract_of_checker_and_refuses_settings_out_of_range() -> None:
    checks.verify_checker(bb.Anytime())
    for settings in ({"epsilon": -0.1}, {"epsilon": 2}, {"delta": 0}, {"delta": 1}, {"epsilon": None}):
        with pytest.raises(SettingsError, match="is out of range"):
            bb.Anytime(**settings)


def test_the_resolution_is_the_smallest_contribution_that_passes_and_gets_worse_with_every_nat() -> None:
    examination, submission = _begin(epsilon=0.005), Question("submission")
    first = examination.resolution()
    assert first is not None
    posed, squares = examination.pose(submission), round(ROWS * 0.02)
    assert posed.passes(bb.Evidence(ROWS, round(first * ROWS), squares))
    assert not posed.passes(bb.Evidence(ROWS, round(first * ROWS) - 2, squares))
    for _ in range(20):
        examination = examination.pose(submission).after(0).pose(submission).after(None)
    later = examination.resolution()
    assert later is not None
    assert examination.nats_spent > 20
    assert later > first
    assert examination.resolution(0.0) is None


def test_at_real_sizes_it_sees_what_the_paper_s_bound_cannot() -> None:
    assert round(_begin(epsilon=0.005).resolution() or 1, 4) == 0.0043
    supported = bb.Paper(0.01, DELTA, 1000).supported_epsilon(ROWS)
    assert supported is not None
    assert 3 * supported / 4 > 0.17


def _lookup(table: Any) -> Callable[[Any], Any]:
    return lambda X: table[X[:, 0]]


@pytest.mark.parametrize("loss", ["zero_one", "absolute"])
@pytest.mark.parametrize("public", [False, True])
def test_what_is_really_better_is_accepted_repaired_charged_and_replayed(loss: str, public: bool) -> None:
    rng, n = np.random.default_rng(0), 4000
    labels = rng.integers(0, 2, n).astype(float)
    rows = np.arange(n).reshape(-1, 1)
    settings: Any = {"public": (rows[::2], labels[::2])} if public else {}
    bounty = bb.Bounty(_lookup(1 - labels), rows, labels, loss=loss, checker=bb.Anytime(0.02, 0.05), **settings)
    first, second = rows[:, 0] < n // 2, rows[:, 0] >= n // 4
    assert bounty.submit(_lookup(first), _lookup(labels)).accepted
    verdict = bounty.submit(_lookup(second), _lookup(np.where(first, 1 - labels, labels)))
    assert verdict.repairs == (bb.Repair(0, 1),)
    assert not bounty.submit(_lookup(first), _lookup(rng.permutation(labels))).accepted
    assert bounty.risk() == 0
    assert bounty.nats_spent > 0
    assert bounty.replay().nodes == bounty.model.nodes
    assert bounty.guarantee.startswith("With probability at least 0.95, every accepted update and repair")
    assert bounty.resolution(0.2) is not None


def _upper_bound_misses(seed: int) -> bool:
    """Say whether any recorded upper bound is below the true contribution, over submissions drawn at random.

    Submission k is right on a share of its group's rows that is known, so E Z is known; the rows are drawn anew.
    """
    rng, n = np.random.default_rng(seed), 300
    better = rng.uniform(0.3, 0.6, 12)
    z = rng.random((12, n)) < better[:, None]
    labels = rng.integers(0, 2, n)
    wrong = _lookup(1 - labels)
    bounty = bb.Bounty(wrong, np.arange(n).reshape(-1, 1), labels, checker=bb.Anytime(1.0, 0.3), repairs=False)
    for k in range(12):
        bounty.submit(lambda X: np.ones(len(X), bool), _lookup(np.where(z[k], labels, 1 - labels)))
    bounds = bounty.upper_bounds
    return any(bound is not None and bound < mean for bound, mean in zip(bounds, better, strict=True))


def test_p6_the_share_of_runs_with_a_wrong_upper_bound_is_at_most_its_delta() -> None:
    runs = 200
    missed = sum(_upper_bound_misses(seed) for seed in range(runs))
    assert binomtest(missed, runs, 0.3, alternative="greater").pvalue > 1e-4


def test_p6_a_pair_that_was_left_unrepaired_has_an_upper_bound_too() -> None:
    rng, n = np.random.default_rng(3), 2000
    labels, rows = rng.integers(0, 2, n), np.arange(n)
    better = rows < n // 2
    worse = better & (rows % 100 == 0)  # too few for a repair to be sure of
    wrong = _lookup(1 - labels)
    for repairs in (True, False):
        bounty = bb.Bounty(wrong, rows[:, None], labels, checker=bb.Anytime(0.0, 0.05), repairs=repairs)
        bounty.submit(_lookup(better), _lookup(labels))
        second = np.where(worse, 1 - labels, labels)
        assert bounty.submit(_lookup(np.ones(n, bool)), _lookup(second)).repairs == ()
        if not repairs:
            assert bounty.find_regression_bound(0, 1) is None
            continue
        level = bounty.outcomes[-1].log_bound_level
        assert level is not None
        lost = int(worse.sum())
        assert bounty.find_regression_bound(0, 1) == upper_bound(bb.Evidence(n, lost, lost), level, zero_one=True)
        assert lost / n < (bounty.find_regression_bound(0, 1) or 0) < 0.05
        assert (bounty.find_regression_bound(0, 0) or 0) < 0
        with pytest.raises(SettingsError, match="group does not exist"):
            bounty.find_regression_bound(2, 0)
        with pytest.raises(SettingsError, match="round does not exist: expected a number from 0 to 1, got 2"):
            bounty.find_regression_bound(0, 2)


@pytest.mark.parametrize("public", [False, True])
def test_no_submission_that_is_refused_now_has_an_upper_bound_above_the_guaranteed_resolution(public: bool) -> None:
    n = 300
    examination = bb.Anytime(0.1, 0.2).begin(n, repairs=True, zero_one=True, public=public)
    for answer in (None, 0, None, None, 0, None):
        examination = examination.pose(Question("submission", 1, _foretold(0.1) if public else None)).after(answer)
    highest = examination.guaranteed_resolution()
    assert highest is not None
    for mean in (-0.5, -0.1, 0.0, 0.1, 0.3, 0.9):
        posed = examination.pose(
            Question("submission", 1, PublicEvidence(n, mean, abs(mean) + 0.01) if public else None)
        )
        for squares in range(0, n + 1, 7):
            refused = [t for t in range(-squares, squares + 1, 2) if not posed.passes(bb.Evidence(n, t, squares))]
            most = bb.Evidence(n, max(refused), squares)
            assert upper_bound(most, posed.log_bound_level, zero_one=True) <= highest


def test_p3_a_certain_regression_is_repaired_though_a_larger_one_is_noise() -> None:
    """The largest total does not pass: 900 rows better, 830 worse. The next, 40 rows worse and none better, does."""
    rows, n = np.arange(4000), 4000
    first, second = rows < 1800, (rows >= 1800) & (rows < 2400)
    even, odd = first & (rows % 2 == 0), first & (rows % 2 == 1)
    bounty = bb.Bounty(_lookup(np.ones(n, int)), rows[:, None], np.zeros(n, int), checker=bb.Anytime(0.0, 0.05))
    bounty.submit(_lookup(first), _lookup(np.where(even, 0, 1)))
    bounty.submit(_lookup(second), _lookup(np.where(second, 0, 1)))
    third = np.zeros(n, int)
    third[even], third[np.flatnonzero(odd)[:70]], third[np.flatnonzero(second)[:40]] = 1, 1, 1
    verdict = bounty.submit(_lookup(np.ones(n, bool)), _lookup(third))
    assert verdict.repairs == (bb.Repair(1, 2),)
    assert [evidence.total for evidence in bounty.outcomes[-1].repair_evidence] == [40]
    noise = bounty._holdout.published_evidence(3, bb.Repair(0, 1))
    assert (noise.total, noise.total_squares) == (70, 1730)


def test_the_guarantee_says_what_it_needs_where_there_are_no_public_rows() -> None:
    assert _begin(public=True).guarantee.endswith("sample of the people the model will meet.")
    assert "the words of errors are for the organizer alone" in _begin().guarantee
