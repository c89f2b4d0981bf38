"""The outlook follows the holdout round by round, and what it says of a question comes from public rows only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biasbounty as bb
from biasbounty import losses
from biasbounty.core.answers import ask
from biasbounty.core.outlook import PublicRows, Unknown
from biasbounty.errors import GroupError, HoldoutError, ModelError, SettingsError
from biasbounty.statistics.forecast import PublicEvidence
from tests.worlds import World, lookup, random_world

Heard = list[tuple[bb.Question, int | None]]
SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class _Listener:
    """A checker that lets another decide, and writes down what it was asked and what was answered."""

    checker: Any
    heard: Heard = field(default_factory=list)

    def begin(self, size: int, **given: bool) -> bb.Examination:
        return _Listening(self.checker.begin(size, **given), self.heard)


@dataclass(frozen=True)
class _Listening(bb.Examination):
    inner: bb.Examination
    heard: Heard

    @property
    def guarantee(self) -> str:
        return self.inner.guarantee

    def pose(self, question: bb.Question) -> bb.Posed:
        return _Relay(question, self.inner.pose(question), self.heard)


@dataclass(frozen=True)
class _Relay(bb.Posed):
    question: bb.Question
    inner: bb.Posed
    heard: Heard

    def passes(self, evidence: bb.Evidence, alternative: int = 0) -> bool:
        return self.inner.passes(evidence, alternative)

    def after(self, response: int | None) -> bb.Examination:
        self.heard.append((self.question, response))
        return _Listening(self.inner.after(response), self.heard)


def _split(world: World, **given: Any) -> bb.Bounty:
    """Open a bounty of which the first half of the world's rows is the holdout, and the rest is public."""
    middle, labels = len(world.labels) // 2, np.array(world.labels)
    settings: Any = {"loss": world.loss, "checker": bb.Plain(), "repairs": world.repairs, "y": labels[:middle]} | given
    public = (world.rows[middle:], labels[middle:])
    return bb.Bounty(lookup(world.initial), world.rows[:middle], public=public, **settings)


def _outlook(bounty: bb.Bounty) -> PublicRows:
    outlook = bounty._judge.outlook
    assert isinstance(outlook, PublicRows)
    return outlook


@settings(max_examples=40)
@given(SEEDS, st.booleans(), st.booleans())
def test_public_rows_follow_the_holdout_round_by_round(seed: int, zero_one: bool, repairs: bool) -> None:
    world = random_world(seed, 48, 8, zero_one=zero_one, repairs=repairs)
    bounty = _split(world)
    public, truth = world.rows[24:], np.array(world.labels)[24:]
    rows = _outlook(bounty).rows
    for group, model in world.submissions:
        bounty.submit(lookup(group), lookup(model))
        newest = len(bounty.rounds) - 1
        assert _outlook(bounty).rounds == newest + 1
        published = bounty.loss(bounty.model.predict(public), truth)
        assert rows.losses(newest).tolist() == np.rint(published * rows.scale).astype(int).tolist()
    for number, certificate in enumerate(bounty.protected):
        assert rows.mask(number).tolist() == ask(certificate.group, public).tolist()


def _same(one: bb.Question, other: bb.Question) -> bool:
    """Compare two questions in all that they carry."""
    return one == other and one.public == other.public and np.array_equal(_ranks(one), _ranks(other))


def _ranks(question: bb.Question) -> Any:
    return [] if question.order is None else question.order


@settings(max_examples=40)
@given(SEEDS, st.booleans())
def test_over_other_labels_of_the_holdout_questions_are_the_same_until_an_answer_differs(
    seed: int, zero_one: bool
) -> None:
    world = random_world(seed, 48, 8, zero_one=zero_one)
    others = np.random.default_rng(seed).permutation(world.labels[:24])
    heard = []
    for labels in (np.array(world.labels[:24]), others):
        listener = _Listener(bb.Plain())
        bounty = _split(world, y=labels, checker=listener, pot=100, grid=0.1)
        world.play(bounty)
        heard.append(listener.heard)
    for (one, answer), (other, another) in zip(*heard, strict=False):
        assert _same(one, other)
        assert one.public is not None
        if answer != another:
            break


@pytest.mark.parametrize("seed", range(5))
def test_the_first_question_does_not_depend_on_the_holdout_s_labels(seed: int) -> None:
    world = random_world(seed, 48, 1, zero_one=True)
    listeners = _Listener(bb.Plain()), _Listener(bb.Plain())
    for listener, labels in zip(listeners, (np.array(world.labels[:24]), np.zeros(24, int)), strict=True):
        world.play(_split(world, y=labels, checker=listener, pot=100, grid=0.05))
    assert _same(listeners[0].heard[0][0], listeners[1].heard[0][0])


