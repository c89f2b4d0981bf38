"""SliceFinder on many mixed rows, beside a tree of depth 10 on them in the same run; its memory beside the rows."""

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.finders_worlds import made_up
from benchmarks.measure import Figure, at_most
from biasbounty.finders import SliceFinder
from biasbounty.finders.features import Features

ROWS, RUNS, TREE_DEPTH = 300_000, 3, 10
TREES, DATA = 10, 3
"""The limits: so many times the tree's time, and the data's bytes."""


def figures() -> Iterator[Figure]:
    """Yield the seconds of a search beside a tree's, and its peak of memory beside the frame."""
    world = made_up(ROWS)
    X, y, answers = world.X.iloc[:ROWS], world.y[:ROWS], world.predictions[:ROWS]
    matrix, finder = Features(X)(X), SliceFinder(depth=2)

    def search() -> object:
        return finder.find(X, y, answers, np.random.default_rng(0))

    tree = DecisionTreeClassifier(max_depth=TREE_DEPTH, random_state=0)
    searching, fitting = zip(
        *((_seconds(search), _seconds(lambda: tree.fit(matrix, y))) for _ in range(RUNS)), strict=True
    )
    size = f"{ROWS:,} rows, {X.shape[1]} mixed columns, depth 2, {finder.candidates} models"
    name = f"SliceFinder.find ({size}), beside one tree of depth {TREE_DEPTH}"
    yield at_most(name, median(searching), "s", median(fitting), TREES)
    held = int(X.memory_usage(deep=True).sum())
    gc.collect()
    tracemalloc.start()
    search()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield at_most(f"peak memory of SliceFinder.find ({size}), the rows included", held + peak, "bytes", held, DATA)


def _seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start
