"""Routes of bounties: what they are, what hunters need of them, and what their organizer does with them."""

import json
from collections.abc import AsyncIterator
from tempfile import TemporaryFile
from typing import Annotated, BinaryIO

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from biasbounty.errors import SettingsError
from biasbounty.server import shapes
from biasbounty.server.callers import Anyone, Caller
from biasbounty.server.documented import (
    BODY,
    MOST_NUMBER,
    BountyId,
    Digest,
    Most,
    Start,
    answers,
    file_part,
    files,
    form_body,
    text_part,
)
from biasbounty.server.door import Door, TheDoor
from biasbounty.server.rounds import rounds_of
from biasbounty.server.uploads import Form, read_form
from biasbounty.service.data import Data, in_three, read_rows, verify_alike, with_label
from biasbounty.service.people import Identity
from biasbounty.service.rows import INITIAL
from biasbounty.service.terms import Terms
from biasbounty.service.views import BountyView

router = APIRouter(prefix="/bounties", tags=["bounties"])

PARTS = ("train", "public", "holdout")
OPEN_FORM = form_body(
    ("terms", "model"),
    {"terms": "application/json"},
    terms=text_part("The terms, as a JSON object.", examples=['{"name": "Who is employed", "label": "employed"}']),
    model=file_part("The model to be patched, as ONNX."),
    data=file_part("All rows with their labels, as Parquet or CSV, to be split at random; or the next three."),
    train=file_part("Rows that hunters may learn from."),
    public=file_part("Rows that hunters may see, and submissions are tried on."),
    holdout=file_part("Rows that the judge alone sees."),
    seed=text_part("For the split: a whole number.", pattern="^[0-9]{1,9}$"),
    share_public=text_part("For the split: the share of public rows, 0.25 if not said."),
    share_holdout=text_part("For the split: the share of the holdout, 0.5 if not said."),
)
ROLES = {"train": "train", "public": "public", "model": INITIAL}
PARQUET, ONNX, LINES = "application/vnd.apache.parquet", "application/octet-stream", "application/jsonl"
ZIP, CHUNK = "application/zip", 2**20
Round = Annotated[
    int | None, Query(ge=0, le=MOST_NUMBER, description="The number of a round; the newest if none is named.")
]


@router.get("", dependencies=[Anyone], responses=answers({"entries": [shapes.BOUNTY], "next": None}))
async def list_bounties(door: TheDoor, start: Start = 0, most: Most = 50) -> shapes.BountyPage:
    """Return all bounties, the newest first."""
    views = await door.ask(door.service.bounties)
    end = start + most
    return shapes.BountyPage(entries=views[start:end], next=end if end < len(views) else None)


@router.post(
    "",
    status_code=201,
    openapi_extra=OPEN_FORM,
    responses=answers({"bounty": shapes.BOUNTY, "warnings": []}, 403, 409, *BODY, status=201),
)
async def open_bounty(request: Request, response: Response, door: TheDoor, who: Caller) -> shapes.Opened:
    """Open a bounty on a model and rows."""
    who.require("organizer")  # before a large body is read; the service asks again
    settings = door.settings
    async with read_form(request, door, who, settings.most_data_bytes + settings.most_model_bytes) as form:
        terms = _terms(form)
        model, rows = await form.file("model", settings.most_model_bytes), await _rows(form, settings.most_data_bytes)
        shares = _shares(form)
    data = await door.ask_much(_data, terms, rows, shares)
    opened = await door.ask_much(door.service.open_bounty, who, terms, model, data)
    response.headers["Location"] = f"/api/v1/bounties/{opened.bounty.id}"
    return shapes.Opened(bounty=opened.bounty, warnings=list(opened.warnings))


@router.get("/{bounty}", dependencies=[Anyone], responses=answers(shapes.BOUNTY, 404))
async def bounty(door: TheDoor, bounty: BountyId) -> BountyView:
    """Return a bounty."""
    return await door.ask(door.service.bounty, bounty)


@router.post("/{bounty}/pause", responses=answers(shapes.BOUNTY, 403, 404, 409))
async def pause(door: TheDoor, who: Caller, bounty: BountyId) -> BountyView:
    """Take no more submissions, for a while."""
    return await _moved(door, who, bounty, "pause")


@router.post("/{bounty}/resume", responses=answers(shapes.BOUNTY, 403, 404, 409))
async def resume(door: TheDoor, who: Caller, bounty: BountyId) -> BountyView:
    """Take submissions again."""
    return await _moved(door, who, bounty, "resume")


@router.post("/{bounty}/close", responses=answers(shapes.BOUNTY, 403, 404, 409))
async def close(door: TheDoor, who: Caller, bounty: BountyId) -> BountyView:
    """Take no more submissions, judge those that were taken, and then open what is sealed."""
    return await _moved(door, who, bounty, "close")


@router.post("/{bounty}/reopen", responses=answers(shapes.BOUNTY, 403, 404, 409))
async def reopen(door: TheDoor, who: Caller, bounty: BountyId) -> BountyView:
    """Take a close back, while it waits for its last verdicts."""
    return await _moved(door, who, bounty, "reopen")


@router.post("/{bounty}/rotate-keys", responses=answers({"key": "4" * 64}, 403, 404, 409))
async def rotate_keys(door: TheDoor, who: Caller, bounty: BountyId) -> shapes.Key:
    """Change the key that signs the ledger, and the secret of its seals."""
    return shapes.Key(key=await door.ask(door.service.rotate_keys, who, bounty))


