"""Scoring: workers lease submissions, ask them about public rows and then the holdout's, and keep the answers.

A worker sees features and no holdout label. A lost worker's lease runs out, and another scores. What fails on public
rows is refused in words; what fails on the holdout alone is kept as a group of no rows, and judged like any rejection;
what fails for our reasons, again and again, is called failed.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, and_, or_, select

from biasbounty.arrays import Array, Mask, shown
from biasbounty.core.answers import LabelType, mask_of
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.rows import Rows
from biasbounty.errors import SubmissionError
from biasbounty.exchange.predicate import parse
from biasbounty.exchange.schema import Schema
from biasbounty.sandbox import Sandbox
from biasbounty.service.columns import Answers, Initial, numbered
from biasbounty.service.context import Context
from biasbounty.service.rows import INITIAL_ANSWERS, features, public_labels, read_schema
from biasbounty.service.submitting import TEXT
from biasbounty.service.terms import Terms
from biasbounty.store.artifacts import get, get_file
from biasbounty.store.books import head_of, lock, pen_for, write_entry
from biasbounty.store.tables import bounties, leases, scores, submissions
from biasbounty.values import Certificate

LEASE_SECONDS = 120
MOST_ATTEMPTS = 5
"""A submission that so many workers did not bring back is given up."""
DESKS = 4
"""A worker keeps the rows of so many bounties at hand."""


@dataclass(frozen=True, eq=False)
class Desk:
    """A bounty's rows at hand: public ones first, then the holdout's, without its labels."""

    schema: Schema
    rows: Any
    public: int
    labels: LabelType
    judged: LocalHoldout
    """The public rows, with their labels."""
    sandbox: Sandbox

    def on_public(self, group: bytes, kind: str, model: bytes) -> Answers:
        """Return a submission's answers for public rows; raise SubmissionError, in words, if it fails there."""
        public = self._some(group, kind, model, np.arange(self.public))
        self.judged.score(Certificate(public.group, public.model))
        return public

    def answers(self, group: bytes, kind: str, model: bytes) -> Answers:
        """Return a submission's answers for all rows; what fails on the holdout alone has a group of no rows there."""
        public = self.on_public(group, kind, model)
        kept_rows = np.arange(self.public, len(self.rows))
        try:
            kept = self._some(group, kind, model, kept_rows)
            kept = Answers(kept.mask, self.labels.cast(kept.answers))
        except SubmissionError:  # whatever it says, it may tell of the holdout: it becomes a rejection
            kept = Answers(np.zeros(len(kept_rows), np.bool_), self._none())
        answers = [self.labels.cast(each.answers) for each in (public, kept) if len(each.answers)]
        return Answers(np.concatenate([public.mask, kept.mask]), np.concatenate(answers) if answers else self._none())

    def _none(self) -> Array:
        return np.empty(0, self.labels.dtype)

    def _some(self, group: bytes, kind: str, model: bytes, ids: Array) -> Answers:
        """Ask about some rows; the answers are to be looked up by their numbers among these."""
        mask = self._mask(group, kind, ids)
        own = ids[mask]
        return Answers(mask, self.sandbox.predict(model, own) if len(own) else self._none())

    def _mask(self, group: bytes, kind: str, ids: Array) -> Mask:
        if kind == TEXT:
            predicate = parse(group.decode(), self.schema)
            return predicate(self.rows.slice(int(ids[0]), len(ids)))
        answers = self.sandbox.predict(group, ids)
        return mask_of(lambda _: answers, Rows(numbered(len(ids))))

    def close(self) -> None:
        """Let go of the sandbox."""
        self.sandbox.close()


