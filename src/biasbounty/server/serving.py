"""Serving: the app behind a socket. A signal ends it in order.

Clients who dawdle over their headers, or take in no more of an answer, are cut off.
"""

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from biasbounty.errors import SettingsError
from biasbounty.server.door import Door
from biasbounty.server.logs import log_to

GRACE_SECONDS = 5
KEEP_SECONDS = 15


def serve(
    app: FastAPI,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    told: Callable[[str], None] = lambda _: None,
    logs: logging.Handler | None = None,
) -> None:
    """Serve the app until SIGINT or SIGTERM.

    Args:
        app: What `create_app` made.
        host: The address to listen on.
        port: The port to listen on; with 0, any that is free.
        told: Called with the server's own address once it listens.
        logs: Where the log goes; standard error if None.
    """
    log_to(logs or logging.StreamHandler(sys.stderr))
    listener = listen(host, port)
    with listener:
        server_of(app, f"http://{_written(host)}:{listener.getsockname()[1]}", told).run(sockets=[listener])


def server_of(app: FastAPI, address: str, told: Callable[[str], None]) -> "Server":
    """Return a server of the app."""
    door: Door = app.state.door
    settings = door.settings
    config = uvicorn.Config(
        app,
        http=_patient(settings.head_seconds, settings.pause_seconds),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=settings.most_connections,
        timeout_keep_alive=KEEP_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=settings.most_header_bytes,
    )
    return Server(config, door, address, told)


class Server(uvicorn.Server):
    """Says where it listens, and ends streams when it is to end."""

    def __init__(self, config: uvicorn.Config, door: Door, address: str, told: Callable[[str], None]) -> None:
        super().__init__(config)
        self._door, self._address, self._told = door, address, told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        self._told(self._address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all streams, then wait a little for the rest."""
        await self._door.live.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let a signal end the server, and no more than that, so that its caller can put things in order."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def _patient(head_seconds: float, pause_seconds: float) -> type[H11Protocol]:
    """Return the protocol, with so much patience for headers, and for who takes in no more of an answer."""

    class Patient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            self._timers: dict[str, asyncio.TimerHandle] = {}
            super().connection_made(transport)
            self.access_log = False  # the gate writes the log; this one would have queries in it
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            for name in tuple(self._timers):
                self._stop(name)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._start("answer", pause_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._stop("answer")

        def _watch(self) -> None:
            """Set the clock while headers are awaited, once; take it away when they are there."""
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self._start("head", head_seconds, self.transport.close)
            else:
                self._stop("head")

        def _start(self, name: str, seconds: float, then: Callable[[], None]) -> None:
            if name not in self._timers:
                self._timers[name] = self.loop.call_later(seconds, then)

        def _stop(self, name: str) -> None:
            if name in self._timers:
                self._timers.pop(name).cancel()

    return Patient


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there, and sends small answers at once: waiting to fill a packet costs 40 ms."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise SettingsError(
            f"server cannot listen there: expected a free port of this machine, got {host}:{port} ({error}); choose "
            "another, or 0 for any"
        ) from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
