"""Context: what every use case needs: the database, the hour, and how strangers' models are run."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from biasbounty.sandbox import Sandbox
from biasbounty.store import Database

MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"


def written(moment: datetime) -> str:
    """Write a moment down: UTC, to the microsecond, so that text sorts as time does."""
    return moment.astimezone(UTC).strftime(MOMENT)


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
    lease: float | None = None
    """For how many seconds a submission is one worker's; if not given, for longer than its models may take."""
    hold: float = 0.0
    """A submission is judged no sooner than so many seconds after it was received, nor than half as many after its
    scoring began. Of at least `steady`, how long it took on the holdout is not seen, while workers keep up."""

    @property
    def steady(self) -> float:
        """The hold that hides how long the group and the model of a submission took on the holdout, at the worst."""
        return 4 * self.seconds

    @property
    def lease_seconds(self) -> float:
        """For how many seconds a submission is one worker's: four runs in a sandbox that may have to start first."""
        return 60 + 6 * self.seconds if self.lease is None else self.lease

    def sandbox(self, X: Any) -> Sandbox:
        """Return a sandbox that holds these rows."""
        return Sandbox(X, memory_mb=self.memory_mb, seconds=self.seconds, allow_weak=self.allow_weak)


class Random(Protocol):
    """Where ids, keys and tokens are drawn from: the module `secrets`, or in a test something that repeats itself."""

    def token_hex(self, nbytes: int | None = None) -> str:
        """Draw so many bytes, in hexadecimal."""

    def token_bytes(self, nbytes: int | None = None) -> bytes:
        """Draw so many bytes."""

    def token_urlsafe(self, nbytes: int | None = None) -> str:
        """Draw so many bytes, as text that fits in an address."""


@dataclass(frozen=True)
class Context:
    """What every use case needs. With one clock and one source of ids, the same submissions give the same ledger."""

    database: Database
    clock: Callable[[], datetime] = now_utc
    random: Random = secrets
    limits: Limits = field(default_factory=Limits)

    def now(self) -> str:
        """Return the hour as it is written down."""
        return self.later(0)

    def later(self, seconds: float) -> str:
        """Return the hour in so many seconds."""
        return written(self.clock() + timedelta(seconds=seconds))
