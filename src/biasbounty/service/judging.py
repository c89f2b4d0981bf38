"""Judging: strictly in the order of receipt, by one judge at a time, from columns alone.

A judge holds a bounty's holdout as columns, and the checker where it stands. It reads whose turn it is and decides with
nothing locked; then, under the lock of the bounty, it looks whether it is still that one's turn. The verdict, its
repairs and payout, the ledger's entry and the checker's new standing are one transaction; only then does the judge's
own holdout take the round. A judge that finds that another was there takes over what that one decided.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, select

from biasbounty.core.checkers import Examination
from biasbounty.core.holdout import Handle, Holdout
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.outlook import Outlook, PublicRows
from biasbounty.core.process import Decision, Judge, Outcome, Scored
from biasbounty.core.transcript import verdict_of
from biasbounty.errors import StoreError
from biasbounty.ledger.canonical import exact
from biasbounty.ledger.lists import round_hash
from biasbounty.service.columns import Answers, Initial, numbered
from biasbounty.service.context import Context
from biasbounty.service.lifecycle import announce, enter
from biasbounty.service.rows import INITIAL_ANSWERS, labels
from biasbounty.service.scoring import read_terms
from biasbounty.service.standing import read_standing, write_standing
from biasbounty.service.terms import Terms
from biasbounty.statistics import Evidence
from biasbounty.store.artifacts import get_file
from biasbounty.store.books import Words, find_bounty, head_of, lock, pen_for, write_entry
from biasbounty.store.tables import bounties, leases, rounds, scores, submissions
from biasbounty.values import Certificate, Repair, Verdict

OVER = ("refused", "failed", "withdrawn")
"""States of a submission that is passed over."""


@dataclass
class Bench:
    """A bounty as its judge holds it: the holdout and public rows as columns, and how far it has come."""

    judge: Judge
    examination: Examination
    judged: int
    paid: int

    @property
    def newest(self) -> int:
        """The number of the newest round."""
        return self.judge.holdout.rounds - 1

    def decide(self, answers: Answers) -> tuple[Decision, Verdict]:
        """Decide a submission against the newest round, and change nothing."""
        decision = self.judge.decide(self.examination, self.score(answers))
        return decision, verdict_of(decision.answers, self.newest, self.judge.payouts, self.paid)

    def score(self, answers: Answers) -> Scored:
        """Turn answers into columns; whatever does not work on the holdout is a group of no rows."""
        certificate = Certificate(answers.group, answers.model)
        public = self.judge.outlook.score(certificate)
        try:
            return Scored(self.judge.holdout.score(certificate), public, None if answers.whole else FAILED)
        except Exception as error:
            nobody = replace(certificate, group=lambda rows: np.zeros(len(rows), np.bool_))
            return Scored(self.judge.holdout.score(nobody), public, str(error))

    def append(self, decision: Decision, verdict: Verdict) -> None:
        """Take over what was decided."""
        self.judge.append(decision)
        self.examination, self.paid = decision.examination, self.paid + verdict.payout
        self.judged += 1

    def publish(self, answers: Answers, repairs: tuple[Repair, ...]) -> None:
        """Take over a round that another judge published."""
        scored = self.score(answers)
        append_round(self.judge.holdout, scored.holdout, repairs)
        append_round(self.judge.outlook, scored.public, repairs)

    def is_at(self, row: Row[Any]) -> bool:
        """Say whether this is where the bounty is."""
        return self.judged == row.judged and self.judge.rounds == {row.round + 1}

    def is_before(self, row: Row[Any]) -> bool:
        """Say whether the bounty is here or came by here, and all of it was taken over."""
        return self.judged <= row.judged and self.newest <= row.round and self.judge.rounds == {self.newest + 1}


FAILED = "it failed on the holdout"


def new_bench(terms: Terms, initial: Any, public: Any, kept: Any, examination: Examination) -> Bench:
    """Return a bounty at its start, given the initial model's answers and the labels of both kinds of rows."""
    model, loss = Initial(initial), terms.make_loss()
    outlook = PublicRows.open((numbered(len(public)), public), model, loss)
    holdout = LocalHoldout(numbered(len(kept), len(public)), kept)
    holdout.open(model, loss, outlook.rows.labels)
    return Bench(Judge(holdout, outlook, terms.make_payouts(), terms.repairs), examination, 0, 0)


def open_bench(connection: Connection, bounty: Row[Any]) -> Bench:
    """Rebuild a bounty from what is kept: its rounds from the accepted submissions, the checker from its standing."""
    public, kept = labels(connection, bounty.id)
    initial = Answers.of(get_file(connection, bounty.id, INITIAL_ANSWERS)).answers
    bench = new_bench(read_terms(bounty), initial, public, kept, read_standing(bounty.standing))
    return caught_up(connection, bounty, bench)


