"""RemoteBounty: a bounty on a server, with everything that a hunter does."""

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from biasbounty import losses
from biasbounty.client import training
from biasbounty.client.group import Group, mask_for
from biasbounty.client.handing import handed_group, handed_model
from biasbounty.client.http import Downloaded, Files, Http
from biasbounty.client.round_model import RoundModel
from biasbounty.client.rows import BountyData, Kind, read_part
from biasbounty.client.streaming import events_of
from biasbounty.client.training import Trained
from biasbounty.client.values import BountyInfo, Event, Preflight, Receipt, Standing, Submission, read
from biasbounty.errors import GroupError, SubmissionFailedError, UnreachableError
from biasbounty.exchange.schema import Schema
from biasbounty.losses import Loss

LEDGER_PAGE = 5000
ONNX_TYPE = "application/octet-stream"
FIRST_POLL, LONGEST_POLL = 0.05, 1.0
"""Seconds between two looks at a submission that waits."""

Told = Callable[[str], None]
"""Told in words what is being done."""


def _silent(_: str) -> None:
    pass


class RemoteBounty:
    """A bounty on a server. Made by `Client.bounty`."""

    def __init__(self, http: Http, info: BountyInfo) -> None:
        self._http, self.info = http, info
        self._data: dict[Kind | None, BountyData] = {}
        self._models: dict[int, RoundModel] = {}

    def __repr__(self) -> str:
        info = self.info
        return f"RemoteBounty({info.id}, {info.name!r}, {info.state}, round {info.round})"

    @property
    def id(self) -> str:
        """Its id."""
        return self.info.id

    @property
    def schema(self) -> Schema:
        """What predicate text may name: the columns, what they hold, and which texts are known in them."""
        return self.info.schema

    @cached_property
    def loss(self) -> Loss:
        """What an answer costs."""
        terms = self.info.terms
        if terms["loss"] == "zero_one":
            return losses.get("zero_one")
        made: Loss = getattr(losses, terms["loss"])(float(terms["low"]), float(terms["high"]))
        return made

    def refresh(self) -> BountyInfo:
        """Ask the server how the bounty stands now."""
        self.info = read(BountyInfo, self._http.json("GET", self._path()))
        return self.info

    def _path(self, rest: str = "") -> str:
        return f"/bounties/{self.info.id}{rest}"

    # What is shown

    def data(self, kind: Kind | None = None, progress: Downloaded | None = None) -> BountyData:
        """Return train and public rows, as frames with their labels; fetched once.

        Args:
            kind: "pandas", "polars" or "arrow"; the first of these that is installed if not given.
            progress: Told how many bytes have come, and of how many.
        """
        if kind not in self._data:
            parts = (self._http.file(self._path(f"/files/{name}"), progress) for name in ("train", "public"))
            self._data[kind] = BountyData(*(read_part(part, self.info.terms["label"], kind) for part in parts))
        return self._data[kind]

    def model(self, round: int | None = None, progress: Downloaded | None = None) -> RoundModel:
        """Return a round of the patched model as ONNX, which answers for rows when called; the newest if None."""
        wanted = self.refresh().round if round is None else round
        if wanted not in self._models:
            data = self._http.file(self._path("/model"), progress, params={"round": wanted})
            self._models[wanted] = RoundModel(data)
        return self._models[wanted]

    def leaderboard(self) -> list[Standing]:
        """Return who was paid, and how much, the most first; nobody while the organizer hides it."""
        return [read(Standing, each) for each in self._http.entries(self._path("/leaderboard"))]

    def events(self, after: int = 0, *, follow: bool = True) -> Iterator[Event]:
        """Yield what is announced, as it is; with `follow=False`, only what was announced so far.

        Args:
            after: The number of the last event that is known already.
            follow: Whether to wait for more.
        """
        return events_of(self._http, self._path("/events"), after, follow)

    def ledger(self, start: int = 0) -> Iterator[bytes]:
        """Yield the ledger's lines, from a number on."""
        while True:
            page = self._http.file(self._path("/ledger"), params={"start": start, "most": LEDGER_PAGE}).splitlines()
            yield from page
            if len(page) < LEDGER_PAGE:
                return
            start += len(page)

    def verify_ledger(self, receipts: Sequence[Receipt] = (), key: str | None = None) -> int:
        """Verify the whole ledger against receipts; return how many entries it has, or raise LedgerError."""
        from biasbounty.ledger.chain import Head, verified

        heads = [Head(receipt.entry + 1, receipt.head) for receipt in receipts]
        return sum(1 for _ in verified(self.ledger(), heads, key))

    # Handing in

    def preflight(self, group: Any, model: Any = None, *, progress: Told = _silent) -> Preflight:
        """Return what a submission would do on public rows. It is free, and tells nothing of the holdout."""
        files = self._files(group, model, progress)
        progress("having it run on public rows")
        return read(Preflight, self._http.json("POST", self._path("/preflight"), files=files))

    def submit(
        self,
        group: Any,
        model: Any = None,
        *,
        note: str = "",
        wait: bool = True,
        progress: Told = _silent,
        key: str | None = None,
        patience: float | None = None,
    ) -> Submission:
        """Hand in a group and a model that does better on it, and wait for the verdict.

        Args:
            group: Predicate text, ONNX, a fitted estimator that answers 0 and 1, or what `group_from` returned.
            model: ONNX, or a fitted estimator or pipeline, which is converted and compared on public rows. Not needed
                for a group that brings one along.
            note: What others may read once it is accepted.
            wait: Whether to wait until it is judged.
            progress: Told in words what is being done.
            key: By which the server knows it again; handed in twice with one key it is one submission. Drawn if None.
            patience: How many seconds to wait at most.
        """
        files = self._files(group, model, progress)
        progress(f"sending {sum(len(data) for _, data, _ in files.values()):,} bytes")
        told = self._http.json(
            "POST",
            self._path("/submissions"),
            files=files,
            data={"note": note},
            headers={"Idempotency-Key": key or uuid.uuid4().hex},
        )
        receipt = read(Receipt, told)
        progress(f"received as number {receipt.place + 1}")
        return self.wait(receipt, progress=progress, patience=patience) if wait else self.submission(receipt)

    def submission(self, submission: str | Receipt | Submission) -> Submission:
        """Return a submission of one's own as it stands."""
        return read(Submission, self._http.json("GET", f"/submissions/{_id_of(submission)}"))

    def submissions(self) -> list[Submission]:
        """Return one's own submissions, in order of receipt; for the organizer, all."""
        return [read(Submission, each) for each in self._http.entries(self._path("/submissions"))]

    def wait(
        self, submission: str | Receipt | Submission, *, progress: Told = _silent, patience: float | None = None
    ) -> Submission:
        """Wait until a submission is judged, refused or failed, or until the patience is at its end."""
        until = None if patience is None else time.monotonic() + patience
        pause, said = FIRST_POLL, ""
        while True:
            now = self.submission(submission)
            if now.state != said:
                progress(now.state if now.reason is None else f"{now.state}: {now.reason}")
                said = now.state
            if now.done or (until is not None and time.monotonic() >= until):
                return now
            time.sleep(pause)
            pause = min(LONGEST_POLL, 1.5 * pause)

    def withdraw(self, submission: str | Receipt | Submission) -> Submission:
        """Take back a submission that nobody scores yet."""
        return read(Submission, self._http.json("POST", f"/submissions/{_id_of(submission)}/withdraw"))

    def _files(self, group: Any, model: Any, told: Told) -> Files:
        """Return a group and a model as the parts of a form: text as a field, ONNX as a file."""
        if isinstance(group, Group):
            group, model = group.found, group.model if model is None else model
        if model is None:
            raise SubmissionFailedError("model is missing: expected one, got none; fit one by bounty.train_on(group)")
        X = self.data().public.X
        told("converting and comparing on public rows")
        handed = handed_group(group, X, self.schema)
        files: dict[str, Any] = {"model": ("model.onnx", handed_model(model, X, self.schema), ONNX_TYPE)}
        if isinstance(handed, str):
            return {"group": (None, handed.encode(), "text/plain; charset=utf-8"), **files}
        return {"group": ("group.onnx", handed, ONNX_TYPE), **files}

    # For people without machine learning

    def train_on(self, group: Any, model: Any = None, *, progress: Told = _silent) -> Trained:
        """Fit a good model to the train rows of a group; say what it does on public rows.

        Args:
            group: Predicate text, ONNX, a group from `group_from`, or a function of rows.
            model: An estimator of scikit-learn to fit; if not given, the best of a few by cross-validation.
            progress: Told in words what is being done.
        """
        data, loss = self.data(), self.loss
        progress("finding the group's rows")
        own = training.rows_of(data.train, mask_for(group, data.train.X, self.schema))
        fitted, name, risk = training.train(own, loss, model, progress)
        mask = mask_for(group, data.public.X, self.schema)
        shown = training.rows_of(data.public, mask).X if mask.any() else data.public.X[:0]
        before = self.model()(shown) if mask.any() else np.empty(0)
        after = np.asarray(fitted.predict(training.trainable(shown))) if mask.any() else np.empty(0)
        return Trained(fitted, name, len(own), risk, training.on_public(data.public, mask, before, after, loss))

    def group_from(self, rows: Any, *, progress: Told = _silent) -> Group:
        """Learn a group from rows that are examples of it, and a model for it.

        Args:
            rows: Which of the train rows: a boolean for each, or their numbers.
            progress: Told in words what is being done.
        """
        from biasbounty.finders import ExamplesFinder

        train = self.data().train
        progress("learning the group")
        found = ExamplesFinder(rows).find(
            train.X, train.y, self.model()(train.X), np.random.default_rng(0), loss=self.loss
        )
        if found is None:
            raise GroupError(
                "examples make no group that a model does better on: expected rows that the newest round errs on, got "
                "others; flag more rows, or write the group as predicate text"
            )
        return Group(found.group, found.note, found.model)

    def hunt(
        self, finder: Any, submissions: int = 1, *, seed: int = 0, progress: Told = _silent
    ) -> Iterator[Submission]:
        """Search train rows for what the newest round does badly, and hand in what holds up on public rows.

        Args:
            finder: A finder, such as `biasbounty.SliceFinder()`.
            submissions: How many to hand in at most.
            seed: Where all chance comes from.
            progress: Told in words what is being done.
        """
        from biasbounty.client.hunting import hunted

        return hunted(self, finder, submissions, seed, progress)


def _id_of(submission: str | Receipt | Submission) -> str:
    if isinstance(submission, Receipt):
        return submission.submission
    own = submission.id if isinstance(submission, Submission) else submission
    if not own.isalnum() or not own.isascii():
        raise UnreachableError(f"submission does not exist: expected the id of one, got {own!r:.80}")
    return own
