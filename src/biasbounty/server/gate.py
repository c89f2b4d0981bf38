"""Gate: what every request passes, before and after anything else.

Floods are turned away, answers get the headers that keep browsers careful, whatever was not foreseen becomes a problem
without words, and each request is one line in the log and one more in the metrics.
"""

import math
import secrets
import time
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biasbounty.server.door import Door
from biasbounty.server.logs import LOG, raised
from biasbounty.server.problems import UNSAID, problem
from biasbounty.server.rates import asker_of

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""On every answer that has none of its own."""
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
GONE = 499
"""For the log: the client went away before it had its answer."""


class Gate:
    """Wraps the app."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or turn it away."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        visit = Visit(scope, send, self._door)
        refusal = self._refusal(scope, visit.address)
        try:
            await (self._app if refusal is None else refusal)(scope, receive, visit.send)
        except ClientDisconnect:
            visit.status = visit.status or GONE
        except Exception as error:
            visit.error = error
            if not visit.status:
                await problem(500, UNSAID[500], "Error")(scope, receive, visit.send)
        finally:
            visit.log()

    def _refusal(self, scope: Scope, address: str) -> Response | None:
        settings = self._door.settings
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size + len(scope.get("query_string", b"")) > settings.most_header_bytes or (
            len(scope["headers"]) > settings.most_headers
        ):
            return problem(
                431, f"headers are too large: expected at most {settings.most_header_bytes:,} bytes in all; send fewer"
            )
        wait = self._door.addresses.wait(asker_of(address))
        if wait:
            words = "requests come too fast from this address: expected fewer; wait a little"
            return problem(429, words, headers={"Retry-After": str(math.ceil(wait))})
        return None


class Visit:
    """One request, on its way through."""

    def __init__(self, scope: Scope, send: Send, door: Door) -> None:
        self._scope, self._send, self._door = scope, send, door
        self._start, self._number = time.monotonic(), secrets.token_hex(8)
        self.address = (scope.get("client") or ("", 0))[0]
        self.status = 0
        self.error: Exception | None = None
        scope.setdefault("state", {})

    async def send(self, message: Message) -> None:
        """Pass on a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers["X-Request-Id"] = self._number
        await self._send(message)

    def log(self) -> None:
        """Count it, and write a line."""
        seconds = time.monotonic() - self._start
        method = self._scope["method"] if self._scope["method"] in METHODS else "other"
        route = _route(self._scope)
        self._door.metrics.count(method, route, self.status or HTTPStatus.INTERNAL_SERVER_ERROR, seconds)
        fields = {
            "request": self._number,
            "method": method,
            "route": route,
            "status": self.status,
            "milliseconds": round(seconds * 1000, 2),
            "address": self.address,
            "token": self._scope["state"].get("token"),
        }
        told = self.error or self._scope["state"].get("error")
        if told is not None:
            fields |= raised(told)
        level = "error" if self.error is not None or self.status >= 500 else "info"
        getattr(LOG, level)("request", extra={"fields": fields})


def _route(scope: Scope) -> str:
    """Return the path with names in place of ids; all paths that lead nowhere are one."""
    if scope.get("endpoint") is None:
        return "other"
    names = {str(value): f"{{{name}}}" for name, value in scope.get("path_params", {}).items()}
    return "/".join(names.get(part, part) for part in scope["path"].split("/"))
