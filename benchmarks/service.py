"""The service: submissions over HTTP beside the sandboxed scoring alone, its memory, and a bounty with a long past.

Census rows, drawn with repetition from the sample; models are trees of depth 10, groups predicates. The server, two
workers and the judge are processes of their own, as where a bounty is held; clients are threads.
"""

import io
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
from sklearn.tree import DecisionTreeClassifier

import biasbounty as bb
from benchmarks.measure import Figure, at_most
from biasbounty.datasets import load_census
from biasbounty.ledger.exported import Exported
from biasbounty.ledger.verification import verify_ledger
from biasbounty.service.context import Context
from biasbounty.service.data import Data, Part
from biasbounty.service.judging import Judging
from biasbounty.service.scoring import desk_of, fetch_rows
from biasbounty.service.service import Service
from biasbounty.service.submitting import TEXT, Handed
from biasbounty.service.terms import Terms
from biasbounty.store import Database
from biasbounty.store.books import find_bounty, head_of, pen_for, write_entry
from biasbounty.store.tables import bounties, submissions

HOLDOUT, SHOWN = 100_000, 20_000
SUBMISSIONS, CLIENTS, WORKERS = 1000, 4, 2
MANY = 10_000
PAST = 100_000
DEPTH = 10
MOST_TIMES, MOST_READ, MOST_START, MOST_OPEN, MOST_VERIFY, MOST_GROWTH = 3.0, 0.05, 2.0, 3.0, 30.0, 1.1
_PROCESSES = multiprocessing.get_context("spawn")


