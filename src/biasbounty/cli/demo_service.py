"""The service of the demo: on a folder of its own, with a real server on loopback."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasbounty.cli.place import Place, organizer
from biasbounty.errors import UnreachableError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from biasbounty.service.data import Data
    from biasbounty.service.service import OpenedBounty, Service

NAME = "Who is employed? Massachusetts, 2018"
POT, EPSILON, DELTA = 100_000, 0.005, 0.05
START_SECONDS = 30


@dataclass(frozen=True, eq=False)
class Stage:
    """The service at work, and where it is."""

    service: "Service"
    url: str


@contextmanager
def on_stage(folder: Path, port: int, *, allow_weak: bool) -> Iterator[Stage]:
    """Run service, worker, judge and server, and stop them at the end."""
    from biasbounty.server import Background, create_app
    from biasbounty.service.context import Limits

    with (
        Place(folder).service(Limits(allow_weak=allow_weak), create=True) as service,
        Background(service, workers=1) as background,
        served(create_app(service, wake=background.wake), port) as url,
    ):
        service.init()
        yield Stage(service, url)


@contextmanager
def served(app: "FastAPI", port: int) -> Iterator[str]:
    """Serve an app in a thread."""
    from biasbounty.server.serving import server_of

    listening = threading.Event()
    with socket.create_server(("127.0.0.1", port)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = server_of(app, url, lambda _: listening.set())
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        if not listening.wait(START_SECONDS):
            raise UnreachableError(f"server does not start: expected it to within {START_SECONDS} s, got nothing")
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(START_SECONDS)


def census() -> "Data":
    """Return the bundled census sample in three parts."""
    import pyarrow as pa

    from biasbounty.datasets import load_census
    from biasbounty.service.data import Part, in_three

    sample = load_census()
    columns = {name: sample.X[:, place] for place, name in enumerate(sample.columns)}
    return in_three(Part(pa.table(columns), sample.y), seed=0)


def crude_model(data: "Data") -> bytes:
    """Return the model to be patched, as ONNX: a decision stump."""
    from sklearn.tree import DecisionTreeClassifier

    from biasbounty.exchange.convert import convert

    matrix = np.column_stack([column.to_numpy() for column in data.train.X.columns])
    return convert(DecisionTreeClassifier(max_depth=1, random_state=0).fit(matrix, data.train.y), matrix)


def opened(service: "Service", data: "Data", model: bytes) -> "OpenedBounty":
    """Open the bounty."""
    from biasbounty.service.terms import Terms

    terms = Terms(NAME, "employed", epsilon=EPSILON, delta=DELTA, pot=POT)
    return service.open_bounty(organizer(), terms, model, data)


def holdout_risk(data: "Data", model: bytes) -> float:
    """Return what share of the holdout a model is wrong about: for the organizer's eyes."""
    from biasbounty.client.round_model import RoundModel

    return float((RoundModel(model)(data.holdout.X) != data.holdout.y).mean())
