"""Slice finders side by side: the same train rows, and one judge for all that they find.

The judge fits the same tree to the train rows of each slice. The slice that contributes most on the public rows is the
finder's best; its contribution is that on the holdout, which nobody has searched or chosen by. `together` patches the
stump with all slices, one after another in the order of their public contributions, each kept if public risk falls.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.finders_environments import Missing, environment, own, work
from benchmarks.finders_ours import FINDERS
from benchmarks.finders_worlds import World
from benchmarks.peers.exchange import file_name
from biasbounty.finders.features import Features

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
DEPTH, MOST = 2, 10
"""How many conditions a slice has at most, and how many slices are wanted of each finder."""
LEAST_SHARE = 0.01
"""A slice has at least so large a share of the train rows, where a finder can be told."""
REFIT_DEPTH, REFIT_LEAF = 6, 10
ALIKE = 0.5
"""A slice is a planted one if the rows in both are more than this share of the rows in either."""
PEERS = {
    "sliceline": ("sliceline, alpha 0.95", "sliceline, alpha 0.6"),
    "divexplorer": ("divexplorer", "divexplorer, on 20,000 rows"),
    "pysubgroup": ("pysubgroup, a = 1", "pysubgroup, a = 0.5"),
}
EVERYONE = "everyone, refitted"


@dataclass(frozen=True)
class Found:
    """What came of a finder in a world; of one that failed, only why."""

    world: str
    finder: str
    failure: str | None = None
    ranking: str = ""
    slices: int = 0
    best: float | None = None
    """The contribution of its best slice on the holdout, refitted like all."""
    best_words: str = ""
    best_weight: float | None = None
    first: float | None = None
    """That of the slice it ranks first."""
    together: float | None = None
    own: float | None = None
    """That of the model that came with the group, where one did."""
    planted: int | None = None
    seconds: float | None = None
    processor_seconds: float | None = None
    extra_bytes: int | None = None
    versions: str = ""
    words: tuple[str, ...] = ()


class Judge:
    """Refits slices of a world, and measures them on its public and holdout rows."""

    def __init__(self, world: World) -> None:
        self.world, self.matrix = world, Features(world.X)(world.X)
        self.public = slice(world.train, world.train + world.public)
        self.holdout = slice(world.train + world.public, None)
        self._known: dict[bytes, Array] = {}

    def refit(self, mask: Array) -> Array:
        """Return what a tree answers that was fitted to the train rows of a slice; elsewhere, the predictions."""
        key = np.packbits(mask).tobytes()
        if key not in self._known:
            self._known[key] = self._refitted(mask)
        return self._known[key]

    def _refitted(self, mask: Array) -> Array:
        own, answers = np.flatnonzero(mask[: self.world.train]), self.world.predictions.copy()
        if len(own):
            tree = DecisionTreeClassifier(max_depth=REFIT_DEPTH, min_samples_leaf=REFIT_LEAF, random_state=0)
            answers[mask] = tree.fit(self.matrix[own], self.world.y[own]).predict(self.matrix[mask])
        return answers

    def fall(self, answers: Array, rows: slice, before: Array | None = None) -> float:
        """Return by how much risk falls on some rows if they are answered like this."""
        before, y = self.world.predictions if before is None else before, self.world.y[rows]
        return float(np.mean((before[rows] != y).astype(float) - (answers[rows] != y)))

    def together(self, masks: Array, gains: list[float]) -> float:
        """Return by how much risk falls on the holdout if the slices patch the predictions in turn."""
        current = self.world.predictions
        for at in np.argsort(-np.array(gains), kind="stable"):
            patched = np.where(masks[at], self.refit(masks[at]), current)
            current = patched if self.fall(patched, self.public, current) > 0 else current
        return self.fall(current, self.holdout)

    def planted(self, masks: Array) -> int | None:
        """Return how many planted slices are among these, or None if none were planted."""
        known = [mask[self.holdout] for mask in self.world.planted.values()]
        return sum(any(_overlap(mask[self.holdout], own) > ALIKE for mask in masks) for own in known) if known else None

    def judged(self, name: str, ranking: str, words: list[str], masks: Array) -> Found:
        """Return what a list of slices is worth."""
        nothing = Found(self.world.name, name, ranking=ranking, slices=0, planted=self.planted(masks))
        if not len(masks):
            return replace(nothing, best=0.0, first=0.0, together=0.0)
        gains = [self.fall(self.refit(mask), self.public) for mask in masks]
        best = int(np.argmax(gains))
        return replace(
            nothing,
            slices=len(masks),
            best=self.fall(self.refit(masks[best]), self.holdout),
            best_words=words[best],
            best_weight=float(masks[best][self.holdout].mean()),
            first=self.fall(self.refit(masks[0]), self.holdout),
            together=self.together(masks, gains),
            words=tuple(words),
        )


def _overlap(mask: Array, other: Array) -> float:
    return float((mask & other).sum() / max(1, (mask | other).sum()))


def results(world: World, folder: Path, longest: float, only: tuple[str, ...] = ()) -> Iterator[Found]:
    """Let every finder search a world in a process of its own, one after another, and judge what they find.

    If only some are named, no others search.
    """
    world.write(folder, depth=DEPTH, most=MOST, least=int(LEAST_SHARE * world.train))
    judge = Judge(world)
    yield judge.judged(EVERYONE, "", ["all rows"], np.ones((1, len(world.y)), np.bool_))
    for name in FINDERS:
        if not only or name in only:
            trouble = work(own(), "benchmarks.finders_ours", str(folder), name, longest=longest)
            yield from _collected(judge, folder, name, trouble)
    for peer, variants in PEERS.items():
        asked = [name for name in variants if not only or name in only]
        python = environment(peer) if asked else own()
        for name in asked:
            trouble = work(python, f"benchmarks.peers.with_{peer}", str(folder), name, longest=longest)
            yield from _collected(judge, folder, name, trouble)


def _collected(judge: Judge, folder: Path, name: str, trouble: Missing | None) -> Iterator[Found]:
    if trouble is not None:
        yield Found(judge.world.name, name, failure=trouble.reason)
        return
    said, arrays = json.loads((folder / f"{file_name(name)}.json").read_text()), folder / f"{file_name(name)}.npz"
    answers = folder / f"{file_name(name)}-answers.npy"
    with np.load(arrays) as masks:
        for ranking, words in said["words"].items():
            yield replace(
                judge.judged(name, ranking, words, masks[ranking].reshape(-1, len(judge.world.y))),
                own=judge.fall(np.load(answers), judge.holdout) if answers.exists() else None,
                seconds=said["cost"]["seconds"],
                processor_seconds=said["cost"]["processor_seconds"],
                extra_bytes=said["cost"]["extra_bytes"],
                versions=said["versions"],
            )


def bars(world: World, folder: Path, found: list[Found]) -> dict[str, Any]:
    """Return the figures that issue 4 sets bars for, beside a tree of depth 10 and the size of the data.

    Times are compared twice: by seconds, and by those of the processor, in which others on the machine have less part.
    """
    trouble = work(own(), "benchmarks.finders_ours", str(folder), "bars")
    if trouble is not None:
        return {"world": world.name, "failure": trouble.reason}
    taken = json.loads((folder / "bars.json").read_text())
    extra = next((one.extra_bytes for one in found if one.finder == "SliceFinder"), None)
    train = world.X.iloc[: world.train]
    data = int(train.memory_usage(deep=True).sum())
    ratio, by_processor = (
        taken[f"SliceFinder {what}"] / taken[f"tree {what}"] for what in ("seconds", "processor seconds")
    )
    return {
        "world": world.name,
        "rows": world.train,
        "columns": world.X.shape[1],
        **taken,
        "times the tree": ratio,
        "times the tree, by processor": by_processor,
        "under 10 times the tree": ratio < 10,
        "under 10 times the tree, by processor": by_processor < 10,
        "data bytes": data,
        "extra bytes": extra,
        "extra beside the data": None if extra is None else extra / data,
        "under 3 times the data": None if extra is None else extra < 3 * data,
    }


def beside_sliceline(world: World, found: list[Found]) -> dict[str, Any]:
    """Return how many times as long sliceline takes as SliceFinder on the same bins at the same depth."""
    own = {one.finder: one for one in found}
    mine = own.get("SliceFinder, binned")
    lines = [own[name] for name in PEERS["sliceline"] if name in own]
    times = {one.finder: _times(one.seconds, mine.seconds if mine else None) for one in lines}
    by_processor = {
        one.finder: _times(one.processor_seconds, mine.processor_seconds if mine else None) for one in lines
    }
    return {
        "world": world.name,
        "rows": world.train,
        "times SliceFinder, binned": times,
        "times SliceFinder, binned, by processor": by_processor,
        "faster than sliceline": _all_above_one(times),
        "faster than sliceline, by processor": _all_above_one(by_processor),
    }


def _times(seconds: float | None, others: float | None) -> float | None:
    return seconds / others if seconds and others else None


def _all_above_one(times: dict[str, float | None]) -> bool | None:
    known = [ratio for ratio in times.values() if ratio is not None]
    return min(known) > 1 if known else None
