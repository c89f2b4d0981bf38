"""Scoring: a lease is one worker's until it runs out, and what the holdout says stays with the judge."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select

from biasbounty.errors import StoreError
from biasbounty.service.scoring import MOST_ATTEMPTS, Worker
from biasbounty.service.submitting import Handed
from biasbounty.store import Database
from biasbounty.store.tables import leases, scores, submissions
from tests.exchange.onnx_models import always, equal_to
from tests.service.worlds import World, broken_above, stream, world


def _row(made: World, submission: str) -> Any:
    with made.service.context.database.read() as connection:
        return connection.execute(select(submissions).where(submissions.c.id == submission)).one()


def test_workers_at_once_score_each_submission_once(database: Database) -> None:
    made = world(database)
    mine = made.submit(*stream(24))
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(made.score, "abcd")) == 24
    assert [_row(made, each).attempts for each in mine] == [1] * 24
    with database.read() as connection:
        assert connection.scalar(select(func.count()).select_from(scores)) == 24
        assert connection.scalar(select(func.count()).select_from(leases)) == 0


def test_a_lost_worker_s_lease_runs_out_and_another_scores(database: Database) -> None:
    made = world(database)
    (mine,) = made.submit(stream(1)[0])
    with Worker(made.service.context, "lost") as lost, Worker(made.service.context, "next") as after:
        assert lost._lease() is not None
        assert not after.score_next()
        made.clock.tick(seconds=made.service.context.limits.lease_seconds + 1)
        assert after.score_next()
    assert made.service.judge(made.bounty) == 1
    assert _row(made, mine).attempts == 2


def test_a_worker_that_comes_back_late_changes_nothing(database: Database) -> None:
    made = world(database)
    (mine,) = made.submit(stream(1)[0])
    with Worker(made.service.context, "late") as late, Worker(made.service.context, "late") as same_name:
        leased = late._lease()
        assert leased is not None
        made.clock.tick(hours=1)
        again = same_name._lease()
        assert again is not None
        late._finish(leased, "refused", "too late")
        assert _row(made, mine).state == "scoring"
        same_name._finish(again, "scored", None, same_name._answers(again).as_bytes())
        late._finish(leased, "refused", "too late")
    assert _row(made, mine).state == "scored"
    assert made.service.judge(made.bounty) == 1


def test_what_fails_on_public_rows_is_refused_in_words_in_its_turn(database: Database) -> None:
    made = world(database)
    mine = made.submit(Handed("AGEP > 0", broken_above("AGEP", 0)), Handed("AGEP > 0", equal_to("job", "cook")))
    made.score()
    assert [made.state(each) for each in mine] == ["scoring", "received"]
    assert made.service.submission(made.ann, mine[0]).reason is None
    assert made.kinds() == ["opened", "received", "received"]
    made.service.judge(made.bounty)
    view = made.service.submission(made.ann, mine[0])
    assert view.state == "refused"
    assert view.reason is not None
    assert "model failed" in view.reason
    assert made.kinds()[3:] == ["refused", "judged"]


class _Lame(Worker):
    """A worker that something of ours keeps from scoring."""

    def _answers(self, leased: Any) -> Any:
        raise StoreError("database does not do it: expected it to, got a full disk; nothing was changed")


def test_what_fails_for_our_reasons_is_given_back_soon_and_scored_by_another(database: Database) -> None:
    made = world(database)
    (mine,) = made.submit(stream(1)[0])
    with Worker(made.service.context, "good") as good, _Lame(made.service.context, "lame") as lame:
        _fail(made, lame, 2)
        assert good.score_next()
    assert made.service.judge(made.bounty) == 1
    assert made.state(mine) == "judged"


def _fail(made: World, worker: Worker, times: int) -> None:
    for _ in range(times):
        with pytest.raises(StoreError):
            worker.score_next()
        assert not worker.score_next()
        made.clock.tick(seconds=61)


def test_what_no_worker_brings_back_is_asked_about_public_rows_alone_and_judged(database: Database) -> None:
    made = world(database)
    mine = []
    with _Lame(made.service.context, "lame") as lame, Worker(made.service.context, "good") as worker:
        for handed in (Handed("AGEP < 40", always(1, "AGEP")), Handed("AGEP > 0", broken_above("AGEP", 0))):
            mine += made.submit(handed)
            _fail(made, lame, MOST_ATTEMPTS)
            assert worker.score_next()
    made.service.judge(made.bounty)
    good, refused = mine
    view = made.service.submission(made.ann, good)
    assert (view.state, view.reason) == ("judged", None)
    assert view.verdict is not None
    assert not view.verdict["accepted"]
    assert made.state(refused) == "refused"


def test_what_cannot_even_be_asked_about_public_rows_failed_and_costs_nothing(database: Database) -> None:
    made = world(database, {"quota": 1})
    (mine,) = made.submit(stream(2)[0])
    with _Lame(made.service.context, "lame") as lame:
        _fail(made, lame, MOST_ATTEMPTS + 1)
    made.finish()
    assert made.state(mine) == "failed"
    assert made.service.bounty(made.bounty).nats_spent == 0
    assert made.kinds() == ["opened", "received", "failed"]
    made.submit(stream(2)[1])


def test_a_withdrawn_submission_is_not_scored_and_its_place_is_passed_over(database: Database) -> None:
    made = world(database)
    first, second = made.submit(*stream(2))
    assert made.service.withdraw(made.ann, first).state == "withdrawn"
    assert made.score() == 1
    assert made.service.judge(made.bounty) == 1
    assert (made.state(first), made.state(second)) == ("withdrawn", "judged")
    assert made.kinds() == ["opened", "received", "received", "withdrawn", "judged"]


def test_a_submission_withdrawn_under_a_worker_s_hands_stays_withdrawn(database: Database) -> None:
    made = world(database)
    (mine,) = made.submit(stream(1)[0])
    with Worker(made.service.context, "busy") as busy:
        leased = busy._lease()
        assert leased is not None
        made.service.withdraw(made.ann, mine)
        busy._finish(leased, "scored", None, busy._answers(leased).as_bytes())
    assert made.service.judge(made.bounty) == 0
    assert made.state(mine) == "withdrawn"
    assert made.service.bounty(made.bounty).judged == 1


def test_workers_that_find_nothing_write_nothing(database: Database) -> None:
    made = world(database)
    with Worker(made.service.context, "idle") as idle, database.write():
        assert not idle.score_next()
