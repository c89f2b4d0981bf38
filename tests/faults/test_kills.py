"""Whatever is killed, whenever: what was acknowledged is judged exactly once, in order, and nobody sees a wrong answer.

20 kills on each database, or as many as BIASBOUNTY_KILLS says (`make faults`).
"""

import io
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import numpy as np

import biasbounty as bb
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.ledger.chain import Head
from biasbounty.ledger.entries import read_line
from biasbounty.ledger.exported import Exported
from biasbounty.ledger.replay import replay_ledger
from biasbounty.ledger.verification import verify_ledger
from biasbounty.service.judging import verdict_json
from biasbounty.service.opening import open_bounty
from biasbounty.service.replaying import replay_judgements
from biasbounty.service.service import Service
from biasbounty.service.submitting import Handed
from biasbounty.store import Database
from tests.exchange.onnx_models import always
from tests.faults.plant import Plant, service_of
from tests.service.worlds import NearLimits, data, prepared, stream

KILLS = int(os.environ.get("BIASBOUNTY_KILLS", "20"))
CLIENTS = 4
PAUSE_SECONDS = 0.1
PATIENCE_SECONDS = 60.0


@dataclass
class Client:
    """A hunter who hands in one submission after another, each again and again until it is acknowledged."""

    address: str
    bounty: str
    secret: str
    submissions: Iterator[Handed]
    enough: threading.Event
    receipts: dict[str, dict[str, Any]] = field(default_factory=dict)
    handed_in: dict[str, Handed] = field(default_factory=dict)
    seen: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Hand in submissions until it is enough."""
        with httpx.Client(headers={"Authorization": f"Bearer {self.secret}"}, timeout=20) as http:
            while not self.enough.is_set():
                handed = next(self.submissions)
                receipt = self._ask(http, "POST", f"/bounties/{self.bounty}/submissions", 201, handed)
                again = self._ask(http, "POST", f"/bounties/{self.bounty}/submissions", 201, handed)
                if receipt != again:
                    self.wrong.append(f"{receipt} became {again}")
                self.receipts[handed.key], self.handed_in[receipt["submission"]] = receipt, handed
                known = list(self.handed_in)
                some = known[len(known) // 2]
                self.seen.append(self._ask(http, "GET", f"/submissions/{some}", 200))
                time.sleep(PAUSE_SECONDS)

    def _ask(self, http: httpx.Client, verb: str, path: str, good: int, handed: Handed | None = None) -> dict[str, Any]:
        """Ask until there is an answer; only silence and 503 are no answer."""
        while True:
            try:
                reply = http.request(verb, self.address + path, **_form(handed))
            except httpx.TransportError:
                time.sleep(0.02)
                continue
            if reply.status_code == good:
                answer: dict[str, Any] = reply.json()
                return answer
            if reply.status_code != 503:
                self.wrong.append(f"{verb} {path}: {reply.status_code} {reply.text}")
                raise AssertionError(self.wrong[-1])
            time.sleep(0.02)


def _form(handed: Handed | None) -> dict[str, Any]:
    if handed is None:
        return {}
    group = (None, handed.group) if isinstance(handed.group, str) else ("group.onnx", handed.group)
    parts = {"group": group, "model": ("model.onnx", handed.model), "note": (None, handed.note)}
    return {"files": parts, "headers": {"Idempotency-Key": handed.key}}


def test_every_acknowledged_submission_is_judged_once_in_order_whatever_is_killed(database: Database, url: str) -> None:
    service = service_of(url)
    organizer = service.identify(service.init())
    bounty = open_bounty(service.context, prepared(quota=10**6))
    enough = threading.Event()
    with Plant(url) as plant:
        clients = [
            Client(plant.address, bounty, service.create_token(organizer, "hunter", f"{n}")[1], _submissions(n), enough)
            for n in range(CLIENTS)
        ]
        threads = [threading.Thread(target=client.run, daemon=True) for client in clients]
        for thread in threads:
            thread.start()
        _kill(plant, service, bounty)
        enough.set()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
            assert not thread.is_alive()
        _wait(service, bounty)
    _require_right(service, bounty, clients)
    _require_whole(service, bounty, clients)
    service.close()


def _submissions(number: int) -> Iterator[Handed]:
    made = stream(1000, seed=number)
    return (Handed(each.group, each.model, each.note, f"client {number} {each.key}") for each in made)


def _kill(plant: Plant, service: Service, bounty: str) -> None:
    """Kill one process after another, at random moments, once the first submission is judged."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while not service.bounty(bounty).judged:
        assert time.monotonic() < ends
        time.sleep(0.05)
    rng = np.random.default_rng(KILLS)
    for place in rng.integers(plant.size, size=KILLS):
        time.sleep(float(rng.uniform(0, 0.7)))
        plant.kill(int(place))


def _wait(service: Service, bounty: str) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while (view := service.bounty(bounty)).judged < view.received:
        assert time.monotonic() < ends, view
        time.sleep(0.05)


def _require_right(service: Service, bounty: str, clients: list[Client]) -> None:
    """Require that every client was told the truth, and each submission is judged exactly once, in order of receipt."""
    assert [client.wrong for client in clients] == [[]] * CLIENTS
    receipts = [receipt for client in clients for receipt in client.receipts.values()]
    entries = [read_line(line).entry for line in service.ledger(bounty)]
    received = {entry.body["place"]: entry.body["submission"] for entry in entries if entry.kind == "received"}
    judged = [(entry.body["place"], entry.body["submission"]) for entry in entries if entry.kind == "judged"]
    assert judged == sorted(received.items())
    assert sorted((receipt["place"], receipt["submission"]) for receipt in receipts) == judged
    verdicts = {entry.body["submission"]: entry.body for entry in entries if entry.kind == "judged"}
    for view in (view for client in clients for view in client.seen):
        assert view["state"] in ("received", "scoring", "judged")
        if view["verdict"] is not None:
            assert view["verdict"].items() <= verdicts[view["id"]].items()
    assert len(receipts) >= KILLS // 2


def _require_whole(service: Service, bounty: str, clients: list[Client]) -> None:
    """Verify the ledger against every receipt, replay it, and compare with a Bounty in the library."""
    file = io.BytesIO()
    service.export_everything(service.identify(_organizer(service)), bounty, file)
    exported = Exported.read(file.getvalue())
    receipts = [receipt for client in clients for receipt in client.receipts.values()]
    verify_ledger(exported, [Head(receipt["entry"] + 1, receipt["head"]) for receipt in receipts])
    assert replay_ledger(exported) == replay_judgements(exported, NearLimits())
    handed_in = {submission: handed for client in clients for submission, handed in client.handed_in.items()}
    entries = [read_line(line).entry for line in service.ledger(bounty)]
    library, view = _library(), service.bounty(bounty)
    for body in (entry.body for entry in entries if entry.kind == "judged"):
        handed = handed_in[body["submission"]]
        assert verdict_json(library.submit(handed.group, handed.model)).items() <= body.items()
    assert (len(library.rounds) - 1, library.paid, library.nats_spent) == (view.round, view.paid, view.nats_spent)


def _organizer(service: Service) -> str:
    from biasbounty.service.people import create_token

    return create_token(service.context, "organizer", "auditor")[1]


def _library() -> bb.Bounty:
    terms, rows = prepared(quota=10**6).terms, data()
    return bb.Bounty(
        OnnxModel(always(0, "AGEP")),
        rows.holdout.X.to_pandas(),
        rows.holdout.y,
        checker=terms.make_checker(),
        public=(rows.public.X.to_pandas(), rows.public.y),
        pot=terms.pot,
        grid=terms.grid,
    )
