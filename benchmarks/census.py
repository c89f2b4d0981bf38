"""The guarantee on real data: random slices of the Massachusetts census, under Plain, Anytime and fresh holdouts.

The rows are halved: one half for training (of which a fifth is set aside, and judged by nobody), a quarter each public
and holdout. A submission is a slice of one or two conditions drawn at random, and a tree trained on it. All checkers
meet the same submissions, drawn before any answer. "Fresh" charges nothing for earlier answers, as if every submission
met a holdout of its own: it is the limit, and no bounty can have it.

"Anytime, binomial" has no public rows. Which census: that of --data if it is given (2015-2018, 277,677 rows), else the
sample that comes with the package.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.honest import CODES, FRESH
from benchmarks.measure import machine
from benchmarks.unsound import Coded
from biasbounty.bounty import Bounty
from biasbounty.core.checkers import Checker
from biasbounty.core.thresholds import Plain
from biasbounty.datasets import load_census

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
OUT = Path(__file__).parent / "out" / "census.json"
EPSILON = 0.001
"""Beside a good model little is to be gained: what is guaranteed is half of this."""
CHECKERS: dict[str, Checker] = {
    "Plain": Plain(),
    **{f"Anytime, {name}": Coded(EPSILON, 0.05, code) for name, code in CODES.items()},
    "Fresh": Coded(EPSILON, 0.05, FRESH),
}


@dataclass(frozen=True, eq=False)
class Split:
    """The rows in four parts, by who may see them."""

    train: Array
    unseen: Array
    public: Array
    holdout: Array


@dataclass(frozen=True)
class Result:
    """What a checker made of the submissions."""

    initial: str
    checker: str
    rows: int
    submissions: int
    accepted: int
    repairs: int
    nats: float
    first_risk: float
    """Of the initial model, on rows that nobody judged."""
    final_risk: float
    holdout_risk: float
    """What the holdout says of the final model."""


def load(path: Path | None) -> tuple[Array, Array, tuple[str, ...]]:
    """Return features, labels and names of columns."""
    if path is None:
        sample = load_census()
        return sample.X, sample.y, sample.columns
    import pyarrow.parquet as parquet

    table = parquet.read_table(path)
    names = tuple(name for name in table.column_names if name not in ("employed", "year"))
    X = np.column_stack([table[name].to_pandas().astype(int) for name in names])
    return X, table["employed"].to_pandas().astype(int).to_numpy(), names


def split(rows: int, rng: np.random.Generator) -> Split:
    """Deal the rows out."""
    order, half, quarter = rng.permutation(rows), rows // 2, rows // 4
    train = order[:half]
    return Split(train[half // 5 :], train[: half // 5], order[half : half + quarter], order[half + quarter :])


def random_slice(X: Array, rng: np.random.Generator) -> Array:
    """Draw a slice of one or two conditions: a value of a column, or a range of one with many values."""
    mask = np.ones(len(X), np.bool_)
    for column in rng.choice(X.shape[1], size=rng.integers(1, 3), replace=False):
        values = np.unique(X[:, column])
        if len(values) > 20:
            low, high = np.sort(rng.choice(values, 2, replace=False))
            mask &= (X[:, column] >= low) & (X[:, column] <= high)
        else:
            mask &= X[:, column] == rng.choice(values)
    return mask


def submissions(
    X: Array, y: Array, train: Array, count: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Yield slices and the answers of trees trained on them, as tables over all rows."""
    from sklearn.tree import DecisionTreeClassifier

    made = 0
    while made < count:
        mask = random_slice(X, rng)
        own = train[mask[train]]
        if len(own) < 200:
            continue
        tree = DecisionTreeClassifier(max_depth=int(rng.integers(3, 11)), min_samples_leaf=20, random_state=0)
        tree.fit(X[own], y[own])
        answers = np.zeros(len(X), np.int8)
        answers[mask] = tree.predict(X[mask])
        made += 1
        yield mask, answers


def initial_models(X: Array, y: Array, train: Array) -> Iterator[tuple[str, Array]]:
    """Yield a crude, a good and a better initial model, as tables."""
    from sklearn.tree import DecisionTreeClassifier

    for name, depth in (("stump", 1), ("depth 6", 6), ("depth 12", 12)):
        tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=50, random_state=0).fit(X[train], y[train])
        yield name, tree.predict(X).astype(np.int8)


def judged(
    name: str, checker: str, initial: Array, y: Array, parts: Split, submitted: list[tuple[Array, Array]]
) -> Result:
    """Judge all submissions, and look at the outcome on rows that nobody judged."""
    labels = y.astype(np.int8)
    foretold = checker not in ("Plain", "Anytime, binomial")
    bounty = Bounty(
        _lookup(initial),
        parts.holdout,
        labels[parts.holdout],
        checker=CHECKERS[checker],
        public=(parts.public, labels[parts.public]) if foretold else None,
    )
    for mask, answers in submitted:
        bounty.submit(_lookup(mask), _lookup(answers))
    first, final = (float((bounty.model.predict(parts.unseen, r) != labels[parts.unseen]).mean()) for r in (0, None))
    return Result(
        name,
        checker,
        len(parts.holdout),
        len(submitted),
        len(bounty.rounds) - 1,
        sum(len(verdict.repairs) for verdict in bounty.transcript),
        bounty.nats_spent,
        first,
        final,
        bounty.risk(),
    )


def _lookup(table: Array) -> Callable[[Any], Any]:
    return lambda rows: table[rows]


def main() -> None:
    """Judge the same submissions under every checker, and write what came of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.census", description=__doc__)
    parser.add_argument("--data", type=Path, help="a parquet file with the columns of the census sample")
    parser.add_argument("--submissions", type=int, default=1471)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    X, y, _ = load(arguments.data)
    rng = np.random.default_rng(0)
    parts = split(len(y), rng)
    print(f"{len(y):,} rows; training {arguments.submissions:,} trees on random slices ...", flush=True)
    submitted = list(submissions(X, y, parts.train, arguments.submissions, rng))
    found = []
    for name, initial in initial_models(X, y, parts.train):
        for checker in CHECKERS:
            found.append(judged(name, checker, initial, y, parts, submitted))
            print(_line(found[-1]), flush=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    rows = {"machine": machine(), "results": [asdict(one) for one in found]}
    arguments.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"written to {arguments.out}")


def _line(one: Result) -> str:
    return (
        f"{one.initial:9} {one.checker:20} accepted {one.accepted:4} repairs {one.repairs:4} nats {one.nats:6.1f} "
        f"risk on unseen rows {one.first_risk:.4f} -> {one.final_risk:.4f} (on the holdout {one.holdout_risk:.4f})"
    )


if __name__ == "__main__":
    main()
