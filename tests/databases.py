"""Fixtures: an empty database, of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from biasbounty.store import Database
from tests.postgres import postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database."""
    return f"sqlite:///{tmp_path / 'biasbounty.db'}" if request.param == "sqlite" else postgres().new_url()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """Return a database at the newest version."""
    made = Database(url)
    made.migrate()
    yield made
    made.close()
