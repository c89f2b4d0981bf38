"""Values: what a server tells, as frozen dataclasses. Fields that a newer server adds are passed over."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from biasbounty.errors import UnreachableError
from biasbounty.exchange.schema import ColumnType, Schema
from biasbounty.values import Repair, Verdict

Read = TypeVar("Read")

DONE = frozenset({"judged", "refused", "failed", "withdrawn"})
"""The states that a submission stays in."""


@dataclass(frozen=True)
class BountyInfo:
    """A bounty as everyone sees it."""

    id: str
    name: str
    state: str
    opened: str
    terms: Mapping[str, Any]
    columns: tuple[Mapping[str, Any], ...]
    received: int
    judged: int
    round: int
    pot: int
    paid: int
    guarantee: str
    nats_spent: float
    resolution: float | None
    ledger_size: int
    ledger_head: str

    @property
    def schema(self) -> Schema:
        """What predicate text may name."""
        return Schema(
            tuple(
                ColumnType(
                    each["name"], each["kind"], None if each["categories"] is None else tuple(each["categories"])
                )
                for each in self.columns
            )
        )


@dataclass(frozen=True)
class Receipt:
    """What a hunter gets for a submission: its place, and where the ledger says so."""

    submission: str
    bounty: str
    place: int
    entry: int
    head: str
    """The hash of that entry. A ledger that does not go through it was rewritten."""


@dataclass(frozen=True)
class Submission:
    """A submission of one's own, and what became of it."""

    id: str
    bounty: str
    place: int
    state: str
    received: str
    note: str
    group_hash: str
    model_hash: str
    hunter: str
    reason: str | None
    judged: str | None
    verdict: Verdict | None
    receipt: Receipt

    @property
    def done(self) -> bool:
        """Whether it stays as it is."""
        return self.state in DONE

    @property
    def accepted(self) -> bool:
        """Whether it was judged, and accepted."""
        return self.verdict is not None and self.verdict.accepted


@dataclass(frozen=True)
class Preflight:
    """What a submission does on public rows, against the newest round."""

    rows: int
    """How many there are."""
    group: int
    """How many of them are in the group."""
    risk_before: float
    """Of the newest round, on the group."""
    risk_after: float
    """Of the submitted model, there."""
    contribution: float
    """What overall risk would fall by, on public rows."""


@dataclass(frozen=True)
class Standing:
    """A hunter's place on the leaderboard."""

    hunter: str
    name: str | None
    team: str | None
    payout: int
    accepted: int


@dataclass(frozen=True)
class Event:
    """Something that was announced."""

    number: int
    kind: str
    body: Mapping[str, Any]


def read(kind: type[Read], told: Any) -> Read:
    """Read a value off JSON; raise UnreachableError if this is no server of ours."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if not isinstance(told, Mapping) or not set(known) <= set(told):
        lacking = ", ".join(sorted(set(known) - set(told))) if isinstance(told, Mapping) else type(told).__name__
        raise UnreachableError(
            f"server answers with another thing: expected a {kind.__name__} of biasbounty, and it lacks {lacking}; "
            "look at the address, and at the server's version"
        )
    return kind(**{name: _read_field(name, told[name]) for name in known})


def _read_field(name: str, told: Any) -> Any:
    if name == "verdict":
        return None if told is None else read_verdict(told)
    if name == "receipt":
        return read(Receipt, told)
    return tuple(told) if name == "columns" else told


def read_verdict(told: Mapping[str, Any]) -> Verdict:
    """Read a verdict."""
    repairs = tuple(Repair(*each) for each in told["repairs"])
    return Verdict(bool(told["accepted"]), int(told["round"]), repairs, int(told["payout"]))
