"""Bounty: a bias bounty on one model, held by its organizer.

It turns what hunters hand in into certificates, has them scored, and lets the core's process judge them in order.
What it returns from `submit` (a Verdict) and publishes as `model` and `rounds` may be shown to anyone; `risk`,
`evidence` and `outcomes` come from the holdout and are for the organizer who holds this object.

Safe to share between threads: submissions are scored side by side and judged one at a time, in the order in which they
came in; that order is the one recorded and replayed.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from biasbounty import losses
from biasbounty.arrays import shown
from biasbounty.core.answers import require_function
from biasbounty.core.anytime import Anytime
from biasbounty.core.checkers import Checker
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.core.holdout import Holdout
from biasbounty.core.opened import Opened, find_upper_bound
from biasbounty.core.outlook import PublicRows, Unknown
from biasbounty.core.payouts import DEFAULT_STEP, Payouts
from biasbounty.core.process import Judge, Outcome, Scored
from biasbounty.core.record import Record
from biasbounty.core.transcript import verdict_of
from biasbounty.core.turns import Turns
from biasbounty.errors import (
    BountyStoppedError,
    GroupError,
    HoldoutError,
    ModelError,
    PredicateError,
    ReplayError,
    SettingsError,
    SubmissionError,
)
from biasbounty.exchange.predicate import Predicate, parse
from biasbounty.exchange.schema import Schema
from biasbounty.given import (
    as_function,
    one_holdout,
    require_checker,
    require_sandbox,
    require_schema,
    require_words,
)
from biasbounty.losses import Loss
from biasbounty.statistics import Evidence
from biasbounty.statistics.bounds import upper_bound
from biasbounty.values import Certificate, Repair, Round, RowFunction, Verdict, as_note


class Bounty:
    """A bias bounty on one model, held by its organizer.

    Args:
        model: The model to be patched: a fitted estimator, a callable on rows, or ONNX bytes.
        X: The rows of the holdout: a numpy array, a pandas or a polars frame. They are not copied: leave them alone.
        y: Their labels.
        holdout: Any object that keeps the `Holdout` protocol, in place of X and y.
        loss: "zero_one", a loss made by `biasbounty.losses`, or a function of (predictions, labels) into [0, 1].
        checker: Who decides: `Anytime(...)` (the default), `Paper(...)`, or `Plain()`, which guarantees nothing.
        repairs: Whether groups fixed earlier are kept from getting worse.
        public: Rows and labels that may be shown. Every submission is called on them first, so that its errors speak of
            them; one that fails only on the holdout is then answered like any rejection. They also foretell answers,
            which makes answers cheap: with them `Anytime` sees more.
        pot: What there is to pay for accepted submissions in all, in cents.
        grid: Contributions are rounded down to multiples of this before they are paid.
        rate: Cents for a contribution of 1; the pot if not given. Set it from public figures, never from holdout risk.
        schema: What predicates may name. If it is not given: the columns of the public rows, and the texts known in
            them; without public rows, the columns of X and what kind of values each holds, but none of the values.
        sandbox: A `biasbounty.sandbox.Sandbox`, in which ONNX runs; without one it runs in this process.
    """

    def __init__(
        self,
        model: RowFunction | bytes,
        X: Any = None,
        y: Any = None,
        *,
        holdout: Holdout | None = None,
        loss: str | Loss | Callable[..., Any] = "zero_one",
        checker: Checker | None = None,
        repairs: bool = True,
        public: tuple[Any, Any] | None = None,
        pot: int = 0,
        grid: float | None = None,
        rate: float | None = None,
        schema: Schema | None = None,
        sandbox: Any = None,
    ) -> None:
        self._sandbox = require_sandbox(sandbox)
        initial: RowFunction = as_function(model, sandbox)
        require_function(initial, SettingsError, "initial model")
        self.loss, self.repairs = losses.get(loss), repairs
        self.checker: Checker = require_checker(Anytime() if checker is None else checker)
        self.payouts = Payouts(pot, DEFAULT_STEP if grid is None else grid, rate)
        self._holdout, self._public = one_holdout(X, y, holdout), public
        self._schema, self._rows = require_schema(schema), X
        examination = self.checker.begin(
            self._holdout.size, repairs=repairs, zero_one=self.loss.zero_one, public=public is not None
        )
        outlook = Unknown() if public is None else PublicRows.open(public, initial, self.loss)
        self._holdout.open(initial, self.loss, outlook.rows.labels if isinstance(outlook, PublicRows) else None)
        self._judge = Judge(self._holdout, outlook, self.payouts, repairs)
        self._record = Record(PointerDecisionList(initial, labels=self._holdout.labels), examination)
        self._turns, self._judging = Turns(), threading.Lock()

    def __repr__(self) -> str:
        record = self._record
        return (
            f"Bounty(rounds={len(record.rounds)}, submissions={len(record.transcript)}, checker={self.checker!r}, "
            f"guarantee={self.guarantee!r})"
        )

    @property
    def model(self) -> PointerDecisionList:
        """The newest round, as the model to ship."""
        return self._record.model

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The published rounds; the first is the initial model."""
        return self._record.rounds

    @property
    def transcript(self) -> tuple[Verdict, ...]:
        """All verdicts, in the order of judgement."""
        return self._record.transcript

    @property
    def submissions(self) -> tuple[Certificate, ...]:
        """All judged submissions, in the order of judgement."""
        return self._record.certificates

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """For the organizer: each submission's outcome, with the evidence for it and for its repairs."""
        return self._record.outcomes

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """For the organizer: the evidence for each submission."""
        return tuple(outcome.evidence for outcome in self._record.outcomes)

    @property
    def guarantee(self) -> str:
        """What the checker promises for this bounty, in words; every report shows it."""
        return self._record.examination.guarantee

    @property
    def log_levels(self) -> tuple[float | None, ...]:
        """For the organizer: the logarithm of the level at which each submission was tested."""
        return tuple(outcome.log_level for outcome in self._record.outcomes)

    @property
    def upper_bounds(self) -> tuple[float | None, ...]:
        """For the organizer: what each rejected submission's true contribution surely does not exceed (P6).

        None for one that was accepted or failed on the holdout, and where the checker promises no bounds.
        """
        zero_one = self.loss.zero_one
        return tuple(find_upper_bound(outcome, zero_one=zero_one) for outcome in self._record.outcomes)

    def find_regression_bound(self, group: int, earlier: int) -> float | None:
        """For the organizer: what overall risk would fall by, at most, were a group sent back to an earlier round (P6).

        So much worse, and no more, can the newest round truly be for the group. None where the checker promises no
        bounds, and without repairs.
        """
        record = self._record
        self._require_protected(group)
        self._require_round(earlier, record.newest - 1)
        accepted = [outcome for outcome in record.outcomes if outcome.accepted]
        level = accepted[-1].log_bound_level
        if level is None:
            return None
        evidence = self._holdout.published_evidence(record.newest, Repair(group, earlier))
        return upper_bound(evidence, level, zero_one=self.loss.zero_one)

    @property
    def paid(self) -> int:
        """What was paid so far, in cents."""
        return self._record.paid

    @property
    def nats_spent(self) -> float:
        """What the answers so far have cost, in nats: a function of the transcript, so it may be shown."""
        return self._record.examination.nats_spent

    def resolution(self, disagreement: float = 0.02) -> float | None:
        """Return the smallest holdout contribution that would pass now, at an assumed rate of disagreement.

        A function of the number of rows and the transcript, so it may be shown; None where the checker has none.
        """
        return self._record.examination.resolution(disagreement)

    def guaranteed_resolution(self) -> float | None:
        """Return what the true contribution of a submission surely does not exceed, should it be rejected now (P6).

        For any rate of disagreement, and a function of the number of rows and the transcript, so it may be shown; None
        where the checker promises none.
        """
        return self._record.examination.guaranteed_resolution()

    def close(self) -> None:
        """Take no more submissions. What was sealed may then be `opened`."""
        with self._judging:
            self._record = replace(self._record, closed=True)

    def opened(self) -> Opened:
        """Return everything that was sealed, as one value, once the bounty is closed."""
        record = self._record
        if not record.closed:
            raise SettingsError("bounty is still open: expected it closed before what is sealed is opened; close() it")
        rounds = range(len(record.rounds))
        return Opened(
            risks=tuple(self.risk(r) for r in rounds),
            group_risks=tuple(tuple(self.risk(r, group) for r in rounds) for group in range(len(record.protected))),
            outcomes=record.outcomes,
            upper_bounds=self.upper_bounds,
            nats_spent=self.nats_spent,
            paid=record.paid,
            guarantee=self.guarantee,
        )

    @property
    def protected(self) -> tuple[Certificate, ...]:
        """The certificates whose groups are protected, in order of acceptance."""
        return self._record.protected

    def risk(self, round: int | None = None, group: int | None = None) -> float:
        """For the organizer: a round's holdout risk (the newest if None), overall or on a protected group."""
        newest = self._record.newest
        if round is not None:
            self._require_round(round, newest)
        if group is not None:
            self._require_protected(group)
        return self._holdout.risk(newest if round is None else round, group)

    def _require_round(self, round: int, newest: int) -> None:
        if not 0 <= round <= newest:
            raise SettingsError(f"round does not exist: expected a number from 0 to {newest}, got {round}")

    def _require_protected(self, group: int) -> None:
        groups = len(self._record.protected)
        if not 0 <= group < groups:
            raise SettingsError(
                f"group does not exist: expected the index of one of {groups} protected groups, got {group}"
            )

    @cached_property
    def schema(self) -> Schema:
        """What predicates may name: columns, and the texts known in them. It holds nothing that is secret."""
        if self._schema is not None:
            return self._schema
        if self._public is not None:
            return Schema.of(self._public[0])
        if self._rows is None:
            raise SettingsError(
                "bounty has no schema: expected public rows, rows X, or schema=Schema.of(X), got a holdout alone"
            )
        return Schema.of(self._rows, categories=False)

    def submit(
        self, group: RowFunction | str | bytes, model: RowFunction | bytes, *, hunter: str | None = None, note: str = ""
    ) -> Verdict:
        """Judge the claim that the model does better than the newest round on the group.

        Args:
            group: Who the model is for: predicate text such as "AGEP < 25 AND SEX = 2", ONNX bytes, or a function that
                is called on all rows at once and answers True or False for each.
            model: Its answers for those rows are to be better; it is called on rows of its group only. A fitted
                estimator, a callable on rows, or ONNX bytes.
            hunter: Who submits, in the hunter's own words.
            note: What the group is, in words; of a predicate, its text if nothing else is given.

        A SubmissionError says what is wrong with a submission that cannot be judged, and leaves the bounty unchanged.
        """
        if isinstance(group, str):
            group = self._parsed(group)
            note = as_note(str(group)) if note == "" else note
        who, answers = self._function_of(group), self._function_of(model)
        require_function(who, GroupError, "group")
        require_function(answers, ModelError, "model")
        certificate = Certificate(
            who, answers, require_words(hunter, "hunter") if hunter is not None else None, require_words(note, "note")
        )
        with self._turns.take() as turn:
            self._require_running()
            scored = self._score(certificate)
            turn.wait()
            with self._judging:
                self._require_running()
                return self._decide(certificate, scored)

    def _parsed(self, text: str) -> Predicate:
        """Read predicate text, before anything of the bounty is touched."""
        try:
            schema = self.schema
        except SettingsError as error:
            raise PredicateError(
                f"predicate cannot be read without a schema: expected a table, but {error}; hand in a callable"
            ) from error
        return parse(text, schema)

    def _function_of(self, given: Any) -> Any:
        """Return ONNX bytes as a callable on rows, audited against the schema if there is one."""
        if not isinstance(given, (bytes, bytearray, memoryview)):
            return given
        schemaless = self._schema is None and self._public is None and self._rows is None
        return as_function(given, self._sandbox, None if schemaless else self.schema)

    def _require_running(self) -> None:
        stopped = "bounty is closed" if self._record.closed else self._record.examination.stopped
        if stopped:
            raise BountyStoppedError(f"{stopped}; open a new bounty on a fresh holdout to go on")

    def _score(self, certificate: Certificate) -> Scored:
        """Score on public rows first; what fails on the holdout alone, in any way, is scored as a group of no rows.

        Without public rows the organizer is alone with the holdout, and is told what went wrong.
        """
        public = self._judge.outlook.score(certificate)
        try:
            return Scored(self._holdout.score(certificate), public)
        except Exception as error:
            if self._public is None:
                raise
            return Scored(self._holdout.score(replace(certificate, group=_nobody)), public, shown(error, str))

    def _decide(self, certificate: Certificate, scored: Scored) -> Verdict:
        """Judge a scored submission, under the lock; once the holdout has its round, only an assignment is left."""
        record = self._record
        if self._judge.rounds != {len(record.rounds)}:
            raise HoldoutError(
                f"holdout is out of step: expected {len(record.rounds)} rounds, got {max(self._judge.rounds)}; an "
                "append was interrupted or made elsewhere, so open the bounty anew on holdout.fresh() and submit all "
                "again"
            )
        decision = self._judge.decide(record.examination, scored)
        verdict = verdict_of(decision.answers, record.newest, self.payouts, record.paid)
        record = record.after(certificate, decision, verdict)
        self._judge.append(decision)
        self._record = record
        return verdict

    def replay(self, progress: Callable[[int, int], None] | None = None) -> PointerDecisionList:
        """Score and judge every submission anew, and return the model.

        Raises ReplayError where a verdict, a repair, the evidence, a node or a risk differs from what was recorded.
        """
        record = self._record
        again = self._reopened(record.model.initial)
        for number, certificate in enumerate(record.certificates):
            try:
                again._decide(certificate, again._score(certificate))
            except SubmissionError as error:
                raise ReplayError(f"replay fails at submission {number}: {error}") from error
            _expect_same(f"at submission {number}", record.outcomes[number], again.outcomes[-1])
            _expect_same(f"at submission {number}", record.transcript[number], again.transcript[-1])
            _expect_same(f"at submission {number}", self._risks(again.rounds[-1].number), again._risks())
            if progress is not None:
                progress(number + 1, len(record.certificates))
        _expect_same("in its nodes", (record.model.nodes, record.model.heads), (again.model.nodes, again.model.heads))
        return again.model

    def _reopened(self, initial: RowFunction) -> "Bounty":
        """Open a bounty with the same settings on the same rows."""
        again = Bounty(
            initial,
            holdout=self._holdout.fresh(),
            loss=self.loss,
            checker=self.checker,
            repairs=self.repairs,
            public=self._public,
            pot=self.payouts.pot,
            grid=self.payouts.step,
            rate=self.payouts.rate,
            schema=self._schema,
            sandbox=self._sandbox,
        )
        _expect_same("in the initial model", self.risk(0), again.risk(0))
        return again

    def _risks(self, round: int | None = None) -> list[float]:
        """Return the risks of a round: overall, and on each group protected by then."""
        number = self._record.newest if round is None else round
        return [self.risk(number), *(self.risk(number, group) for group in range(number))]


def _expect_same(where: str, recorded: object, replayed: object) -> None:
    if recorded != replayed:
        raise ReplayError(
            f"replay differs {where}: expected {recorded}, got {replayed}; a group or model does not answer as it did"
        )


def _nobody(X: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Hold no row: the group that a submission which failed on the holdout is judged by."""
    return np.zeros(len(X), np.bool_)
