"""The sandbox beside onnxruntime in an open process: what locking a model in costs, and how long a worker starts.

100,000 census rows, drawn with repetition from the sample, and a tree of depth 10. In the open process the rows are
float32 already; the sandbox is asked as a service asks it, audit included (once for a model).
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

import biasbounty as bb
from benchmarks.measure import Figure, at_most, times
from biasbounty.datasets import load_census
from biasbounty.exchange.onnx_run import open_session
from biasbounty.sandbox import Sandbox

ROWS = 100_000
TRAIN = 20_000
DEPTH = 10
REPEAT = 31
MOST_OVERHEAD = 0.015
MOST_START = 1.0
"""Seconds, both."""

Rows = npt.NDArray[np.int64]


def figures() -> Iterator[Figure]:
    """Yield what a warm sandbox takes beyond onnxruntime, and the time to the first worker."""
    X, model = _world()
    name = f"{ROWS:,} census rows, tree of depth {DEPTH}"
    with Sandbox(X) as sandbox:
        _require_same(sandbox, model, X)
        run, whole, inside = times(
            partial(_run, open_session(model), X.astype(np.float32)),
            partial(_open_and_run, model, X.astype(np.float32)),
            partial(sandbox.predict, model),
            repeat=REPEAT,
        )
    yield Figure(f"warm sandbox, {name}", inside, "s", whole, inside / whole)
    yield at_most(f"sandbox above opening and running in process, {name}", inside - whole, "s", MOST_OVERHEAD, 1)
    yield at_most(f"sandbox above running alone in process, {name}", inside - run, "s", MOST_OVERHEAD, 1)
    yield at_most(f"start of a sandbox, {ROWS:,} rows handed over", times(partial(_start, X))[0], "s", MOST_START, 1)


def _world() -> tuple[Rows, bytes]:
    """Return rows and a model of them."""
    sample = load_census()
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(sample.X), ROWS)
    tree = DecisionTreeClassifier(max_depth=DEPTH, random_state=0)
    tree.fit(sample.X[:TRAIN].astype(np.float32), sample.y[:TRAIN])
    return sample.X[drawn], bb.to_onnx(tree, sample.X[:TRAIN].astype(np.float32))


def _require_same(sandbox: Sandbox, model: bytes, X: Rows) -> None:
    alone = _run(open_session(model), X.astype(np.float32))
    if not np.array_equal(sandbox.predict(model), np.ravel(alone)):
        raise AssertionError("sandbox and open process differ: expected the same answers, got others")


def _open_and_run(model: bytes, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    return _run(open_session(model), rows)


def _run(session: object, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    opened: Any = session
    answers: npt.NDArray[np.int64] = opened.run([opened.get_outputs()[0].name], {opened.get_inputs()[0].name: rows})[0]
    return answers


def _start(X: Rows) -> None:
    with Sandbox(X):
        pass
