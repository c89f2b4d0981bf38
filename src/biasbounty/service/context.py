"""Context: what every use case needs: the database, the hour, and how strangers' models are run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from biasbounty.sandbox import Sandbox
from biasbounty.store import Database


def now_utc() -> datetime:
    """Return the hour."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Limits:
    """What a submitted model may use."""

    memory_mb: int = 1024
    seconds: float = 10.0
    allow_weak: bool = False
    """Whether it may run where neither namespaces nor Landlock are to be had."""

    def sandbox(self, X: Any) -> Sandbox:
        """Return a sandbox that holds these rows."""
        return Sandbox(X, memory_mb=self.memory_mb, seconds=self.seconds, allow_weak=self.allow_weak)


@dataclass(frozen=True)
class Context:
    """What every use case needs."""

    database: Database
    clock: Callable[[], datetime] = now_utc
    limits: Limits = field(default_factory=Limits)

    def now(self) -> str:
        """Return the hour as it is written down: UTC, to the microsecond, so that text sorts as time does."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
