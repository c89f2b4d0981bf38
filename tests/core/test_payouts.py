"""Payouts: never more than the pot, never more than the fall of risk pays, exact, and charged as answers."""

from collections.abc import Callable
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import biasbounty as bb
from biasbounty.core.anytime import AnytimeExamination
from biasbounty.core.columns import LEVELS
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.transcript import Answer, Question, verdict_of
from biasbounty.errors import SettingsError
from tests.worlds import lookup, random_world

DECIMAL_STEPS = [0.0001, 0.001, 0.003, 0.007, 0.01, 0.05, 0.1, 0.3, 1]
STEPS = st.sampled_from(DECIMAL_STEPS) | st.floats(1e-6, 1)
POTS = st.integers(1, 10**6)
SCALES = st.sampled_from([1, LEVELS])
SEEDS = st.integers(0, 2**32 - 1)


def _evidence(n: int, total: int, scale: int = 1) -> bb.Evidence:
    return bb.Evidence(n, total, abs(total) * scale, scale)


@st.composite
def _any_payouts(draw: st.DrawFn) -> bb.Payouts:
    """Draw settings, among them rates far above the pot."""
    return bb.Payouts(
        draw(st.just(0) | POTS), draw(STEPS), draw(st.none() | st.integers(0, 10**12) | st.floats(0, 1e12))
    )


@st.composite
def _any_evidence(draw: st.DrawFn) -> list[bb.Evidence]:
    n, scale = draw(st.integers(1, 400)), draw(SCALES)
    totals = draw(st.lists(st.integers(-n * scale, n * scale), max_size=12))
    return [_evidence(n, total, scale) for total in totals]


@st.composite
def _parts(draw: st.DrawFn) -> list[bb.Evidence]:
    """Draw evidence that adds up to a possible contribution: parts first, the whole last."""
    n, scale = draw(st.integers(1, 400)), draw(SCALES)
    cuts = [0, *sorted(draw(st.lists(st.integers(0, n * scale), min_size=1, max_size=8)))]
    totals = [*np.diff(cuts).tolist(), cuts[-1]]
    return [_evidence(n, total, scale) for total in totals]


def _pay(payouts: bb.Payouts, evidence: list[bb.Evidence], paid: int = 0) -> list[int]:
    """Pay for submissions that are all accepted, one after the other, as verdicts are made."""
    earned: list[int] = []
    for number, one in enumerate(evidence):
        answer = Answer.to(Question("submission", payouts.levels), payouts.level(one))
        earned.append(verdict_of([answer], number, payouts, paid + sum(earned)).payout)
    return earned


def _fall(bounty: bb.Bounty) -> Fraction:
    """Return the fall of holdout risk so far, exactly."""
    holdout = bounty._holdout
    assert isinstance(holdout, LocalHoldout)
    return Fraction(int(holdout.total(0) - holdout.total(len(bounty.rounds) - 1)), holdout.size * holdout.scale)


@given(_any_payouts(), _any_evidence())
def test_all_payouts_together_never_exceed_the_pot(payouts: bb.Payouts, evidence: list[bb.Evidence]) -> None:
    earned = _pay(payouts, evidence)
    assert all(isinstance(cents, int) and cents >= 0 for cents in earned)
    assert sum(earned) <= payouts.pot


@given(_any_payouts(), _any_evidence())
def test_a_level_is_in_the_alphabet_that_was_declared(payouts: bb.Payouts, evidence: list[bb.Evidence]) -> None:
    for one in evidence:
        assert 0 <= payouts.level(one) < payouts.levels
        assert payouts.pot or payouts.levels == 1
    assert payouts.level(_evidence(7, 7)) == payouts.levels - 1


@given(_any_payouts(), _any_evidence())
def test_a_payout_is_less_than_a_step_and_a_cent_below_its_worth_until_the_pot_is_empty(
    payouts: bb.Payouts, evidence: list[bb.Evidence]
) -> None:
    rate = payouts.pot if payouts.rate is None else Fraction(str(payouts.rate))
    left = payouts.pot
    for one, cents in zip(evidence, _pay(payouts, evidence), strict=True):
        worth = rate * max(Fraction(int(one.total), one.n * one.scale), Fraction(0))
        least = worth - rate * Fraction(str(payouts.step)) - 1
        assert cents <= worth
        assert cents == left or cents > least
        left -= cents


