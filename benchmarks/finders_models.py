"""Models side by side: overall risk, worst-group risk and risk of each of the eleven demographic groups.

Everyone learns from the same three quarters of the rows. A bounty uses two of them for hunters and one for the judge,
all others train on the three. Risks are of the last quarter, which nobody trained or judged on; several splits.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from benchmarks.finders_environments import Missing, environment, work
from benchmarks.peers.exchange import file_name, versions_of
from biasbounty.bounty import Bounty
from biasbounty.core.anytime import Anytime
from biasbounty.core.checkers import Checker
from biasbounty.core.thresholds import Plain
from biasbounty.datasets import Sample, Splits, demographic_groups, hunt, load_census
from biasbounty.finders.training import BountyClassifier

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
DEPTH = 10
EPSILON = 0.005
FAIRLEARN = (
    "fairlearn ExponentiatedGradient, ErrorRateParity",
    "fairlearn ExponentiatedGradient, BoundedGroupLoss",
    "fairlearn GridSearch, ErrorRateParity",
    "fairlearn GridSearch, BoundedGroupLoss",
)
SMALL = ("Native/Pacific",)
"""Groups of which a quarter of the sample has so few rows that risks are noise."""
RACES, SEXES, AGES = slice(0, 6), slice(6, 8), slice(8, 11)
"""Where the eleven groups divide everyone: each row is in one of each."""


@dataclass(frozen=True)
class Measured:
    """How a model does on rows that nobody trained or judged on, in one split; of one that failed, only why."""

    model: str
    split: int
    failure: str | None = None
    risk: float | None = None
    worst: float | None = None
    worst_group: str = ""
    by_group: dict[str, float] | None = None
    seconds: float | None = None
    processor_seconds: float | None = None
    versions: str = ""
    said: str = ""
    """What the model says of its training."""


@dataclass(frozen=True, eq=False)
class People:
    """The census rows dealt out once: half to train on, a quarter to judge by, a quarter that nobody sees."""

    sample: Sample
    train: Array
    judge: Array
    fresh: Array
    masks: Array
    """One line for each of the eleven groups."""
    names: tuple[str, ...]

    @staticmethod
    def dealt(seed: int, sample: Sample | None = None) -> "People":
        sample = load_census() if sample is None else sample
        order = np.random.default_rng(seed).permutation(len(sample.y))
        half, quarter = len(order) // 2, len(order) // 4
        groups = demographic_groups(sample.columns)
        return People(
            sample,
            order[:half],
            order[half : half + quarter],
            order[half + quarter :],
            np.array([named.group(sample.X) for named in groups]),
            tuple(named.name for named in groups),
        )

    @property
    def seen(self) -> Array:
        """The rows that may be learned from, in one way or another."""
        return np.concatenate([self.train, self.judge])

    def cells(self, ids: Array) -> Array:
        """Return the race, sex and age group of each row."""
        return np.stack([self.masks[part][:, ids].argmax(axis=0) for part in (RACES, SEXES, AGES)], axis=1)

    def measured(self, model: str, split: int, answers: Array, **facts: Any) -> Measured:
        """Measure answers to the fresh rows."""
        wrong = answers != self.sample.y[self.fresh]
        by_group = {
            name: float(wrong[mask[self.fresh]].mean()) for name, mask in zip(self.names, self.masks, strict=True)
        }
        worst = max(by_group, key=lambda name: by_group[name])
        return Measured(
            model,
            split,
            risk=float(wrong.mean()),
            worst=by_group[worst],
            worst_group=worst,
            by_group=by_group,
            **facts,
        )


Answer: TypeAlias = Callable[[Any], Any]
Trained: TypeAlias = tuple[Answer, str]
"""What a model answers, asked for rows; and what it says of its training."""


def _tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=DEPTH, random_state=0)


def stump(people: People) -> Trained:
    """Fit the initial model of the bounties."""
    fitted = DecisionTreeClassifier(max_depth=1, random_state=0)
    return fitted.fit(people.sample.X[people.train], people.sample.y[people.train]).predict, ""


def one_tree(people: People) -> Trained:
    return _tree().fit(people.sample.X[people.seen], people.sample.y[people.seen]).predict, ""


def boosting(people: People) -> Trained:
    fitted = HistGradientBoostingClassifier(random_state=0)
    return fitted.fit(people.sample.X[people.seen], people.sample.y[people.seen]).predict, ""


def boosting_on_train(people: People) -> Answer:
    """Boosting that leaves the judge's rows alone, to begin a bounty with."""
    fitted = HistGradientBoostingClassifier(random_state=0)
    return fitted.fit(people.sample.X[people.train], people.sample.y[people.train]).predict  # type: ignore[no-any-return]


