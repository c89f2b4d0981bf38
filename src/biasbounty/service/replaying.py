"""Replaying: an organizer, who has the holdout, judges everything anew from a whole export, and compares.

Each submission that was judged is scored again in the sandbox and decided again, in order; its verdict, repairs and
payout must be those of the ledger, and its evidence and levels those that were sealed. What failed on the holdout, by
the sealed record, is not run there again: a time-out need not happen twice.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from biasbounty.errors import BiasBountyError, LedgerError, ReplayError
from biasbounty.exchange.schema import Schema
from biasbounty.ledger.chain import verified
from biasbounty.ledger.entries import Line
from biasbounty.ledger.exported import Exported
from biasbounty.ledger.replay import Replayed, replay_ledger
from biasbounty.ledger.verification import text_of, verify_ledger
from biasbounty.service.context import Limits
from biasbounty.service.data import Part
from biasbounty.service.judging import Bench, hidden_json, new_bench, verdict_json
from biasbounty.service.opening import initial_answers
from biasbounty.service.rows import joined, read_label_column, read_label_file, read_table
from biasbounty.service.scoring import Desk, Fetched, desk_of
from biasbounty.service.terms import Terms

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class _Judged:
    """A judged submission as the ledger and the openings have it."""

    number: int
    verdict: Mapping[str, Any]
    sealed: Mapping[str, Any]
    handed_in: Mapping[str, Any]


def replay_judgements(exported: Exported, limits: Limits, progress: Progress | None = None) -> Replayed:
    """Judge everything of an organizer's whole export anew; raise ReplayError where the ledger says otherwise."""
    verify_ledger(exported)
    replayed = replay_ledger(exported)
    if not exported.openings:
        raise LedgerError("export has no holdout: expected an organizer's whole export, got one for everyone")
    judged = list(_judged(exported))
    with _Court(exported, limits) as court:
        for done, each in enumerate(judged):
            try:
                court.judge(each)
            except BiasBountyError as error:
                raise ReplayError(f"replay fails at entry {each.number}: {error}") from error
            if progress is not None:
                progress(done + 1, len(judged))
    return replayed


class _Court:
    """A sandbox with all rows, and a bench: what scores and what judges, in one place."""

    def __init__(self, exported: Exported, limits: Limits) -> None:
        first = next(iter(verified(exported.lines)))
        self._exported, terms = exported, Terms.of(first.entry.body["terms"])
        part, kept = _rows_of(exported, first, terms)
        model = exported.artifact(text_of(first.entry.body, "model"))
        initial = initial_answers(limits, model, joined(part.X, kept.X))
        fetched = Fetched(terms, Schema.of(part.X), joined(part.X, kept.X), part.y, initial)
        examination = terms.make_checker().begin(
            len(kept), repairs=terms.repairs, zero_one=terms.make_loss().zero_one, public=True
        )
        self._bench: Bench = new_bench(terms, initial, part.y, kept.y, examination)
        self._desk: Desk = desk_of(limits, fetched)

    def __enter__(self) -> "_Court":
        return self

    def __exit__(self, *_: object) -> None:
        self._desk.close()

    def judge(self, judged: _Judged) -> None:
        """Score and judge one submission, and compare."""
        kind, *hashes = (text_of(judged.handed_in, name) for name in ("group_kind", "group", "model"))
        group, model = (self._exported.artifact(digest) for digest in hashes)
        failed = bool(judged.sealed["failed"])
        decision, verdict = self._bench.decide(self._desk.answers(group, kind, model, public_alone=failed))
        _expect_same("verdict", judged.verdict, verdict_json(verdict))
        _expect_same("what was sealed", judged.sealed, hidden_json(decision.outcome))
        self._bench.append(decision, verdict)


def _rows_of(exported: Exported, first: Line, terms: Terms) -> tuple[Part, Part]:
    """Return the public rows and the holdout, as the first entry commits to them."""
    opened = {opening.number: opening.value for opening in exported.openings}
    public = read_table(exported.artifact(text_of(first.entry.body, "public")))
    kept = read_table(exported.artifact(text_of(opened[0], "holdout rows")))
    labels = read_label_file(exported.artifact(text_of(opened[0], "holdout labels")))
    return Part(public.drop_columns([terms.label]), read_label_column(public[terms.label])), Part(kept, labels)


def _judged(exported: Exported) -> Iterator[_Judged]:
    opened = {opening.number: opening.value for opening in exported.openings}
    handed_in: dict[int, Any] = {}
    for line in verified(exported.lines):
        body, number = line.entry.body, line.entry.number
        if line.entry.kind == "received":
            handed_in[body["place"]] = opened[number]
        elif line.entry.kind == "judged":
            verdict = {name: body[name] for name in ("accepted", "round", "repairs", "payout")}
            yield _Judged(number, verdict, opened[number], handed_in[body["place"]])


def _expect_same(what: str, recorded: object, again: object) -> None:
    if recorded != again:
        raise ReplayError(f"{what} differs: expected {recorded}, got {again}; a group or model answers otherwise now")