def figures() -> Iterator[Figure]:
    """Yield the figures of issue 6, points 4 and 5."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _busy(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield from _flat(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield from _old(Path(folder))


def _require(good: bool) -> None:
    """Raise if a benchmark measures something else than it says."""
    if not good:
        raise RuntimeError("the service did not do what is measured")


def _service(folder: Path) -> Service:
    database = Database.in_folder(folder)
    database.migrate()
    return Service(Context(database))


def _open(folder: Path, holdout: int, shown: int) -> tuple[Service, str, list[str]]:
    """Open a bounty; return the service, the bounty, and tokens of hunters and of an observer."""
    service, sample = _service(folder), load_census()
    organizer = service.identify(service.init())
    rng = np.random.default_rng(0)
    names = list(sample.columns)
    parts = [rng.integers(0, len(sample.X), size) for size in (shown, shown, holdout)]
    rows = [
        Part(pa.table(dict(zip(names, sample.X[ids].T, strict=True))), sample.y[ids].astype(np.int64)) for ids in parts
    ]
    terms = Terms("benchmark", "label", quota=10**9, pot=1_000_000)
    bounty = service.open_bounty(organizer, terms, _trees(1, 1)[0], Data(*rows)).bounty.id
    hunters = [service.create_token(organizer, "hunter", f"hunter {n}")[1] for n in range(CLIENTS)]
    return service, bounty, [*hunters, service.create_token(organizer, "observer", "observer")[1]]


def _trees(number: int, depth: int) -> list[bytes]:
    """Return trees, each of other rows."""
    sample, rng, made = load_census(), np.random.default_rng(1), []
    for _ in range(number):
        ids = rng.integers(0, len(sample.X), 5000)
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        tree.fit(sample.X[ids].astype(np.float32), sample.y[ids].astype(np.int64))
        made.append(bb.to_onnx(tree, sample.X[ids].astype(np.float32)))
    return made


def _handed(number: int, key: str) -> Iterator[Handed]:
    trees, rng = _trees(40, DEPTH), np.random.default_rng(2)
    for place in range(number):
        low = int(rng.integers(17, 70))
        group = f"AGEP >= {low} AND AGEP < {low + int(rng.integers(5, 40))}"
        yield Handed(group, trees[rng.integers(len(trees))], f"note {place}", f"{key} {place}")


def _busy(folder: Path) -> Iterator[Figure]:
    """Yield the time from the first submission to the last verdict, beside scoring alone, and how long reads take."""
    service, bounty, tokens = _open(folder, HOLDOUT, SHOWN)
    handed = list(_handed(SUBMISSIONS, "busy"))
    alone = _alone(folder, bounty, handed)
    with _plant(folder) as plant:
        name = "start of the server, until it answers"
        yield at_most(name, plant.started, "s", MOST_START, 1)
        reads: list[float] = []
        done = threading.Event()
        reader = threading.Thread(target=_read, args=(plant.address, bounty, tokens[-1], reads, done), daemon=True)
        reader.start()
        start = time.perf_counter()
        _submit_all(plant.address, bounty, tokens, handed)
        while service.bounty(bounty).judged < SUBMISSIONS:
            time.sleep(0.05)
        whole = time.perf_counter() - start
        done.set()
        reader.join()
    view = service.bounty(bounty)
    size = f"{SUBMISSIONS:,} submissions, {HOLDOUT:,} rows, {WORKERS} workers, {CLIENTS} clients, {view.round} accepted"
    yield at_most(f"end to end beside scoring alone by as many sandboxes, {size}", whole, "s", alone, MOST_TIMES)
    read = float(np.quantile(reads, 0.99))
    yield at_most(f"99th percentile of {len(reads)} reads meanwhile", read, "s", MOST_READ, 1)


def _score(folder: Path, bounty: str, handed: Sequence[Handed], barrier: Any, taken: Any) -> None:
    """Score submissions, and put the seconds it took."""
    service = Service(Context(Database.in_folder(folder)))
    with service.context.database.read() as connection:
        desk = desk_of(service.context.limits, fetch_rows(connection, bounty))
    barrier.wait()
    start = time.perf_counter()
    for each in handed:
        desk.answers(str(each.group).encode(), TEXT, each.model)
    taken.put(time.perf_counter() - start)
    desk.close()


def _alone(folder: Path, bounty: str, handed: Sequence[Handed]) -> float:
    """Return how long as many sandboxes as there are workers take to score all, and nothing else."""
    barrier, taken = _PROCESSES.Barrier(WORKERS), _PROCESSES.Queue()
    shares = [handed[place::WORKERS] for place in range(WORKERS)]
    at_work = [_PROCESSES.Process(target=_score, args=(folder, bounty, share, barrier, taken)) for share in shares]
    for process in at_work:
        process.start()
    longest = max(taken.get() for _ in at_work)
    for process in at_work:
        process.join()
    return float(longest)


_SERVER = """
import logging, sys
from pathlib import Path
from biasbounty.server import Settings, create_app, serve
from biasbounty.service.context import Context
from biasbounty.service.service import Service
from biasbounty.store import Database
logging.disable()
database = Database.in_folder(Path(sys.argv[1]))
database.migrate()
many = 10**6
settings = Settings(
    requests_per_second=many, request_burst=many, address_requests_per_second=many, address_burst=many
)
serve(create_app(Service(Context(database)), settings), port=int(sys.argv[2]))
"""


def _work(folder: Path, number: int) -> None:
    with _service(folder).worker(f"worker {number}") as worker:
        while True:
            if not worker.score_next():
                time.sleep(0.02)


def _judge(folder: Path, _: int) -> None:
    service = _service(folder)
    while True:
        if not service.judge_all():
            time.sleep(0.02)


class _Plant:
    """A server with its workers and judge, and how long it took to answer."""

    def __init__(self, folder: Path, working: bool) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.root = f"http://127.0.0.1:{port}"
        self.address = f"{self.root}/api/v1"
        start = time.perf_counter()
        self._server = subprocess.Popen([sys.executable, "-c", _SERVER, str(folder), str(port)])
        self._wait()
        self.started = time.perf_counter() - start
        roles = [*((_work, number) for number in range(WORKERS)), (_judge, 0)] if working else []
        self._others = [_PROCESSES.Process(target=role, args=(folder, given), daemon=True) for role, given in roles]
        for process in self._others:
            process.start()

    def _wait(self) -> None:
        while self._server.poll() is None:
            try:
                if httpx.get(f"{self.root}/healthz").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.01)
        raise RuntimeError("the server did not start")

    def memory(self) -> int:
        """Return the server's memory, in bytes."""
        pages = int(Path(f"/proc/{self._server.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def stop(self) -> None:
        """End all of it."""
        for process in self._others:
            process.kill()
            process.join()
        self._server.kill()
        self._server.wait()


@contextmanager
def _plant(folder: Path, *, working: bool = True) -> Iterator[_Plant]:
    plant = _Plant(folder, working)
    try:
        yield plant
    finally:
        plant.stop()


def _submit_all(address: str, bounty: str, tokens: Sequence[str], handed: Sequence[Handed]) -> None:
    def submit(place: int) -> None:
        headers = {"Authorization": f"Bearer {tokens[place]}"}
        with httpx.Client(headers=headers, timeout=60) as http:
            for each in handed[place::CLIENTS]:
                parts = {"group": (None, each.group), "model": ("model.onnx", each.model), "note": (None, each.note)}
                path = f"{address}/bounties/{bounty}/submissions"
                reply = http.post(path, files=parts, headers={"Idempotency-Key": each.key})
                _require(reply.status_code == 201)

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(submit, range(CLIENTS)))


def _read(address: str, bounty: str, token: str, reads: list[float], done: threading.Event) -> None:
    """Read what people read, again and again, and note how long each took."""
    paths = ["", "/leaderboard", "/submissions?most=50", "/ledger?most=50", "/events?most=50"]
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        while not done.is_set():
            for path in paths:
                start = time.perf_counter()
                _require(http.get(f"{address}/bounties/{bounty}{path}").status_code == 200)
                reads.append(time.perf_counter() - start)
            time.sleep(0.05)


def _flat(folder: Path) -> Iterator[Figure]:
    """Yield the server's memory after many submissions, beside what it was after a tenth of them."""
    _, bounty, tokens = _open(folder, 2000, 2000)
    handed = list(_handed(MANY, "flat"))
    with _plant(folder, working=False) as plant:
        _submit_all(plant.address, bounty, tokens, handed[: MANY // 10])
        first = plant.memory()
        _submit_all(plant.address, bounty, tokens, handed[MANY // 10 :])
        last = plant.memory()
    name = f"memory of the server after {MANY:,} submissions, beside after {MANY // 10:,}"
    yield at_most(name, last, "bytes", first, MOST_GROWTH)


def _old(folder: Path) -> Iterator[Figure]:
    """Yield how long a bounty with a long past takes to open and to verify."""
    service, bounty, tokens = _open(folder, 2000, 2000)
    _grow_old(service, bounty, tokens[0])
    arguments = f"Path({str(folder)!r}), {bounty!r}, {PAST}"
    code = f"from pathlib import Path; from benchmarks.service import look; look({arguments})"
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])
    opened = time.perf_counter() - start
    name = f"a bounty of {PAST:,} past submissions"
    yield at_most(f"{name}: a new process opens it, looks at it and stands ready to judge", opened, "s", MOST_OPEN, 1)
    file = io.BytesIO()
    service.export(bounty, file)
    start = time.perf_counter()
    verify_ledger(Exported.read(file.getvalue()))
    yield at_most(f"{name}: its export is verified", time.perf_counter() - start, "s", MOST_VERIFY, 1)


def look(folder: Path, bounty: str, past: int) -> None:
    """Open a service, look at a bounty, and make ready to judge."""
    from biasbounty.service.people import Identity

    service, organizer = _service(folder), Identity("", "organizer")
    view = service.bounty(bounty)
    _require(view.judged == view.received == past)
    _require(len(service.submissions(organizer, bounty, past - 50).entries) == 50)
    _require(len(service.submissions(organizer, bounty).entries) == 50)
    service.leaderboard(organizer, bounty)
    _require(len(list(service.ledger(bounty, view.ledger_size - 50))) == 50)
    _require(Judging(service.context, bounty).judge_next() is None)
    _require(len(service.counts()) == 1)


def _grow_old(service: Service, bounty: str, token: str) -> None:
    """Write a past of rejections, as submitting and judging would have."""
    hunter = service.identify(token).hunter
    for first in range(0, PAST, 1000):
        with service.context.database.write() as connection:
            pen = pen_for(connection, bounty, service.context.now())
            for place in range(first, first + 1000):
                body = {"submission": f"{place:016x}", "place": place}
                hidden = {"group": f"{place:064x}", "model": f"{place:064x}", "group_kind": TEXT}
                head = head_of(find_bounty(connection, bounty))
                received = write_entry(connection, pen, head, "received", {**body, "hunter": hunter}, hidden)
                verdict = {"accepted": False, "round": 0, "repairs": [], "payout": 0}
                evidence = {"evidence": ["2000", "0", "0", "1"], "repairs": [], "failed": False}
                head = head_of(find_bounty(connection, bounty))
                judged = write_entry(connection, pen, head, "judged", {**body, **verdict}, evidence)
                connection.execute(submissions.insert().values(_row(bounty, hunter, place, received, judged)))
            connection.execute(bounties.update().values(received=first + 1000, judged=first + 1000))


def _row(bounty: str, hunter: str | None, place: int, received: Any, judged: Any) -> dict[str, Any]:
    return {
        "id": f"{place:016x}",
        "bounty": bounty,
        "place": place,
        "hunter": hunter,
        "key": str(place),
        "state": "judged",
        "received": received.entry.time,
        "group_kind": TEXT,
        "group_hash": f"{place:064x}",
        "model_hash": f"{place:064x}",
        "note": "",
        "entry": received.entry.number,
        "entry_hash": received.hash,
        "attempts": 1,
        "judged": judged.entry.time,
        "verdict": '{"accepted": false, "round": 0, "repairs": [], "payout": 0}',
        "verdict_entry": judged.entry.number,
    }
