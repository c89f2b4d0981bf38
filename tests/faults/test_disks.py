"""A full disk and a read-only database: each writer is told, nothing is half written, and afterwards all goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from biasbounty.errors import StoreError
from biasbounty.ledger.chain import Head
from biasbounty.ledger.exported import Exported
from biasbounty.ledger.replay import replay_ledger
from biasbounty.ledger.verification import verify_ledger
from biasbounty.service.submitting import Receipt
from biasbounty.store import Database
from biasbounty.store.artifacts import put
from tests.postgres import postgres
from tests.service.worlds import World, stream, world

MEGABYTE = 1 << 20


@contextmanager
def _full(database: Database) -> Iterator[None]:
    """Let the database grow a little more, and then no further."""
    if database.dialect == "sqlite":
        with database.read() as connection:
            pages = int(connection.exec_driver_sql("PRAGMA page_count").scalar_one()) + 20
        pragma = f"PRAGMA max_page_count = {pages}"

        def shrink(connection: Any, _: Any) -> None:
            connection.execute(pragma)

        event.listen(database.engine, "connect", shrink)
        database.close()
        yield
        event.remove(database.engine, "connect", shrink)
    else:
        postgres().limit_files(17 * MEGABYTE)
        database.close()
        yield
        postgres().limit_files(None)
    database.close()


def _fill(database: Database) -> None:
    """Keep files until the disk is full."""
    rng = np.random.default_rng(0)
    for size in (4 * MEGABYTE, 64 * 1024, 8 * 1024, 4096):
        with pytest.raises(StoreError, match=r"database does not do it: .*; nothing was changed"):  # noqa: PT012
            for _ in range(200):
                with database.write() as connection:
                    put(connection, rng.bytes(size))


@contextmanager
def _read_only(database: Database) -> Iterator[None]:
    """Let connections write nothing, as where a file is locked or a server stands by."""

    def forbid(connection: Any, *_: Any) -> None:
        if database.dialect == "sqlite":
            connection.execute("PRAGMA query_only = ON")
        else:
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")

    when = "connect" if database.dialect == "sqlite" else "begin"
    event.listen(database.engine, when, forbid)
    database.close()
    yield
    event.remove(database.engine, when, forbid)
    database.close()


def _require_sound(made: World, receipts: list[Receipt]) -> None:
    """Require that what was acknowledged is judged, in order, that the ledger verifies and replays, and all goes on."""
    submissions = stream(30)
    (last,) = made.submit(submissions[29])
    made.finish()
    view = made.service.bounty(made.bounty)
    assert (view.received, view.judged) == (len(receipts) + 1, len(receipts) + 1)
    assert [receipt.place for receipt in receipts] == list(range(len(receipts)))
    assert {made.state(each.submission) for each in receipts} | {made.state(last)} == {"judged"}
    exported = Exported(tuple(made.service.ledger(made.bounty)))
    verify_ledger(exported, [Head(receipt.entry + 1, receipt.head) for receipt in receipts])
    assert replay_ledger(exported).paid == view.paid


def _submit_all(made: World, receipts: list[Receipt]) -> int:
    """Hand in what was not acknowledged; return how many times there was an error."""
    errors = 0
    for handed in stream(29)[len(receipts) :]:
        try:
            receipts.append(made.service.submit(made.ann, made.bounty, handed))
        except StoreError:
            errors += 1
            break
    return errors


def test_a_full_disk_costs_nothing_that_was_acknowledged(database: Database) -> None:
    made = world(database)
    receipts = [made.service.submit(made.ann, made.bounty, each) for each in stream(4)]
    with _full(database):
        _fill(database)
        assert _submit_all(made, receipts) == 1 or database.dialect == "postgresql"
        before = list(made.service.ledger(made.bounty))
        assert made.service.submission(made.ann, receipts[0].submission).state == "scoring"
        assert len(before) == 1 + len(receipts)
    assert _submit_all(made, receipts) == 0
    assert list(made.service.ledger(made.bounty, 0, len(before))) == before
    _require_sound(made, receipts)


def test_a_judge_and_a_worker_on_a_full_disk_go_on_when_there_is_room(database: Database) -> None:
    made = world(database)
    receipts = [made.service.submit(made.ann, made.bounty, each) for each in stream(4)]
    made.score()
    with _full(database):
        _fill(database)
        for _ in range(3):
            try:
                made.finish()
            except StoreError as error:
                assert "nothing was changed" in str(error)  # noqa: PT017
    _require_sound(made, receipts)


def test_a_read_only_database_is_read_and_every_writer_told(database: Database) -> None:
    made = world(database)
    receipts = [made.service.submit(made.ann, made.bounty, each) for each in stream(4)]
    with _read_only(database):
        for _ in range(3):
            with pytest.raises(StoreError, match=r"read-?only.*nothing was changed"):
                made.service.submit(made.ann, made.bounty, stream(5)[4])
            with pytest.raises(StoreError, match="read-?only"):
                made.score()
        assert made.service.bounty(made.bounty).received == 4
    _require_sound(made, receipts)
