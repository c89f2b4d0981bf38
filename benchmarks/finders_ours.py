"""The finders of this package as workers: `python -m benchmarks.finders_ours FOLDER NAME`, measured like the peers.

`bars` measures what issue 4 asks of SliceFinder: it and a tree of depth 10 in turn, in one process, on the same rows.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from benchmarks.peers.exchange import file_name, hand_back, measured, versions_of
from biasbounty.finders.features import Features

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
ON_BINS = ", binned"
"""What a finder is called where it is given the peers' bins rather than the columns themselves."""
FINDERS = {
    "SliceFinder": ("slices", "SliceFinder"),
    f"SliceFinder{ON_BINS}": ("slices", "SliceFinder"),
    "SliceFinder by relabelling": ("slices", "SliceFinder"),
    "SliceFinder by excess": ("slices", "SliceFinder"),
    "TernaryFinder": ("ternary", "TernaryFinder"),
    "AlternatingFinder": ("alternating", "AlternatingFinder"),
    "ResidualFinder": ("residual", "ResidualFinder"),
}
BAR_RUNS, BAR_DEPTH = 3, 10


def finder(name: str, depth: int) -> Any:
    """Return a finder with its own settings; the depth of slices is that of all."""
    module, kind = FINDERS[name]
    made = getattr(import_module(f"biasbounty.finders.{module}"), kind)
    return made(depth=depth) if kind == "SliceFinder" else made()


class Given:
    """What a worker was given."""

    def __init__(self, folder: Path, *, bins: bool) -> None:
        self.settings = json.loads((folder / "settings.json").read_text())
        self.everything = pd.read_parquet(folder / ("binned.parquet" if bins else "raw.parquet"))
        facts, train = np.load(folder / "facts.npz"), self.settings["train"]
        self.predictions = facts["predictions"]
        self.X, self.y, self.answers = self.everything.iloc[:train], facts["y"][:train], facts["predictions"][:train]
        self.rng = np.random.default_rng(0)


def slices(name: str, made: Any, given: Given) -> Callable[[], Any]:
    """Return a search: of the best slices where a finder ranks them, else of the best certificate."""
    if hasattr(made, "rank"):
        ranking = {"most": given.settings["most"], "by": name.partition(" by ")[2] or "contribution"}
        return lambda: made.rank(given.X, given.y, given.answers, np.random.default_rng(0), **ranking)
    return lambda: made.find(given.X, given.y, given.answers, np.random.default_rng(0))


def search(folder: Path, name: str) -> None:
    """Search, and write the groups found; of a certificate, also what its own model answers everywhere."""
    given = Given(folder, bins=name.endswith(ON_BINS))
    made = finder(name, given.settings["depth"])
    found, cost = measured(slices(name, made, given))
    ranked = found if isinstance(found, tuple) else [found] if found is not None else []
    lists = {
        name.partition(" by ")[2] or "contribution": [
            (_words(one), np.asarray(one.group(given.everything))) for one in ranked
        ]
    }
    if not isinstance(found, tuple) and found is not None:
        np.save(folder / f"{file_name(name)}-answers.npy", _answers(found, given))
    hand_back(folder, file_name(name), lists, cost, versions_of("biasbounty", "numpy", "pandas"))


def _answers(certificate: Any, given: Given) -> Array:
    mask = np.asarray(certificate.group(given.everything), np.bool_)
    answers: Array = given.predictions.copy()
    answers[mask] = certificate.model(given.everything[mask])
    return answers


def _words(found: Any) -> str:
    return str(getattr(found.group, "words", getattr(found, "note", "")))


def bars(folder: Path) -> None:
    """Time SliceFinder and a tree in turn, and write how its memory compares with the data."""
    given = Given(folder, bins=False)
    made, matrix = finder("SliceFinder", given.settings["depth"]), Features(given.X)(given.X)
    tree = DecisionTreeClassifier(max_depth=BAR_DEPTH, random_state=0)
    actions: dict[str, Callable[[], object]] = {
        "tree": lambda: tree.fit(matrix, given.y),
        "SliceFinder": lambda: made.find(given.X, given.y, given.answers, np.random.default_rng(0)),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in actions}
    for _ in range(BAR_RUNS):
        for name, action in actions.items():
            start, processor = time.perf_counter(), time.process_time()
            action()
            taken[name].append((time.perf_counter() - start, time.process_time() - processor))
    figures = {
        f"{name} {what}": statistics.median(one[at] for one in times)
        for name, times in taken.items()
        for at, what in enumerate(("seconds", "processor seconds"))
    }
    (folder / "bars.json").write_text(json.dumps(figures))


if __name__ == "__main__":
    place, asked = Path(sys.argv[1]), sys.argv[2]
    bars(place) if asked == "bars" else search(place, asked)
