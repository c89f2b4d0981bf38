"""The transcript: what a hunter sees is made of answers out of declared alphabets, and of nothing else."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biasbounty as bb
from biasbounty import losses
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.process import Judge, Scored
from biasbounty.core.transcript import Answer, Question, repairs_of, verdict_of
from biasbounty.errors import SettingsError
from tests.worlds import World, lookup, random_world


@pytest.mark.parametrize("question", [Question("submission"), Question("submission", 11), Question("repair", 6)])
def test_a_response_outside_the_alphabet_is_refused(question: Question) -> None:
    for response in (None, *range(question.alternatives)):
        assert Answer.to(question, response) == Answer(question.kind, question.alternatives, response)
    for response in (-1, question.alternatives, 10**9):
        words = f"response is not in the alphabet: expected None or 0 to {question.alternatives - 1}, got {response}"
        with pytest.raises(SettingsError, match=words):
            Answer.to(question, response)


def test_an_answer_keeps_nothing_of_the_public_evidence_its_question_carried() -> None:
    assert set(vars(Answer.to(Question("repair", 3, order=np.arange(3)), 1))) == {"kind", "alternatives", "response"}


def test_repairs_are_read_off_answers_in_their_order_as_group_and_round() -> None:
    answers = [
        Answer("submission", 12, 9),
        Answer("repair", 12, 7),
        Answer("repair", 12, 0),
        Answer("repair", 12, 11),
        Answer("repair", 12, None),
    ]
    assert repairs_of(answers, 2) == (bb.Repair(2, 1), bb.Repair(0, 0), bb.Repair(3, 2))
    assert repairs_of(answers, 5) == (bb.Repair(1, 1), bb.Repair(0, 0), bb.Repair(1, 5))
    assert repairs_of(answers[:1], 2) == ()


def _accepted(level: int, pairs: list[int], newest: int) -> list[Answer]:
    steps = [Answer("repair", (newest + 1) * 4, pair) for pair in (*pairs, None)]
    return [Answer("submission", 101, level), *steps]


@given(st.integers(0, 100), st.lists(st.integers(0, 39), max_size=4), st.integers(9, 20), st.integers(0, 1000))
def test_a_verdict_says_what_the_answers_say(level: int, pairs: list[int], newest: int, paid: int) -> None:
    payouts = bb.Payouts(1000, 0.01)
    verdict = verdict_of(_accepted(level, pairs, newest), newest, payouts, paid)
    repairs = tuple(bb.Repair(pair // (newest + 1), pair % (newest + 1)) for pair in pairs)
    assert verdict == bb.Verdict(True, newest + 1, repairs, min(10 * level, 1000 - paid))
    assert verdict == verdict_of(_accepted(level, pairs, newest), newest, payouts, paid)
    assert verdict_of([Answer("submission", 101, None)], newest, payouts, paid) == bb.Verdict(False, newest, (), 0)


def _answers(world: World, payouts: bb.Payouts) -> list[tuple[Answer, ...]]:
    """Judge the submissions of a world, and return only what was answered."""
    holdout, loss = LocalHoldout(world.rows, np.array(world.labels)), losses.get(world.loss)
    holdout.open(lookup(world.initial), loss)
    judge = Judge(holdout, payouts=payouts, repairs=world.repairs)
    examination = world.checker.begin(holdout.size, repairs=world.repairs, zero_one=world.zero_one)
    answers = []
    for group, model in world.submissions:
        handle = holdout.score(bb.Certificate(lookup(group), lookup(model)))
        decision = judge.decide(examination, Scored(handle))
        judge.append(decision)
        examination = decision.examination
        answers.append(decision.answers)
    return answers


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.integers(0, 500))
def test_all_that_is_shown_of_a_bounty_can_be_told_from_its_answers(
    seed: int, zero_one: bool, repairs: bool, pot: int
) -> None:
    world, payouts = random_world(seed, 24, 10, zero_one=zero_one, repairs=repairs), bb.Payouts(pot, 0.02)
    bounty = world.bounty(pot=payouts.pot, grid=payouts.step)
    world.play(bounty)
    told: list[bb.Verdict] = []
    heads = [0]
    for answers in _answers(world, payouts):
        paid = sum(verdict.payout for verdict in told)
        told.append(verdict_of(answers, len(heads) - 1, payouts, paid))
        if told[-1].accepted:
            heads.append(heads[-1] + 1 + len(told[-1].repairs))
    assert bounty.transcript == tuple(told)
    assert bounty.model.heads == tuple(heads)
    assert bounty.paid == sum(verdict.payout for verdict in told)
    accepted = [verdict for verdict in told if verdict.accepted]
    assert bounty.rounds[1:] == tuple(
        bb.Round(number, heads[number], None, "", verdict.repairs) for number, verdict in enumerate(accepted, start=1)
    )
    pointers = [node.pointer for node in bounty.model.nodes if isinstance(node, bb.RepairNode)]
    assert pointers == [repair.pointer for verdict in accepted for repair in verdict.repairs]


def _nothing(X: Any) -> Any:
    return np.zeros(len(X), int)


def _right(X: Any) -> Any:
    return (X[:, 1] > 0.5).astype(int)


def _wrong(X: Any) -> Any:
    return 1 - _right(X)


def _right_from_three_tenths(X: Any) -> Any:
    return np.where(X[:, 0] > 0.3, _right(X), _wrong(X))


def _between(low: float, high: float) -> Callable[[Any], Any]:
    return lambda X: (X[:, 0] >= low) & (X[:, 0] < high)


def _everyone(X: Any) -> Any:
    return np.ones(len(X), bool)


def _people(seed: int, rows: int, mark: float = 0.0) -> tuple[Any, Any]:
    """Draw people whose label is the second feature above a half, nine times in ten; the third is a mark."""
    rng = np.random.default_rng(seed)
    features = np.column_stack([rng.random((rows, 2)), np.full(rows, mark)])
    return features, np.where(rng.random(rows) < 0.9, _right(features), _wrong(features))


SUBMISSIONS = (
    (_between(0, 0.3), _right, "team-1"),
    (_between(0.2, 0.8), _right_from_three_tenths, "team-2"),
    (_between(0.1, 0.9), _wrong, "team-1"),
    (_between(0.8, 1), _right, "team-3"),
    (_everyone, _nothing, "team-2"),
)
"""One that is accepted, one that needs a repair, one that is hopeless, one accepted again, and one rejected."""


def _shown(bounty: bb.Bounty) -> dict[str, Any]:
    """Return everything of a bounty that hunters may see."""
    return {
        "transcript": bounty.transcript,
        "rounds": bounty.rounds,
        "paid": bounty.paid,
        "nats": bounty.nats_spent,
        "resolution": (bounty.resolution(), bounty.resolution(0.1)),
        "guaranteed resolution": bounty.guaranteed_resolution(),
        "guarantee": bounty.guarantee,
        "words": (repr(bounty), repr(bounty.model)),
        "model": vars(bounty.model),
    }


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("pot", [0, 5000])
def test_over_different_holdouts_the_same_answers_show_the_same(public: bool, pot: int) -> None:
    shown, evidence, risks = [], set(), set()
    for seed in range(4):
        settings: Any = {"public": _people(99, 1500)} if public else {}
        bounty = bb.Bounty(_nothing, *_people(seed, 4000), pot=pot, grid=0.1, **settings)
        for group, model, hunter in SUBMISSIONS:
            bounty.submit(group, model, hunter=hunter)
        shown.append(_shown(bounty))
        evidence.add(bounty.evidence)
        risks.add(bounty.risk())
    assert all(one == shown[0] for one in shown)
    assert len(evidence) == len(risks) == 4, "the holdouts did say different things"
    assert [verdict.accepted for verdict in shown[0]["transcript"]] == [True, True, False, True, False]
    assert [len(verdict.repairs) for verdict in shown[0]["transcript"]] == [0, 1, 0, 0, 0]
    assert bool(shown[0]["paid"]) == bool(pot)


def test_another_answer_is_seen_in_what_was_spent() -> None:
    spent = set()
    for model in (_nothing, _right):
        bounty = bb.Bounty(_nothing, *_people(0, 1000))
        bounty.submit(_everyone, model)
        bounty.submit(_everyone, _nothing)
        spent.add(bounty.nats_spent)
    assert len(spent) == 2


class _UnpicklableError(Exception):
    def __init__(self) -> None:
        super().__init__("cannot be sent elsewhere", threading.Lock())


class _WordlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("seen on the holdout")


class _Wordless:
    def __repr__(self) -> str:
        raise RuntimeError("seen on the holdout")


def _on_the_holdout(fails: Callable[[Any], Any], otherwise: Callable[[Any], Any] = _right) -> Callable[[Any], Any]:
    """Return a model that answers well on public rows, and otherwise on the rows of the holdout, which are marked."""
    return lambda X: fails(X) if len(X) and X[0, 2] else otherwise(X)


def _raises(error: Callable[[], BaseException]) -> Callable[[Any], Any]:
    def fails(X: Any) -> Any:
        raise error()

    return fails


def _filled(value: Any) -> Callable[[Any], Any]:
    return lambda X: np.array([value] * len(X), object)


FAILURES = [
    pytest.param(_raises(lambda: KeyError("AGEP")), id="raises"),
    pytest.param(_raises(_UnpicklableError), id="raises what cannot be pickled"),
    pytest.param(_raises(lambda: ExceptionGroup("two", [ValueError(1), ValueError(2)])), id="raises a group of errors"),
    pytest.param(lambda X: np.full(len(X), np.nan), id="NaN"),
    pytest.param(lambda X: np.ones(len(X) - 1, int), id="one answer too few"),
    pytest.param(lambda X: 1, id="no array"),
    pytest.param(lambda X: np.full(len(X), "yes"), id="text"),
    pytest.param(lambda X: np.arange(len(X)) % 2, id="depends on its batch"),
    pytest.param(_filled(None), id="None"),
    pytest.param(_raises(SystemExit), id="leaves by SystemExit"),
    pytest.param(_raises(GeneratorExit), id="leaves by GeneratorExit"),
    pytest.param(_filled(10**400), id="a number beyond all label types"),
    pytest.param(_raises(_WordlessError), id="raises an error without words"),
    pytest.param(_filled(_Wordless()), id="an answer without words"),
]


def _rejected_then_accepted(group: Callable[[Any], Any], model: Callable[[Any], Any], **settings: Any) -> bb.Bounty:
    """Have one submission rejected and a good one accepted."""
    bounty = bb.Bounty(_nothing, *_people(0, 1000, mark=1.0), public=_people(1, 500), pot=1000, grid=0.1, **settings)
    assert bounty.submit(group, model) == bb.Verdict(accepted=False, round=0, repairs=(), payout=0)
    bounty.submit(_everyone, _right)
    return bounty


@pytest.fixture(scope="module")
def ordinary() -> bb.Bounty:
    """Reject a submission that answers well on public rows, and badly on the holdout."""
    return _rejected_then_accepted(_everyone, _on_the_holdout(_wrong))


@pytest.mark.parametrize("fails", FAILURES)
@pytest.mark.parametrize("part", ["group", "model"])
def test_what_fails_on_the_holdout_alone_is_answered_and_charged_like_any_rejection(
    ordinary: bb.Bounty, part: str, fails: Callable[[Any], Any]
) -> None:
    if part == "group":
        failing = _rejected_then_accepted(_on_the_holdout(fails, _everyone), _right)
    else:
        failing = _rejected_then_accepted(_everyone, _on_the_holdout(fails))
    assert failing.outcomes[0].failure
    assert ordinary.outcomes[0].failure is None
    assert _shown(failing) == _shown(ordinary)
    assert failing.log_levels == ordinary.log_levels
    assert failing.transcript[1].accepted
    assert failing.nats_spent > 0


def test_what_fails_on_public_rows_too_is_refused_and_charged_nothing() -> None:
    bounty = bb.Bounty(_nothing, *_people(0, 1000, mark=1.0), public=_people(1, 500))
    with pytest.raises(bb.SubmissionError, match="on the public rows, model failed on 500 rows"):
        bounty.submit(_everyone, _raises(_UnpicklableError))
    assert bounty.transcript == ()
    assert bounty.nats_spent == 0
