"""Streaming: events as the server sends them (text/event-stream), again from the last one where the line breaks."""

import json
from collections.abc import Iterator
from typing import Any

import httpx

from biasbounty.client.http import Http
from biasbounty.client.values import Event
from biasbounty.errors import UnreachableError

MOST_BREAKS = 5
"""A line that breaks so often, with no event in between, is given up."""


def events_of(http: Http, path: str, after: int, follow: bool) -> Iterator[Event]:
    """Yield events; for ever, if it is to follow."""
    if not follow:
        yield from (_event(each) for each in http.entries(path, "after", after))
        return
    breaks = 0
    while True:
        try:
            headers = {"Last-Event-ID": str(after), "Accept": "text/event-stream"}
            with http.stream(f"{path}/stream", headers=headers, params={"after": after}) as answer:
                for event in _read(answer):
                    yield event
                    after, breaks = event.number, 0
        except UnreachableError:
            breaks += 1
            if breaks > MOST_BREAKS:
                raise
        http.pause(breaks)


def _read(answer: httpx.Response) -> Iterator[Event]:
    data: list[str] = []
    for line in answer.iter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield _event(json.loads("\n".join(data)))
            data = []


def _event(told: Any) -> Event:
    body = {name: value for name, value in told.items() if name not in ("number", "kind")}
    return Event(int(told["number"]), str(told["kind"]), body)
