"""Preflight: what a submission does on public rows, against the newest round. It is free, and tells nothing secret."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.service.columns import Answers, Initial, numbered
from biasbounty.service.context import Context
from biasbounty.service.judging import accepted_answers, append_round
from biasbounty.service.rows import read_schema
from biasbounty.service.scoring import Desk, desk_of, fetch_rows
from biasbounty.service.submitting import Handed, read_handed
from biasbounty.service.views import bounty_row
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


@dataclass(frozen=True)
class _Public:
    """A bounty's public rows at hand, in a sandbox and with the rounds so far."""

    desk: Desk
    rows: LocalHoldout

    def close(self) -> None:
        """Let go of the sandbox."""
        self.desk.close()


class Preflights:
    """Checks submissions on public rows, one at a time; its sandboxes hold no other rows."""

    def __init__(self, context: Context) -> None:
        self._context, self._lock = context, Lock()
        self._kept: OrderedDict[str, _Public] = OrderedDict()

    def check(self, bounty: str, handed: Handed) -> Preflight:
        """Return what a submission does on public rows; raise SubmissionError, in words, where it fails."""
        group = read_handed(handed, read_schema(bounty_row(self._context, bounty).schema))
        with self._lock:
            public = self._public(bounty)
            self._catch_up(bounty, public.rows)
            return _compared(public.rows, public.desk.on_public(group, handed.kind, handed.model))

    def close(self) -> None:
        """Let go of all sandboxes."""
        with self._lock:
            while self._kept:
                self._kept.popitem()[1].close()

    def _public(self, bounty: str) -> _Public:
        if bounty not in self._kept:
            while len(self._kept) >= DESKS:
                self._kept.popitem(last=False)[1].close()
            with self._context.database.read() as connection:
                fetched = fetch_rows(connection, bounty, public_alone=True)
            rows = LocalHoldout(numbered(len(fetched.labels)), fetched.labels)
            rows.open(Initial(fetched.initial), fetched.terms.make_loss())
            self._kept[bounty] = _Public(desk_of(self._context.limits, fetched), rows)
        self._kept.move_to_end(bounty)
        return self._kept[bounty]

    def _catch_up(self, bounty: str, rows: LocalHoldout) -> None:
        """Take over the rounds that were published since."""
        with self._context.database.read() as connection:
            for answers, repairs in accepted_answers(connection, bounty, rows.rounds):
                append_round(rows, rows.score(Certificate(answers.group, answers.model)), repairs)


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
