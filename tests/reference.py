"""The literal reference: docs/definitions.md, written as slowly and plainly as it can be.

Groups and models are functions of one row, prediction is recursive, every loss is computed from a fresh prediction each
time it is asked for, and nothing is kept but the list of nodes. The fast code must agree with it node for node.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Row = Any
Group = Callable[[Row], bool]
Model = Callable[[Row], Any]


@dataclass
class Reference:
    """A bounty, run by the book."""

    rows: Sequence[Row]
    labels: Sequence[Any]
    initial: Model
    loss: Callable[[Any, Any], int]
    """The loss of (answer, label), in units of 1/scale."""
    scale: int
    threshold: Fraction = Fraction(0)
    most: float = float("inf")
    """How many submissions there may be before the checker stops."""
    repairs: bool = True
    nodes: list[tuple[Any, ...]] = field(default_factory=list)
    heads: list[int] = field(default_factory=lambda: [0])
    protected: list[Group] = field(default_factory=list)
    asked: int = 0

    def answer(self, row: Row, node: int) -> Any:
        """Answer a row from a node down."""
        if node == 0:
            return self.initial(row)
        kind, group, other = self.nodes[node - 1]
        if not group(row):
            return self.answer(row, node - 1)
        return other(row) if kind == "update" else self.answer(row, self.heads[other])

    def total(self, group: Group, model: Model) -> int:
        """Sum the losses of a model over the rows of a group."""
        return sum(self.loss(model(x), y) for x, y in zip(self.rows, self.labels, strict=True) if group(x))

    def round(self, number: int) -> Model:
        """Return a published round."""
        return lambda row: self.answer(row, self.heads[number])

    def stopped(self) -> bool:
        """Say whether the checker takes no more."""
        return self.asked >= self.most

    def certifies(self, group: Group, before: Model, after: Model) -> int:
        """Return the total by which `after` beats `before` on the group, or 0 if that does not certify."""
        total = self.total(group, before) - self.total(group, after)
        enough = total > 0 and Fraction(total, len(self.rows) * self.scale) >= self.threshold
        return total if enough else 0

    def submit(self, group: Group, model: Model) -> tuple[bool, list[tuple[int, int]]]:
        """Judge a submission; return whether it is accepted, and the repairs (group, round)."""
        newest = len(self.heads) - 1
        accepted = self.certifies(group, self.round(newest), model) > 0
        self.asked += 1
        if not accepted:
            return False, []
        self.nodes.append(("update", group, model))
        self.protected.append(group)
        made: list[tuple[int, int]] = []
        while self.repairs and (best := self.worst_regression(newest)) is not None:
            self.nodes.append(("repair", self.protected[best[0]], best[1]))
            made.append(best)
        self.heads.append(len(self.nodes))
        return True, made

    def worst_regression(self, newest: int) -> tuple[int, int] | None:
        """Find the certifying pair of largest contribution: ties to the lowest group, then the highest round."""
        best, best_total = None, 0
        for j, group in enumerate(self.protected):
            for earlier in range(newest, -1, -1):
                total = self.certifies(group, lambda row: self.answer(row, len(self.nodes)), self.round(earlier))
                if total > best_total:
                    best, best_total = (j, earlier), total
        return best
