"""Migrating: the tables are brought to the newest version when a database is opened, by the steps in `migrations`.

A step and its record are one transaction, and whoever comes second waits for the first.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from biasbounty.errors import StoreError

if TYPE_CHECKING:
    from biasbounty.store.database import Database

FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x62696173


def migrate(database: "Database") -> None:
    """Bring a database to the newest version; raise StoreError if it is newer than this program."""
    with database.read() as connection:
        if _is_newest(connection):
            return
    if database.dialect == "sqlite":
        with database.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    with database.write() as connection:
        if database.dialect == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        if not _is_newest(connection):
            command.upgrade(_settings(connection), "head")


def _settings(connection: Connection) -> Config:
    """Return Alembic's settings, to work in the transaction of this connection."""
    settings = Config()
    settings.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    settings.set_main_option("path_separator", "os")
    settings.attributes["connection"] = connection
    return settings


def _is_newest(connection: Connection) -> bool:
    script = ScriptDirectory(str(FOLDER))
    version = MigrationContext.configure(connection).get_current_revision()
    known = {revision.revision for revision in script.walk_revisions()}
    if version is not None and version not in known:
        raise StoreError(
            f"database is newer than this program: expected a version up to {script.get_current_head()}, got "
            f"{version:.20}; install a newer biasbounty"
        )
    return version == script.get_current_head()