@settings(max_examples=50)
@given(SEEDS, st.booleans(), st.booleans(), POTS, STEPS, st.data())
def test_with_a_rate_of_at_most_the_pot_all_payouts_are_at_most_the_pot_times_the_fall_of_risk(
    seed: int, zero_one: bool, repairs: bool, pot: int, step: float, data: st.DataObject
) -> None:
    rate = data.draw(st.none() | st.integers(0, pot) | st.floats(0, pot))
    world = random_world(seed, 24, 10, zero_one=zero_one, repairs=repairs)
    bounty = world.bounty(checker=bb.Plain(), pot=pot, grid=step, rate=rate)
    for group, model in world.submissions:
        bounty.submit(lookup(group), lookup(model))
        assert bounty.paid <= pot * _fall(bounty)
    assert bounty.paid == sum(verdict.payout for verdict in bounty.transcript) <= pot


@settings(max_examples=50)
@given(SEEDS, st.booleans(), st.integers(1, 100))
def test_with_a_rate_above_the_pot_a_bounty_still_never_pays_more_than_the_pot(
    seed: int, repairs: bool, pot: int
) -> None:
    world = random_world(seed, 24, 10, zero_one=True, repairs=repairs)
    bounty = world.bounty(checker=bb.Plain(), pot=pot, grid=0.01, rate=50 * pot)
    verdicts = world.play(bounty)
    assert bounty.paid == sum(verdict.payout for verdict in verdicts) == pot
    assert max(verdict.payout for verdict in verdicts) <= pot


@given(_any_payouts(), _parts(), st.integers(0, 10**6))
def test_parts_earn_no_more_together_than_the_whole(
    payouts: bb.Payouts, evidence: list[bb.Evidence], paid: int
) -> None:
    *parts, whole = evidence
    assert sum(map(payouts.level, parts)) <= payouts.level(whole)
    before = min(paid, payouts.pot)
    assert sum(_pay(payouts, parts, before)) <= _pay(payouts, [whole], before)[0]


def test_multiples_of_one_step_leave_nothing_to_gain_by_splitting_and_another_grid_may() -> None:
    def gained(earned: list[int]) -> bool:
        return any(earned[a] + earned[b] > earned[a + b] for a in range(101) for b in range(101 - a))

    for step in (0.05, 0.07, 0.3):
        payouts = bb.Payouts(997, step)
        assert not gained([payouts.cents(payouts.level(_evidence(100, rows)), 0) for rows in range(101)])
    assert gained([max(mark for mark in (0, 30, 50) if mark <= rows) for rows in range(101)])


@settings(max_examples=50)
@given(SEEDS, st.booleans(), POTS, st.sampled_from(DECIMAL_STEPS[:-2]))
def test_without_repairs_a_group_submitted_in_two_halves_earns_no_more_than_at_once(
    seed: int, zero_one: bool, pot: int, step: float
) -> None:
    rng, world = np.random.default_rng(seed), random_world(seed, 40, 1, zero_one=zero_one, repairs=False)
    (whole, model), first = world.submissions[0], rng.random(40) < 0.5
    halves, at_once = (world.bounty(checker=bb.Plain(), pot=pot, grid=step) for _ in range(2))
    for half in (whole & first, whole & ~first):
        assume(halves.submit(lookup(half.tolist()), lookup(model)).accepted)
    assert at_once.submit(lookup(whole), lookup(model)).accepted
    assert _fall(halves) == _fall(at_once)
    assert halves.paid <= at_once.paid


ROWS = np.arange(100).reshape(-1, 1)
RIGHT = np.ones(100, int)


def _among(*ranges: range) -> Callable[[Any], Any]:
    """Return the rule that holds, or is right for, the rows of these ranges."""
    table = np.zeros(100, int)
    for rows in ranges:
        table[rows.start : rows.stop] = 1
    return lookup(table.tolist())


