"""Backups of a SQLite database: one file, written while the service runs, that is put back into an empty folder.

A backup holds the keys of all bounties and every holdout: keep it as safe as the database. PostgreSQL has its own
means: `pg_dump --format=custom`, and `pg_restore` into an empty database.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from biasbounty.errors import SettingsError, StoreError
from biasbounty.store.database import FILE, Database

_PAGES = 1000


def back_up(database: Database, file: Path) -> None:
    """Write a backup of one moment to a new file; only its owner may read it."""
    if database.dialect != "sqlite":
        raise SettingsError("database makes no backup of itself: expected SQLite, got PostgreSQL; run pg_dump")
    _create(file)
    try:
        with closing(database.engine.raw_connection()) as source, closing(sqlite3.connect(file)) as target:
            source.driver_connection.backup(target, pages=_PAGES)  # type: ignore[union-attr]
        _require_sound(file)
    except (sqlite3.Error, StoreError) as error:
        file.unlink()
        raise StoreError(f"backup was not written: expected a sound copy, got {error}; nothing was kept") from error


def restore(file: Path, folder: Path) -> Database:
    """Put a backup back into a folder that holds no database, and return it at the newest version."""
    _require_sound(file)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _create(folder / FILE)
    kept, new = sqlite3.connect(f"file:{file}?mode=ro", uri=True), sqlite3.connect(folder / FILE)
    with closing(kept), closing(new):
        kept.backup(new, pages=_PAGES)
    database = Database.in_folder(folder)
    database.migrate()
    return database


def _create(file: Path) -> None:
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise SettingsError(f"file is there already: expected a new one, got {file}; move it away first") from error
    except OSError as error:
        raise SettingsError(f"file cannot be made: expected a folder that can be written, got {error}") from error


def _require_sound(file: Path) -> None:
    """Raise unless the file is a database of ours, and whole."""
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            ((said,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
            connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except sqlite3.Error as error:
        raise StoreError(f"backup cannot be read: expected a whole database, got {error}") from error
    if said != "ok":
        raise StoreError(f"backup is damaged: expected a whole database, got {said:.200}; take an earlier one")
