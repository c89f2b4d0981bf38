"""Scoring: workers lease submissions, ask them about public rows and then the holdout's, and keep the answers.

A worker sees features and no holdout label. A lost worker's lease runs out, and another scores. What fails on public
rows is refused in words; what fails on the holdout alone is kept as a group of no rows, and judged like any rejection.
So is what no worker brings back from the holdout: were it called failed, a model could tell of the holdout by taking
workers down. Only what fails for our reasons on public rows too, again and again, is called failed.
"""

import json
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, and_, or_, select

from biasbounty.arrays import Array, Mask, shown
from biasbounty.core.answers import LabelType, mask_of
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.rows import Rows
from biasbounty.errors import SubmissionError, SubmissionFailedError
from biasbounty.exchange.predicate import parse
from biasbounty.exchange.schema import Schema
from biasbounty.sandbox import Sandbox
from biasbounty.sandbox.process import WorkerLostError
from biasbounty.service.columns import Answers, Initial, numbered
from biasbounty.service.context import MOMENT, Context, Limits, written
from biasbounty.service.rows import INITIAL_ANSWERS, features, public_features, public_labels, read_schema
from biasbounty.service.submitting import TEXT
from biasbounty.service.terms import Terms
from biasbounty.store.artifacts import get, get_file
from biasbounty.store.books import find_bounty
from biasbounty.store.tables import leases, scores, submissions
from biasbounty.values import Certificate

MOST_ATTEMPTS = 5
"""A submission that so many workers did not bring back is asked about public rows alone, once; then it failed."""
MOST_PAUSE = 60
"""Seconds at most before what failed for our reasons is tried again; 2 at first, then twice as long each time."""
GIVEN_UP = "it could not be scored for reasons of ours; hand it in again"
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

    def answers(self, group: bytes, kind: str, model: bytes, *, public_alone: bool = False) -> Answers:
        """Return a submission's answers for all rows; what fails on the holdout alone has a group of no rows there."""
        public = self.on_public(group, kind, model)
        kept_rows = np.arange(self.public, len(self.rows))
        kept = Answers(np.zeros(len(kept_rows), np.bool_), self._none(), whole=False)
        if not public_alone:
            with suppress(SubmissionError):  # whatever it says, it may tell of the holdout: it becomes a rejection
                some = self._some(group, kind, model, kept_rows)
                kept = Answers(some.mask, self.labels.cast(some.answers))
        answers = [self.labels.cast(each.answers) for each in (public, kept) if len(each.answers)]
        said = np.concatenate(answers) if answers else self._none()
        return Answers(np.concatenate([public.mask, kept.mask]), said, kept.whole)

    def _none(self) -> Array:
        return np.empty(0, self.labels.dtype)

    def _some(self, group: bytes, kind: str, model: bytes, ids: Array) -> Answers:
        """Ask about some rows; the answers are to be looked up by their numbers among these."""
        mask = self._mask(group, kind, ids)
        own = ids[mask]
        return Answers(mask, self._predict(model, own) if len(own) else self._none())

    def _mask(self, group: bytes, kind: str, ids: Array) -> Mask:
        if kind == TEXT:
            predicate = parse(group.decode(), self.schema)
            return predicate(self.rows.slice(int(ids[0]), len(ids)))
        answers = self._predict(group, ids)
        return mask_of(lambda _: answers, Rows(numbered(len(ids))))

    def _predict(self, model: bytes, ids: Array) -> Array:
        """Ask the sandbox; once more, if it was lost with the first answer, since that may be the machine's doing."""
        try:
            return self.sandbox.predict(model, ids)
        except SubmissionFailedError as error:
            if not isinstance(error.__cause__, WorkerLostError):
                raise
            return self.sandbox.predict(model, ids)

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
        if leased.attempts > MOST_ATTEMPTS + 1:
            self._finish(leased, "failed", GIVEN_UP)
            return True
        try:
            answers = self._answers(leased)
        except SubmissionError as error:
            self._finish(leased, "refused", shown(error, str))
        except BaseException:  # our fault: it is to be tried again soon, in another sandbox
            self._give_back(leased)
            raise
        else:
            self._finish(leased, "scored", None, answers.as_bytes())
        return True

    def _answers(self, leased: Row[Any]) -> Answers:
        with self._context.database.read() as connection:
            group, model = get(connection, leased.group_hash), get(connection, leased.model_hash)
        alone = leased.attempts > MOST_ATTEMPTS
        return self._desk(leased.bounty).answers(group, leased.group_kind, model, public_alone=alone)

    def _desk(self, bounty: str) -> Desk:
        if bounty not in self._desks:
            while len(self._desks) >= DESKS:
                self._desks.popitem(last=False)[1].close()
            with self._context.database.read() as connection:
                fetched = fetch_rows(connection, bounty)
            self._desks[bounty] = desk_of(self._context.limits, fetched)
        self._desks.move_to_end(bounty)
        return self._desks[bounty]

    def _lease(self) -> Row[Any] | None:
        """Take the submission that came first, of those that nobody scores; write nothing if there is none.

        The rows are made ready before: what keeps a worker from that is no fault of the submission, and no attempt.
        """
        with self._context.database.read() as connection:
            bounty = connection.scalar(_first_free(self._context.now(), submissions.c.bounty))
        if bounty is None:
            return None
        self._desk(bounty)
        with self._context.database.write() as connection:
            first = _first_free(self._context.now(), submissions).where(submissions.c.bounty == bounty)
            first = first.with_for_update(of=submissions, skip_locked=True)
            row = connection.execute(first).one_or_none()
            if row is None:
                return None
            mine = submissions.c.id == row.id
            connection.execute(
                submissions.update()
                .where(mine)
                .values(state="scoring", attempts=row.attempts + 1, ready=self._ready(row))
            )
            connection.execute(leases.delete().where(leases.c.submission == row.id))
            deadline = self._context.later(self._context.limits.lease_seconds)
            connection.execute(leases.insert().values(submission=row.id, worker=self._name, deadline=deadline))
            return connection.execute(select(submissions).where(mine)).one()

    def _give_back(self, leased: Row[Any]) -> None:
        """Let go of the sandbox, and soon of the lease; where that fails too, the lease runs out by itself."""
        desk = self._desks.pop(leased.bounty, None)
        with suppress(Exception):
            if desk is not None:
                desk.close()
            with self._context.database.write() as connection:
                soon = self._context.later(min(2**leased.attempts, MOST_PAUSE))
                mine = (leases.c.submission == leased.id, leases.c.worker == self._name)
                connection.execute(leases.update().where(*mine, leases.c.deadline > soon).values(deadline=soon))

    def _finish(self, leased: Row[Any], state: str, reason: str | None, data: bytes | None = None) -> None:
        """Keep the result, unless the lease ran out and somebody else has it by now; the judge will announce it."""
        with self._context.database.write() as connection:
            if self._end(connection, leased, state, reason) and data is not None:
                connection.execute(scores.insert().values(submission=leased.id, data=data))

    def _end(self, connection: Connection, leased: Row[Any], state: str, reason: str | None = None) -> bool:
        """End the lease, if it is still this one."""
        held = (
            submissions.c.id == leased.id,
            submissions.c.state == "scoring",
            submissions.c.attempts == leased.attempts,
        )
        if not connection.execute(submissions.update().where(*held).values(state=state, reason=reason)).rowcount:
            return False
        connection.execute(leases.delete().where(leases.c.submission == leased.id))
        return True

    def _ready(self, row: Row[Any]) -> str:
        """Return when the judge may come to a submission that is taken up now."""
        hold = timedelta(seconds=self._context.limits.hold)
        received = datetime.strptime(row.received, MOMENT).replace(tzinfo=UTC)
        return max(written(received + hold), written(self._context.clock() + hold / 2))


