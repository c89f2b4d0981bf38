"""Predicting through a list of 50 updates and 10 repairs, beside the calls that cannot be avoided."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measure import Figure, at_most, times
from biasbounty.core.answers import ask
from biasbounty.core.decision_list import Node, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.core.rows import Ids, Rows
from biasbounty.values import RowFunction

ROWS, COLUMNS, UPDATES, REPAIRS, FIT = 1_000_000, 16, 50, 10, 20_000
KINDS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda X: X,
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{i}" for i in range(COLUMNS)]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{i}" for i in range(COLUMNS)]),
}


def _group(column: int, low: float, high: float) -> Callable[[Any], Any]:
    def group(X: Any) -> Any:
        values = X[:, column] if isinstance(X, np.ndarray) else X[f"c{column}"]
        return (values >= low) & (values < high)

    return group


def _list(X: Any, weight: float, seed: int = 0) -> PointerDecisionList:
    """Make a list of groups of this weight, with trees fitted to labels drawn anew for each."""
    rng = np.random.default_rng(seed)
    some = X[:FIT]

    def tree(depth: int = 10) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_depth=depth, random_state=0).fit(some, rng.integers(0, 2, FIT))

    nodes: list[Node] = []
    heads = [0]
    for update in range(UPDATES):
        low = rng.uniform(0, 1 - weight)
        group = _group(int(rng.integers(COLUMNS)), low, low + weight)
        nodes.append(UpdateNode(group, tree()))
        if update % (UPDATES // REPAIRS) == UPDATES // REPAIRS - 1:
            nodes.append(RepairNode(nodes[int(rng.integers(len(nodes)))].group, int(rng.integers(len(heads)))))
        heads.append(len(nodes))
    return PointerDecisionList(tree(1), tuple(nodes), tuple(heads))


Calls = list[tuple[RowFunction, Ids]]


def _unavoidable(model: PointerDecisionList, X: Any) -> Calls:
    """Return every call with exactly the rows that it needs: each group's standing rows, each model's own."""
    at, calls = np.full(len(X), len(model)), Calls()
    for number in range(len(model), 0, -1):
        node, standing = model.nodes[number - 1], np.flatnonzero(at == number)
        inside = ask(node.group, X)[standing]
        calls.append((node.group, standing))
        at[standing] = number - 1
        if isinstance(node, RepairNode):
            at[standing[inside]] = model.heads[node.pointer]
        else:
            at[standing[inside]] = -1
            calls.append((node.model, standing[inside]))
    calls.append((model.initial, np.flatnonzero(at == 0)))
    return [(function, ids) for function, ids in calls if len(ids)]


def _make(calls: Calls, rows: Rows) -> None:
    for function, ids in calls:
        _function(function)(rows.native if len(ids) == len(rows) else rows.take(ids).native)


def _function(function: RowFunction) -> Any:
    return getattr(function, "predict", function)


def _whole(model: PointerDecisionList, rows: Rows) -> npt.NDArray[np.int64]:
    """Predict by evaluating every group on the whole frame."""
    here, nobody = np.ones(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    flying: dict[int, npt.NDArray[np.bool_]] = {}
    answers = np.empty(len(rows), np.int64)
    for number in range(len(model), 0, -1):
        node = model.nodes[number - 1]
        here |= flying.pop(number, nobody)
        leaving = here & np.asarray(_function(node.group)(rows.native))
        here ^= leaving
        if isinstance(node, RepairNode):
            head = model.heads[node.pointer]
            flying[head] = flying.get(head, nobody) | leaving
        else:
            _answer(node.model, rows, leaving, answers)
    _answer(model.initial, rows, here | flying.pop(0, nobody), answers)
    return answers


def _answer(model: RowFunction, rows: Rows, mask: npt.NDArray[np.bool_], answers: npt.NDArray[np.int64]) -> None:
    ids = np.flatnonzero(mask)
    if len(ids):
        answers[ids] = _function(model)(rows.take(ids).native)


def figures() -> Iterator[Figure]:
    """Yield the ratio for each kind of frame and weight of groups, with whole-frame evaluation as the peer."""
    plain = np.random.default_rng(1).random((ROWS, COLUMNS), dtype=np.float32)
    for kind, convert in KINDS.items():
        X = convert(plain)
        for words, weight in (("broad groups, 40%", 0.4), ("groups of 2%", 0.02)):
            yield from _beside_both(f"{kind}, {words}", X, _list(X, weight))


def _beside_both(words: str, X: Any, model: PointerDecisionList) -> Iterator[Figure]:
    """Yield the ratio to the unavoidable calls, and the one to asking every group about the whole frame."""
    rows, calls = Rows(X), _unavoidable(model, X)
    if not np.array_equal(model.predict(X), _whole(model, rows)):
        raise AssertionError("the two ways to predict disagree")
    limit, ours = times(lambda: _make(calls, rows), lambda: model.predict(X), repeat=11)
    again, whole = times(lambda: model.predict(X), lambda: _whole(model, rows), repeat=31)
    name = f"predict {ROWS:,} rows, {UPDATES} updates, {REPAIRS} repairs ({words})"
    yield at_most(f"{name}, beside the unavoidable calls", ours, "s", limit, 1.3)
    yield at_most(f"{name}, beside every group on the whole frame", again, "s", whole, 1.0)
