"""Live: a bounty's events as they happen, as server-sent events. One look at the database serves all who listen."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from biasbounty.errors import BiasBountyError

if TYPE_CHECKING:
    from biasbounty.server.door import Door

RETRY = "retry: 2000\n\n"
HEARTBEAT = ": still here\n\n"


class Live:
    """Looks for new events of those bounties that somebody listens to."""

    def __init__(self, door: "Door") -> None:
        self._door = door
        self._newest: Counter[str] = Counter()
        self._listeners: Counter[str] = Counter()
        self._news: asyncio.Condition = asyncio.Condition()
        self._looking: dict[str, asyncio.Task[None]] = {}
        self.closed = False

    async def stream(self, bounty: str, after: int) -> AsyncIterator[str]:
        """Yield a bounty's events from a number on, for as long as a stream lasts."""
        ends = time.monotonic() + self._door.settings.stream_seconds
        self._enter(bounty, after)
        try:
            yield RETRY
            while not self.closed and time.monotonic() < ends:
                page = await self._door.ask(self._door.service.events, bounty, after)
                for event in page.entries:
                    after = event["number"]
                    yield as_event(event)
                if not page.entries and not await self._is_newer(bounty, after):
                    yield HEARTBEAT
        finally:
            self._leave(bounty)

    async def close(self) -> None:
        """End all streams."""
        self.closed = True
        for task in self._looking.values():
            task.cancel()
        async with self._news:
            self._news.notify_all()

    def _enter(self, bounty: str, after: int) -> None:
        self._listeners[bounty] += 1
        if bounty not in self._looking:
            self._newest[bounty] = after
            self._looking[bounty] = asyncio.create_task(self._look(bounty))

    def _leave(self, bounty: str) -> None:
        self._listeners[bounty] -= 1
        if not self._listeners[bounty]:
            self._looking.pop(bounty).cancel()
            del self._listeners[bounty], self._newest[bounty]

    async def _is_newer(self, bounty: str, after: int) -> bool:
        """Wait until there is an event after a number; say whether there was one before the next heartbeat."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._door.settings.heartbeat_seconds), self._news:
                await self._news.wait_for(lambda: self.closed or self._newest[bounty] > after)
                return True
        return False

    async def _look(self, bounty: str) -> None:
        while True:
            with suppress(BiasBountyError):  # a database that is away comes back, or the streams' own questions tell
                page = await self._door.ask(self._door.service.events, bounty, self._newest[bounty])
                if page.entries:
                    self._newest[bounty] = page.entries[-1]["number"]
                    async with self._news:
                        self._news.notify_all()
            await asyncio.sleep(self._door.settings.poll_seconds)


def as_event(event: dict[str, Any]) -> str:
    """Return an event as it goes over the line."""
    return f"id: {event['number']}\nevent: {event['kind']}\ndata: {json.dumps(event)}\n\n"
