"""Views show what everyone may see, and of others' submissions nothing."""

import json

import pytest

from biasbounty.errors import NotFoundError
from biasbounty.ledger.entries import read_line
from biasbounty.service.submitting import Handed
from biasbounty.store import Database
from tests.exchange.onnx_models import always
from tests.service.worlds import stream, world


def test_a_hunter_sees_own_submissions_and_the_organizer_all(database: Database) -> None:
    made = world(database)
    mine, theirs = made.submit(*stream(3)), made.submit(*stream(5)[3:], who=made.bob)
    seen = {
        who: [each.id for each in made.service.submissions(who, made.bounty).entries] for who in (made.ann, made.bob)
    }
    assert seen == {made.ann: mine, made.bob: theirs}
    assert [each.id for each in made.service.submissions(made.organizer, made.bounty).entries] == mine + theirs
    assert made.service.submissions(made.observer, made.bounty).entries == []
    for who, other in ((made.ann, theirs[0]), (made.bob, mine[0]), (made.observer, mine[0]), (made.ann, "\x00")):
        with pytest.raises(NotFoundError, match="submission does not exist"):
            made.service.submission(who, other)
    with pytest.raises(NotFoundError):
        made.service.withdraw(made.bob, mine[0])


def test_pages_go_through_all_entries_once(database: Database) -> None:
    made = world(database)
    mine = made.submit(*stream(7))
    seen, start = [], 0
    while True:
        page = made.service.submissions(made.ann, made.bounty, start, 3)
        seen += [each.id for each in page.entries]
        if page.next is None:
            break
        start = page.next
    assert seen == mine
    for strange in (-1, 10**30):
        made.service.submissions(made.ann, made.bounty, strange, strange)
        made.service.events(made.bounty, strange, strange)
        list(made.service.ledger(made.bounty, strange, strange))


def test_events_tell_of_verdicts_in_order_and_each_once(database: Database) -> None:
    made = world(database)
    made.submit(*stream(9))
    made.finish()
    first = made.service.events(made.bounty, 0, 4)
    assert first.next is not None
    rest = made.service.events(made.bounty, first.next)
    entries = first.entries + rest.entries
    assert [each["place"] for each in entries] == list(range(9))
    assert made.service.events(made.bounty, entries[-1]["number"]).entries == []
    with pytest.raises(NotFoundError):
        made.service.events("nobody")


def test_the_leaderboard_adds_up_and_is_hidden_where_the_organizer_wants(database: Database) -> None:
    made = world(database, {"hide_leaderboard": True})
    made.submit(*stream(10), who=made.bob)
    made.submit(*stream(14)[10:])
    made.finish()
    assert made.service.leaderboard(made.ann, made.bounty) == []
    board = made.service.leaderboard(made.organizer, made.bounty)
    assert sum(each.payout for each in board) == made.service.bounty(made.bounty).paid
    assert sum(each.accepted for each in board) == made.service.bounty(made.bounty).round
    hunters = {made.ann.hunter, made.bob.hunter}
    shown = b"".join(made.service.ledger(made.bounty)).decode() + repr(made.service.events(made.bounty))
    assert not any(str(hunter) in shown for hunter in hunters)
    assert {node.hunter for node in made.service.decision_list(made.bounty).nodes} == {None}
    made.service.move_bounty(made.organizer, made.bounty, "close")
    assert made.service.leaderboard(made.ann, made.bounty) == board
    assert {node.hunter for node in made.service.decision_list(made.bounty).nodes} <= hunters


def test_a_ledger_names_no_files_of_a_submission_that_was_not_accepted(database: Database) -> None:
    made = world(database)
    made.submit(*stream(12))
    made.finish()
    entries = [read_line(line).entry for line in made.service.ledger(made.bounty)]
    views = made.service.submissions(made.organizer, made.bounty).entries
    accepted = {digest for each in views if each.verdict["accepted"] for digest in (each.group_hash, each.model_hash)}
    handed_in = {digest for each in views for digest in (each.group_hash, each.model_hash)}
    secret = handed_in - accepted - {entries[0].body["model"]}
    text = json.dumps([dict(entry.body) for entry in entries]) + repr(made.service.events(made.bounty))
    assert secret
    assert not any(digest in text for digest in secret)


def test_how_far_a_worker_is_cannot_be_seen(database: Database) -> None:
    made = world(database)
    mine = made.submit(*stream(4))
    before = [made.service.submission(made.ann, each) for each in mine], made.service.counts()
    made.score()
    assert ([made.service.submission(made.ann, each) for each in mine], made.service.counts()) == before
    assert before[1] == {"waiting": 4}
    made.service.judge(made.bounty)
    assert made.service.counts() == {"judged": 4}


def test_rounds_are_given_as_onnx_that_names_its_line_of_the_ledger(database: Database) -> None:
    made = world(database)
    first = made.service.model(made.bounty)
    made.submit(Handed("AGEP < 40", always(1, "AGEP")), stream(1)[0])
    made.finish()
    entries = [read_line(line) for line in made.service.ledger(made.bounty)]
    assert made.service.model(made.bounty, 0) == first
    assert entries[0].hash.encode() in first
    accepted = next(line for line in entries if line.entry.body.get("round") == 1)
    assert accepted.hash.encode() in made.service.model(made.bounty, 1)
    for round in (-1, 9):
        with pytest.raises(NotFoundError, match="round does not exist"):
            made.service.model(made.bounty, round)


def test_a_preflight_compares_with_the_newest_round_and_costs_nothing(database: Database) -> None:
    made = world(database)
    handed = Handed("AGEP < 40", always(1, "AGEP"))
    before = made.service.preflight(made.ann, made.bounty, handed)
    assert before.contribution > 0.2
    assert before.risk_after < 0.1 < before.risk_before
    made.submit(handed)
    made.finish()
    after = made.service.preflight(made.ann, made.bounty, handed)
    assert (after.contribution, after.rows, after.group) == (0.0, before.rows, before.group)
    assert made.kinds() == ["opened", "received", "judged"]
    assert made.service.bounty(made.bounty).received == 1
    made.service.close()


@pytest.mark.parametrize("role", ["holdout rows", "holdout labels", "initial answers", "openings", "\x00"])
def test_files_that_are_secret_are_not_there(database: Database, role: str) -> None:
    made = world(database)
    for shown in ("train", "public", "initial model"):
        assert made.service.file(made.bounty, shown)
    with pytest.raises(NotFoundError, match="bounty has no file"):
        made.service.file(made.bounty, role)
