"""Documented: what OpenAPI says of each route: an example of its answer, every status it may have, and its body."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel

from biasbounty.server.problems import KIND
from biasbounty.server.shapes import Problem

MOST_NUMBER = 2**31 - 1
ID = r"^[0-9A-Za-z_-]{1,64}$"

BountyId = Annotated[str, Path(pattern=ID, description="The id of a bounty.", examples=["bd0260d44c818ca3"])]
SubmissionId = Annotated[str, Path(pattern=ID, description="The id of a submission.", examples=["4b1d5380858eb608"])]
TokenId = Annotated[str, Path(pattern=ID, description="The id of a token.", examples=["9f86d081884c7d65"])]
HunterId = Annotated[str, Path(pattern=ID, description="The id of a hunter.", examples=["5d1f2c9a7b3e4f60"])]
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="A SHA-256.", examples=["2" * 64])]
Start = Annotated[int, Query(ge=0, le=MOST_NUMBER, description="Where the page starts.")]
Most = Annotated[int, Query(ge=1, le=200, description="How many entries the page has at most.")]

PROBLEMS = {
    400: "The request cannot be read.",
    401: "There is no token, or a wrong one.",
    403: "The token does not allow it.",
    404: "There is no such thing, or not for whoever asks.",
    408: "The body came too slowly.",
    409: "It does not fit the state that things are in.",
    413: "The body is too large.",
    415: "The body is of another kind.",
    422: "It is malformed, or refused; the reasons are said.",
    429: "Too many, or too fast.",
    431: "The headers are too large.",
    500: "An error of ours.",
    503: "The database, or the server, is busy or away; try again.",
}
ALWAYS = (400, 401, 422, 429, 431, 500, 503)
BODY = (408, 413, 415)

Responses = dict[int | str, dict[str, Any]]


def answers(example: Any, *statuses: int, status: int = 200, kind: str = "application/json") -> Responses:
    """Return the answers that a route may give: an example of the good one, and the problems."""
    good: dict[str, Any] = {}
    if example is not None:
        good = {"content": {kind: {"example": example}}}
        if kind != "application/json":
            good["content"][kind]["schema"] = {"type": "string"}
    return {status: good, **problems(*statuses)}


def files(words: str, kind: str, *statuses: int) -> Responses:
    """Return the answers of a route that gives a file."""
    content = {kind: {"schema": {"type": "string", "format": "binary"}}}
    return {200: {"description": words, "content": content}, **problems(*statuses)}


def problems(*statuses: int) -> Responses:
    """Return the problems that a route may answer with."""
    return {each: _problem(each) for each in sorted({*statuses, *ALWAYS})}


def _problem(status: int) -> dict[str, Any]:
    example = {
        "type": "urn:biasbounty:problem:NotFoundError",
        "title": "Not Found",
        "status": 404,
        "detail": "bounty does not exist: expected the id of one, got 'x'",
        "error": "NotFoundError",
    }
    content: dict[str, Any] = {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}
    if status == 404:
        content["example"] = example
    return {"description": PROBLEMS[status], "content": {KIND: content}}


def json_body(shape: type[BaseModel], example: Any) -> dict[str, Any]:
    """Return what a body of JSON must be."""
    content = {"schema": shape.model_json_schema(), "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def form_body(required: tuple[str, ...], encoding: dict[str, str], **parts: dict[str, Any]) -> dict[str, Any]:
    """Return what the parts of a form must be."""
    schema = {"type": "object", "properties": parts, "required": list(required), "additionalProperties": False}
    kinds = {name: {"contentType": kind} for name, kind in encoding.items()}
    content = {"schema": schema, "encoding": kinds}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": content}}}


def file_part(words: str) -> dict[str, Any]:
    """Return what a file must be."""
    return {"type": "string", "format": "binary", "description": words}


def text_part(words: str, **more: Any) -> dict[str, Any]:
    """Return what a part of text must be."""
    return {"type": "string", "description": words, **more}
