"""A small bounty for tests of the service: rows, a model that is wrong about two groups, and hunters who see it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
from onnx import helper

from biasbounty.arrays import Array
from biasbounty.core.answers import answers_of
from biasbounty.core.rows import Rows
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.service.context import Context, Limits
from biasbounty.service.data import Data, in_three, with_label
from biasbounty.service.opening import Prepared, open_bounty, prepare
from biasbounty.service.people import Identity
from biasbounty.service.scoring import Worker
from biasbounty.service.service import Service
from biasbounty.service.submitting import Handed
from biasbounty.service.terms import Terms
from biasbounty.store import Database
from tests.exchange.onnx_models import FLOAT, INT64, always, below, equal_to, model_of

ROWS = 4000


@cache
def data(seed: int = 0) -> Data:
    """Return rows on which the answer is 1 for the young and for judges."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 90, ROWS).astype(float), np.round(rng.normal(40, 9, ROWS), 1)
    job = rng.choice(["cook", "judge", "smith"], ROWS)
    y = ((age < 40) | (job == "judge")).astype(int) ^ (rng.random(ROWS) < 0.02)
    table = pa.table({"AGEP": age, "income": income, "job": job, "y": y})
    return in_three(with_label(table, "y"), seed)


class Near:
    """Runs models in this process: for tests in which nobody is a stranger."""

    def __init__(self, X: Any) -> None:
        self._X = X

    def __enter__(self) -> "Near":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def predict(self, model: bytes, rows: Any = None) -> Array:
        """Answer for these rows."""
        own = self._X if rows is None else self._X.take(rows)
        return answers_of(OnnxModel(model), Rows(own))

    def close(self) -> None:
        """Keep nothing."""


@dataclass(frozen=True)
class NearLimits(Limits):
    """Limits of nothing: models run in this process."""

    def sandbox(self, X: Any) -> Any:
        """Return what runs models near by."""
        return Near(X)


@dataclass
class Clock:
    """A clock that goes when it is told to."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the hour."""
        return self.now

    def tick(self, **parts: float) -> None:
        """Go on."""
        self.now += timedelta(**parts)


@dataclass
class Drawn:
    """Draws the same again each time, from a seed."""

    seed: int = 0
    drawn: int = field(default=0, init=False)

    def token_bytes(self, nbytes: int | None = None) -> bytes:
        """Draw so many bytes."""
        self.drawn += 1
        return sha256(b"%d %d" % (self.seed, self.drawn)).digest()[: nbytes or 32]

    def token_hex(self, nbytes: int | None = None) -> str:
        """Draw so many bytes, in hexadecimal."""
        return self.token_bytes(nbytes).hex()

    def token_urlsafe(self, nbytes: int | None = None) -> str:
        """Draw so many bytes, as hexadecimal too."""
        return self.token_hex(nbytes)


@cache
def prepared(**terms: Any) -> Prepared:
    """Return a bounty that is checked, on these terms."""
    context = Context(Database("sqlite:///nowhere"), limits=NearLimits())
    return prepare(context, Terms(**{"name": "test", "label": "y", "pot": 100_000, **terms}), always(0, "AGEP"), data())


@dataclass
class World:
    """A service with a bounty, two hunters, and one who watches."""

    service: Service
    bounty: str
    clock: Clock
    organizer: Identity
    ann: Identity
    bob: Identity
    observer: Identity

    def submit(self, *submissions: Handed, who: Identity | None = None) -> list[str]:
        """Hand in submissions, and return their ids."""
        hunter = who or self.ann
        return [self.service.submit(hunter, self.bounty, each).submission for each in submissions]

    def score(self, name: str = "worker") -> int:
        """Score all that can be scored."""
        with Worker(self.service.context, name) as worker:
            return sum(iter(worker.score_next, False))

    def finish(self) -> int:
        """Score and judge all that was handed in."""
        self.score()
        return self.service.judge(self.bounty)

    def state(self, submission: str) -> str:
        """Return a submission's state, as the organizer sees it."""
        return self.service.submission(self.organizer, submission).state

    def kinds(self) -> list[str]:
        """Return the kinds of the ledger's entries."""
        from biasbounty.ledger.entries import read_line

        return [read_line(line).entry.kind for line in self.service.ledger(self.bounty)]


def context_of(database: Database, clock: Clock | None = None, seed: int = 0, **limits: Any) -> Context:
    """Return a context in which everything repeats itself, and models run in this process."""
    return Context(database, clock or Clock(), Drawn(seed), NearLimits(**limits))


def world(database: Database, terms: dict[str, Any] | None = None, **limits: Any) -> World:
    """Open a bounty."""
    clock = Clock()
    service = Service(context_of(database, clock, **limits))
    organizer = service.identify(service.init())
    bounty = open_bounty(service.context, prepared(**terms or {}))
    ann, bob = (_hunter(service, organizer, name, team) for name, team in (("Ann", "blue"), ("Bob", None)))
    observer = service.identify(service.create_token(organizer, "observer", "press")[1])
    return World(service, bounty, clock, organizer, ann, bob, observer)


def _hunter(service: Service, organizer: Identity, name: str, team: str | None) -> Identity:
    token, secret = service.create_token(organizer, "hunter", name, name, team)
    assert token.hunter is not None
    return service.identify(secret)


def between(column: str, low: float, high: float) -> bytes:
    """Return a model that says 1 where a column is from low to below high."""
    nodes = [
        helper.make_node("Less", [column, "high"], ["under"]),
        helper.make_node("Less", [column, "low"], ["lower"]),
        helper.make_node("Not", ["lower"], ["over"]),
        helper.make_node("And", ["under", "over"], ["inside"]),
        helper.make_node("Cast", ["inside"], ["answer"], to=INT64),
    ]
    constants = [helper.make_tensor(name, FLOAT, [1, 1], [value]) for name, value in (("low", low), ("high", high))]
    return model_of(nodes, [(column, FLOAT, ["N", 1])], ("answer", INT64, ["N", 1]), constants)


def broken_above(column: str, value: float) -> bytes:
    """Return a model that fails where a column is above a value, by an index that is out of bounds there."""
    nodes = [
        helper.make_node("Greater", [column, "value"], ["more"]),
        helper.make_node("Cast", ["more"], ["number"], to=INT64),
        helper.make_node("Gather", ["one", "number"], ["answer"], axis=0),
    ]
    constants = [helper.make_tensor("value", FLOAT, [1, 1], [value]), helper.make_tensor("one", INT64, [1], [1])]
    return model_of(nodes, [(column, FLOAT, ["N", 1])], ("answer", INT64, ["N", 1]), constants)


def stream(length: int = 24, seed: int = 0) -> Sequence[Handed]:
    """Return submissions, good and bad, that need repairs among them."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(length):
        low = int(rng.integers(18, 80))
        high = low + int(rng.integers(5, 30))
        groups: list[str | bytes] = [
            f"AGEP >= {low} AND AGEP < {high}",
            f"AGEP < {high}",
            below("AGEP", float(high)),
            "job = 'judge'",
            f"job = 'cook' OR income > {low}",
            equal_to("job", "judge"),
        ]
        models = [always(1, "AGEP"), always(0, "AGEP"), between("AGEP", 18, 40), below("AGEP", 40.0, answer=INT64)]
        models.append(equal_to("job", "judge"))
        group, model = groups[rng.integers(len(groups))], models[rng.integers(len(models))]
        made.append(Handed(group, model, f"note {number}", f"key {number}"))
    return made
