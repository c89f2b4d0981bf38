"""Views: what is shown of bounties and submissions, and to whom. Nothing here depends on the holdout but verdicts."""

import json
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, func, select

from biasbounty.errors import NotFoundError
from biasbounty.service.context import Context
from biasbounty.service.people import Identity
from biasbounty.service.standing import read_standing
from biasbounty.service.submitting import Receipt, receipt_of
from biasbounty.store.tables import bounties, events, hunters, submissions

MOST = 200
"""A page has at most so many entries."""


@dataclass(frozen=True)
class BountyView:
    """A bounty as everyone sees it."""

    id: str
    name: str
    state: str
    opened: str
    terms: dict[str, Any]
    columns: list[dict[str, Any]]
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


@dataclass(frozen=True)
class SubmissionView:
    """A submission as its hunter and the organizer see it."""

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
    verdict: dict[str, Any] | None
    receipt: Receipt


@dataclass(frozen=True)
class Standing:
    """A hunter's place on the leaderboard."""

    hunter: str
    name: str | None
    team: str | None
    payout: int
    accepted: int


@dataclass(frozen=True)
class Page:
    """Some entries, and where the next page starts; None at the end."""

    entries: list[Any] = field(default_factory=list)
    next: int | None = None


def list_bounties(context: Context) -> list[BountyView]:
    """Return all bounties, the newest first."""
    with context.database.read() as connection:
        rows = connection.execute(select(bounties).order_by(bounties.c.opened.desc())).all()
    return [_bounty_view(row) for row in rows]


def bounty_row(context: Context, bounty: str) -> Row[Any]:
    """Return a bounty's row."""
    with context.database.read() as connection:
        row = connection.execute(select(bounties).where(bounties.c.id == bounty)).one_or_none()
    if row is None:
        raise NotFoundError(f"bounty does not exist: expected the id of one, got {bounty!r:.80}")
    return row


def view_bounty(context: Context, bounty: str) -> BountyView:
    """Return a bounty."""
    return _bounty_view(bounty_row(context, bounty))


def _bounty_view(row: Row[Any]) -> BountyView:
    terms, examination = json.loads(row.settings), read_standing(row.standing)
    return BountyView(
        id=row.id,
        name=row.name,
        state=row.state,
        opened=row.opened,
        terms=terms,
        columns=json.loads(row.schema),
        received=row.received,
        judged=row.judged,
        round=row.round,
        pot=terms["pot"],
        paid=row.paid,
        guarantee=examination.guarantee,
        nats_spent=examination.nats_spent,
        resolution=examination.resolution(),
        ledger_size=row.size,
        ledger_head=row.head,
    )


def view_submission(context: Context, who: Identity, submission: str) -> SubmissionView:
    """Return a submission to its hunter or to the organizer; to others there is no such thing."""
    with context.database.read() as connection:
        row = connection.execute(select(submissions).where(submissions.c.id == submission)).one_or_none()
        if row is None or not (who.scope == "organizer" or (who.hunter is not None and who.hunter == row.hunter)):
            raise NotFoundError(f"submission does not exist: expected the id of one of yours, got {submission!r:.80}")
        return _submission_view(row, receipt_of(connection, row))


def list_submissions(context: Context, who: Identity, bounty: str, start: int = 0, most: int = 50) -> Page:
    """Return a page of a hunter's own submissions, or for the organizer of all, in order of receipt."""
    bounty_row(context, bounty)
    where = [submissions.c.bounty == bounty, submissions.c.place >= start]
    if who.scope != "organizer":
        where.append(submissions.c.hunter == (who.hunter or ""))
    most = min(max(most, 1), MOST)
    chosen = select(submissions).where(*where).order_by(submissions.c.place).limit(most + 1)
    with context.database.read() as connection:
        rows = connection.execute(chosen).all()
        views = [_submission_view(row, receipt_of(connection, row)) for row in rows[:most]]
    return Page(views, rows[most].place if len(rows) > most else None)


def _submission_view(row: Row[Any], receipt: Receipt) -> SubmissionView:
    return SubmissionView(
        id=row.id,
        bounty=row.bounty,
        place=row.place,
        state="scoring" if row.state == "scored" else row.state,
        received=row.received,
        note=row.note,
        group_hash=row.group_hash,
        model_hash=row.model_hash,
        hunter=row.hunter,
        reason=row.reason,
        judged=row.judged,
        verdict=None if row.verdict is None else json.loads(row.verdict),
        receipt=receipt,
    )


def leaderboard(context: Context, who: Identity, bounty: str) -> list[Standing]:
    """Return who was paid, and how much, the most first; while it is hidden, to the organizer alone."""
    row = bounty_row(context, bounty)
    if json.loads(row.settings)["hide_leaderboard"] and row.state != "closed" and who.scope != "organizer":
        return []
    accepted = submissions.c.verdict.like('{"accepted": true%')
    chosen = (
        select(submissions.c.hunter, submissions.c.verdict, hunters.c.name, hunters.c.team)
        .join(hunters, hunters.c.id == submissions.c.hunter)
        .where(submissions.c.bounty == bounty, accepted)
    )
    with context.database.read() as connection:
        rows = connection.execute(chosen).all()
    standings: dict[str, Standing] = {}
    for each in rows:
        had = standings.get(each.hunter, Standing(each.hunter, each.name, each.team, 0, 0))
        payout = had.payout + json.loads(each.verdict)["payout"]
        standings[each.hunter] = Standing(each.hunter, each.name, each.team, payout, had.accepted + 1)
    return sorted(standings.values(), key=lambda each: (-each.payout, -each.accepted, each.hunter))


def list_events(context: Context, bounty: str, after: int = 0, most: int = 100) -> Page:
    """Return what was announced since an event."""
    chosen = (
        select(events)
        .where(events.c.bounty == bounty, events.c.number > after)
        .order_by(events.c.number)
        .limit(min(max(most, 1), MOST))
    )
    with context.database.read() as connection:
        rows = connection.execute(chosen).all()
    entries = [{"number": row.number, "kind": row.kind, **json.loads(row.body)} for row in rows]
    return Page(entries, entries[-1]["number"] if entries else None)


def count_bounties(context: Context) -> dict[str, int]:
    """Count submissions by state, for metrics."""
    chosen = select(submissions.c.state, func.count()).group_by(submissions.c.state)
    with context.database.read() as connection:
        return {state: int(count) for state, count in connection.execute(chosen)}