def trees_by_group(people: People) -> Trained:
    """Fit a tree for each of the eleven groups; each row is in three of them, and the majority answers."""
    groups = demographic_groups(people.sample.columns)
    trees = [
        _tree().fit(people.sample.X[own], people.sample.y[own])
        for own in (people.seen[mask[people.seen]] for mask in people.masks)
    ]

    def answer(X: Any) -> Any:
        votes = np.zeros(len(X))
        for named, tree in zip(groups, trees, strict=True):
            own = named.group(X)
            votes[own] += tree.predict(X[own])
        return (votes >= 2).astype(np.int64)

    return answer, ""


def bounty(people: People, checker: Checker, first: Answer | None = None) -> Trained:
    """Eleven hunters, one for each group, in an order drawn once; each trains a tree of depth 10 on the train rows."""
    X, y = people.sample.X, people.sample.y
    run = Bounty(stump(people)[0] if first is None else first, X[people.judge], y[people.judge], checker=checker)
    splits = Splits(X[people.train], X[people.judge], y[people.train], y[people.judge])
    for certificate in hunt(demographic_groups(people.sample.columns), splits, 12345):
        run.submit(certificate.group, certificate.model, hunter=certificate.hunter)
    repairs = sum(len(verdict.repairs) for verdict in run.transcript)
    return run.model.predict, f"{len(run.rounds) - 1} accepted, {repairs} repairs"


def training(people: People, **settings: Any) -> Trained:
    """BountyClassifier, on all the rows that may be seen."""
    fitted = BountyClassifier(random_state=0, **settings).fit(
        people.sample.X[people.seen], people.sample.y[people.seen]
    )
    return fitted.predict, f"{fitted.n_rounds_} rounds; {fitted.stop_reason_}"


def training_after(people: People, first: Answer) -> Trained:
    """BountyClassifier that wraps boosting: it sees only the rows that boosting has not."""
    X, y = people.sample.X[people.judge], people.sample.y[people.judge]
    fitted = BountyClassifier(random_state=0, initial=first, checker=Anytime(EPSILON), epsilon=EPSILON).fit(X, y)
    return fitted.predict, f"{fitted.n_rounds_} rounds; {fitted.stop_reason_}"


MODELS: dict[str, Callable[[People], Trained]] = {
    "stump": stump,
    "one tree": one_tree,
    "one tree per group, majority": trees_by_group,
    "gradient boosting": boosting,
    "bounty, 11 hunters, Plain": lambda people: bounty(people, Plain()),
    "bounty, 11 hunters, Anytime": lambda people: bounty(people, Anytime(EPSILON)),
    "bounty, 11 hunters, Anytime, after boosting": lambda people: bounty(
        people, Anytime(EPSILON), boosting_on_train(people)
    ),
    "BountyClassifier": lambda people: training(people),
    "BountyClassifier, Anytime": lambda people: training(people, epsilon=EPSILON, checker=Anytime(EPSILON)),
    "BountyClassifier, Anytime, base boosting": lambda people: training(
        people, epsilon=EPSILON, checker=Anytime(EPSILON), base=HistGradientBoostingRegressor(random_state=0)
    ),
    "BountyClassifier, Anytime, after boosting": lambda people: training_after(
        people, FrozenEstimator(_boosted(people)).predict
    ),
}


def _boosted(people: People) -> Any:
    fitted = HistGradientBoostingClassifier(random_state=0)
    return fitted.fit(people.sample.X[people.train], people.sample.y[people.train])


def results(split: int, folder: Path) -> Iterator[Measured]:
    """Train all models on a split, one after another, and measure them."""
    people, python = People.dealt(split), environment("fairlearn")
    for name, train in MODELS.items():
        start, processor = time.perf_counter(), time.process_time()
        answer, said = train(people)
        facts = {"seconds": time.perf_counter() - start, "processor_seconds": time.process_time() - processor}
        answers = answer(people.sample.X[people.fresh])
        yield people.measured(name, split, answers, said=said, versions=versions_of("scikit-learn", "numpy"), **facts)
    _write(people, folder)
    for name in FAIRLEARN:
        yield _of_fairlearn(people, folder, name, split, python)


def _write(people: People, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    X, y, seen = people.sample.X, people.sample.y, people.seen
    answers = _tree().fit(X[people.train], y[people.train]).predict(X[people.judge])
    bound = float((answers != y[people.judge]).mean())
    np.savez(
        folder / "people.npz",
        X=X[seen],
        y=y[seen],
        cells=people.cells(seen),
        asked=X[people.fresh],
        bound=np.array(bound),
    )


def _of_fairlearn(people: People, folder: Path, name: str, split: int, python: Path | Missing) -> Measured:
    trouble = work(python, "benchmarks.peers.with_fairlearn", str(folder), name)
    if trouble is not None:
        return Measured(name, split, failure=trouble.reason)
    said = json.loads((folder / f"{file_name(name)}.json").read_text())
    return people.measured(name, split, np.load(folder / f"{file_name(name)}.npy"), **said)
