"""Database: SQLite or PostgreSQL, in transactions that write to disk before they end.

A writer takes its lock at the start (`BEGIN IMMEDIATE`, or a lock of the bounty's row), so that no transaction is
undone because another came in between. A reader sees one moment. SQLite is one file that several processes share;
PostgreSQL is for more than one machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from biasbounty.errors import SettingsError, StoreError

BUSY_SECONDS = 60
CONNECTIONS = 20
FILE = "biasbounty.db"
_PRAGMAS = ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON", "journal_size_limit=67108864")


class Database:
    """Where a service keeps everything. Call `migrate` once before it is used.

    Args:
        url: "sqlite:///file" or "postgresql+psycopg://...".
    """

    def __init__(self, url: str) -> None:
        try:
            self.dialect = make_url(url).get_backend_name()
        except ArgumentError as error:
            raise SettingsError(
                "database URL is none: expected sqlite:///file or postgresql://..., got other text"
            ) from error
        if self.dialect == "sqlite" and make_url(url).database in (None, "", ":memory:"):
            raise SettingsError(
                "database is in no file: expected sqlite:///file, which processes can share, got memory"
            )
        if self.dialect not in ("sqlite", "postgresql"):
            raise SettingsError(f"database is not supported: expected SQLite or PostgreSQL, got {self.dialect}")
        self._engine = _sqlite(url) if self.dialect == "sqlite" else _postgresql(url)

    @staticmethod
    def in_folder(folder: Path) -> "Database":
        """Return the SQLite database of a folder; only its owner may read it."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = folder / FILE
        file.touch(mode=0o600)
        return Database(f"sqlite:///{file}")

    @property
    def engine(self) -> Engine:
        """The engine, for migrations."""
        return self._engine

    def migrate(self) -> None:
        """Bring the database to the newest version; raise StoreError if it is newer than this program."""
        from biasbounty.store.migrating import migrate

        with _told():
            migrate(self)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Read as of one moment."""
        with _told(), self._engine.connect() as connection:
            if self.dialect == "sqlite":
                connection.exec_driver_sql("BEGIN")
            else:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            yield connection
            connection.rollback()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Write all or nothing; it is on disk when the block ends."""
        with _told(), self._engine.connect() as connection:
            if self.dialect == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            _commit(connection)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _commit(connection: Connection) -> None:
    try:
        connection.commit()
    except DBAPIError as error:
        if error.connection_invalidated:
            raise StoreError(
                "database was lost while it wrote: expected its word that all is kept, got none; it may or may not be "
                "kept, so ask again (with the same key, what was kept is not kept twice)"
            ) from error
        connection.rollback()
        raise


@contextmanager
def _told() -> Iterator[None]:
    """Say what a database says, without what was being written."""
    try:
        yield
    except SQLAlchemyError as error:
        words = " ".join(str(error.orig if isinstance(error, DBAPIError) else error).split())[:300]
        raise StoreError(f"database does not do it: expected it to, got {words}; nothing was changed") from error


def _sqlite(url: str) -> Engine:
    engine = create_engine(
        url,
        connect_args={"timeout": BUSY_SECONDS, "isolation_level": None},
        hide_parameters=True,
        pool_size=CONNECTIONS,
        max_overflow=CONNECTIONS,
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _postgresql(url: str) -> Engine:
    return create_engine(
        make_url(url).set(drivername="postgresql+psycopg"),
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        hide_parameters=True,
        pool_size=CONNECTIONS,
        max_overflow=CONNECTIONS,
        connect_args={"options": f"-c lock_timeout={BUSY_SECONDS}s -c idle_in_transaction_session_timeout=120s"},
    )
