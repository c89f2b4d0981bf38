"""The worlds that finders search: rows in order of who may see them, bins of their columns, and a stump's answers.

Train rows are searched. Public rows tell which of a finder's slices is best. Holdout rows, seen by nobody, tell what
that one contributes. `planted` is known only where rows are made up.
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from biasbounty.datasets import load_census
from biasbounty.finders.features import Features

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
BINS = 8
SHARES = (0.6, 0.2)
"""Of the rows, train and public; the rest is the holdout."""
NOISE, FLIPPED = 0.1, 0.6
"""How often a made-up label is wrong anywhere, and is turned round in a planted slice."""


@dataclass(frozen=True, eq=False)
class World:
    """Rows as a frame, and what is known of them."""

    name: str
    X: pd.DataFrame
    y: Array
    predictions: Array
    train: int
    public: int
    planted: dict[str, Array]

    def write(self, folder: Path, **settings: int) -> None:
        """Write what workers read."""
        folder.mkdir(parents=True, exist_ok=True)
        self.X.to_parquet(folder / "raw.parquet")
        binned(self.X, self.train).to_parquet(folder / "binned.parquet")
        np.savez(folder / "facts.npz", y=self.y, predictions=self.predictions)
        (folder / "settings.json").write_text(json.dumps({"train": self.train, **settings}))


def census(seed: int = 0, rows: int | None = None) -> World:
    """Return the bundled census sample, in an order drawn at random."""
    sample = load_census()
    order = np.random.default_rng(seed).permutation(len(sample.y))[:rows]
    frame = pd.DataFrame(sample.X[order], columns=list(sample.columns))
    train, public = (int(len(order) * share) for share in SHARES)
    return _with_stump("census", frame, sample.y[order], train, public, {})


def made_up(train: int = 300_000, seed: int = 0) -> World:
    """Return rows of 30 columns, numbers and text, some values missing, whose stump errs most in four slices."""
    rng, public = np.random.default_rng(seed), train // 3
    rows = train + 2 * public
    frame = _columns(rng, rows)
    planted = {
        "n3 in [0.3, 1.1) and t0 = 'a'": _within(frame["n3"], 0.3, 1.1) & (frame["t0"] == "a").to_numpy(),
        "n5 missing and k1 = 2": frame["n5"].isna().to_numpy() & (frame["k1"] == 2).to_numpy(),
        "t2 = 'b' and t4 = 'c'": ((frame["t2"] == "b") & (frame["t4"] == "c")).to_numpy(),
        "n8 >= 1.4": _within(frame["n8"], 1.4, np.inf),
    }
    y = (frame["n0"] > 0).to_numpy() ^ (rng.random(rows) < NOISE)
    inside = np.logical_or.reduce(list(planted.values()))
    y ^= inside & (rng.random(rows) < FLIPPED)
    return _with_stump(f"made up, {train:,} rows", frame, y.astype(np.int64), train, public, planted)


def _columns(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Fourteen columns of real numbers, six of small whole numbers, ten of text; a third have gaps."""
    columns: dict[str, Any] = {f"n{at}": rng.normal(size=rows) for at in range(14)}
    columns |= {f"k{at}": rng.integers(0, 3 + at, rows).astype(float) for at in range(6)}
    columns |= {
        f"t{at}": np.array(list("abcdefghijkl")[: 3 + at], object)[rng.integers(0, 3 + at, rows)] for at in range(10)
    }
    for name in ("n2", "n5", "n7", "n11", "k2", "k5", "t1", "t3", "t6", "t9"):
        gaps = rng.random(rows) < 0.1
        columns[name][gaps] = None if name.startswith("t") else np.nan
    return pd.DataFrame(columns)


def _within(values: Any, low: float, high: float) -> Array:
    return np.asarray((values >= low) & (values < high))


def _with_stump(name: str, X: pd.DataFrame, y: Array, train: int, public: int, planted: dict[str, Array]) -> World:
    features = Features(X)
    matrix = features(X)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(matrix[:train], y[:train])
    return World(name, X, y, stump.predict(matrix), train, public, planted)


def binned(X: pd.DataFrame, train: int) -> pd.DataFrame:
    """Return all columns as text: numbers of many values as ranges between the train rows' quantiles."""
    return pd.DataFrame({name: _in_bins(X[name], train) for name in X.columns})


def _in_bins(values: Any, train: int) -> Array:
    known = values.dropna()
    if not pd.api.types.is_numeric_dtype(values):
        return np.asarray(values.astype(object).where(values.notna(), "missing"))
    if known.nunique() <= BINS:
        texts = values.map(lambda value: f"{value:g}")
    else:
        ends = np.unique(np.quantile(values[:train].dropna(), np.arange(1, BINS) / BINS))
        edges = ["-inf", *(f"{end:.4g}" for end in ends), "inf"]
        names = np.array([f"[{low}, {high})" for low, high in pairwise(edges)], object)
        texts = pd.Series(names[np.searchsorted(ends, values.fillna(0), side="right")], index=values.index)
    return np.asarray(texts.astype(object).where(values.notna(), "missing"))