def _always_wrong(**given: Any) -> bb.Bounty:
    """Open a bounty on 100 rows and a model that is wrong about each, paying a cent for each row put right."""
    settings: Any = {"checker": bb.Plain(), "pot": 100, "grid": 0.01} | given
    return bb.Bounty(_among(), ROWS, RIGHT, **settings)


def test_a_repair_is_not_paid_and_neither_is_a_rejection() -> None:
    bounty = _always_wrong()
    assert bounty.submit(_among(range(20)), _among(range(20))).payout == 20
    verdict = bounty.submit(_among(range(80)), _among(range(20, 80)))
    assert verdict == bb.Verdict(True, 2, (bb.Repair(0, 1),), 40)
    assert bounty.submit(_among(range(80)), _among()) == bb.Verdict(False, 2, (), 0)
    assert (bounty.paid, _fall(bounty)) == (60, Fraction(80, 100))


def test_with_repairs_a_part_may_be_paid_again_and_the_total_still_is_what_the_fall_pays() -> None:
    """The second submission loses more on the first group than it wins there, so a repair takes both back."""
    submissions = [
        (_among(range(20)), _among(range(10, 20))),
        (_among(range(60)), _among(range(6), range(20, 60))),
        (_among(range(6)), _among(range(6))),
    ]
    paid = {}
    for repairs in (True, False):
        bounty = _always_wrong(repairs=repairs)
        paid[repairs] = [bounty.submit(*submission).payout for submission in submissions]
        assert bounty.paid <= 100 * _fall(bounty)
    assert paid == {True: [10, 36, 6], False: [10, 36, 0]}


def _below(high: int) -> Callable[[Any], Any]:
    return lambda X: X[:, 0] < high


