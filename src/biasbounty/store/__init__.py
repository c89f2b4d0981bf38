"""The store: what a service keeps, in SQLite or PostgreSQL. Acknowledged means committed to disk."""

from biasbounty.store.database import Database

__all__ = ["Database"]
