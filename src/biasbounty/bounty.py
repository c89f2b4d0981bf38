"""Bounty: a bias bounty on one model, held by its organizer.

It turns what hunters hand in into certificates, has them scored, and lets the core's process judge them in order.
What it returns from `submit` (a Verdict) and publishes as `model` and `rounds` may be shown to anyone; `risk`,
`evidence` and `outcomes` come from the holdout and are for the organizer who holds this object.

Safe to share between threads: submissions are scored side by side and judged one at a time, in the order in which their
scoring ends; that order is the one recorded and replayed.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasbounty import losses
from biasbounty.core.answers import require_function
from biasbounty.core.checkers import Checker, Plain
from biasbounty.core.decision_list import Node, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.core.holdout import Handle, Holdout
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.process import Outcome, Process
from biasbounty.errors import BountyStoppedError, GroupError, ModelError, ReplayError, SettingsError, SubmissionError
from biasbounty.losses import Loss
from biasbounty.statistics import Evidence
from biasbounty.values import Certificate, Repair, Round, RowFunction, Verdict


@dataclass(frozen=True)
class _Record:
    """Everything so far, replaced whole after each judgement, so that readers never see half of one."""

    certificates: tuple[Certificate, ...]
    outcomes: tuple[Outcome, ...]
    transcript: tuple[Verdict, ...]
    rounds: tuple[Round, ...]
    protected: tuple[Certificate, ...]
    model: PointerDecisionList


class Bounty:
    """A bias bounty; see the module.

    `X` and `y` are the holdout, or `holdout` is any object that keeps the Holdout protocol. With `public=(X, y)` every
    submission is called on the public rows first, so that its errors speak of rows that may be shown; one that fails
    only on the holdout is then answered like any rejection. `checker` is Plain by default, which guarantees nothing.
    """

    def __init__(
        self,
        model: RowFunction,
        X: Any = None,
        y: Any = None,
        *,
        holdout: Holdout | None = None,
        loss: str | Loss | Callable[..., Any] = "zero_one",
        checker: Checker | None = None,
        repairs: bool = True,
        public: tuple[Any, Any] | None = None,
        pot: int = 0,
        grid: Any = None,
        sandbox: Any = None,
    ) -> None:
        _refuse_unbuilt(pot=(pot, 0), grid=(grid, None), sandbox=(sandbox, None))
        require_function(model, ModelError, "initial model")
        self.loss, self.repairs = losses.get(loss), repairs
        self.checker: Checker = Plain() if checker is None else checker
        self._holdout = _one_holdout(X, y, holdout)
        examination = self.checker.begin(self._holdout.size, repairs=repairs)
        self._holdout.open(model, self.loss)
        self._public = _open_public(public, model, self.loss)
        self._process = Process(self._holdout, examination, repairs=repairs)
        initial = PointerDecisionList(model, labels=self._holdout.labels)
        self._record = _Record((), (), (), (Round(0, 0),), (), initial)
        self._judging = threading.Lock()

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
        return self._process.examination.guarantee

    @property
    def protected(self) -> tuple[Certificate, ...]:
        """The certificates whose groups are protected, in order of acceptance."""
        return self._record.protected

    def risk(self, round: int | None = None, group: int | None = None) -> float:
        """For the organizer: a round's holdout risk (the newest if None), overall or on a protected group."""
        newest, groups = len(self._record.rounds) - 1, len(self._record.protected)
        if round is not None and not 0 <= round <= newest:
            raise SettingsError(f"round does not exist: expected a number from 0 to {newest}, got {round}")
        if group is not None and not 0 <= group < groups:
            raise SettingsError(
                f"group does not exist: expected the index of one of {groups} protected groups, got {group}"
            )
        return self._holdout.risk(newest if round is None else round, group)

    def submit(self, group: RowFunction, model: RowFunction, *, hunter: str | None = None, note: str = "") -> Verdict:
        """Judge the claim that the model does better than the newest round on the group.

        A SubmissionError says what is wrong with a submission that cannot be judged, and leaves the bounty unchanged.
        """
        require_function(group, GroupError, "group")
        require_function(model, ModelError, "model")
        certificate = Certificate(group, model, hunter, note)
        self._require_running()
        handle = self._score(certificate)
        with self._judging:
            self._require_running()
            return self._judge(certificate, handle)

    def _require_running(self) -> None:
        stopped = self._process.examination.stopped
        if stopped:
            raise BountyStoppedError(f"{stopped}; open a new bounty on a fresh holdout to go on")

    def _score(self, certificate: Certificate) -> Handle:
        if self._public is None:
            return self._holdout.score(certificate)
        self._public.score(certificate)
        try:
            return self._holdout.score(certificate)
        except SubmissionError:
            return self._holdout.score(replace(certificate, group=_nobody))

    def _judge(self, certificate: Certificate, handle: Handle) -> Verdict:
        """Judge a scored submission and record it, under the lock."""
        outcome, record = self._process.judge(handle), self._record
        verdict = Verdict(outcome.accepted, len(record.rounds) - 1 + outcome.accepted, outcome.repairs)
        record = replace(
            record,
            certificates=(*record.certificates, certificate),
            outcomes=(*record.outcomes, outcome),
            transcript=(*record.transcript, verdict),
        )
        self._record = _published(record, certificate, outcome.repairs) if outcome.accepted else record
        return verdict

    def replay(self, progress: Callable[[int, int], None] | None = None) -> PointerDecisionList:
        """Score and judge every submission anew; return the model, or raise ReplayError where anything differs."""
        record = self._record
        again = Bounty(
            record.model.initial,
            holdout=self._holdout.fresh(),
            loss=self.loss,
            checker=self.checker,
            repairs=self.repairs,
        )
        again._public = self._public
        for number, certificate in enumerate(record.certificates):
            again._judge(certificate, again._score(certificate))
            if again.outcomes[-1] != record.outcomes[number]:
                raise ReplayError(
                    f"replay differs at submission {number}: expected {record.outcomes[number]}, "
                    f"got {again.outcomes[-1]}; a group or model does not answer as it did"
                )
            if progress is not None:
                progress(number + 1, len(record.certificates))
        if (again.model.nodes, again.model.heads) != (record.model.nodes, record.model.heads):
            raise ReplayError("replay differs: expected the same nodes, got other ones from the same verdicts")
        return again.model


