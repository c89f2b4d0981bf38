"""Rounds: Algorithm 5 of the paper (TrainByOpt), a finder as its optimisation and the core's process as its test.

Each round is found and tested on rows that no earlier round has seen. The paper's proof needs that (its pseudo-code
names all rows), and optimises and tests on the same ones, which is right for a class so simple that what is best on a
sample is about as good in truth. A finder may learn trees, so here a certificate is found on one half of a part and
tested on the other: what is accepted has been seen to contribute on rows that it was not fitted to.

With a checker there are no parts: rows are split once, certificates are found on one half, again and again, and judged
on the other, whose reuse is the checker's to account for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from biasbounty.arrays import Array
from biasbounty.core.answers import LabelType
from biasbounty.core.checkers import Checker, Examination
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.process import Judge, Outcome, Scored
from biasbounty.core.record import Record
from biasbounty.core.rows import Rows
from biasbounty.core.thresholds import Plain
from biasbounty.core.transcript import verdict_of
from biasbounty.finders.interface import Finder, Floats, Progress
from biasbounty.finders.parts import Pieces
from biasbounty.losses import Loss
from biasbounty.statistics import Evidence
from biasbounty.statistics.bounds import lower_bound
from biasbounty.values import Certificate, Repair, RowFunction

DELTA = 0.05
"""All lower bounds of a training hold at once with probability 1 - DELTA, at least."""
NOTHING_TESTED = "Nothing was tested."
ON_PARTS = (
    "Each round was tested on rows of its own: with probability at least "
    f"{1 - DELTA:g}, every lower bound in history_ holds, if rows are drawn independently."
)
HEAVY_ROWS = (
    " A row of weight above 1 was taken for as many rows drawn independently, so that it may have been both searched "
    "and tested; if weights mean anything else, divide them by the largest."
)


@dataclass(frozen=True)
class Trial:
    """What became of one search."""

    accepted: bool
    round: int
    """The newest round after it."""
    searched: int
    tested: int
    """How many rows were searched, and how many tested."""
    note: str = ""
    """What was found, in the finder's words."""
    contribution: float | None = None
    """What it contributes on the tested rows; None if nothing was found."""
    lower_bound: float | None = None
    """What it truly contributes at least, where parts can say; all these hold at once with probability 0.95."""
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True)
class Taken:
    """Some rows, as finders and holdouts want them."""

    X: Any
    y: Array
    shares: Floats | None
    """How much each counts, as a fraction of the heaviest; None if all count the same."""

    @property
    def mean_share(self) -> float:
        """How much a row counts in the mean."""
        return 1.0 if self.shares is None else float(self.shares.mean())


@dataclass(frozen=True)
class Sample:
    """All rows that there are to learn from."""

    rows: Rows
    y: Array

    def take(self, pieces: Pieces) -> Taken:
        """Return these rows, in this order."""
        return Taken(self.rows.take(pieces.rows).native, self.y[pieces.rows], pieces.shares)


class Weighted(Loss):
    """A loss on the rows of one holdout, each counted as a fraction of the heaviest."""

    def __init__(self, loss: Loss, shares: Floats) -> None:
        self.loss, self.shares, self.name = loss, shares, f"weighted {loss.name}"

    def check_labels(self, labels: Array) -> None:
        """Raise HoldoutError if some label is none that the loss can take."""
        self.loss.check_labels(labels)

    def values(self, predictions: Array, labels: Array) -> Array:
        """Return the loss of each row, not weighted."""
        return self.loss.values(predictions, labels)

    def __call__(self, predictions: Array, labels: Array, rows: Array | None = None) -> Floats:
        """Return the loss of each row times its share; `rows` are the numbers of the rows."""
        return self.loss(predictions, labels, rows) * (self.shares if rows is None else self.shares[rows])


@dataclass(frozen=True)
class Bench:
    """Where a round is tested: rows on which every round so far is known, and a checker at work on them."""

    holdout: LocalHoldout
    examination: Examination
    loss: Loss
    mean_share: float
    log_level: float | None
    """The level at which evidence bounds a contribution from below; None where a checker decides."""

    def contribution(self, evidence: Evidence) -> float:
        """Return what risk falls by on these rows."""
        return evidence.contribution / self.mean_share

    def lower_bound(self, evidence: Evidence) -> float | None:
        """Return what risk truly falls by at least, if that is known to be more than nothing.

        Where rows have shares, the bound is for the mean of share times fall. No share is above 1, so that the fall of
        the weighted risk, which is that mean over the mean share, is at least as large.
        """
        if self.log_level is None:
            return None
        bound = lower_bound(evidence, self.log_level, zero_one=self.loss.zero_one)
        return bound if bound > 0 else None


