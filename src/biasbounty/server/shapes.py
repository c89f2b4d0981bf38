"""Shapes: what goes over the line, where it is not a value of the service's own; and examples of all of it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from biasbounty.service.people import Token
from biasbounty.service.views import BountyView, Standing, SubmissionView


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(_Shape):
    """An error, after RFC 9457."""

    type: str = Field(description="Which error it is: a name, not an address.")
    title: str = Field(description="What its status means.")
    status: int
    detail: str = Field(description="What was expected, what was there instead, and what to do.")
    error: str | None = Field(None, description="The name of the exception, where there is one.")
    reasons: list[str] | None = Field(None, description="All that was found to be wrong.")


class Health(_Shape):
    """That the server and its database are there."""

    status: Literal["ok"] = "ok"


class Me(_Shape):
    """Whose token it is."""

    token: str
    scope: str
    hunter: str | None


class BountyPage(_Shape):
    """Some bounties, the newest first."""

    entries: list[BountyView]
    next: int | None = Field(None, description="Where the next page starts; none at the end.")


class SubmissionPage(_Shape):
    """Some submissions, in order of receipt."""

    entries: list[SubmissionView]
    next: int | None = None


class TokenPage(_Shape):
    """All tokens, without their secrets."""

    entries: list[Token]
    next: int | None = None


class Leaderboard(_Shape):
    """Who was paid, and how much, the most first."""

    entries: list[Standing]
    next: int | None = None


class Event(BaseModel):
    """Something that was announced; what else it holds is of its kind."""

    model_config = ConfigDict(extra="allow")
    number: int
    kind: str


class EventPage(_Shape):
    """Some events, and after which number to ask for more."""

    entries: list[Event]
    next: int | None = None


class Head(_Shape):
    """How far a ledger goes, and the hash of its last entry."""

    size: int
    hash: str


class Key(_Shape):
    """A public key."""

    key: str


class Opened(_Shape):
    """A bounty that was just opened, and what its organizer should look at."""

    bounty: BountyView
    warnings: list[str]


class NewToken(_Shape):
    """A token that is asked for."""

    scope: Literal["organizer", "hunter", "observer"]
    label: str
    name: str | None = Field(None, description="The hunter's; it can be erased.")
    team: str | None = None


class CreatedToken(_Shape):
    """A token, with its secret, which is shown this once."""

    token: Token
    secret: str


class NewNote(_Shape):
    """A note for the ledger; with a submission, a dispute of its verdict."""

    text: str
    submission: str | None = None


class Noted(_Shape):
    """Where a note stands in the ledger."""

    entry: int


class Part(_Shape):
    """A group or a model: predicate text, or the SHA-256 of its ONNX file."""

    predicate: str | None = None
    onnx: str | None = None


class NodeShape(_Shape):
    """A node of the decision list: an update has a model, a repair a pointer."""

    number: int
    round: int
    kind: Literal["update", "repair"]
    group: Part
    model: Part | None = None
    pointer: int | None = None
    hunter: str | None = None
    note: str = ""


class Rounds(_Shape):
    """A bounty's decision list: its nodes, oldest first, and with how many each round starts."""

    round: int
    heads: list[int]
    initial: Part
    nodes: list[NodeShape]


RECEIPT: dict[str, Any] = {
    "submission": "4b1d5380858eb608",
    "bounty": "bd0260d44c818ca3",
    "place": 0,
    "entry": 1,
    "head": "b5bf215847cb78806543ded0a32484018b7781ac5cafad65b16516db403342b5",
}
BOUNTY: dict[str, Any] = {
    "id": "bd0260d44c818ca3",
    "name": "Who is employed",
    "state": "open",
    "opened": "2026-01-01T00:00:00.000000Z",
    "terms": {"name": "Who is employed", "label": "employed", "epsilon": "0.005", "delta": "0.05", "pot": 100000},
    "columns": [{"name": "AGEP", "kind": "numbers", "categories": None}],
    "received": 1,
    "judged": 1,
    "round": 1,
    "pot": 100000,
    "paid": 1200,
    "guarantee": "With probability at least 0.95, every accepted update lowers true risk by more than 0.0025",
    "nats_spent": 3.2,
    "resolution": 0.006,
    "ledger_size": 3,
    "ledger_head": RECEIPT["head"],
}
SUBMISSION: dict[str, Any] = {
    "id": RECEIPT["submission"],
    "bounty": RECEIPT["bounty"],
    "place": 0,
    "state": "judged",
    "received": "2026-01-02T00:00:00.000000Z",
    "note": "people under 25",
    "group_hash": "1" * 64,
    "model_hash": "2" * 64,
    "hunter": "5d1f2c9a7b3e4f60",
    "reason": None,
    "judged": "2026-01-02T00:00:40.000000Z",
    "verdict": {"accepted": True, "round": 1, "repairs": [], "payout": 1200},
    "receipt": RECEIPT,
}
PREFLIGHT = {"rows": 10000, "group": 1200, "risk_before": 0.31, "risk_after": 0.22, "contribution": 0.0108}
STANDING = {"hunter": "5d1f2c9a7b3e4f60", "name": "Ada", "team": None, "payout": 1200, "accepted": 1}
TOKEN: dict[str, Any] = {
    "id": "9f86d081884c7d65",
    "scope": "hunter",
    "label": "for the course",
    "created": "2026-01-01T00:00:00.000000Z",
    "revoked": False,
    "hunter": "5d1f2c9a7b3e4f60",
    "name": "Ada",
    "team": None,
}
EVENT = {"number": 7, "kind": "judged", "submission": RECEIPT["submission"], "place": 0, "accepted": True, "round": 1}
LINE = '{"entry":{"body":{},"kind":"paused","number":4,"previous":"...","time":"..."},"hash":"...","signature":"..."}\n'
ROUNDS: dict[str, Any] = {
    "round": 1,
    "heads": [0, 1],
    "initial": {"predicate": None, "onnx": "3" * 64},
    "nodes": [
        {
            "number": 1,
            "round": 1,
            "kind": "update",
            "group": {"predicate": "AGEP < 25", "onnx": None},
            "model": {"predicate": None, "onnx": "2" * 64},
            "pointer": None,
            "hunter": "5d1f2c9a7b3e4f60",
            "note": "people under 25",
        }
    ],
}
