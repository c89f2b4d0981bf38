"""Crew: workers and a judge as processes of their own, so that the server's answers need not wait for them.

Each is a `Background` in a fresh interpreter. One that dies is started again; all end with whoever started them,
however that ends.
"""

import logging
import multiprocessing
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event
from typing import Any

from biasbounty.server.background import Background, Bell
from biasbounty.service.context import Limits

LOG = logging.getLogger("biasbounty.background")

AGAIN_SECONDS = 1.0
STOP_SECONDS = 2.0


@dataclass(frozen=True)
class Post:
    """What one member of the crew does: a worker scores, the judge judges."""

    url: str
    limits: Limits
    is_judge: bool
    bell: Event


class Crew:
    """So many workers and one judge, each a process.

    Args:
        url: The database.
        limits: What a submitted model may use.
        workers: How many score.
        judge: Whether there is a judge among them.
    """

    def __init__(self, url: str, limits: Limits, workers: int = 2, *, judge: bool = True) -> None:
        self._spawn = multiprocessing.get_context("spawn")
        roles = [False] * workers + [True] * judge
        self._posts = [Post(url, limits, is_judge, self._spawn.Event()) for is_judge in roles]
        self._members: list[SpawnProcess] = []
        self._stop = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> "Crew":
        self._members = [self._start(post) for post in self._posts]
        self._keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wake(self) -> None:
        """Say that there is something new."""
        for post in self._posts:
            post.bell.set()

    def stop(self) -> None:
        """Stop; whoever is busy is left no time, and others take up the work when the lease runs out."""
        self._stop.set()
        self._keeper.join()
        for member in self._members:
            member.terminate()
        for member in self._members:
            member.join(STOP_SECONDS)
            if member.exitcode is None:
                member.kill()
                member.join()

    def _start(self, post: Post) -> SpawnProcess:
        member = self._spawn.Process(target=work, args=(post,), daemon=True)
        member.start()
        return member

    def _keep(self) -> None:
        """Start again whoever died."""
        while not self._stop.wait(AGAIN_SECONDS):
            for place, member in enumerate(self._members):
                if member.exitcode is not None:
                    LOG.error("process ended", extra={"fields": {"code": member.exitcode}})
                    self._members[place] = self._start(self._posts[place])


def work(post: Post) -> None:
    """Do what a member of the crew does, until whoever started it is gone."""
    from biasbounty.service.context import Context
    from biasbounty.service.service import Service
    from biasbounty.store import Database

    threading.Thread(target=_end_with_parent, daemon=True).start()
    with Service(Context(Database(post.url), limits=post.limits)) as service:
        bell: Callable[[], Bell] = lambda: post.bell  # noqa: E731
        with Background(service, 0 if post.is_judge else 1, judge=post.is_judge, bell=bell) as background:
            background.wait()


def _end_with_parent() -> None:
    parent: Any = multiprocessing.parent_process()
    wait([parent.sentinel])
    os._exit(0)