class Training:
    """Rounds in the making: find, test, publish, until there is a reason to stop.

    Args:
        sample: The rows to learn from.
        initial: The model to start from.
        labels: The type of the labels.
        finder: Who looks for certificates.
        loss: What an answer costs.
        rng: Where the finder's chance comes from.
        wrap: What is done to each model that is found, before it is tested.
        progress: Told how far it is.
    """

    def __init__(
        self,
        sample: Sample,
        initial: RowFunction,
        labels: LabelType,
        *,
        finder: Finder,
        loss: Loss,
        rng: np.random.Generator,
        wrap: Callable[[RowFunction], RowFunction],
        progress: Progress | None = None,
    ) -> None:
        self._sample, self._labels = sample, labels
        self._finder, self._loss, self._rng, self._wrap = finder, loss, rng, wrap
        self._progress: Progress = _nobody if progress is None else progress
        nothing_asked = Plain().begin(0, repairs=True, zero_one=loss.zero_one)
        self._record = Record(PointerDecisionList(initial, labels=labels), nothing_asked)
        self.history: tuple[Trial, ...] = ()
        self.guarantee = NOTHING_TESTED

    @property
    def model(self) -> PointerDecisionList:
        """The newest round."""
        return self._record.model

    def by_parts(self, parts: Sequence[Pieces], least: float, most: int) -> str:
        """Search and test part after part until one does not show a contribution of `least`; return why it ended."""
        self.guarantee = ON_PARTS
        for at, (search, test) in enumerate(map(Pieces.split, parts)):
            bench = self._bench(test, lambda taken: Plain(least * taken.mean_share), log(DELTA / len(parts)))
            if not self._round(search, bench, at, len(parts)):
                return self._ended(f"less than the {least:.4g} asked for")
        what = "2/epsilon of them, the most there can be" if len(parts) == most else f"with more rows up to {most}"
        return f"parts used up: something was accepted in each of {len(parts)} ({what})"

    def by_checker(self, pieces: Pieces, checker: Checker, most: int) -> str:
        """Search one half of the rows and judge on the other until something is rejected; return why it ended."""
        search, test = pieces.split()
        bench = self._bench(test, lambda _: checker)
        self.guarantee = bench.examination.guarantee
        for at in range(most):
            if bench.examination.stopped:
                return bench.examination.stopped
            if not self._round(search, bench, at, most):
                return self._ended(f"not enough for {checker!r}")
            bench = replace(bench, examination=self._record.examination)
        return f"enough rounds: {most} were accepted, the most there can be by 2/epsilon"

    def _ended(self, verdict: str) -> str:
        trial = self.history[-1]
        if trial.contribution is None:
            return f"nothing found: the finder saw nothing to improve on {trial.searched:,} rows"
        return (
            f"rejected: what was found contributes {trial.contribution:.4g} on {trial.tested:,} fresh rows, {verdict}"
        )

    def _bench(self, test: Pieces, checker: Callable[[Taken], Checker], log_level: float | None = None) -> Bench:
        """Set a checker to work on fresh rows, on which all rounds so far are published anew."""
        taken = self._sample.take(test)
        loss = self._loss if taken.shares is None else Weighted(self._loss, taken.shares)
        examination = checker(taken).begin(len(test), repairs=True, zero_one=loss.zero_one)
        holdout = LocalHoldout(taken.X, taken.y)
        holdout.open(self.model.initial, loss, self._labels)
        for certificate, round in zip(self._record.protected, self._record.rounds[1:], strict=True):
            candidate = holdout.candidate(holdout.score(certificate))
            for repair in round.repairs:
                candidate = holdout.repaired(candidate, repair)
            holdout.append(candidate)
        return Bench(holdout, examination, loss, taken.mean_share, log_level)

    def _round(self, search: Pieces, bench: Bench, at: int, most: int) -> bool:
        """Find a certificate, test it, and publish a round if it is accepted; say whether it was."""
        certificate = self._find(search, lambda done, steps: self._progress(at * steps + done, most * steps))
        if certificate is None:
            self.history += (Trial(False, self._record.newest, len(search), bench.holdout.size),)
            return False
        judge = Judge(bench.holdout)
        decision = judge.decide(bench.examination, Scored(bench.holdout.score(certificate)))
        verdict = verdict_of(decision.answers, self._record.newest, judge.payouts, 0)
        self._record = self._record.after(certificate, decision, verdict)
        judge.append(decision)
        self.history += (_trial(decision.outcome, verdict.round, certificate, len(search), bench),)
        return verdict.accepted

    def _find(self, search: Pieces, progress: Progress) -> Certificate | None:
        taken = self._sample.take(search)
        answers = self.model.predict(taken.X)
        found = self._finder.find(
            taken.X, taken.y, answers, self._rng, loss=self._loss, weights=taken.shares, progress=progress
        )
        return None if found is None else replace(found, model=self._wrap(found.model))


def _nobody(done: int, steps: int) -> None:
    """Tell nobody how far it is."""


def _trial(outcome: Outcome, round: int, certificate: Certificate, searched: int, bench: Bench) -> Trial:
    return Trial(
        accepted=outcome.accepted,
        round=round,
        searched=searched,
        tested=bench.holdout.size,
        note=certificate.note,
        contribution=bench.contribution(outcome.evidence),
        lower_bound=bench.lower_bound(outcome.evidence),
        repairs=outcome.repairs,
    )