@pytest.mark.parametrize("scale", [1, LEVELS])
@pytest.mark.parametrize("rows", [1, 3, 7, 50])
def test_a_level_is_reached_at_a_multiple_of_the_step_exactly(scale: int, rows: int) -> None:
    payouts = bb.Payouts(100, rows / 1000)
    for level in range(1, 1000 // rows + 1):
        total = level * rows * scale
        assert payouts.level(_evidence(1000, total, scale)) == level
        assert payouts.level(_evidence(1000, total - 1, scale)) == level - 1
    assert [k for k in range(1001) if int(k / 1000 / 0.001) != k], "floats would be a step off here and there"


@pytest.mark.parametrize("loss", ["zero_one", "absolute"])
def test_one_row_less_than_a_level_needs_is_paid_one_level_less(loss: str) -> None:
    rows = np.arange(1000).reshape(-1, 1)
    for right in (29, 28, 57, 1000):
        bounty = bb.Bounty(
            lambda X: np.zeros(len(X)), rows, np.ones(1000), loss=loss, checker=bb.Plain(), pot=1000, grid=0.001
        )
        verdict = bounty.submit(_below(right), lambda X: np.ones(len(X)))
        assert verdict.payout == right
        assert type(verdict.payout) is int


@given(_any_evidence(), st.sampled_from(DECIMAL_STEPS))
def test_the_level_of_a_contribution_that_is_public_is_found_as_the_secret_one_is(
    evidence: list[bb.Evidence], step: float
) -> None:
    payouts = bb.Payouts(100, step)
    for one in evidence:
        assert payouts.nearest_level(one.contribution) == payouts.level(one)


@pytest.mark.parametrize(
    ("step", "levels"), [(1, 2), (0.5, 3), (0.3, 4), (0.1, 11), (0.001, 1001), (0.000001, 1000001)]
)
def test_the_levels_are_the_multiples_of_the_step_up_to_one(step: float, levels: int) -> None:
    assert bb.Payouts(1, step).levels == levels
    assert bb.Payouts(0, step).levels == 1


def _mostly_better(**given: Any) -> tuple[bb.Bounty, Callable[[Any], Any]]:
    """Open a bounty on a model that is wrong about each row, and return it with one that is right about 9 in 10."""
    rows, better = np.arange(2000).reshape(-1, 1), np.random.default_rng(0).random(2000) < 0.9
    public = (rows[1000:], np.ones(1000, int)) if given.pop("public") else None
    return (
        bb.Bounty(lookup([0] * 2000), rows[:1000], np.ones(1000, int), public=public, repairs=False, **given),
        lookup(better.astype(int).tolist()),
    )


def _everyone(X: Any) -> Any:
    return np.ones(len(X), bool)


@pytest.mark.parametrize("public", [False, True])
def test_the_payout_level_is_an_answer_and_charged_as_one(public: bool) -> None:
    unpaid, model = _mostly_better(public=public)
    paid, _ = _mostly_better(public=public, pot=1000, grid=0.01)
    outlook, examination = paid._judge.outlook, paid._record.examination
    assert isinstance(examination, AnytimeExamination)
    question = outlook.submission(outlook.score(bb.Certificate(_everyone, model)), paid.payouts)
    asked = examination.pose(question).asked
    assert unpaid.submit(_everyone, model).accepted
    assert paid.submit(_everyone, model).accepted
    level = paid.payouts.level(paid.evidence[0])
    charge = paid.nats_spent - unpaid.nats_spent
    assert charge == pytest.approx(-examination.code.log_alternative(asked, level))
    assert 85 < level < 95
    assert charge < log(101) - 1 if public else charge == pytest.approx(log(101))


@pytest.mark.parametrize("public", [False, True])
def test_a_rejection_costs_no_more_where_there_is_a_pot(public: bool) -> None:
    spent = []
    for pot in (0, 1000):
        bounty, _ = _mostly_better(public=public, pot=pot)
        assert not bounty.submit(_everyone, lookup([0] * 2000)).accepted
        spent.append(bounty.nats_spent)
    assert spent[0] == spent[1] > 0


def test_paying_at_close_pays_the_same_and_is_not_charged() -> None:
    payouts = bb.Payouts(1000, 0.01)
    now, _ = _mostly_better(public=False, pot=payouts.pot, grid=payouts.step)
    later, model = _mostly_better(public=False)
    for bounty in (now, later):
        for high in (100, 400, 1000):
            bounty.submit(_below(high), model)
        bounty.close()
    outcomes = later.opened().outcomes
    paid = sum(_pay(payouts, [outcome.evidence for outcome in outcomes if outcome.accepted]))
    assert paid == now.paid > 800
    assert now.nats_spent - later.nats_spent == pytest.approx(3 * log(101))


def test_noise_that_a_point_estimate_accepts_is_paid_though_it_is_worth_nothing() -> None:
    rng = np.random.default_rng(0)
    rows, coins = np.arange(500).reshape(-1, 1), rng.integers(0, 2, (21, 500))
    bounty = bb.Bounty(lookup([0] * 500), rows, coins[0], checker=bb.Plain(), pot=1000)
    for guess in coins[1:]:
        bounty.submit(_everyone, lookup(guess.tolist()))
    assert bounty.paid > 50


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"pot": -1}, "pot is out of range: expected whole cents from 0, got -1"),
        ({"pot": 10.0}, "pot is out of range: expected whole cents from 0, got 10.0"),
        ({"pot": True}, "pot is out of range: expected whole cents from 0, got True"),
        ({"pot": "10"}, "pot is out of range: expected whole cents from 0, got '10'"),
        ({"step": 0}, "grid is out of range: expected a step from 0.000001 to 1, got 0"),
        ({"step": 1.5}, "grid is out of range: expected a step from 0.000001 to 1, got 1.5"),
        ({"step": 1e-7}, "grid is out of range: expected a step from 0.000001 to 1, got 1e-07"),
        ({"step": float("nan")}, "grid is out of range: expected a step from 0.000001 to 1, got nan"),
        ({"step": True}, "grid is out of range: expected a step from 0.000001 to 1, got True"),
        ({"step": [0, 0.3, 0.5]}, "grid is out of range: expected a step from 0.000001 to 1, got "),
        ({"rate": -1}, "rate is out of range: expected cents from 0, got -1"),
        ({"rate": float("inf")}, "rate is out of range: expected cents from 0, got inf"),
        ({"rate": float("nan")}, "rate is out of range: expected cents from 0, got nan"),
        ({"rate": True}, "rate is out of range: expected cents from 0, got True"),
        ({"rate": "100"}, "rate is out of range: expected cents from 0, got '100'"),
    ],
)
def test_settings_out_of_range_are_refused(given: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        bb.Payouts(**({"pot": 100} | given))
