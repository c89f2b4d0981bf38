"""A plant: a server, workers and judges as processes of their own, any of which can be killed at any moment.

They are forked off a process that has imported everything, so that one that was killed is soon back.
"""

import logging
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from biasbounty.server import Settings, create_app, serve
from biasbounty.service.context import Context, Limits
from biasbounty.service.service import Service
from biasbounty.store import Database

LEASE_SECONDS = 2.0
POLL_SECONDS = 0.02
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.faults.plant", "biasbounty.exchange.onnx_run", "onnxruntime"])


def service_of(url: str) -> Service:
    """Return a service on the database; a submission that a worker lost is soon another's."""
    return Service(Context(Database(url), limits=Limits(lease=LEASE_SECONDS)))


def _serve(url: str, port: int) -> None:
    logging.disable()
    many = 10**6
    settings = Settings(
        requests_per_second=many, request_burst=many, address_requests_per_second=many, address_burst=many
    )
    serve(create_app(service_of(url), settings), port=port)


def _score(url: str, name: int) -> None:
    with service_of(url).worker(f"worker {name}") as worker:
        _for_ever(worker.score_next)


def _judge(url: str, _: int) -> None:
    service = service_of(url)
    _for_ever(lambda: service.judge_all() > 0)


def _for_ever(work: Callable[[], bool]) -> None:
    while True:
        try:
            if not work():
                time.sleep(POLL_SECONDS)
        except Exception:
            time.sleep(POLL_SECONDS)


@dataclass
class Plant:
    """A server, two workers and two judges on one database."""

    url: str
    port: int = field(init=False)
    _processes: list[Any] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def __enter__(self) -> "Plant":
        self._processes = [self._start(place) for place in range(len(self._roles))]
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            self._end(process)

    @property
    def address(self) -> str:
        """Where the server is."""
        return f"http://127.0.0.1:{self.port}/api/v1"

    @property
    def _roles(self) -> list[tuple[Callable[[str, int], None], int]]:
        return [(_serve, self.port), (_score, 0), (_score, 1), (_judge, 0), (_judge, 1)]

    @property
    def size(self) -> int:
        """How many processes there are."""
        return len(self._roles)

    def kill(self, place: int) -> None:
        """Kill a process, and start another in its place."""
        self._end(self._processes[place])
        self._processes[place] = self._start(place)

    def _start(self, place: int) -> Any:
        target, number = self._roles[place]
        process = _PROCESSES.Process(target=target, args=(self.url, number), daemon=True)
        process.start()
        return process

    def _end(self, process: Any) -> None:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
