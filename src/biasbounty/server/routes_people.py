"""Routes of people: tokens, and the right to be forgotten."""

from fastapi import APIRouter, Request

from biasbounty.server import shapes
from biasbounty.server.callers import Caller
from biasbounty.server.documented import BODY, HunterId, TokenId, answers, json_body
from biasbounty.server.door import TheDoor
from biasbounty.server.uploads import read_json

router = APIRouter(tags=["people"])

NEW = {"scope": "hunter", "label": "for the course", "name": "Ada", "team": None}


@router.get("/me", responses=answers({"token": "9f86d081884c7d65", "scope": "hunter", "hunter": "5d1f2c9a7b3e4f60"}))
async def me(who: Caller) -> shapes.Me:
    """Return whose token this is."""
    return shapes.Me(token=who.token, scope=who.scope, hunter=who.hunter)


@router.get("/tokens", responses=answers({"entries": [shapes.TOKEN], "next": None}, 403))
async def list_tokens(door: TheDoor, who: Caller) -> shapes.TokenPage:
    """Return all tokens, without their secrets."""
    return shapes.TokenPage(entries=await door.ask(door.service.tokens, who))


@router.post(
    "/tokens",
    status_code=201,
    openapi_extra=json_body(shapes.NewToken, NEW),
    responses=answers({"token": shapes.TOKEN, "secret": "bb_..."}, 403, *BODY, status=201),
)
async def create_token(request: Request, door: TheDoor, who: Caller) -> shapes.CreatedToken:
    """Make a token. Its secret is shown this once."""
    who.require("organizer")
    new = await read_json(request, door, shapes.NewToken)
    token, secret = await door.ask(door.service.create_token, who, new.scope, new.label, new.name, new.team)
    return shapes.CreatedToken(token=token, secret=secret)


@router.post("/tokens/{token}/renew", responses=answers({"token": shapes.TOKEN, "secret": "bb_..."}, 403, 404, 409))
async def renew_token(door: TheDoor, who: Caller, token: TokenId) -> shapes.CreatedToken:
    """Make a token that takes the place of this one: for the organizer, or whoever has it."""
    renewed, secret = await door.ask(door.service.renew_token, who, token)
    return shapes.CreatedToken(token=renewed, secret=secret)


@router.delete("/tokens/{token}", status_code=204, responses=answers(None, 403, 404, status=204))
async def revoke_token(door: TheDoor, who: Caller, token: TokenId) -> None:
    """Let a token be none from now on."""
    await door.ask(door.service.revoke_token, who, token)


@router.delete("/hunters/{hunter}", status_code=204, responses=answers(None, 403, 404, status=204))
async def erase_hunter(door: TheDoor, who: Caller, hunter: HunterId) -> None:
    """Forget a hunter's name and team, and revoke the tokens; for the organizer, or the hunter."""
    await door.ask(door.service.erase_hunter, who, hunter)
