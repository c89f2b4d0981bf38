"""Migrations make the tables that the program uses, once, and refuse a database that is newer."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from biasbounty.errors import StoreError
from biasbounty.store import Database
from biasbounty.store.tables import metadata


def test_migrations_make_exactly_the_tables_of_the_metadata(database: Database) -> None:
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        names = set(inspect(connection).get_table_names())
    assert names == {*metadata.tables, "alembic_version"}


def test_indices_and_constraints_are_those_of_the_metadata(database: Database) -> None:
    metadata.create_all(made := create_engine("sqlite://"))
    with database.read() as connection, made.connect() as other:
        for table in metadata.tables:
            here, there = inspect(connection), inspect(other)
            for look in (
                lambda at, table: {each["name"]: tuple(each["column_names"]) for each in at.get_indexes(table)
                                   if not each.get("duplicates_constraint")},
                lambda at, table: {tuple(each["column_names"]) for each in at.get_unique_constraints(table)},
                lambda at, table: set(at.get_pk_constraint(table)["constrained_columns"]),
                lambda at, table: {tuple(each["constrained_columns"]) for each in at.get_foreign_keys(table)},
            ):  # fmt: skip
                assert look(here, table) == look(there, table), table
    made.dispose()


def test_migrating_again_or_all_at_once_changes_nothing(url: str) -> None:
    def migrate(_: int) -> None:
        database = Database(url)
        database.migrate()
        database.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate, range(4)))
    migrate(0)


def test_a_database_that_is_newer_than_the_program_is_refused_in_words(database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="database is newer than this program: expected a version up to .*, got 9999"):
        database.migrate()
