"""PointerDecisionList: the patched model (docs/definitions.md).

Nodes 1..N, newest last, above an initial model (node 0). An update node answers for its group with its model. A
repair node sends its group back to an earlier round: it holds that round's number, never the round itself. Round r
starts at node heads[r]. The list is a value: nothing in it changes after it is made, so any number of threads may
predict at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import index
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty.core.answers import LabelType, answers_of, require_function
from biasbounty.core.drawing import Box, draw
from biasbounty.core.rows import Ids, Rows
from biasbounty.core.sweep import View, sweep
from biasbounty.errors import GroupError, ModelError, SettingsError
from biasbounty.values import RowFunction


@dataclass(frozen=True)
class UpdateNode:
    """For rows in the group, the model answers."""

    group: RowFunction
    model: RowFunction
    hunter: str | None = None
    note: str = ""


@dataclass(frozen=True)
class RepairNode:
    """For rows in the group, the round that the pointer names answers."""

    group: RowFunction
    pointer: int
    hunter: str | None = None
    note: str = ""


Node: TypeAlias = UpdateNode | RepairNode


@dataclass(frozen=True)
class Explanation:
    """Why a row is answered as it is."""

    node: int
    """The deciding node, from 1; 0 is the initial model."""
    round: int
    """The round in which that node was published."""
    pointers: tuple[int, ...] = ()
    """The rounds that repairs sent the row back to, in order."""
    hunter: str | None = None
    note: str = ""


def _who(what: str, number: int) -> str:
    return f"{what} of node {number}" if number else "initial model"


class PointerDecisionList:
    """A model made of an initial model, updates and repairs, in published rounds."""

    def __init__(
        self,
        initial: RowFunction,
        nodes: tuple[Node, ...] = (),
        heads: tuple[int, ...] = (0,),
        *,
        labels: LabelType | None = None,
    ) -> None:
        require_function(initial, SettingsError, "initial model")
        self.initial, self._nodes, self._heads, self._labels = initial, tuple(nodes), tuple(map(index, heads)), labels
        self._check_heads()
        self._check_nodes()

    def _check_heads(self) -> None:
        heads = self._heads
        if not heads or heads[0] != 0 or heads[-1] != len(self._nodes) or any(np.diff(heads) <= 0):
            raise SettingsError(
                f"heads do not fit the nodes: expected node counts that rise from 0 to {len(self._nodes)}, got {heads}"
            )

    def _check_nodes(self) -> None:
        for number, node in enumerate(self._nodes, start=1):
            require_function(node.group, GroupError, f"group of node {number}")
            if isinstance(node, UpdateNode):
                require_function(node.model, ModelError, f"model of node {number}")
            elif not (
                isinstance(node.pointer, int)
                and 0 <= node.pointer < len(self._heads)
                and self._heads[node.pointer] < number
            ):
                raise SettingsError(
                    f"pointer of node {number} does not lead down: expected a round that starts below node {number}, "
                    f"got round {node.pointer}"
                )

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, oldest first; node number k is `nodes[k - 1]`."""
        return self._nodes

    @property
    def heads(self) -> tuple[int, ...]:
        """How many nodes each round has: round r starts at node number `heads[r]`."""
        return self._heads

    @property
    def labels(self) -> LabelType | None:
        """The type of its answers, if it was told; else it is that of the initial model's."""
        return self._labels

    def at(self, round: int | None) -> "PointerDecisionList":
        """Return the list as it was in this round (the newest if None)."""
        start = self._head(round)
        heads = self._heads[: self._heads.index(start) + 1]
        return PointerDecisionList(self.initial, self._nodes[:start], heads, labels=self._labels)

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self) -> str:
        repairs = sum(isinstance(node, RepairNode) for node in self._nodes)
        return f"PointerDecisionList(rounds={len(self._heads)}, updates={len(self) - repairs}, repairs={repairs})"

    def extended(self, nodes: tuple[Node, ...]) -> "PointerDecisionList":
        """Return the list with one more round, made by putting these nodes in front, oldest first."""
        return PointerDecisionList(
            self.initial,
            (*self._nodes, *nodes),
            (*self._heads, len(self) + len(nodes)),
            labels=self._labels,
        )

    def _head(self, round: int | None) -> int:
        newest = len(self._heads) - 1
        if round is None:
            return self._heads[newest]
        if not 0 <= round <= newest:
            raise SettingsError(f"round does not exist: expected a number from 0 to {newest}, got {round}")
        return self._heads[round]

    def _lands_at(self, number: int) -> int | None:
        node = self._nodes[number - 1]
        return self._heads[node.pointer] if isinstance(node, RepairNode) else None

    def _sweep(self, rows: Rows, round: int | None) -> Iterator[tuple[int, Ids, View]]:
        return sweep(rows, self._head(round), lambda number: self._nodes[number - 1].group, self._lands_at)

    def predict(self, X: Any, round: int | None = None) -> npt.NDArray[Any]:
        """Answer every row of X as this round does (the newest if None), in the label type of the initial model."""
        rows = Rows(X)
        pieces: dict[int, tuple[Ids, npt.NDArray[Any]]] = {}
        for number, places, view in self._sweep(rows, round):
            node = self._nodes[number - 1] if number else None
            if not isinstance(node, RepairNode):
                answers = answers_of(node.model if node else self.initial, view.take(places), _who("model", number))
                pieces[number] = view.numbers(places), answers
        labels = self._label_type(rows, pieces.get(0))
        cast = [(ids, labels.cast(answers, ids, _who("model", number))) for number, (ids, answers) in pieces.items()]
        return labels.gather(len(rows), cast)

    def _label_type(self, rows: Rows, initial: tuple[Ids, npt.NDArray[Any]] | None) -> LabelType:
        """Return the label type; if it was not told, see what the initial model answered, or answers for one row."""
        if self._labels is not None:
            return self._labels
        if not len(rows):
            return LabelType(np.dtype(np.float64))
        if initial is not None:
            return LabelType.of(initial[1])
        return LabelType.of(answers_of(self.initial, rows.take(np.arange(1)), who="initial model"))

    def explain(self, X: Any, round: int | None = None) -> list[Explanation]:
        """Say for each row which node decides, since which round, by way of which pointers, and whose it is."""
        rows = Rows(X)
        explanations = np.empty(len(rows), object)
        paths: list[tuple[int, ...]] = [()]
        path_of = np.zeros(len(rows), np.intp)
        for number, places, view in self._sweep(rows, round):
            node, ids = self._nodes[number - 1] if number else None, view.numbers(places)
            for path in np.unique(path_of[ids]):
                own = ids[path_of[ids] == path]
                if isinstance(node, RepairNode):
                    path_of[own] = len(paths)
                    paths.append((*paths[path], node.pointer))
                else:
                    explanations[own] = self._explanation(number, node, paths[path])
        result: list[Explanation] = explanations.tolist()
        return result

    def _explanation(self, number: int, node: UpdateNode | None, pointers: tuple[int, ...]) -> Explanation:
        round = int(np.searchsorted(self._heads, number))
        if node is None:
            return Explanation(number, round, pointers)
        return Explanation(number, round, pointers, node.hunter, node.note)

    def draw(self, newest: int = 40) -> str:
        """Draw the newest nodes as SVG: newest left, repairs shaded, arrows to the round each pointer names."""
        oldest = max(0, len(self) - newest)
        return draw([self._box(number) for number in range(len(self), oldest, -1)], self._heads, hidden=oldest)

    def _box(self, number: int) -> Box:
        node = self._nodes[number - 1]
        pointer = node.pointer if isinstance(node, RepairNode) else None
        title = node.note or getattr(node.group, "__name__", type(node.group).__name__)
        return Box(number, int(np.searchsorted(self._heads, number)), title, node.hunter, pointer)

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.draw()}</div>'
