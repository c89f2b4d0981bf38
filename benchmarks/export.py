"""A list of 60 nodes as one ONNX file, on a million rows and on a single one, beside `predict` and physical limits."""

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measure import Figure, at_most, times
from biasbounty.core.decision_list import Node, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.exchange.convert import convert
from biasbounty.exchange.export import export
from biasbounty.exchange.exporting.check import tensors_of
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.onnx_run import runtime
from biasbounty.exchange.predicate import parse
from biasbounty.exchange.schema import Schema

ROWS, COLUMNS, UPDATES, REPAIRS, FIT = 1_000_000, 16, 50, 10, 5_000
TIMES_PREDICT = 1.5
SINGLE = 2_000
"""How often a single row is asked about."""


def figures() -> Iterator[Figure]:
    """Yield the ratio to `predict` for arrays and frames, broad and narrow groups; then the latency of one row."""
    X = np.random.default_rng(1).random((ROWS, COLUMNS))
    frame = pd.DataFrame(X, columns=[f"c{place}" for place in range(COLUMNS)])
    yield from _figures("numpy, broad groups, 40%", X, _list(X, 0.4))
    yield from _figures("numpy, groups of 2%", X, _list(X, 0.02))
    yield from _figures("numpy, groups of 2%, a third of them ONNX", X, _list(X, 0.02, trees=3))
    yield from _figures("pandas, groups of 2%", frame, _list(frame, 0.02))


def _list(X: Any, weight: float, trees: int = 0, seed: int = 0) -> PointerDecisionList:
    """Make a list of groups of about this weight, whose models are trees; every so manieth group is a tree, too."""
    rng, schema = np.random.default_rng(seed), Schema.of(X)
    names, some = [column.name for column in schema.columns], X[:FIT]

    def tree(labels: Any, depth: int = 10) -> OnnxModel:
        return OnnxModel(convert(DecisionTreeClassifier(max_depth=depth, random_state=0).fit(some, labels), some))

    def group(number: int) -> Any:
        low, name = rng.uniform(0, 1 - weight), names[int(rng.integers(COLUMNS))]
        predicate = parse(f"{name} >= {low} AND {name} < {low + weight}", schema)
        return tree(predicate(some), 2) if trees and number % trees == 0 else predicate

    nodes: list[Node] = []
    heads = [0]
    for update in range(UPDATES):
        nodes.append(UpdateNode(group(update), tree(rng.integers(0, 2, FIT))))
        if update % (UPDATES // REPAIRS) == UPDATES // REPAIRS - 1:
            nodes.append(RepairNode(nodes[int(rng.integers(len(nodes)))].group, int(rng.integers(len(heads)))))
        heads.append(len(nodes))
    return PointerDecisionList(tree(rng.integers(0, 2, FIT), 1), tuple(nodes), tuple(heads))


def _session(data: bytes) -> Any:
    """Open a file as an engineer would, on one thread."""
    ort = runtime()
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _figures(words: str, X: Any, model: PointerDecisionList) -> Iterator[Figure]:
    schema = Schema.of(X, categories=False)
    data = export(model, schema=schema)
    session, tensors = _session(data), tensors_of(X, schema)
    if not np.array_equal(session.run(None, tensors)[0], model.predict(X)):
        raise AssertionError(f"file and list disagree: expected equal answers to all rows, got others ({words})")
    name = f"exported list of {len(model)} nodes ({words})"
    predicted, ours, once = times(
        partial(model.predict, X), partial(session.run, None, tensors), partial(_one_pass, tensors), repeat=5
    )
    yield at_most(f"{name}, {ROWS:,} rows, beside predict", ours, "s", predicted, TIMES_PREDICT)
    yield Figure(f"{name}, {ROWS:,} rows, beside one pass over the columns", ours, "s", once, ours / once)
    yield _latency(name, X, model, session, tensors)
    yield Figure(f"{name}, file", len(data) / 2**20, "MiB")


def _one_pass(tensors: dict[str, Any]) -> None:
    """Read every number once."""
    for tensor in tensors.values():
        tensor.sum()


def _latency(name: str, X: Any, model: PointerDecisionList, session: Any, tensors: dict[str, Any]) -> Figure:
    """Return the median time for one row in the file, beside that of `predict`."""
    rows = range(SINGLE)
    alone = [{key: tensor[row : row + 1] for key, tensor in tensors.items()} for row in rows]
    given = [X[row : row + 1] for row in rows]
    ours = _median(lambda row: session.run(None, alone[row]), rows)
    predicted = _median(lambda row: model.predict(given[row]), rows[:200])
    return Figure(f"{name}, a single row, beside predict", ours * 1e3, "ms", predicted * 1e3, ours / predicted)


def _median(act: Callable[[int], object], rows: range) -> float:
    seconds = []
    for row in rows:
        start = time.perf_counter()
        act(row)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)
