"""Routes for whoever runs the server: whether it is well, and figures."""

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from biasbounty.server import metrics, shapes
from biasbounty.server.callers import Caller
from biasbounty.server.documented import answers
from biasbounty.server.door import TheDoor

router = APIRouter(tags=["health"])


@router.get("/healthz", responses=answers({"status": "ok"}))
async def healthz(door: TheDoor) -> shapes.Health:
    """Say whether the server answers, and its database."""
    await door.ask(door.service.bounties)
    return shapes.Health()


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=answers("biasbounty_streams 0\n", 403, kind="text/plain"),
)
async def figures(door: TheDoor, who: Caller) -> Response:
    """Return figures for Prometheus, to the organizer or an observer."""
    who.require("organizer", "observer")
    views = await door.ask(door.service.bounties)
    return Response(door.metrics.as_text(views, door.streams.taken), media_type=metrics.KIND)
