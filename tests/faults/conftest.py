"""Faults are injected on SQLite and on a real PostgreSQL."""

from tests.databases import database, url

__all__ = ["database", "url"]
