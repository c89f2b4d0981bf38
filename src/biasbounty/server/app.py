"""App: the routes, behind the gate."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from biasbounty._version import __version__
from biasbounty.server import (
    routes_bounties,
    routes_health,
    routes_ledger,
    routes_people,
    routes_submissions,
    shapes,
)
from biasbounty.server.door import Door
from biasbounty.server.gate import Gate
from biasbounty.server.problems import handle_problems
from biasbounty.server.settings import Settings
from biasbounty.service.service import Service

PREFIX = "/api/v1"
WORDS = """\
A bias bounty on a trained model: hunters hand in a group and a model that does better on it; each is judged on a
secret holdout. Reading a bounty, its ledger and its events needs no token; the rest needs one, as a bearer token.
Every error is a problem (RFC 9457) that says what was expected, what was there instead, and what to do.
"""


def create_app(service: Service, settings: Settings | None = None, wake: Callable[[], None] | None = None) -> FastAPI:
    """Return the app.

    Args:
        service: What it translates to. The app does not close it, and runs no workers: see `Background`.
        settings: What it takes from strangers.
        wake: Called when there is something new to score or judge.
    """
    door = Door(service, settings or Settings(), wake or _nobody)
    app = FastAPI(
        title="biasbounty",
        version=__version__,
        description=WORDS,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.door = door
    app.add_middleware(Gate, door=door)
    handle_problems(app)
    app.include_router(routes_health.router)
    for routes in (routes_submissions, routes_ledger, routes_bounties, routes_people):
        app.include_router(routes.router, prefix=PREFIX)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _nobody() -> None:
    """Wake nobody: whoever works here looks by himself."""


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    await app.state.door.live.close()


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the description of the API, with what a problem looks like."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        schemas[shapes.Problem.__name__] = shapes.Problem.model_json_schema()
        app.openapi_schema = made
    return app.openapi_schema
