"""Door: what every route needs. Work that waits for the database is done in threads, a bounded number of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request

from biasbounty.server.live import Live
from biasbounty.server.metrics import Metrics
from biasbounty.server.rates import Places, Rates
from biasbounty.server.settings import Settings
from biasbounty.service.service import Service

P = ParamSpec("P")
T = TypeVar("T")

MOST_UPLOADS = 64
HEAVY_THREADS = 2


@dataclass
class Door:
    """The service, and what is counted of those who ask for it."""

    service: Service
    settings: Settings
    wake: Callable[[], None]
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        settings = self.settings
        known = settings.most_known
        self.tokens = Rates(settings.requests_per_second, settings.request_burst, known)
        self.addresses = Rates(settings.address_requests_per_second, settings.address_burst, known)
        self.uploads = Places(MOST_UPLOADS, settings.most_uploads_each)
        self.streams = Places(settings.most_streams, settings.most_streams_each)
        self.live = Live(self)
        self._light, self._heavy = CapacityLimiter(settings.threads), CapacityLimiter(HEAVY_THREADS)

    async def ask(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Ask the service for something quick."""
        return await to_thread.run_sync(partial(call, *args, **kwargs), limiter=self._light)

    async def ask_much(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Ask the service for something slow, so that quick things need not wait for it."""
        return await to_thread.run_sync(partial(call, *args, **kwargs), limiter=self._heavy)


def door_of(request: Request) -> Door:
    """Return the door of the app that was asked."""
    door: Door = request.app.state.door
    return door


async def _door(request: Request) -> Door:
    return door_of(request)


TheDoor = Annotated[Door, Depends(_door)]
