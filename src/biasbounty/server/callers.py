"""Callers: who asks, by the token that comes along. What a token allows is the service's to say."""

import math
from typing import Annotated

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import HTTPBearer

from biasbounty.errors import NotAllowedError
from biasbounty.server.door import Door, TheDoor
from biasbounty.server.problems import unauthorized
from biasbounty.service.people import Identity

MOST_SECRET = 200

_scheme = HTTPBearer(auto_error=False, description="A token that the organizer gave you.")


async def _maybe(request: Request, door: TheDoor) -> Identity | None:
    """Return who asks; None if there is no token. A wrong one is refused everywhere."""
    given = request.headers.getlist("authorization")
    if not given:
        return None
    kind, _, secret = given[0].partition(" ")
    if len(given) > 1 or kind.lower() != "bearer" or not 0 < len(secret) <= MOST_SECRET:
        raise unauthorized("token cannot be read: expected one header 'Authorization: Bearer ...', got another thing")
    try:
        who = await door.ask(door.service.identify, secret.strip())
    except NotAllowedError as error:
        raise unauthorized(str(error)) from error
    request.state.token = who.token
    _require_pace(door, who)
    return who


async def _surely(
    who: Annotated[Identity | None, Depends(_maybe)], _: Annotated[object, Security(_scheme)]
) -> Identity:
    if who is None:
        raise unauthorized("token is missing: expected a header 'Authorization: Bearer ...', got none")
    return who


def _require_pace(door: Door, who: Identity) -> None:
    wait = door.tokens.wait(who.token)
    if wait:
        raise HTTPException(
            429,
            f"requests come too fast: expected {door.settings.requests_per_second:g} a second over long; wait a little",
            {"Retry-After": str(math.ceil(wait))},
        )


Anyone = Depends(_maybe)
"""For routes that need no token: a wrong one is refused all the same."""
Caller = Annotated[Identity, Depends(_surely)]
"""For routes that need a token."""