@router.get("/{bounty}/openings", dependencies=[Anyone], responses=files("JSON lines.", LINES, 404))
async def openings(door: TheDoor, bounty: BountyId) -> Response:
    """Return what opens each sealed value of the ledger of a closed bounty."""
    return Response(await door.ask(door.service.file, bounty, "openings"), media_type=LINES)


@router.get("/{bounty}/files/train", responses=files("Parquet.", PARQUET, 404))
async def train_rows(door: TheDoor, _: Caller, bounty: BountyId) -> Response:
    """Return the rows to learn from, with labels."""
    return await _file(door, bounty, "train", PARQUET)


@router.get("/{bounty}/files/public", responses=files("Parquet.", PARQUET, 404))
async def public_rows(door: TheDoor, _: Caller, bounty: BountyId) -> Response:
    """Return the rows to try submissions on, with labels."""
    return await _file(door, bounty, "public", PARQUET)


@router.get("/{bounty}/files/model", responses=files("ONNX.", ONNX, 404))
async def initial_model(door: TheDoor, _: Caller, bounty: BountyId) -> Response:
    """Return the model as it was before the bounty."""
    return await _file(door, bounty, "model", ONNX)


@router.get("/{bounty}/artifacts/{digest}", responses=files("What has this hash.", ONNX, 404))
async def artifact(door: TheDoor, _: Caller, bounty: BountyId, digest: Digest) -> Response:
    """Return a file by its hash: of the opening, or of an accepted submission."""
    return Response(await door.ask(door.service.artifact, bounty, digest), media_type=ONNX)


@router.get("/{bounty}/export", responses=files("All that everyone may have, in one file.", ZIP, 404))
async def export(door: TheDoor, _: Caller, bounty: BountyId) -> StreamingResponse:
    """Return the ledger with all its files, to be verified and replayed. The holdout leaves by no route at all."""
    await door.ask(door.service.bounty, bounty)
    file = TemporaryFile()  # noqa: SIM115  # closed once it is sent
    await door.ask_much(door.service.export, bounty, file)
    return StreamingResponse(_chunks(file), media_type=ZIP)


@router.get("/{bounty}/model", responses=files("ONNX.", ONNX, 404))
async def model(door: TheDoor, _: Caller, bounty: BountyId, round: Round = None) -> Response:
    """Return a round as one ONNX file."""
    return Response(await door.ask_much(door.service.model, bounty, round), media_type=ONNX)


@router.get("/{bounty}/rounds", responses=answers(shapes.ROUNDS, 404))
async def rounds(door: TheDoor, _: Caller, bounty: BountyId, round: Round = None) -> shapes.Rounds:
    """Return a round as JSON, with all before it."""
    return rounds_of(await door.ask_much(door.service.decision_list, bounty, round))


@router.get(
    "/{bounty}/leaderboard", responses=answers({"entries": [shapes.STANDING], "next": None}, 404), tags=["hunters"]
)
async def leaderboard(door: TheDoor, who: Caller, bounty: BountyId) -> shapes.Leaderboard:
    """Return who was paid, and how much; while the organizer hides it, nobody."""
    return shapes.Leaderboard(entries=await door.ask(door.service.leaderboard, who, bounty))


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        await to_thread.run_sync(file.seek, 0)
        while chunk := await to_thread.run_sync(file.read, CHUNK):
            yield chunk


async def _moved(door: Door, who: Identity, bounty: str, verb: str) -> BountyView:
    moved = await door.ask(door.service.move_bounty, who, bounty, verb)
    door.wake()
    return moved


async def _file(door: Door, bounty: str, name: str, kind: str) -> Response:
    return Response(await door.ask(door.service.file, bounty, ROLES[name]), media_type=kind)


def _terms(form: Form) -> Terms:
    form.verify_names("terms", "model", "data", *PARTS, "seed", "share_public", "share_holdout")
    try:
        given = json.loads(form.text("terms"))
    except (ValueError, RecursionError) as error:
        raise SettingsError("terms cannot be read: expected a JSON object, got other text") from error
    if not isinstance(given, dict):
        raise SettingsError(f"terms cannot be read: expected a JSON object, got {type(given).__name__}")
    return Terms.of(given)


async def _rows(form: Form, most: int) -> dict[str, bytes]:
    names = ("data",) if "data" in form else PARTS
    if "data" in form and any(name in form for name in PARTS):
        raise SettingsError("rows are given twice: expected either data, or train, public and holdout, got both")
    return {name: await form.file(name, most) for name in names}


def _shares(form: Form) -> tuple[int, float, float]:
    try:
        seed = int(form.text("seed", "0")[:9])
        return seed, float(form.text("share_public", "0.25")), float(form.text("share_holdout", "0.5"))
    except ValueError as error:
        raise SettingsError("split cannot be read: expected a whole seed and two shares, got other text") from error


def _data(terms: Terms, rows: dict[str, bytes], shares: tuple[int, float, float]) -> Data:
    parts = [with_label(read_rows(data, f"{name} rows"), terms.label, f"{name} rows") for name, data in rows.items()]
    if len(parts) == 1:
        return in_three(parts[0], *shares)
    data = Data(*parts)
    verify_alike(data)
    return data
