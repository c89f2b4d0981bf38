"""fairlearn: `python -m benchmarks.peers.with_fairlearn FOLDER VARIANT`, with trees of depth 10 as its estimator.

Groups of fairlearn do not overlap, so that what must be even is the 36 cells of race x sex x age. GridSearch is made
for at most four multipliers and says so: it is given the three age groups, with a larger grid than its own of 10.
The bound of BoundedGroupLoss is the risk of one tree: no cell shall be worse off than everyone is on average.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from benchmarks.peers.exchange import Array, file_name, versions_of

DEPTH, SLACK, GRID = 10, 0.02, 50


@dataclass(frozen=True, eq=False)
class Given:
    """Rows to learn from, and features of those to answer for."""

    X: Array
    y: Array
    cells: pd.DataFrame
    asked: Array
    bound: float

    @staticmethod
    def read(folder: Path) -> "Given":
        kept = np.load(folder / "people.npz")
        cells = pd.DataFrame(kept["cells"], columns=["race", "sex", "age"]).astype(str)
        return Given(kept["X"], kept["y"], cells, kept["asked"], float(kept["bound"]))


def gradient(given: Given, moment: Any) -> Any:
    """Fit ExponentiatedGradient with its own settings."""
    fitted = import_module("fairlearn.reductions").ExponentiatedGradient(_tree(), moment)
    return fitted.fit(given.X, given.y, sensitive_features=given.cells)


def grid(given: Given, moment: Any) -> Any:
    """Fit GridSearch, with its own rule of selection."""
    fitted = import_module("fairlearn.reductions").GridSearch(_tree(), moment, grid_size=GRID)
    return fitted.fit(given.X, given.y, sensitive_features=given.cells["age"])


def parity(given: Given) -> Any:  # noqa: ARG001
    """Ask that no group's error rate is further than this from the overall one."""
    return import_module("fairlearn.reductions").ErrorRateParity(difference_bound=SLACK)


def bounded(given: Given) -> Any:
    """Ask that no group's risk is above the bound."""
    reductions = import_module("fairlearn.reductions")
    return reductions.BoundedGroupLoss(reductions.ZeroOneLoss(), upper_bound=given.bound)


def _tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=DEPTH, random_state=0)


def answers(fitted: Any, asked: Array) -> Array:
    """Ask for answers; those of ExponentiatedGradient are drawn at random, from a seed."""
    try:
        return np.asarray(fitted.predict(asked, random_state=0))
    except TypeError:
        return np.asarray(fitted.predict(asked))


VARIANTS: dict[str, tuple[Callable[..., Any], Callable[[Given], Any]]] = {
    "fairlearn ExponentiatedGradient, ErrorRateParity": (gradient, parity),
    "fairlearn ExponentiatedGradient, BoundedGroupLoss": (gradient, bounded),
    "fairlearn GridSearch, ErrorRateParity": (grid, parity),
    "fairlearn GridSearch, BoundedGroupLoss": (grid, bounded),
}


def main() -> None:
    """Fit one variant, and write its answers and its cost."""
    folder, variant = Path(sys.argv[1]), sys.argv[2]
    given, (fit, moment) = Given.read(folder), VARIANTS[variant]
    start, processor = time.perf_counter(), time.process_time()
    fitted = fit(given, moment(given))
    cost = {"seconds": time.perf_counter() - start, "processor_seconds": time.process_time() - processor}
    np.save(folder / f"{file_name(variant)}.npy", answers(fitted, given.asked).astype(np.int64))
    said = {**cost, "versions": versions_of("fairlearn", "scikit-learn", "numpy")}
    (folder / f"{file_name(variant)}.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main()
