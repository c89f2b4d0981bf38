"""What the paper's first experiment is made of: two parts of a sample, a stump, a tree for each group, and an order.

Hunters see the train part, the judge alone has the holdout. Everything is a function of the sample and the seeds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.datasets.census import Sample
from biasbounty.datasets.groups import NamedGroup
from biasbounty.values import Certificate

SHARE, SEED, DEPTH = 0.2, 0, 10
"""The holdout's share of the rows, the seed of the split and the trees, and the depth of the trees."""


@dataclass(frozen=True, eq=False)
class Splits:
    """A sample in two parts: hunters see train, the judge alone has the holdout."""

    X_train: Any
    X_holdout: Any
    y_train: Any
    y_holdout: Any


def split(sample: Sample, share: float = SHARE, seed: int = SEED) -> Splits:
    """Set a share of the sample aside as the holdout."""
    from sklearn.model_selection import train_test_split

    return Splits(*train_test_split(sample.X, sample.y, test_size=share, random_state=seed))


def initial_stump(splits: Splits) -> Any:
    """Fit the model to be patched: a decision stump."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=1, random_state=SEED).fit(splits.X_train, splits.y_train)


def shuffled(groups: Sequence[NamedGroup], seed: int) -> list[tuple[int, NamedGroup]]:
    """Return the groups in the order that a seed gives, each with its place in the order they had."""
    order = np.arange(len(groups))
    np.random.default_rng(seed).shuffle(order)
    return [(place, groups[place]) for place in order.tolist()]


def hunt(groups: Sequence[NamedGroup], splits: Splits, seed: int) -> Iterator[Certificate]:
    """Train a tree on each group's own rows, in the order that the seed gives; a group without rows has no hunter."""
    from sklearn.tree import DecisionTreeClassifier

    for place, named in shuffled(groups, seed):
        mask = named.group(splits.X_train)
        if mask.any():
            tree = DecisionTreeClassifier(max_depth=DEPTH, random_state=SEED)
            tree.fit(splits.X_train[mask], splits.y_train[mask])
            yield Certificate(named.group, tree, hunter=f"hunter-{place + 1}", note=named.name)