def _published(record: _Record, certificate: Certificate, repairs: tuple[Repair, ...]) -> _Record:
    """Return the record with one more round."""
    protected = (*record.protected, certificate)
    nodes: tuple[Node, ...] = (
        UpdateNode(certificate.group, certificate.model, certificate.hunter, certificate.note),
        *(_repair_node(protected[repair.group], repair.pointer) for repair in repairs),
    )
    model = record.model.extended(nodes)
    newest = Round(len(record.rounds), len(model), certificate.hunter, certificate.note, repairs)
    return replace(record, rounds=(*record.rounds, newest), protected=protected, model=model)


def _repair_node(protected: Certificate, pointer: int) -> RepairNode:
    return RepairNode(protected.group, pointer, protected.hunter, protected.note)


def _nobody(X: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Hold no row: the group that a submission which failed on the holdout is judged by."""
    return np.zeros(len(X), np.bool_)


def _one_holdout(X: Any, y: Any, holdout: Holdout | None) -> Holdout:
    if (X is None or y is None) == (holdout is None):
        raise SettingsError("holdout is not given once: expected either X and y, or holdout=")
    if holdout is None:
        return LocalHoldout(X, y)
    if X is not None or y is not None:
        raise SettingsError("holdout is given twice: expected either X and y, or holdout=, got both")
    return holdout


def _open_public(public: tuple[Any, Any] | None, model: RowFunction, loss: Loss) -> LocalHoldout | None:
    if public is None:
        return None
    rows = LocalHoldout(*public)
    rows.open(model, loss)
    return rows


def _refuse_unbuilt(**settings: tuple[Any, Any]) -> None:
    for name, (given, only) in settings.items():
        if given != only:
            raise SettingsError(f"{name} is not built yet: expected {only!r}, got {given!r}")