class Worker:
    """Scores submissions, one at a time; any number of workers may run at once, on any number of machines."""

    def __init__(self, context: Context, name: str) -> None:
        self._context, self._name = context, name
        self._desks: OrderedDict[str, Desk] = OrderedDict()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all sandboxes."""
        while self._desks:
            self._desks.popitem()[1].close()

    def score_next(self) -> bool:
        """Score one submission, if there is one that nobody else scores."""
        leased = self._lease()
        if leased is None:
            return False
        if leased.attempts > MOST_ATTEMPTS:
            self._finish(leased, "failed", "it could not be scored for reasons of ours; hand it in again")
            return True
        try:
            answers = self._answers(leased)
        except SubmissionError as error:
            self._finish(leased, "refused", shown(error, str))
        else:
            self._finish(leased, "scored", None, answers.as_bytes())
        return True

    def _answers(self, leased: Row[Any]) -> Answers:
        with self._context.database.read() as connection:
            group, model = get(connection, leased.group_hash), get(connection, leased.model_hash)
        return self._desk(leased.bounty).answers(group, leased.group_kind, model)

    def _desk(self, bounty: str) -> Desk:
        if bounty not in self._desks:
            while len(self._desks) >= DESKS:
                self._desks.popitem(last=False)[1].close()
            with self._context.database.read() as connection:
                self._desks[bounty] = open_desk(self._context, connection, bounty)
        self._desks.move_to_end(bounty)
        return self._desks[bounty]

    def _lease(self) -> Row[Any] | None:
        """Take the submission that came first, of those that nobody scores."""
        now = self._context.now()
        free = or_(submissions.c.state == "received", and_(submissions.c.state == "scoring", leases.c.deadline < now))
        first = (
            select(submissions)
            .outerjoin(leases, leases.c.submission == submissions.c.id)
            .where(free)
            .order_by(submissions.c.received, submissions.c.place)
            .limit(1)
            .with_for_update(of=submissions, skip_locked=True)
        )
        with self._context.database.write() as connection:
            row = connection.execute(first).one_or_none()
            if row is None:
                return None
            mine = submissions.c.id == row.id
            connection.execute(submissions.update().where(mine).values(state="scoring", attempts=row.attempts + 1))
            connection.execute(leases.delete().where(leases.c.submission == row.id))
            connection.execute(leases.insert().values(submission=row.id, worker=self._name, deadline=self._deadline()))
            return connection.execute(select(submissions).where(mine)).one()

    def _deadline(self) -> str:
        later = self._context.clock().astimezone(UTC) + timedelta(seconds=LEASE_SECONDS)
        return later.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def _finish(self, leased: Row[Any], state: str, reason: str | None, data: bytes | None = None) -> None:
        """Keep the result, unless the lease ran out and somebody else has it by now."""
        with self._context.database.write() as connection:
            row = lock(connection, leased.bounty)
            held = select(leases.c.submission).where(leases.c.submission == leased.id, leases.c.worker == self._name)
            kept = select(submissions.c.attempts).where(submissions.c.id == leased.id)
            if connection.scalar(held) is None or connection.scalar(kept) != leased.attempts:
                return
            connection.execute(leases.delete().where(leases.c.submission == leased.id))
            mine = submissions.c.id == leased.id
            connection.execute(submissions.update().where(mine).values(state=state, reason=reason))
            if data is not None:
                connection.execute(scores.delete().where(scores.c.submission == leased.id))
                connection.execute(scores.insert().values(submission=leased.id, data=data))
            else:
                pen = pen_for(connection, leased.bounty, self._context.now())
                write_entry(connection, pen, head_of(row), state, {"submission": leased.id, "place": leased.place})


def open_desk(context: Context, connection: Connection, bounty: str, *, public_alone: bool = False) -> Desk:
    """Fetch a bounty's rows, or its public ones alone, and start a sandbox that holds them."""
    row = connection.execute(select(bounties).where(bounties.c.id == bounty)).one()
    terms = read_terms(row)
    rows, labels = features(connection, bounty, terms.label), public_labels(connection, bounty)
    rows = rows.slice(0, len(labels)) if public_alone else rows
    initial = Answers.of(get_file(connection, bounty, INITIAL_ANSWERS)).answers
    judged = LocalHoldout(numbered(len(labels)), labels)
    judged.open(Initial(initial), terms.make_loss())
    return Desk(
        read_schema(row.schema),
        rows,
        len(labels),
        LabelType.of(initial),
        judged,
        context.limits.sandbox(rows).__enter__(),
    )


def read_terms(row: Row[Any]) -> Terms:
    """Read the terms of a bounty's row."""
    import json

    return Terms.of(json.loads(row.settings))


def parse_moment(text: str) -> datetime:
    """Read an hour that was written down."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
