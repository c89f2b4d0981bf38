"""Preflight: what a submission does on public rows, against the newest round. It is free, and tells nothing secret."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

from sqlalchemy import Row

from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.service.columns import Answers, Initial, numbered
from biasbounty.service.context import Context
from biasbounty.service.judging import accepted_answers, append_round
from biasbounty.service.rows import INITIAL_ANSWERS, public_labels, read_schema
from biasbounty.service.scoring import Desk, open_desk, read_terms
from biasbounty.service.submitting import ONNX, TEXT, Handed, read_handed
from biasbounty.service.views import bounty_row
from biasbounty.store.artifacts import get_file
from biasbounty.values import Certificate

DESKS = 2


@dataclass(frozen=True)
class Preflight:
    """What a submission does on public rows."""

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


class Preflights:
    """Checks submissions on public rows, one at a time; its sandboxes hold no other rows."""

    def __init__(self, context: Context) -> None:
        self._context, self._lock = context, Lock()
        self._desks: OrderedDict[str, Desk] = OrderedDict()

    def check(self, bounty: str, handed: Handed) -> Preflight:
        """Return what a submission does on public rows; raise SubmissionError, in words, where it fails."""
        row = bounty_row(self._context, bounty)
        group = read_handed(handed, read_schema(row.schema))
        kind = TEXT if isinstance(handed.group, str) else ONNX
        with self._lock:
            desk = self._desk(bounty)
            answers = desk.on_public(group, kind, handed.model)
        return _compared(self._public(row, desk.public), answers)

    def close(self) -> None:
        """Let go of all sandboxes."""
        with self._lock:
            while self._desks:
                self._desks.popitem()[1].close()

    def _desk(self, bounty: str) -> Desk:
        if bounty not in self._desks:
            while len(self._desks) >= DESKS:
                self._desks.popitem(last=False)[1].close()
            with self._context.database.read() as connection:
                self._desks[bounty] = open_desk(self._context, connection, bounty, public_alone=True)
        self._desks.move_to_end(bounty)
        return self._desks[bounty]

    def _public(self, row: Row[Any], size: int) -> LocalHoldout:
        """Return the public rows with all rounds so far."""
        with self._context.database.read() as connection:
            initial = Answers.of(get_file(connection, row.id, INITIAL_ANSWERS)).answers
            labels, accepted = public_labels(connection, row.id), accepted_answers(connection, row.id)
        public = LocalHoldout(numbered(size), labels)
        public.open(Initial(initial), read_terms(row).make_loss())
        for answers, repairs in accepted:
            append_round(public, public.score(Certificate(answers.group, answers.model)), repairs)
        return public


def _compared(public: LocalHoldout, answers: Answers) -> Preflight:
    handle = public.score(Certificate(answers.group, answers.model))
    evidence = public.evidence(handle, public.rounds - 1)
    group = int(answers.mask.sum())
    before = int(public.losses(public.rounds - 1)[answers.mask].sum())
    per_row = group * evidence.scale
    return Preflight(
        rows=public.size,
        group=group,
        risk_before=before / per_row if group else 0.0,
        risk_after=(before - evidence.total) / per_row if group else 0.0,
        contribution=evidence.contribution,
    )
