"""Random worlds for the properties: a few rows, and submissions whose groups and models are tables over them."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

import biasbounty as bb
from biasbounty.arrays import plain
from biasbounty.core.columns import LEVELS
from tests.reference import Reference

Table = list[Any]


@dataclass(frozen=True)
class World:
    """Rows are the numbers 0..n-1, so that a table over them is a function of one row."""

    labels: Table
    initial: Table
    submissions: list[tuple[Table, Table]]
    zero_one: bool
    threshold: float
    paper: tuple[float, int] | None
    """The epsilon and submissions of a Paper checker, or None for Plain."""
    repairs: bool

    @property
    def rows(self) -> np.ndarray[Any, Any]:
        """The holdout: one column that numbers the rows."""
        return np.arange(len(self.labels)).reshape(-1, 1)

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return "zero_one" if self.zero_one else "absolute"

    @property
    def checker(self) -> bb.Plain | bb.Paper:
        """Plain, or Paper's rule on a holdout too small for its theorem."""
        if self.paper is None:
            return bb.Plain(self.threshold)
        return bb.Paper(self.paper[0], 0.1, self.paper[1], allow_small_holdout=True)

    def bounty(self, **settings: Any) -> bb.Bounty:
        """Open a bounty on this world."""
        given = {"loss": self.loss, "checker": self.checker, "repairs": self.repairs} | settings
        return bb.Bounty(lookup(self.initial), self.rows, np.array(self.labels), **given)

    def play(self, bounty: bb.Bounty) -> list[bb.Verdict]:
        """Submit everything, until the checker stops."""
        verdicts = []
        for group, model in self.submissions:
            try:
                verdicts.append(bounty.submit(lookup(group), lookup(model)))
            except bb.BountyStoppedError:
                break
        return verdicts

    def reference(self) -> Reference:
        """Open the literal reference on this world."""
        return Reference(
            rows=range(len(self.labels)),
            labels=self.labels,
            initial=self.initial.__getitem__,
            loss=(lambda a, y: int(a != y)) if self.zero_one else (lambda a, y: round(abs(a - y) * LEVELS)),
            scale=1 if self.zero_one else LEVELS,
            threshold=Fraction(str(self.threshold)) if self.paper is None else Fraction(str(self.paper[0])) * 3 / 4,
            most=float("inf") if self.paper is None else self.paper[1],
            repairs=self.repairs,
        )


def lookup(table: Table) -> Callable[[Any], Any]:
    """Return the function of rows that looks its answer up."""
    values = np.array(table)
    return lambda X: values[np.asarray(X)[:, 0]]


def random_world(
    seed: int,
    n: int,
    submissions: int,
    *,
    zero_one: bool,
    threshold: float = 0.0,
    paper: tuple[float, int] | None = None,
    repairs: bool = True,
) -> World:
    """Make a world whose submissions often harm the group of an earlier one, so that repairs are needed."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n) if zero_one else rng.integers(0, 21, n) / 40

    def answers(accuracy: Any) -> Table:
        wrong = (labels + rng.integers(1, 3, n)) % 3 if zero_one else labels + rng.integers(8, 20, n) / 40
        return [plain(answer) for answer in np.where(rng.random(n) < accuracy, labels, wrong)]

    made: list[tuple[Table, Table]] = []
    for _ in range(submissions):
        group = (rng.random(n) < rng.uniform(0.2, 0.9)).tolist()
        harmed = made[rng.integers(len(made))][0] if made and rng.random() < 0.6 else [False] * n
        made.append((group, answers(np.where(harmed, rng.uniform(0, 0.5), rng.uniform(0.4, 1)))))
    return World(labels.tolist(), answers(0.1), made, zero_one, threshold, paper, repairs)


@st.composite
def worlds(draw: st.DrawFn, *, repairs: bool | None = None) -> World:
    """Draw a world of any size, loss and checker."""
    return random_world(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(1, 4) | st.integers(8, 40) | st.integers(8, 40)),
        draw(st.integers(0, 2) | st.integers(5, 16) | st.integers(5, 16)),
        zero_one=draw(st.booleans()),
        threshold=draw(st.sampled_from([0.0, 0.0, 0.03])),
        paper=draw(st.none() | st.none() | st.tuples(st.sampled_from([0.02, 0.1]), st.integers(3, 12))),
        repairs=draw(st.booleans()) if repairs is None else repairs,
    )
