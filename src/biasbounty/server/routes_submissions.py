"""Routes of submissions: tried, handed in with one call, looked at, taken back, disputed."""

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from biasbounty.server import shapes
from biasbounty.server.callers import Caller
from biasbounty.server.documented import (
    BODY,
    BountyId,
    Most,
    Start,
    SubmissionId,
    answers,
    file_part,
    form_body,
    json_body,
    text_part,
)
from biasbounty.server.door import Door, TheDoor
from biasbounty.server.uploads import read_form, read_json
from biasbounty.service.people import Identity
from biasbounty.service.preflight import Preflight
from biasbounty.service.submitting import Handed, Receipt
from biasbounty.service.views import SubmissionView

router = APIRouter(tags=["submissions"])

GROUP = text_part("As text a predicate, as a file ONNX.", examples=["AGEP < 25 AND RAC1P <> 1"])
MODEL = file_part("The model, as ONNX.")
NOTE = text_part("What hunters should know of it.", maxLength=500)
SUBMIT_FORM = form_body(("group", "model"), {}, group=GROUP, model=MODEL, note=NOTE)
NOTE_EXAMPLE = {"text": "the verdict overlooks ...", "submission": shapes.RECEIPT["submission"]}
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Any text of your own. What is sent twice with one key is one submission.",
    ),
]


@router.post(
    "/bounties/{bounty}/preflight",
    openapi_extra=SUBMIT_FORM,
    responses=answers(shapes.PREFLIGHT, 403, 404, *BODY),
)
async def preflight(request: Request, door: TheDoor, who: Caller, bounty: BountyId) -> Preflight:
    """Try a submission on public rows: free, and it tells nothing of the holdout."""
    who.require("hunter", "organizer")  # before a large body is read; the service asks again
    handed = await _handed(request, door, who, "")
    return await door.ask_much(door.service.preflight, who, bounty, handed)


@router.post(
    "/bounties/{bounty}/submissions",
    status_code=201,
    openapi_extra=SUBMIT_FORM,
    responses=answers(shapes.RECEIPT, 403, 404, 409, *BODY, status=201),
)
async def submit(
    request: Request, response: Response, door: TheDoor, who: Caller, bounty: BountyId, key: Key = None
) -> Receipt:
    """Hand in a submission. Once this is answered it is kept, and will be judged in its place."""
    who.require("hunter")  # before a large body is read; the service asks again
    handed = await _handed(request, door, who, key or "")
    receipt = await door.ask(door.service.submit, who, bounty, handed)
    door.wake()
    response.headers["Location"] = f"/api/v1/submissions/{receipt.submission}"
    return receipt


@router.get(
    "/bounties/{bounty}/submissions", responses=answers({"entries": [shapes.SUBMISSION], "next": None}, 403, 404)
)
async def list_submissions(
    door: TheDoor, who: Caller, bounty: BountyId, start: Start = 0, most: Most = 50
) -> shapes.SubmissionPage:
    """Return your own submissions, in order of receipt; for the organizer all."""
    page = await door.ask(door.service.submissions, who, bounty, start, most)
    return shapes.SubmissionPage(entries=page.entries, next=page.next)


@router.get("/submissions/{submission}", responses=answers(shapes.SUBMISSION, 404))
async def submission(door: TheDoor, who: Caller, submission: SubmissionId) -> SubmissionView:
    """Return a submission of yours, with its verdict once there is one."""
    return await door.ask(door.service.submission, who, submission)


@router.post("/submissions/{submission}/withdraw", responses=answers(shapes.SUBMISSION, 403, 404, 409))
async def withdraw(door: TheDoor, who: Caller, submission: SubmissionId) -> SubmissionView:
    """Take back a submission of yours."""
    view = await door.ask(door.service.withdraw, who, submission)
    door.wake()
    return view


@router.post(
    "/bounties/{bounty}/notes",
    status_code=201,
    openapi_extra=json_body(shapes.NewNote, NOTE_EXAMPLE),
    responses=answers({"entry": 12}, 403, 404, *BODY, status=201),
)
async def annotate(request: Request, door: TheDoor, who: Caller, bounty: BountyId) -> shapes.Noted:
    """Write a note in the ledger, or dispute the verdict on a submission of yours. Everyone can read it."""
    who.require("hunter", "organizer")
    note = await read_json(request, door, shapes.NewNote)
    return shapes.Noted(entry=await door.ask(door.service.annotate, who, bounty, note.text, note.submission))


async def _handed(request: Request, door: Door, who: Identity, key: str) -> Handed:
    most = door.settings.most_model_bytes
    async with read_form(request, door, who, 2 * most) as form:
        form.verify_names("group", "model", "note")
        group, model = await form.text_or_file("group", most), await form.file("model", most)
        return Handed(group, model, form.text("note", ""), key)