def _first_free(now: str, *chosen: Any) -> Any:
    """Choose the submission that came first, of those that nobody scores."""
    lost = and_(submissions.c.state == "scoring", leases.c.deadline < now)
    return (
        select(*chosen)
        .outerjoin(leases, leases.c.submission == submissions.c.id)
        .where(submissions.c.state.in_(("received", "scoring")), or_(submissions.c.state == "received", lost))
        .order_by(submissions.c.received, submissions.c.place)
        .limit(1)
    )


@dataclass(frozen=True, eq=False)
class Fetched:
    """What a desk is made of, read from the database."""

    terms: Terms
    schema: Schema
    rows: Any
    labels: Array
    """Of the public rows."""
    initial: Array


def fetch_rows(connection: Connection, bounty: str, *, public_alone: bool = False) -> Fetched:
    """Fetch a bounty's rows, or its public ones alone."""
    row = find_bounty(connection, bounty)
    terms, labels = read_terms(row), public_labels(connection, bounty)
    rows = (
        public_features(connection, bounty, terms.label) if public_alone else features(connection, bounty, terms.label)
    )
    initial = Answers.of(get_file(connection, bounty, INITIAL_ANSWERS)).answers
    return Fetched(terms, read_schema(row.schema), rows, labels, initial)


def desk_of(limits: Limits, fetched: Fetched) -> Desk:
    """Start a sandbox that holds a bounty's rows."""
    judged = LocalHoldout(numbered(len(fetched.labels)), fetched.labels)
    judged.open(Initial(fetched.initial), fetched.terms.make_loss())
    return Desk(
        fetched.schema,
        fetched.rows,
        len(fetched.labels),
        LabelType.of(fetched.initial),
        judged,
        limits.sandbox(fetched.rows),
    )


def read_terms(row: Row[Any]) -> Terms:
    """Read the terms of a bounty's row."""
    return Terms.of(json.loads(row.settings))
