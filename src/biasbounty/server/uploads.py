"""Uploads: bodies are read as they come, to a cap and not slower than a rate; files go to disk, their names nowhere.

Who asks is known before the first byte of a body is read.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import python_multipart  # noqa: F401  # what starlette reads forms by: without it, say so at once
from fastapi import HTTPException, Request
from pydantic import BaseModel
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect
from starlette.types import Message

from biasbounty.errors import SettingsError
from biasbounty.server.door import Door
from biasbounty.service.people import Identity

T = TypeVar("T", bound=BaseModel)

SPARE_BYTES = 64 * 1024
"""For what stands between the parts."""
LEFT_SECONDS = 5.0
"""How long the rest of a body that is too large is read and thrown away, so that its sender hears why."""
MOST_PARTS = 20


class Body:
    """The body of a request, to be received part by part."""

    def __init__(self, request: Request, door: Door, most: int) -> None:
        self._receive, self._settings, self._most = request.receive, door.settings, most
        self._size, self._start = 0, time.monotonic()
        self._declared = request.headers.get("content-length", "")

    async def receive(self) -> Message:
        """Return the next part, unless the body is too large or too slow."""
        if self._declared.isdecimal() and int(self._declared[:20]) > self._most:
            await self._refuse()
        message = await self._next(self._settings.pause_seconds)
        self._size += len(message.get("body", b""))
        if self._size > self._most:
            await self._refuse()
        if self._late() > 0:
            raise _slow()
        return message

    async def _next(self, seconds: float) -> Message:
        try:
            return await asyncio.wait_for(self._receive(), seconds)
        except TimeoutError as error:
            raise _slow() from error

    def _late(self) -> float:
        allowed = self._settings.grace_seconds + self._size / self._settings.bytes_per_second
        return time.monotonic() - self._start - allowed

    async def _refuse(self) -> None:
        ends, more = time.monotonic() + LEFT_SECONDS, True
        while more and time.monotonic() < ends:
            message = await self._next(LEFT_SECONDS)
            more = bool(message.get("more_body"))
        raise HTTPException(
            413,
            f"body is too large: expected at most {self._most:,} bytes, got more; send less",
            {"Connection": "close"},
        )


class Form:
    """The parts of a form, each at most once."""

    def __init__(self, data: FormData) -> None:
        self._data = data

    def verify_names(self, *names: str) -> None:
        """Raise unless there are no parts but these, and none twice."""
        for name in self._data:
            if name not in names:
                raise SettingsError(f"form has an unknown part: expected some of {', '.join(names)}, got {name!r:.60}")
            if len(self._data.getlist(name)) > 1:
                raise SettingsError(f"form has a part twice: expected {name} once, got {len(self._data.getlist(name))}")

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def text(self, name: str, default: str | None = None) -> str:
        """Return a part that is text."""
        part = self._data.get(name, default)
        if not isinstance(part, str):
            raise SettingsError(f"form has no {name}: expected text, got {_kind(part)}")
        return part

    async def file(self, name: str, most: int) -> bytes:
        """Return the bytes of a part that is a file."""
        part = self._data.get(name)
        if not isinstance(part, UploadFile):
            raise SettingsError(f"form has no {name}: expected a file, got {_kind(part)}")
        if (part.size or 0) > most:
            raise HTTPException(413, f"{name} is too large: expected at most {most:,} bytes, got {part.size:,}")
        return await part.read()

    async def text_or_file(self, name: str, most: int) -> str | bytes:
        """Return a part that is either."""
        part = self._data.get(name)
        return part if isinstance(part, str) else await self.file(name, most)


@asynccontextmanager
async def read_form(request: Request, door: Door, who: Identity, most: int) -> AsyncIterator[Form]:
    """Read a multipart form, of so many bytes at most."""
    _require_kind(request, "multipart/form-data")
    with door.uploads.one(who.token) as free:
        if not free:
            raise HTTPException(429, "uploads are too many: expected a few at once; wait for one", {"Retry-After": "1"})
        body = Body(request, door, most + SPARE_BYTES)
        own = Request(request.scope, body.receive)
        async with own.form(
            max_files=MOST_PARTS, max_fields=MOST_PARTS, max_part_size=door.settings.most_json_bytes
        ) as form:
            yield Form(form)


async def read_json(request: Request, door: Door, kind: type[T]) -> T:
    """Read a small body of JSON."""
    _require_kind(request, "application/json")
    body, data, more = Body(request, door, door.settings.most_json_bytes), b"", True
    while more:
        message = await body.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        data += message.get("body", b"")
        more = bool(message.get("more_body"))
    return kind.model_validate_json(data)


def _require_kind(request: Request, kind: str) -> None:
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() != kind:
        raise HTTPException(415, f"body is of another kind: expected {kind}, got {given[:60] or 'none'}")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "body is packed: expected it as it is, without Content-Encoding; send it so")


def _kind(part: object) -> str:
    return "none" if part is None else "text" if isinstance(part, str) else "a file"


def _slow() -> HTTPException:
    return HTTPException(
        408,
        "body came too slowly: expected it without long pauses; try again on a better line",
        {"Connection": "close"},
    )
