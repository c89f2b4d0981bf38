"""A backup is of one moment, and a service that is restored from it goes on."""

import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from biasbounty.errors import SettingsError, StoreError
from biasbounty.ledger.chain import verified
from biasbounty.service.context import Context
from biasbounty.service.service import Service
from biasbounty.store import Database
from biasbounty.store.backups import back_up, restore
from tests.postgres import postgres
from tests.service.worlds import NearLimits, World, stream, world


@pytest.fixture
def made(tmp_path: Path) -> World:
    database = Database.in_folder(tmp_path / "first")
    database.migrate()
    return world(database)


def test_a_restored_service_goes_on_where_the_backup_was_made(made: World, tmp_path: Path) -> None:
    made.submit(*stream(12)[:8])
    made.score()
    made.service.judge(made.bounty)
    made.submit(stream(12)[8])
    back_up(made.service.context.database, tmp_path / "backup")
    assert stat.S_IMODE((tmp_path / "backup").stat().st_mode) == 0o600
    before = list(made.service.ledger(made.bounty))
    made.submit(*stream(12)[9:])
    made.finish()
    again = restore(tmp_path / "backup", tmp_path / "second")
    restored = replace(made, service=Service(Context(again, made.clock, limits=NearLimits())))
    assert list(restored.service.ledger(made.bounty)) == before
    restored.submit(*stream(12)[9:])
    restored.finish()
    assert len(list(verified(restored.service.ledger(made.bounty)))) == 25
    one, other = (each.service.submissions(each.organizer, each.bounty, 0, 200).entries for each in (made, restored))
    assert [each.verdict for each in one] == [each.verdict for each in other]


def test_a_backup_made_while_others_write_is_of_one_moment(made: World, tmp_path: Path) -> None:
    writing = threading.Thread(target=lambda: made.submit(*stream(40)))
    writing.start()
    sizes = []
    for number in range(5):
        back_up(made.service.context.database, tmp_path / f"{number}")
        database = restore(tmp_path / f"{number}", tmp_path / f"folder {number}")
        service = Service(Context(database, limits=NearLimits()))
        lines = list(verified(service.ledger(made.bounty)))
        assert service.bounty(made.bounty).ledger_size == len(lines) == 1 + service.bounty(made.bounty).received
        sizes.append(len(lines))
        service.close()
    writing.join()
    assert sizes == sorted(sizes)


def test_what_is_no_backup_or_would_overwrite_is_refused(made: World, tmp_path: Path) -> None:
    database = made.service.context.database
    file = tmp_path / "backup"
    back_up(database, file)
    with pytest.raises(SettingsError, match="file is there already"):
        back_up(database, file)
    with pytest.raises(SettingsError, match="file is there already"):
        restore(file, tmp_path / "first")
    with pytest.raises(SettingsError, match="file cannot be made"):
        back_up(database, tmp_path / "no" / "such" / "folder")
    damaged = tmp_path / "damaged"
    data = bytearray(file.read_bytes())
    data[4096 : 4096 * 9] = bytes(4096 * 8)
    damaged.write_bytes(data)
    (tmp_path / "text").write_text("nothing")
    for bad in (damaged, tmp_path / "text", tmp_path / "missing"):
        with pytest.raises(StoreError, match="backup"):
            restore(bad, tmp_path / f"for {bad.name}")
    with pytest.raises(SettingsError, match="run pg_dump"):
        back_up(Database(postgres().new_url()), tmp_path / "other")
