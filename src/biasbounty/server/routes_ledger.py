"""Routes of the ledger and of events: for everybody, without a token."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, HTTPException, Query, Request
from fastapi.responses import StreamingResponse

from biasbounty.server import shapes
from biasbounty.server.callers import Anyone
from biasbounty.server.documented import MOST_NUMBER, BountyId, Most, Start, answers
from biasbounty.server.door import Door, TheDoor
from biasbounty.server.rates import asker_of

router = APIRouter(prefix="/bounties/{bounty}", tags=["ledger"], dependencies=[Anyone])

LINES, STREAM = "application/jsonl", "text/event-stream"
CHUNK = 500
"""So many lines are read at once, and the database is let go between."""
After = Annotated[int, Query(ge=0, le=MOST_NUMBER, description="The number of the last event that you know.")]


@router.get("/ledger", response_class=StreamingResponse, responses=answers(shapes.LINE, 404, kind=LINES, status=200))
async def ledger(
    door: TheDoor,
    bounty: BountyId,
    start: Start = 0,
    most: Annotated[int | None, Query(ge=1, le=MOST_NUMBER, description="How many lines; all if not said.")] = None,
) -> StreamingResponse:
    """Return the ledger, one entry a line, as it was signed."""
    await door.ask(door.service.bounty, bounty)
    return StreamingResponse(_lines(door, bounty, start, most), media_type=LINES)


@router.get("/ledger/head", responses=answers({"size": 3, "hash": shapes.RECEIPT["head"]}, 404))
async def head(door: TheDoor, bounty: BountyId) -> shapes.Head:
    """Return a receipt of the whole ledger: keep it, and nobody can rewrite what was before unseen."""
    view = await door.ask(door.service.bounty, bounty)
    return shapes.Head(size=view.ledger_size, hash=view.ledger_head)


@router.get("/events", responses=answers({"entries": [shapes.EVENT], "next": 7}, 404))
async def list_events(door: TheDoor, bounty: BountyId, after: After = 0, most: Most = 100) -> shapes.EventPage:
    """Return what was announced since an event."""
    await door.ask(door.service.bounty, bounty)
    page = await door.ask(door.service.events, bounty, after, most)
    return shapes.EventPage(entries=page.entries, next=page.next)


@router.get(
    "/events/stream",
    response_class=StreamingResponse,
    responses=answers("id: 7\nevent: judged\ndata: {...}\n\n", 404, kind=STREAM),
)
async def stream_events(
    request: Request,
    door: TheDoor,
    bounty: BountyId,
    after: After = 0,
    last: Annotated[str | None, Header(alias="Last-Event-ID", pattern="^[0-9]{1,9}$")] = None,
) -> StreamingResponse:
    """Send what is announced, as it happens."""
    await door.ask(door.service.bounty, bounty)
    asker = asker_of(request.client.host if request.client else "")
    if not door.streams.is_free(asker):
        raise HTTPException(
            429, "streams are too many: expected a few at once; close one, or ask for /events", {"Retry-After": "5"}
        )
    return StreamingResponse(_held(door, bounty, asker, int(last or after)), media_type=STREAM)


async def _held(door: Door, bounty: str, asker: str, after: int) -> AsyncIterator[str]:
    with door.streams.one(asker) as free:
        if free:
            async for event in door.live.stream(bounty, after):
                yield event


async def _lines(door: Door, bounty: str, start: int, most: int | None) -> AsyncIterator[bytes]:
    left = MOST_NUMBER if most is None else most
    while left > 0:
        lines = await door.ask(_chunk, door, bounty, start, min(left, CHUNK))
        if lines:
            yield b"\n".join([*lines, b""])
        start, left = start + len(lines), left - len(lines)
        if len(lines) < CHUNK:
            return


def _chunk(door: Door, bounty: str, start: int, most: int) -> list[bytes]:
    return list(door.service.ledger(bounty, start, most))
