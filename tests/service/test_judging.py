"""The service judges as a Bounty in the library does, in order of receipt, whoever judges and however often."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

import biasbounty as bb
from biasbounty.errors import SubmissionError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.ledger.entries import read_line
from biasbounty.ledger.seals import SEALED, verify_opening
from biasbounty.service.judging import Judging, hidden_json, verdict_json
from biasbounty.service.scoring import Worker
from biasbounty.service.service import Service
from biasbounty.service.submitting import Handed
from biasbounty.store import Database
from biasbounty.store.books import read_openings
from biasbounty.store.tables import submissions
from tests.exchange.onnx_models import always
from tests.service.worlds import World, broken_above, data, prepared, stream, world

TERMS: list[dict[str, Any]] = [
    {},
    {"checker": "plain", "repairs": True},
    {"loss": "squared", "checker": "plain"},
    {"repairs": False, "pot": 0},
]


@cache
def _library(number: int) -> bb.Bounty:
    """Judge the stream by a Bounty in this process."""
    terms, rows = prepared(**TERMS[number]).terms, data()
    bounty = bb.Bounty(
        OnnxModel(always(0, "AGEP")),
        rows.holdout.X.to_pandas(),
        rows.holdout.y,
        loss=terms.make_loss(),
        checker=terms.make_checker(),
        repairs=terms.repairs,
        public=(rows.public.X.to_pandas(), rows.public.y),
        pot=terms.pot,
        grid=terms.grid,
        rate=terms.rate,
    )
    for handed in stream():
        bounty.submit(handed.group, handed.model, hunter="ann", note=handed.note)
    return bounty


def _verdicts(made: World) -> list[Any]:
    return [each.verdict for each in made.service.submissions(made.organizer, made.bounty, 0, 200).entries]


def _sealed(made: World) -> list[Any]:
    """Return what was sealed of the judged submissions, each opened against its commitment."""
    with made.service.context.database.read() as connection:
        openings = {opening.number: opening for opening in read_openings(connection, made.bounty, everything=True)}
    entries = [read_line(line).entry for line in made.service.ledger(made.bounty)]
    for entry in entries:
        if SEALED in entry.body:
            verify_opening(openings[entry.number], entry.body[SEALED])
    return [openings[entry.number].value for entry in entries if entry.kind == "judged"]


def _require_same(made: World, number: int) -> None:
    library = _library(number)
    assert _verdicts(made) == [json.loads(json.dumps(verdict_json(each))) for each in library.transcript]
    assert _sealed(made) == [hidden_json(each) for each in library.outcomes]
    rows, patched = data().holdout.X.to_pandas(), made.service.decision_list(made.bounty)
    assert patched.heads == library.model.heads
    for round in range(len(library.rounds)):
        assert np.array_equal(patched.predict(rows, round=round), library.model.predict(rows, round=round))
    assert made.service.bounty(made.bounty).nats_spent == library.nats_spent


@pytest.mark.parametrize("number", range(len(TERMS)))
def test_the_service_judges_as_a_bounty_in_the_library_does(database: Database, number: int) -> None:
    made = world(database, TERMS[number])
    made.submit(*stream())
    assert made.finish() == len(stream())
    _require_same(made, number)
    assert any(verdict["repairs"] for verdict in _verdicts(made)) == any(
        each.repairs for each in _library(number).rounds
    )


def test_some_streams_need_repairs() -> None:
    assert [any(each.repairs for each in _library(number).rounds) for number in range(4)] == [True, True, True, False]


def test_a_judge_that_starts_anew_at_any_moment_judges_the_same(database: Database) -> None:
    made = world(database)
    for number, handed in enumerate(stream()):
        made.submit(handed)
        if number % 3 == 0:
            made.score()
            Service(made.service.context).judge(made.bounty)
    made.finish()
    _require_same(made, 0)


def test_judges_that_take_turns_judge_as_one_does(database: Database) -> None:
    made = world(database)
    made.submit(*stream())
    made.score()
    judges = [Judging(made.service.context, made.bounty) for _ in range(3)]
    turns = np.random.default_rng(0).integers(3, size=len(stream()))
    assert all(judges[turn].judge_next() is not None for turn in turns)
    _require_same(made, 0)


def test_judges_at_once_judge_each_submission_once(database: Database) -> None:
    made = world(database)
    made.submit(*stream())
    made.score()
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: Service(made.service.context).judge(made.bounty), range(4)))
    assert sum(counts) == len(stream())
    _require_same(made, 0)


def test_submitting_scoring_and_judging_at_once_judges_in_order_of_receipt(database: Database) -> None:
    made = world(database)
    handed = iter(stream())

    def submit() -> None:
        made.submit(*handed)

    def score(name: str) -> None:
        with Worker(made.service.context, name) as worker:
            while _left(made):
                worker.score_next()

    def judge() -> None:
        while _left(made):
            Service(made.service.context).judge(made.bounty)

    with ThreadPoolExecutor(5) as pool:
        done = [pool.submit(submit), *(pool.submit(score, name) for name in "ab"), *(pool.submit(judge) for _ in "ab")]
        for each in done:
            each.result()
    _require_same(made, 0)


def _left(made: World) -> bool:
    return made.service.bounty(made.bounty).judged < len(stream())


def test_a_submission_scored_early_waits_for_its_turn(database: Database) -> None:
    made = world(database)
    first, second = made.submit(*stream(2))
    with Worker(made.service.context, "slow") as slow, Worker(made.service.context, "quick") as quick:
        slow._lease()
        assert quick.score_next()
    assert made.service.judge(made.bounty) == 0
    assert (made.state(first), made.state(second)) == ("scoring", "received")
    made.clock.tick(hours=1)
    assert made.finish() == 2
    assert (made.state(first), made.state(second)) == ("judged", "judged")


def test_a_verdict_is_given_no_sooner_than_the_hold_says(database: Database) -> None:
    made = world(database, hold=40.0)
    mine = made.submit(stream(1)[0], Handed("AGEP > 0", broken_above("AGEP", 0)))
    made.score()
    for seconds in (0, 39):
        made.clock.tick(seconds=seconds)
        assert made.service.judge(made.bounty) == 0
        assert [made.state(each) for each in mine] == ["scoring", "received"]
    made.clock.tick(seconds=1)
    assert made.service.judge(made.bounty) == 1
    assert [made.state(each) for each in mine] == ["judged", "refused"]


def test_what_fails_on_the_holdout_alone_is_answered_like_any_rejection(database: Database) -> None:
    made = world(database)
    oldest = float(max(data().public.X["income"].to_pylist()))
    assert max(data().holdout.X["income"].to_pylist()) > oldest
    broken, plain = made.submit(
        Handed("AGEP >= 18", broken_above("income", oldest)), Handed("AGEP >= 18", always(0, "AGEP"))
    )
    made.finish()
    one, other = (made.service.submission(made.ann, each) for each in (broken, plain))
    assert (one.state, one.verdict, one.reason) == (other.state, other.verdict, other.reason)
    assert one.verdict is not None
    assert not one.verdict["accepted"]
    bodies = [read_line(line).entry.body for line in made.service.ledger(made.bounty)]
    assert bodies[-1].keys() == bodies[-2].keys()
    assert [each["failed"] for each in _sealed(made)] == [True, False]
    assert made.service.bounty(made.bounty).nats_spent > 0


def test_when_the_checker_stops_the_bounty_closes_and_what_was_left_failed(database: Database) -> None:
    terms = {"checker": "paper", "submissions": 2, "epsilon": 0.9, "delta": 0.5, "repairs": False, "pot": 0}
    made = world(database, terms)
    mine = made.submit(*stream(5))
    made.score()
    made.service.judge(made.bounty)
    states = [made.state(each) for each in mine]
    judged = states.count("judged")
    assert 1 <= judged < 5
    assert states == ["judged"] * judged + ["failed"] * (5 - judged)
    assert made.service.bounty(made.bounty).state == "closed"
    assert made.service.judge(made.bounty) == 0
    reason = made.service.submission(made.ann, mine[-1]).reason
    assert reason is not None
    assert "nothing more can be judged" in reason


@pytest.fixture
def scored(database: Database) -> World:
    """Return a bounty with three submissions that are scored."""
    made = world(database)
    made.submit(*stream(3))
    made.score()
    return made


def test_a_scored_submission_holds_no_labels_and_its_answers_leave_with_a_rejection(scored: World) -> None:
    from biasbounty.store.tables import scores

    database = scored.service.context.database
    scored.service.judge(scored.bounty)
    with database.read() as connection:
        kept = set(connection.scalars(select(scores.c.submission)))
        chosen = select(submissions.c.id, submissions.c.verdict).where(submissions.c.bounty == scored.bounty)
        accepted = {each.id for each in connection.execute(chosen) if json.loads(each.verdict)["accepted"]}
    assert kept == accepted


def test_a_submission_is_withdrawn_while_it_is_being_judged_or_judged_but_not_both(database: Database) -> None:
    made = world(database)
    mine = made.submit(*stream(12))
    made.score()

    def withdraw(submission: str) -> bool:
        try:
            made.service.withdraw(made.ann, submission)
        except Exception as error:
            assert "it can no longer be withdrawn" in str(error)  # noqa: PT017
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        judged = pool.submit(made.service.judge, made.bounty)
        taken_back = list(pool.map(withdraw, reversed(mine)))
        judged.result()
    made.service.judge(made.bounty)
    states = [made.state(each) for each in reversed(mine)]
    assert states == ["withdrawn" if back else "judged" for back in taken_back]
    assert made.kinds().count("withdrawn") == sum(taken_back)


def test_a_broken_submission_is_an_error_in_words() -> None:
    with pytest.raises(SubmissionError):
        _library(0).submit("AGEP > 0", OnnxModel(broken_above("AGEP", 0.0)))
