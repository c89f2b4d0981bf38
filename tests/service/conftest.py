"""Every test of the service runs on SQLite and on a real PostgreSQL."""

from tests.databases import database, url

__all__ = ["database", "url"]
