"""Submitting: kept before it is acknowledged, once for each key, within the quota, while the bounty is open."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from biasbounty.errors import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    PredicateError,
    QuotaError,
    RefusedError,
    ServiceError,
    SettingsError,
)
from biasbounty.ledger.chain import Head, verified
from biasbounty.service.submitting import Handed
from biasbounty.store import Database
from tests.exchange.onnx_models import above_mean, always
from tests.service.worlds import stream, world


def test_a_receipt_holds_its_place_and_the_ledger_goes_through_its_head(database: Database) -> None:
    made = world(database)
    receipts = [made.service.submit(made.ann, made.bounty, each) for each in stream(5)]
    assert [receipt.place for receipt in receipts] == list(range(5))
    heads = [Head(receipt.entry + 1, receipt.head) for receipt in receipts]
    assert len(list(verified(made.service.ledger(made.bounty), heads))) == 6


def test_the_same_key_is_the_same_submission(database: Database) -> None:
    made = world(database)
    first, other = stream(2)
    receipt = made.service.submit(made.ann, made.bounty, first)
    assert made.service.submit(made.ann, made.bounty, first) == receipt
    with pytest.raises(ConflictError, match="key was used before for another submission"):
        made.service.submit(made.ann, made.bounty, replace(other, key=first.key))
    assert made.service.submit(made.bob, made.bounty, first).place == 1
    assert made.service.bounty(made.bounty).received == 2
    made.finish()
    made.service.move_bounty(made.organizer, made.bounty, "close")
    assert made.service.submit(made.ann, made.bounty, first) == receipt


def test_the_same_key_handed_in_many_times_at_once_is_one_submission(database: Database) -> None:
    made = world(database)
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: made.submit(stream(1)[0])[0], range(16)))
    assert len(ids) == 1
    assert made.service.bounty(made.bounty).received == 1


def test_submissions_at_once_have_places_without_gaps(database: Database) -> None:
    made = world(database)
    with ThreadPoolExecutor(8) as pool:
        places = list(
            pool.map(
                lambda each: made.service.submit(made.bob if each.key[-1] in "02468" else made.ann, made.bounty, each),
                stream(30),
            )
        )
    assert sorted(receipt.place for receipt in places) == list(range(30))
    assert len(list(verified(made.service.ledger(made.bounty)))) == 31


def test_a_hunter_has_a_quota_for_each_day_and_so_has_a_team(database: Database) -> None:
    made = world(database, {"quota": 2})
    _, secret = made.service.create_token(made.organizer, "hunter", "Cyd", "Cyd", "blue")
    cyd = made.service.identify(secret)
    made.submit(stream(3)[0], who=made.ann)
    made.submit(stream(3)[1], who=cyd)
    for who in (made.ann, cyd):
        with pytest.raises(QuotaError, match="quota is used up: expected at most 2 submissions a day"):
            made.submit(stream(3)[2], who=who)
    made.submit(stream(3)[2], who=made.bob)
    made.clock.tick(hours=12)
    made.submit(stream(3)[2], who=cyd)


def test_quotas_hold_for_submissions_at_once(database: Database) -> None:
    made = world(database, {"quota": 5})

    def submit(handed: Handed) -> bool:
        try:
            made.submit(handed)
        except QuotaError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(submit, stream(20))) == 5


def test_what_is_refused_or_withdrawn_counts_against_the_quota_and_what_we_failed_does_not(database: Database) -> None:
    from biasbounty.store.tables import submissions

    made = world(database, {"quota": 3})
    first, second, third, fourth = stream(4)
    taken = made.submit(first, second, third)
    made.service.withdraw(made.ann, taken[0])
    with pytest.raises(QuotaError):
        made.submit(fourth)
    with database.write() as connection:
        connection.execute(submissions.update().where(submissions.c.id == taken[1]).values(state="failed"))
    made.submit(fourth)


@pytest.mark.parametrize(
    ("handed", "kind", "words"),
    [
        (Handed("AGE < 3", always(1, "AGEP")), PredicateError, "AGE"),
        (Handed("AGEP < 3", b"nothing"), RefusedError, "expected"),
        (Handed(above_mean(3), always(1, "AGEP")), RefusedError, "expected"),
        (Handed("AGEP < 3", always(1, "height")), RefusedError, "height"),
        (Handed("AGEP < 3", always(1, "AGEP"), note="\x00"), SettingsError, "note cannot be shown"),
        (Handed("AGEP < 3", always(1, "AGEP"), key="\x00"), ServiceError, "key cannot be kept"),
        (Handed("AGEP < 3", always(1, "AGEP"), key="x" * 201), ServiceError, "key cannot be kept"),
    ],
)
def test_what_is_malformed_is_refused_at_once_and_nothing_changes(
    database: Database, handed: Handed, kind: type[Exception], words: str
) -> None:
    made = world(database)
    with pytest.raises(kind, match=words):
        made.submit(handed)
    assert made.kinds() == ["opened"]
    assert made.service.bounty(made.bounty).received == 0


def test_only_hunters_submit_and_only_to_bounties_that_exist(database: Database) -> None:
    made = world(database)
    for who in (made.organizer, made.observer):
        with pytest.raises(NotAllowedError, match="token does not allow this"):
            made.submit(stream(1)[0], who=who)
    for name in ("nobody", "\x00", "x" * 1000, "\udcff", ""):
        with pytest.raises(NotFoundError, match="bounty does not exist"):
            made.service.submit(made.ann, name, stream(1)[0])


def test_a_bounty_that_is_paused_or_over_takes_nothing(database: Database) -> None:
    made = world(database, {"closes": "2026-03-01T14:00:00+01:00"})
    made.service.move_bounty(made.organizer, made.bounty, "pause")
    with pytest.raises(ConflictError, match="bounty is paused: expected an open one; nothing was taken"):
        made.submit(stream(1)[0])
    made.service.move_bounty(made.organizer, made.bounty, "resume")
    made.submit(stream(1)[0])
    made.clock.tick(hours=1)
    with pytest.raises(ConflictError, match="bounty is closed"):
        made.submit(stream(2)[1])
    made.finish()
    assert made.service.bounty(made.bounty).state == "closed"