@settings(max_examples=40)
@given(SEEDS, st.booleans())
def test_a_submission_s_question_carries_its_evidence_on_public_rows(seed: int, zero_one: bool) -> None:
    world, listener = random_world(seed, 48, 8, zero_one=zero_one), _Listener(bb.Plain())
    bounty = _split(world, checker=listener)
    public, truth = world.rows[24:], np.array(world.labels)[24:]
    for group, model in world.submissions:
        before, after = (np.asarray(one) for one in (bounty.model.predict(public), np.array(model)[24:]))
        already = len(listener.heard)
        bounty.submit(lookup(group), lookup(model))
        z = np.where(group[24:], bounty.loss(before, truth) - bounty.loss(after, truth), 0)
        told = listener.heard[already][0].public
        assert told is not None
        assert told.rows == 24
        assert (told.mean, told.mean_square) == pytest.approx((z.mean(), (z**2).mean()), abs=1e-4)


ROWS = np.arange(100).reshape(-1, 1)


def _among(*ranges: range) -> Callable[[Any], Any]:
    """Return the rule that holds, or is right for, the rows of these ranges."""
    table = np.zeros(100, int)
    for rows in ranges:
        table[rows.start : rows.stop] = 1
    return lookup(table.tolist())


def _open() -> PublicRows:
    """Open public rows on a model that is wrong about each of them."""
    return PublicRows.open((ROWS, np.ones(100, int)), _among(), losses.zero_one)


def _score(outlook: PublicRows, group: Callable[[Any], Any], model: Callable[[Any], Any]) -> Any:
    return outlook.score(bb.Certificate(group, model))


def test_pairs_of_a_repair_step_are_ordered_by_their_regression_on_public_rows() -> None:
    """The candidate wins 6 rows and loses 10 on the first group, so round 1 is the better one there."""
    outlook = _open()
    first = _score(outlook, _among(range(20)), _among(range(10, 20)))
    outlook.append(outlook.candidate(first))
    assert outlook.rounds == 2
    candidate = outlook.candidate(_score(outlook, _among(range(60)), _among(range(6), range(20, 60))))
    question = outlook.repair_step(candidate, 2, 2)
    assert question.order is not None
    assert question.order.tolist() == [1, 0, 3, 2], "regressions of 4, -6, -36 and -46 rows"
    assert (question.kind, question.alternatives) == ("repair", 4)
    assert question.public == PublicEvidence(100, 0.04, 0.16)
    repaired = outlook.repair_step(outlook.repaired(candidate, bb.Repair(0, 1)), 2, 2)
    assert repaired.order is not None
    assert repaired.order.tolist() == [1, 0, 3, 2], "regressions of 0, -10, -40 and -50 rows"
    assert repaired.public == PublicEvidence(100, 0.0, 0.0)


def _regressions(bounty: bb.Bounty, nodes: int, world: World) -> Any:
    """Return, by protected group and earlier round, how much worse the newest round of so many nodes is on the group.

    Everything is predicted anew, on the public rows.
    """
    public, truth, model = world.rows[24:], np.array(world.labels)[24:], bounty.model
    candidate = bb.PointerDecisionList(model.initial, model.nodes[:nodes], (*model.heads[:-1], nodes))
    now = bounty.loss(candidate.predict(public), truth)
    earlier = [bounty.loss(model.predict(public, round=number), truth) for number in range(len(bounty.rounds) - 1)]
    masks = [ask(certificate.group, public) for certificate in bounty.protected]
    return np.array([[(now - then)[mask].sum() for then in earlier] for mask in masks])


@settings(max_examples=40)
@given(SEEDS, st.booleans())
def test_in_a_whole_bounty_every_repair_step_ranks_its_pairs_by_regression_on_public_rows(
    seed: int, zero_one: bool
) -> None:
    world, listener = random_world(seed, 48, 6, zero_one=zero_one), _Listener(bb.Plain())
    bounty = _split(world, checker=listener)
    for group, model in world.submissions:
        already = len(listener.heard)
        if not bounty.submit(lookup(group), lookup(model)).accepted:
            continue
        for repairs, (question, _) in enumerate(listener.heard[already + 1 :]):
            regressions = _regressions(bounty, bounty.model.heads[-2] + 1 + repairs, world).ravel()
            assert sorted(_ranks(question)) == list(range(len(regressions)))
            assert np.all(np.diff(regressions[_ranks(question)]) <= 1e-3)
            assert question.public is not None
            assert question.public.mean == pytest.approx(regressions.max() / 24, abs=1e-4)