def caught_up(connection: Connection, bounty: Row[Any], bench: Bench) -> Bench:
    """Take over what other judges have decided since."""
    for answers, repairs in accepted_answers(connection, bounty.id, bench.newest + 1):
        bench.publish(answers, repairs)
    bench.examination = read_standing(bounty.standing)
    bench.judged, bench.paid = bounty.judged, bounty.paid
    if not bench.is_at(bounty):
        raise StoreError(f"bounty is out of step: expected {bounty.round} rounds, got {bench.newest}; restore a backup")
    return bench


def accepted_answers(
    connection: Connection, bounty: str, start: int = 1
) -> Iterator[tuple[Answers, tuple[Repair, ...]]]:
    """Yield what the accepted submissions answered, from a round on, and the repairs that each needed."""
    chosen = (
        select(scores.c.data, rounds.c.repairs)
        .join(rounds, rounds.c.submission == scores.c.submission)
        .where(rounds.c.bounty == bounty, rounds.c.number >= start)
        .order_by(rounds.c.number)
    )
    for data, repairs in connection.execution_options(yield_per=20).execute(chosen):
        yield Answers.of(bytes(data)), tuple(Repair(*each) for each in json.loads(repairs))


def append_round(rows: Holdout | Outlook, handle: Handle, repairs: tuple[Repair, ...]) -> None:
    """Publish a round that was decided before, without asking whether it passes."""
    candidate = rows.candidate(handle)
    for repair in repairs:
        candidate = rows.repaired(candidate, repair)
    rows.append(candidate)


@dataclass(frozen=True)
class Turn:
    """Whose turn it is, as it was read: the bounty's row, the submission's, and its answers."""

    bounty: Row[Any]
    submission: Row[Any]
    answers: Answers | None = None


