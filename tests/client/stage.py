"""A small bounty on a real server on loopback, for tests of what speaks to one."""

import base64
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from biasbounty.cli.demo_service import served
from biasbounty.cli.place import organizer
from biasbounty.client import Client, RemoteBounty
from biasbounty.server import Background, create_app
from biasbounty.service.context import Context
from biasbounty.service.data import Data, Part, in_three
from biasbounty.service.service import Service
from biasbounty.service.terms import Terms
from biasbounty.store import Database
from tests.exchange.onnx_models import always

ROWS = 6000
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def rows(size: int = ROWS) -> Part:
    """Return rows of numbers, text and gaps; who is under 40 or a judge is labeled 1."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, size).astype(float)
    job = rng.choice(["cook", "judge", "smith"], size)
    y = ((age < 40) | (job == "judge")).astype(int)
    age[rng.random(size) < 0.05] = np.nan
    city = pa.array(rng.choice(["Bonn", "Rome"], size), mask=rng.random(size) < 0.3)
    return Part(pa.table({"AGEP": pa.array(age, from_pandas=True), "job": job, "city": city, "id": np.arange(size)}), y)


def data() -> Data:
    """Return the rows in three parts."""
    return in_three(rows(), 0)


class Repeats:
    """Draws ids, keys and tokens that are the same each time."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311

    def token_bytes(self, nbytes: int | None = None) -> bytes:
        """Draw so many bytes."""
        return self._random.randbytes(nbytes or 32)

    def token_hex(self, nbytes: int | None = None) -> str:
        """Draw so many bytes, in hexadecimal."""
        return self.token_bytes(nbytes).hex()

    def token_urlsafe(self, nbytes: int | None = None) -> str:
        """Draw so many bytes, as text that fits in an address."""
        return base64.urlsafe_b64encode(self.token_bytes(nbytes)).rstrip(b"=").decode()


@dataclass(frozen=True, eq=False)
class Stage:
    """A service with a bounty, and a server of it."""

    service: Service
    url: str
    bounty: str

    def token(self, **options: Any) -> str:
        """Make a hunter's token."""
        return self.service.create_token(organizer(), "hunter", "a hunter", **options)[1]

    @contextmanager
    def hunter(self, **options: Any) -> Iterator[RemoteBounty]:
        """Look at the bounty as a new hunter."""
        with Client(self.url, self.token(), **options) as client:
            yield client.bounty(self.bounty)


@contextmanager
def on_stage(folder: Path, terms: dict[str, Any] | None = None, **context: Any) -> Iterator[Stage]:
    """Open the bounty, and have it served, scored and judged."""
    database = Database.in_folder(folder)
    database.migrate()
    with Service(Context(database, **context)) as service, Background(service, workers=1) as background:
        named = Terms(**{"name": "Jobs", "label": "label", "pot": 100_000, **(terms or {})})
        bounty = service.open_bounty(organizer(), named, always(0, "AGEP"), data()).bounty.id
        with served(create_app(service, wake=background.wake), 0) as url:
            yield Stage(service, url, bounty)
