"""Background: workers and the judge beside the server, as threads, until they are told to stop.

Whatever goes wrong with one submission is logged and tried again later: a thread never ends by itself. A thread that is
busy when it is to stop is left behind; its lease runs out, and somebody else scores.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from typing import Protocol

from biasbounty.server.logs import raised
from biasbounty.service.scoring import Worker
from biasbounty.service.service import Service

LOG = logging.getLogger("biasbounty.background")

POLL_SECONDS = 0.25
"""How soon at the latest each looks by itself, for what others handed in or scored. When exactly is drawn at random, so
that nobody learns from the moment of a verdict how long it took to reach."""
EVERYWHERE_SECONDS = 5.0
BACKOFF_SECONDS = (0.5, 10.0)
STOP_SECONDS = 1.0


class Bell(Protocol):
    """What wakes somebody: an event of this process, or one that processes share."""

    def set(self) -> None:
        """Ring."""

    def clear(self) -> None:
        """Be silent again."""

    def wait(self, timeout: float | None = None, /) -> bool:
        """Wait until it rings."""


class Background:
    """So many workers and one judge.

    Args:
        service: Whose submissions are scored and judged.
        workers: How many score.
        judge: Whether there is a judge among them; one is enough for a database, more do no harm.
        bell: Makes what each is woken by.
    """

    def __init__(
        self,
        service: Service,
        workers: int = 2,
        *,
        judge: bool = True,
        bell: Callable[[], Bell] = threading.Event,
    ) -> None:
        self._service = service
        self._stop, self._next = threading.Event(), 0.0
        self._bells = [bell() for _ in range(workers)]
        self._bell = bell()
        self._threads = [threading.Thread(target=self._score, args=(bell,), daemon=True) for bell in self._bells]
        if judge:
            self._threads.append(threading.Thread(target=self._judge, daemon=True))

    def __enter__(self) -> "Background":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wake(self) -> None:
        """Say that there is something new."""
        for bell in self._bells:
            bell.set()
        self._call_judge()

    def _call_judge(self) -> None:
        """Call the judge, but where verdicts are held back: there a worker's pace must not be seen in them."""
        if not self._service.context.limits.hold:
            self._bell.set()

    def wait(self) -> None:
        """Wait until it is stopped."""
        self._stop.wait()

    def stop(self) -> None:
        """Stop, within a second or so."""
        self._stop.set()
        for bell in (*self._bells, self._bell):
            bell.set()
        ends = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, ends - time.monotonic()))

    def _score(self, bell: Bell) -> None:
        with self._service.worker(f"worker-{secrets.token_hex(8)}") as worker:
            self._repeat(lambda: self._score_all(worker), bell)

    def _score_all(self, worker: Worker) -> None:
        while not self._stop.is_set() and worker.score_next():
            self._call_judge()

    def _judge(self) -> None:
        self._repeat(self._judge_all, self._bell)

    def _judge_all(self) -> None:
        """Judge where something waits; and everywhere now and then, since a bounty's last day may be over."""
        everywhere = time.monotonic() > self._next
        self._next = time.monotonic() + EVERYWHERE_SECONDS if everywhere else self._next
        for view in self._service.bounties():
            if view.judged < view.received or view.state == "closing" or (everywhere and view.state != "closed"):
                self._service.judge(view.id)

    def _repeat(self, work: Callable[[], None], bell: Bell) -> None:
        """Work whenever the bell rings, and now and then without it; after a failure wait longer and longer."""
        pause, longest = BACKOFF_SECONDS
        while not self._stop.is_set():
            bell.clear()
            try:
                work()
            except Exception as error:
                LOG.error("work failed", extra={"fields": raised(error)})
                self._stop.wait(pause)
                pause = min(2 * pause, longest)
            else:
                pause = BACKOFF_SECONDS[0]
                bell.wait(POLL_SECONDS * secrets.randbelow(1000) / 1000)