class Judging:
    """Judges the submissions of one bounty as they are scored. Any thread may call it; one is at work at a time."""

    def __init__(self, context: Context, bounty: str) -> None:
        self._context, self._bounty = context, bounty
        self._bench: Bench | None = None
        self._at_work = Lock()

    def judge_next(self) -> Verdict | None:
        """Judge the submission whose turn it is, if it is scored; None if nothing can be judged now."""
        with self._at_work:
            while (turn := self._turn()) is not None:
                if turn.answers is None:
                    self._pass_over(turn)
                elif (verdict := self._judge(turn, turn.answers)) is not None:
                    return verdict
        return None

    def _turn(self) -> Turn | None:
        """Return whose turn it is, with the bench brought to where the bounty is; None if nothing can be judged."""
        with self._context.database.read() as connection:
            row = find_bounty(connection, self._bounty)
            waiting = _waiting(connection, row)
            if waiting is None or not self._may(waiting):
                return None
            if waiting.state in OVER:
                return Turn(row, waiting)
            data = connection.scalar(select(scores.c.data).where(scores.c.submission == waiting.id))
            if data is None:
                raise StoreError(f"submission {waiting.id} has no scores: expected them kept; restore a backup")
            self._catch_up(connection, row)
        return Turn(row, waiting, Answers.of(bytes(data)))

    def _may(self, waiting: Row[Any]) -> bool:
        """Say whether a submission may be judged or passed over now."""
        in_time = waiting.ready is None or waiting.ready <= self._context.now()
        return waiting.state == "withdrawn" or (waiting.state in ("scored", *OVER) and in_time)

    def _catch_up(self, connection: Connection, row: Row[Any]) -> None:
        """Bring the bench to where the bounty is; one that is no part of the way there is left."""
        bench, self._bench = self._bench, None
        if bench is None or not bench.is_before(row):
            bench = open_bench(connection, row)
        elif not bench.is_at(row):
            bench = caught_up(connection, row, bench)
        self._bench = bench

    def _pass_over(self, turn: Turn) -> None:
        """Announce what became of a submission that needs no judge, in its turn: the hour tells of nothing else."""
        with self._context.database.write() as connection:
            row = lock(connection, self._bounty)
            waiting = _waiting(connection, row)
            if row.judged != turn.bounty.judged or waiting is None:
                return
            if waiting.state != "withdrawn":
                pen, body = pen_for(connection, row.id, self._context.now()), _place(waiting)
                line = write_entry(connection, pen, head_of(row), waiting.state, body)
                announce(connection, row.id, waiting.state, body, line.entry.number)
            connection.execute(_this(self._bounty).values(judged=row.judged + 1))

    def _judge(self, turn: Turn, answers: Answers) -> Verdict | None:
        """Decide, and write it if it is still this one's turn; None if another judge was first, or nobody can."""
        bench = self._bench
        assert bench is not None  # noqa: S101
        if bench.examination.stopped:
            self._stop(turn, bench.examination.stopped)
            return None
        decision, verdict = bench.decide(answers)
        with self._context.database.write() as connection:
            row = lock(connection, self._bounty)
            if row.judged != turn.bounty.judged or not self._is_scored(connection, turn):
                return None
            self._write(connection, row, turn.submission, decision, verdict)
        bench.append(decision, verdict)
        return verdict

    def _is_scored(self, connection: Connection, turn: Turn) -> bool:
        """Say whether the submission is still there to be judged, and was not withdrawn."""
        state = select(submissions.c.state).where(submissions.c.id == turn.submission.id)
        return bool(connection.scalar(state) == "scored")

    def _stop(self, turn: Turn, why: str) -> None:
        """Take no more, since the checker has stopped, and call failed what nobody can judge any more."""
        with self._context.database.write() as connection:
            row = lock(connection, self._bounty)
            if row.judged != turn.bounty.judged:
                return
            if row.state in ("open", "paused"):
                enter(connection, self._context, row, "closing", said=Words(why))
            mine = (submissions.c.bounty == self._bounty, submissions.c.place >= row.judged)
            waiting = select(submissions.c.id).where(*mine, submissions.c.state.not_in(OVER))
            for table in (leases, scores):
                connection.execute(table.delete().where(table.c.submission.in_(waiting)))
            failed = {"state": "failed", "reason": f"{why}; nothing more can be judged"}
            connection.execute(submissions.update().where(submissions.c.id.in_(waiting)).values(failed))

    def _write(
        self, connection: Connection, row: Row[Any], waiting: Row[Any], decision: Decision, verdict: Verdict
    ) -> None:
        pen = pen_for(connection, self._bounty, self._context.now())
        shown = verdict_json(verdict)
        body, said = {**_place(waiting), **shown}, None
        if verdict.accepted:
            body |= self._publish(connection, waiting, verdict)
            said = Words(waiting.note, waiting.hunter)
        line = write_entry(connection, pen, head_of(row), "judged", body, hidden_json(decision.outcome), said)
        connection.execute(
            submissions.update()
            .where(submissions.c.id == waiting.id)
            .values(state="judged", judged=pen.now, verdict=json.dumps(shown), verdict_entry=line.entry.number)
        )
        if not verdict.accepted:
            connection.execute(scores.delete().where(scores.c.submission == waiting.id))
        announce(connection, self._bounty, "judged", body, line.entry.number)
        connection.execute(
            _this(self._bounty).values(
                judged=row.judged + 1,
                round=verdict.round,
                paid=row.paid + verdict.payout,
                standing=write_standing(decision.examination),
            )
        )

    def _publish(self, connection: Connection, waiting: Row[Any], verdict: Verdict) -> dict[str, str]:
        """Keep an accepted submission's round; return what of it everyone may know."""
        repairs = [[repair.group, repair.pointer] for repair in verdict.repairs]
        last = select(rounds.c.hash).where(rounds.c.bounty == self._bounty, rounds.c.number == verdict.round - 1)
        before = str(connection.scalar(last))
        digest = round_hash(before, waiting.group_kind, waiting.group_hash, waiting.model_hash, repairs)
        kept = {"bounty": self._bounty, "number": verdict.round, "submission": waiting.id, "hash": digest}
        kept |= {"repairs": json.dumps(repairs), "payout": verdict.payout}
        connection.execute(rounds.insert().values(kept))
        return {
            "group_kind": waiting.group_kind,
            "group": waiting.group_hash,
            "model": waiting.model_hash,
            "list": digest,
        }


def _this(bounty: str) -> Any:
    return bounties.update().where(bounties.c.id == bounty)


def _place(waiting: Row[Any]) -> dict[str, Any]:
    return {"submission": waiting.id, "place": waiting.place}


def _waiting(connection: Connection, row: Row[Any]) -> Row[Any] | None:
    """Return the submission whose turn it is."""
    where = (submissions.c.bounty == row.id, submissions.c.place == row.judged)
    return connection.execute(select(submissions).where(*where)).one_or_none()


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as everyone may see it."""
    return {
        "accepted": verdict.accepted,
        "round": verdict.round,
        "repairs": [[repair.group, repair.pointer] for repair in verdict.repairs],
        "payout": verdict.payout,
    }


def hidden_json(outcome: Outcome) -> dict[str, Any]:
    """Return what the holdout said, which is sealed until the close."""
    return {
        "evidence": _evidence_json(outcome.evidence),
        "repairs": [_evidence_json(each) for each in outcome.repair_evidence],
        "log level": None if outcome.log_level is None else exact(outcome.log_level),
        "log bound level": None if outcome.log_bound_level is None else exact(outcome.log_bound_level),
        "failed": outcome.failure is not None,
    }


def _evidence_json(evidence: Evidence) -> list[str]:
    return [str(part) for part in (evidence.n, evidence.total, evidence.total_squares, evidence.scale)]
