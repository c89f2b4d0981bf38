"""sliceline: `python -m benchmarks.peers.with_sliceline FOLDER VARIANT`, with its numba extra, which it recommends.

`alpha` says how much the mean loss of a slice counts beside its size: 0.95 is the SliceLine paper's, 0.6 the package's.
Numba compiles while a small part is searched beforehand, which is not counted.
"""

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.exchange import Conditions, Task, serve

WARM_UP = 5_000


def search(task: Task, alpha: float) -> dict[str, list[Conditions]]:
    names, (codes, texts) = list(task.binned.columns), task.codes()
    fitted = _finder(task, alpha, task.least).fit(codes, task.losses)
    slices = [
        {names[at]: str(texts[at][int(code) - 1]) for at, code in enumerate(found) if code is not None}
        for found in np.asarray(fitted.top_slices_)[: task.most]
    ]
    return {f"alpha {alpha}": slices}


def warm_up(task: Task) -> None:
    _finder(task, 0.95, 50).fit(task.codes()[0][:WARM_UP], task.losses[:WARM_UP])


def _finder(task: Task, alpha: float, least: int) -> Any:
    kind = import_module("sliceline.slicefinder").Slicefinder
    return kind(alpha=alpha, k=task.most, max_l=task.depth, min_sup=least, verbose=False)


if __name__ == "__main__":
    searches = {f"sliceline, alpha {alpha}": partial(search, alpha=alpha) for alpha in (0.95, 0.6)}
    serve(("sliceline", "numba", "numpy"), searches, warm_up)
