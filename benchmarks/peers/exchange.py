"""How a search run in another process gets its rows and hands back slices: a folder of parquet, npz and JSON files.

Everyone gets the same rows in the same order: train first (the only ones to be searched), then public, then holdout.
Costs are measured here, in the same way for all: seconds, seconds of processor, and how far memory rises above what
it was when the search began. This file knows no package but numpy and pandas, so that it works in every environment.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

Conditions: TypeAlias = dict[str, str]
"""By column, the text that its bin has: a conjunction."""
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RUNS, PATIENCE = 3, 60.0
"""A search is repeated so often, and not once it has taken so many seconds in all."""


@dataclass(frozen=True)
class Cost:
    """What a search took: medians of its runs; the memory is that of the first."""

    seconds: float
    processor_seconds: float
    runs: int
    extra_bytes: int | None
    """The peak of memory above what was there before; None where the system does not say."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be searched: the train rows in bins, and the loss of each."""

    binned: pd.DataFrame
    losses: Array
    depth: int
    most: int
    """How many slices are wanted."""
    least: int
    """How many rows a slice must have."""

    @staticmethod
    def read(folder: Path) -> "Task":
        facts, settings = np.load(folder / "facts.npz"), json.loads((folder / "settings.json").read_text())
        train = int(settings["train"])
        losses = (facts["y"] != facts["predictions"]).astype(float)[:train]
        binned = pd.read_parquet(folder / "binned.parquet").iloc[:train]
        return Task(binned, losses, settings["depth"], settings["most"], settings["least"])

    def codes(self) -> tuple[Array, list[Array]]:
        """Return the bins as whole numbers from 1, and what each stands for, column by column."""
        coded = [pd.factorize(self.binned[name], sort=True) for name in self.binned.columns]
        return np.column_stack([codes + 1 for codes, _ in coded]), [np.asarray(texts) for _, texts in coded]


def measured(action: Callable[[], Any], runs: int = RUNS) -> tuple[Any, Cost]:
    """Run an action, again if it is quick; return what it returned, and its cost."""
    before = _memory("VmRSS", reset=True)
    result, extra = None, None
    seconds: list[float] = []
    processor: list[float] = []
    while not seconds or (len(seconds) < runs and sum(seconds) < PATIENCE):
        start, start_processor = time.perf_counter(), time.process_time()
        result = action()
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - start_processor)
        if extra is None and before is not None:
            extra = (_memory("VmHWM") or before) - before
    return result, Cost(statistics.median(seconds), statistics.median(processor), len(seconds), extra)


def _memory(key: str, *, reset: bool = False) -> int | None:
    """Return a figure of this process's memory in bytes, after its peak was forgotten if asked to."""
    try:
        if reset:
            RESET.write_text("5")
        lines = STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), None)


def mask_of(binned: pd.DataFrame, conditions: Conditions) -> Array:
    """Say of each row whether it meets all conditions."""
    mask = np.ones(len(binned), np.bool_)
    for column, text in conditions.items():
        mask &= np.asarray(binned[column] == text)
    return mask


def words_of(conditions: Conditions) -> str:
    """Say conditions in words."""
    return " and ".join(f"{column} = {text}" for column, text in conditions.items())


def hand_back(folder: Path, name: str, lists: dict[str, list[tuple[str, Array]]], cost: Cost, versions: str) -> None:
    """Write slices, in words and as masks over all rows."""
    words = {key: [text for text, _ in slices] for key, slices in lists.items()}
    masks: dict[str, Any] = {key: np.array([mask for _, mask in slices]) for key, slices in lists.items()}
    np.savez_compressed(folder / f"{name}.npz", **masks)
    (folder / f"{name}.json").write_text(json.dumps({"words": words, "cost": asdict(cost), "versions": versions}))


def file_name(variant: str) -> str:
    """Return a variant's name as that of a file."""
    return "".join(letter if letter.isalnum() else "-" for letter in variant)


def versions_of(*packages: str) -> str:
    """Return packages with their versions."""
    return ", ".join(f"{name} {version(name)}" for name in packages)


def serve(
    packages: tuple[str, ...],
    variants: Mapping[str, Callable[[Task], dict[str, list[Conditions]]]],
    prepare: Callable[[Task], object] | None = None,
) -> None:
    """Search the folder that the command line names, in the variant that it names; what prepares is not counted."""
    folder, variant = Path(sys.argv[1]), sys.argv[2]
    task = Task.read(folder)
    if prepare is not None:
        prepare(task)
    found, cost = measured(lambda: variants[variant](task))
    binned = pd.read_parquet(folder / "binned.parquet")
    lists = {
        name: [(words_of(conditions), mask_of(binned, conditions)) for conditions in slices]
        for name, slices in found.items()
    }
    hand_back(folder, file_name(variant), lists, cost, versions_of(*packages))