def test_the_likeliest_payout_level_is_the_one_on_public_rows_and_then_those_nearest_to_it() -> None:
    outlook, payouts = _open(), bb.Payouts(100, 0.1)
    for right, level in ((30, 3), (29, 2), (0, 0), (100, 10)):
        question = outlook.submission(_score(outlook, _among(range(right)), _among(range(right))), payouts)
        assert question.order is not None
        assert question.alternatives == 11
        assert question.order[0] == level
        assert sorted(question.order.tolist()) == list(range(11))
        assert np.all(np.diff(np.abs(question.order - level)) >= 0)
    worse = _score(outlook, _among(range(50)), _among())
    assert _ranks(outlook.submission(worse, payouts))[0] == 0


def test_where_nothing_is_paid_there_is_one_level_and_no_order() -> None:
    outlook = _open()
    question = outlook.submission(_score(outlook, _among(range(30)), _among(range(30))), bb.Payouts())
    assert (question.alternatives, question.order) == (1, None)
    assert question.public == PublicEvidence(100, 0.3, 0.3)


def _raises(X: Any) -> Any:
    raise KeyError("no such column")


def test_without_public_rows_nothing_is_called_and_nothing_foretold() -> None:
    outlook = Unknown()
    outlook.score(bb.Certificate(_raises, _raises))
    outlook.candidate(None)
    outlook.repaired(None, bb.Repair(0, 0))
    outlook.append(None)
    assert outlook.rounds is None
    questions = (
        outlook.submission(None, bb.Payouts()),
        outlook.submission(None, bb.Payouts(100, 0.1)),
        outlook.repair_step(None, 3, 4),
    )
    assert [(question.kind, question.alternatives) for question in questions] == [
        ("submission", 1),
        ("submission", 11),
        ("repair", 12),
    ]
    assert all(question.public is None and question.order is None for question in questions)


@pytest.mark.parametrize(
    ("group", "model", "error", "words"),
    [
        (_raises, _among(), GroupError, "on the public rows, group failed on 100 rows: expected answers, got KeyError"),
        (lambda X: X[:, 0], _among(), GroupError, "on the public rows, group has a value that is no membership"),
        (_among(range(7)), _raises, ModelError, "on the public rows, model failed on 7 rows: expected answers"),
        (_among(range(7)), lambda X: [None] * len(X), ModelError, "on the public rows, model has an answer that is no"),
    ],
)
def test_errors_of_a_submission_speak_of_the_public_rows(
    group: Any, model: Any, error: type[Exception], words: str
) -> None:
    outlook = _open()
    with pytest.raises(error, match=f"^{words}"):
        outlook.score(bb.Certificate(group, model))
    assert outlook.rounds == 1


def test_a_submission_that_public_rows_refuse_is_never_called_on_the_holdout() -> None:
    called: list[int] = []

    def group(X: Any) -> Any:
        called.extend(X[:, 0].tolist())
        raise KeyError("no such column")

    bounty = bb.Bounty(_among(), ROWS[:50], np.ones(50, int), public=(ROWS[50:], np.ones(50, int)))
    with pytest.raises(GroupError, match="on the public rows, group failed on 50 rows"):
        bounty.submit(group, _among())
    assert called == list(range(50, 100))


@pytest.mark.parametrize(
    ("public", "error", "words"),
    [
        (ROWS, SettingsError, r"public is not rows and labels: expected public=\(X, y\), got ndarray"),
        ([ROWS, ROWS[:, 0]], SettingsError, "public is not rows and labels: .* got list"),
        ((ROWS,), SettingsError, "public is not rows and labels"),
        ((ROWS, np.ones(99)), HoldoutError, "public rows cannot be used: rows and labels have different lengths"),
        ((ROWS[:0], np.ones(0)), HoldoutError, "public rows cannot be used: holdout is empty"),
        ((ROWS.tolist(), np.ones(100)), SettingsError, "public rows cannot be used: rows have the wrong type"),
        ((ROWS, np.full(100, np.nan)), HoldoutError, "public rows cannot be used: labels for zero_one are missing"),
    ],
)
def test_public_rows_that_are_none_are_refused(public: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"^{words}"):
        PublicRows.open(public, _among(), losses.zero_one)


def test_the_evidence_of_public_rows_is_of_a_type_of_its_own() -> None:
    outlook = _open()
    question = outlook.submission(_score(outlook, _among(range(30)), _among(range(20))), bb.Payouts())
    assert type(question.public) is PublicEvidence
    assert not isinstance(question.public, bb.Evidence)
    assert Fraction(str(question.public.mean)) == Fraction(2, 10)
