"""A service with a bounty whose holdout is marked, people of every role, and a server to ask them with."""

import io
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
from fastapi import FastAPI
from pyarrow import parquet

from biasbounty.server import Background, Settings, create_app
from biasbounty.server.door import Door
from biasbounty.server.logs import Lines
from biasbounty.server.serving import listen, server_of
from biasbounty.service.context import Context, Limits
from biasbounty.service.people import Identity
from biasbounty.service.service import Service
from biasbounty.store import Database
from tests.exchange.onnx_models import always

HIDDEN_JOB = "zymurgist-of-the-holdout"
MARK = 0.7310585
"""Every holdout x has this after its point, no other row has."""
ROLES = ("anonymous", "observer", "hunter", "other", "organizer")
FAST = Settings(
    requests_per_second=1e6,
    request_burst=10**6,
    address_requests_per_second=1e6,
    address_burst=10**6,
    heartbeat_seconds=0.05,
    stream_seconds=0.1,
    poll_seconds=0.02,
)


def rows(size: int, seed: int, *, holdout: bool = False) -> pa.Table:
    """Return labelled rows: who is under 40, or a judge, has 1."""
    rng = np.random.default_rng(seed)
    x = rng.integers(18, 90, size) + (MARK if holdout else 0.0)
    job = rng.choice(["cook", "judge"], size).astype(object)
    y = (x < 40) | (job == "judge")
    if holdout:
        job[:5] = HIDDEN_JOB
    return pa.table({"x": x, "job": pa.array(job.tolist()), "y": y.astype(int)})


def as_parquet(table: pa.Table) -> bytes:
    written = io.BytesIO()
    parquet.write_table(table, written)
    return written.getvalue()


def opening_form(
    size: int = 400, holdout: pa.Table | None = None, public: pa.Table | None = None, **terms: Any
) -> dict[str, Any]:
    """Return what httpx needs to open a bounty."""
    kept = rows(2 * size, 3, holdout=True) if holdout is None else holdout
    shown = rows(size, 2) if public is None else public
    return {
        "data": {"terms": json.dumps({"name": "Who is it", "label": "y", "epsilon": 0.05} | terms)},
        "files": {
            "model": ("model.onnx", always(0, "x")),
            "train": ("train.parquet", as_parquet(rows(size, 1))),
            "public": ("public.parquet", as_parquet(shown)),
            "holdout": ("holdout.parquet", as_parquet(kept)),
        },
    }


def submission_form(group: str | bytes = "x < 40", model: bytes | None = None, note: str = "") -> dict[str, Any]:
    """Return what httpx needs to hand in a submission."""
    files = {"model": ("model.onnx", model or always(1, "x"))}
    if isinstance(group, bytes):
        return {"data": {"note": note}, "files": {**files, "group": ("group.onnx", group)}}
    return {"data": {"note": note, "group": group}, "files": files}


def headers_of(secret: str | None) -> dict[str, str]:
    return {} if secret is None else {"Authorization": f"Bearer {secret}"}


@dataclass
class World:
    """A service and its people."""

    service: Service
    app: FastAPI
    secrets: dict[str, str | None] = field(default_factory=dict)
    hunters: dict[str, str] = field(default_factory=dict)
    bounty: str = ""
    address: str = ""

    @property
    def door(self) -> Door:
        door: Door = self.app.state.door
        return door

    def who(self, role: str) -> Identity:
        secret = self.secrets[role]
        assert secret is not None
        return self.service.identify(secret)

    def add_hunter(self, name: str) -> str:
        """Make a hunter; return the secret."""
        token, secret = self.service.create_token(self.who("organizer"), "hunter", "test", name)
        assert token.hunter is not None
        self.secrets[name], self.hunters[name] = secret, token.hunter
        return secret

    def client(self, role: str) -> httpx.Client:
        """Return somebody who asks the server, and fails on an answer that is not described."""
        hooks = {"response": [self._require_described]}
        headers = headers_of(self.secrets[role])
        return httpx.Client(base_url=self.address, headers=headers, timeout=60, event_hooks=hooks)

    def _require_described(self, answer: httpx.Response) -> None:
        for path, methods in self.app.openapi()["paths"].items():
            operation = methods.get(answer.request.method.lower())
            if operation and re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), answer.request.url.path):
                assert str(answer.status_code) in operation["responses"], (path, answer.status_code)

    def new_bounty(self) -> str:
        """Open one more bounty, a small one."""
        with self.client("organizer") as organizer:
            return str(organizer.post("/api/v1/bounties", **opening_form(100)).json()["bounty"]["id"])

    def work(self) -> None:
        """Score and judge all that waits."""
        with self.service.worker("test") as worker:
            while worker.score_next():
                pass
        self.service.judge_all()


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    """Serve an app on loopback."""
    heard = threading.Event()
    with listen("127.0.0.1", 0) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = server_of(app, address, lambda _: heard.set())
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        assert heard.wait(20)
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


@contextmanager
def a_world(
    folder: Path,
    settings: Settings = FAST,
    limits: Limits | None = None,
    form: dict[str, Any] | None = None,
    workers: int = 0,
) -> Iterator[World]:
    """Open a service with one bounty."""
    database = Database.in_folder(folder)
    database.migrate()
    with ExitStack() as stack:
        service = stack.enter_context(Service(Context(database, limits=limits or Limits())))
        wake: Callable[[], None] | None = None
        if workers:
            wake = stack.enter_context(Background(service, workers)).wake
        world = World(service, create_app(service, settings, wake))
        world.address = stack.enter_context(listening(world.app))
        world.secrets |= {"anonymous": None, "organizer": service.init()}
        world.secrets["observer"] = service.create_token(world.who("organizer"), "observer", "test")[1]
        world.add_hunter("hunter")
        world.add_hunter("other")
        with world.client("organizer") as organizer:
            opened = organizer.post("/api/v1/bounties", **(form or opening_form()))
        assert opened.status_code == 201, opened.text
        world.bounty = opened.json()["bounty"]["id"]
        yield world


class Kept(logging.Handler):
    """Keeps what is logged, as it would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(Lines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@contextmanager
def logs_kept() -> Iterator[list[str]]:
    """Keep all that is logged, by whomever."""
    kept, root = Kept(), logging.getLogger()
    before = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    loggers = [logging.getLogger(name) for name in ("biasbounty", "uvicorn")]
    levels = [(logger, logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
        logger.propagate = True
    try:
        yield kept.lines
    finally:
        root.removeHandler(kept)
        root.setLevel(before)
        for logger, level, propagate in levels:
            logger.setLevel(level)
            logger.propagate = propagate


def settings_with(**changes: Any) -> Settings:
    """Return fast settings but for some."""
    return replace(FAST, **changes)
