"""Judging: strictly in the order of receipt, by one judge at a time, from columns alone.

A judge holds a bounty's holdout as columns, and the checker where it stands. The verdict, its repairs and payout, the
ledger's entry and the checker's new standing are one transaction, under the lock of the bounty; only then does the
judge's own holdout take the round. A judge that finds that another was there reads everything anew.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, select

from biasbounty.core.checkers import Examination
from biasbounty.core.holdout import Handle
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.outlook import PublicRows
from biasbounty.core.process import Decision, Judge, Outcome, Scored
from biasbounty.core.transcript import verdict_of
from biasbounty.errors import ConflictError, StoreError
from biasbounty.ledger.canonical import exact
from biasbounty.service.columns import Answers, Initial, numbered
from biasbounty.service.context import Context
from biasbounty.service.rows import INITIAL_ANSWERS, labels
from biasbounty.service.scoring import read_terms
from biasbounty.service.standing import read_standing, write_standing
from biasbounty.service.terms import Terms
from biasbounty.statistics import Evidence
from biasbounty.store.artifacts import get_file
from biasbounty.store.books import head_of, lock, pen_for, write_entry
from biasbounty.store.tables import bounties, events, rounds, scores, submissions
from biasbounty.values import Certificate, Repair, Verdict

OVER = ("refused", "failed", "withdrawn")
"""States of a submission that is passed over."""


@dataclass
class Bench:
    """A bounty as its judge holds it: the holdout and public rows as columns, and how far it has come."""

    terms: Terms
    judge: Judge
    examination: Examination
    judged: int
    paid: int
    public: int

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
            return Scored(self.judge.holdout.score(certificate), public)
        except Exception as error:
            nobody = replace(certificate, group=lambda rows: np.zeros(len(rows), np.bool_))
            return Scored(self.judge.holdout.score(nobody), public, str(error))

    def append(self, decision: Decision, verdict: Verdict) -> None:
        """Take over what was decided."""
        self.judge.append(decision)
        self.examination, self.paid = decision.examination, self.paid + verdict.payout
        self.judged += 1


def open_bench(connection: Connection, bounty: Row[Any]) -> Bench:
    """Rebuild a bounty from what is kept: its rounds from the accepted submissions, the checker from its standing."""
    terms = read_terms(bounty)
    public, kept = labels(connection, bounty.id)
    initial = Initial(Answers.of(get_file(connection, bounty.id, INITIAL_ANSWERS)).answers)
    loss, payouts = terms.make_loss(), terms.make_payouts()
    outlook = PublicRows.open((numbered(len(public)), public), initial, loss)
    holdout = LocalHoldout(numbered(len(kept), len(public)), kept)
    holdout.open(initial, loss, outlook.rows.labels)
    judge = Judge(holdout, outlook, payouts, terms.repairs)
    bench = Bench(terms, judge, read_standing(bounty.standing), bounty.judged, bounty.paid, len(public))
    for answers, repairs in accepted_answers(connection, bounty.id):
        scored = bench.score(answers)
        append_round(holdout, scored.holdout, repairs)
        append_round(outlook.rows, scored.public, repairs)
    if bench.newest != bounty.round:
        raise StoreError(f"bounty is out of step: expected {bounty.round} rounds, got {bench.newest}; restore a backup")
    return bench


def accepted_answers(connection: Connection, bounty: str) -> list[tuple[Answers, tuple[Repair, ...]]]:
    """Return what the accepted submissions answered, and the repairs that each needed."""
    chosen = (
        select(scores.c.data, rounds.c.repairs)
        .join(rounds, rounds.c.submission == scores.c.submission)
        .where(rounds.c.bounty == bounty)
        .order_by(rounds.c.number)
    )
    return [
        (Answers.of(bytes(data)), tuple(Repair(*each) for each in json.loads(repairs)))
        for data, repairs in connection.execute(chosen)
    ]


def append_round(rows: LocalHoldout, handle: Handle, repairs: tuple[Repair, ...]) -> None:
    """Publish a round that was decided before, without asking whether it passes."""
    candidate = rows.candidate(handle)
    for repair in repairs:
        candidate = rows.repaired(candidate, repair)
    rows.append(candidate)


class Judging:
    """Judges the submissions of one bounty as they are scored."""

    def __init__(self, context: Context, bounty: str) -> None:
        self._context, self._bounty = context, bounty
        self._bench: Bench | None = None

    def judge_next(self) -> Verdict | None:
        """Judge the submission whose turn it is, if it is scored; None if nothing can be judged now."""
        while True:
            with self._context.database.write() as connection:
                row = lock(connection, self._bounty)
                bench = self._at(connection, row)
                waiting = _waiting(connection, row)
                if waiting is None or waiting.state not in ("scored", *OVER):
                    return None
                if waiting.state in OVER:
                    connection.execute(_this(self._bounty).values(judged=row.judged + 1))
                    passed: tuple[Decision, Verdict] | None = None
                else:
                    passed = self._judge(connection, row, waiting, bench)
            if passed is None:
                bench.judged += 1
                continue
            bench.append(*passed)
            return passed[1]

    def _at(self, connection: Connection, row: Row[Any]) -> Bench:
        """Return the bench, read anew if another judge was there since."""
        bench = self._bench
        if bench is None or (bench.judged, bench.newest, bench.paid) != (row.judged, row.round, row.paid):
            bench = self._bench = open_bench(connection, row)
        return bench

    def _judge(
        self, connection: Connection, row: Row[Any], waiting: Row[Any], bench: Bench
    ) -> tuple[Decision, Verdict] | None:
        data = connection.scalar(select(scores.c.data).where(scores.c.submission == waiting.id))
        if data is None:
            raise StoreError(f"submission {waiting.id} has no scores: expected them kept; restore a backup")
        if bench.examination.stopped:
            raise ConflictError(f"{bench.examination.stopped}; open a new bounty on a fresh holdout")
        decision, verdict = bench.decide(Answers.of(bytes(data)))
        self._write(connection, row, waiting, decision, verdict)
        return decision, verdict

    def _write(
        self, connection: Connection, row: Row[Any], waiting: Row[Any], decision: Decision, verdict: Verdict
    ) -> None:
        pen = pen_for(connection, self._bounty, self._context.now())
        shown = verdict_json(verdict)
        body = {"submission": waiting.id, "place": waiting.place, **shown}
        if verdict.accepted:
            body |= {"group": waiting.group_hash, "model": waiting.model_hash, "note": waiting.note}
        line = write_entry(connection, pen, head_of(row), "judged", body, hidden_json(decision.outcome))
        connection.execute(
            submissions.update()
            .where(submissions.c.id == waiting.id)
            .values(state="judged", judged=pen.now, verdict=json.dumps(shown), verdict_entry=line.entry.number)
        )
        if verdict.accepted:
            kept = {"bounty": self._bounty, "number": verdict.round, "submission": waiting.id}
            connection.execute(rounds.insert().values(**kept, repairs=json.dumps(shown["repairs"])))
        else:
            connection.execute(scores.delete().where(scores.c.submission == waiting.id))
        connection.execute(events.insert().values(bounty=self._bounty, kind="judged", body=json.dumps(body)))
        connection.execute(
            _this(self._bounty).values(
                judged=row.judged + 1,
                round=verdict.round,
                paid=row.paid + verdict.payout,
                standing=write_standing(decision.examination),
            )
        )


def _this(bounty: str) -> Any:
    return bounties.update().where(bounties.c.id == bounty)


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
