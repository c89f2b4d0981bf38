"""Views: what is shown of bounties and submissions, and to whom. Nothing here depends on the holdout but verdicts."""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, and_, case, func, select

from biasbounty.errors import NotFoundError
from biasbounty.service.context import Context
from biasbounty.service.people import Identity
from biasbounty.service.standing import read_standing
from biasbounty.service.submitting import Receipt, receipt_of
from biasbounty.store.books import MOST as LARGEST
from biasbounty.store.books import find_bounty, is_id
from biasbounty.store.tables import bounties, events, hunters, rounds, submissions, words

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
        return find_bounty(connection, bounty)


def view_bounty(context: Context, bounty: str) -> BountyView:
    """Return a bounty."""
    return _bounty_view(bounty_row(context, bounty))


def _bounty_view(row: Row[Any]) -> BountyView:
    terms, outlook = json.loads(row.settings), _outlook(row.standing)
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
        guarantee=outlook[0],
        nats_spent=outlook[1],
        resolution=outlook[2],
        ledger_size=row.size,
        ledger_head=row.head,
    )


@lru_cache(256)
def _outlook(standing: str) -> tuple[str, float, float | None]:
    """Return what a checker promises, what it has spent and what it can still see: a function of its standing."""
    examination = read_standing(standing)
    return examination.guarantee, examination.nats_spent, examination.resolution()


def view_submission(context: Context, who: Identity, submission: str) -> SubmissionView:
    """Return a submission to its hunter or to the organizer; to others there is no such thing."""
    with context.database.read() as connection:
        chosen = select(submissions).where(submissions.c.id == submission)
        row = connection.execute(chosen).one_or_none() if is_id(submission) else None
        if row is None or not (who.scope == "organizer" or (who.hunter is not None and who.hunter == row.hunter)):
            raise NotFoundError(f"submission does not exist: expected the id of one of yours, got {submission!r:.80}")
        return _submission_view(row, find_bounty(connection, row.bounty).judged)


def list_submissions(context: Context, who: Identity, bounty: str, start: int = 0, most: int = 50) -> Page:
    """Return a page of a hunter's own submissions, or for the organizer of all, in order of receipt."""
    judged = bounty_row(context, bounty).judged
    where = [submissions.c.bounty == bounty, submissions.c.place >= min(max(start, 0), LARGEST)]
    if who.scope != "organizer":
        where.append(submissions.c.hunter == (who.hunter or ""))
    most = min(max(most, 1), MOST)
    chosen = select(submissions).where(*where).order_by(submissions.c.place).limit(most + 1)
    with context.database.read() as connection:
        rows = connection.execute(chosen).all()
        views = [_submission_view(row, judged) for row in rows[:most]]
    return Page(views, rows[most].place if len(rows) > most else None)


def _submission_view(row: Row[Any], judged: int) -> SubmissionView:
    """Show a submission before its turn as if nobody had looked at it: how far workers are may tell of the holdout."""
    over = row.place < judged or row.state == "withdrawn"
    return SubmissionView(
        id=row.id,
        bounty=row.bounty,
        place=row.place,
        state=row.state if over else "scoring" if row.place == judged else "received",
        received=row.received,
        note=row.note,
        group_hash=row.group_hash,
        model_hash=row.model_hash,
        hunter=row.hunter,
        reason=row.reason if over else None,
        judged=row.judged,
        verdict=None if row.verdict is None else json.loads(row.verdict),
        receipt=receipt_of(row),
    )


def leaderboard(context: Context, who: Identity, bounty: str) -> list[Standing]:
    """Return who was paid, and how much, the most first; while it is hidden, to the organizer alone."""
    row = bounty_row(context, bounty)
    if json.loads(row.settings)["hide_leaderboard"] and row.state != "closed" and who.scope != "organizer":
        return []
    paid, accepted = func.sum(rounds.c.payout), func.count()
    chosen = (
        select(submissions.c.hunter, hunters.c.name, hunters.c.team, paid, accepted)
        .select_from(rounds)
        .join(submissions, submissions.c.id == rounds.c.submission)
        .join(hunters, hunters.c.id == submissions.c.hunter)
        .where(rounds.c.bounty == bounty)
        .group_by(submissions.c.hunter, hunters.c.name, hunters.c.team)
        .order_by(paid.desc(), accepted.desc(), submissions.c.hunter)
    )
    with context.database.read() as connection:
        rows = connection.execute(chosen).all()
    return [Standing(hunter, name, team, int(cents), count) for hunter, name, team, cents, count in rows]


def list_events(context: Context, bounty: str, after: int = 0, most: int = 100) -> Page:
    """Return what was announced since an event, with the words that belong to it while they are not erased."""
    bounty_row(context, bounty)
    chosen = (
        select(events, words.c.text)
        .outerjoin(words, and_(words.c.bounty == events.c.bounty, words.c.number == events.c.entry))
        .where(events.c.bounty == bounty, events.c.number > min(max(after, 0), LARGEST))
        .order_by(events.c.number)
        .limit(min(max(most, 1), MOST))
    )
    with context.database.read() as connection:
        rows = connection.execute(chosen).all()
    entries = [
        {**json.loads(row.body), "number": row.number, "kind": row.kind, "entry": row.entry, "words": row.text}
        for row in rows
    ]
    return Page(entries, entries[-1]["number"] if entries else None)


def count_bounties(context: Context) -> dict[str, int]:
    """Count submissions by state, for metrics; those before their turn are waiting."""
    state = case((submissions.c.place >= bounties.c.judged, "waiting"), else_=submissions.c.state)
    chosen = select(state, func.count()).join(bounties, bounties.c.id == submissions.c.bounty).group_by(state)
    with context.database.read() as connection:
        return {state: int(count) for state, count in connection.execute(chosen)}
