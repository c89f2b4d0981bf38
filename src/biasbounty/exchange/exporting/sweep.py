"""The sweep in the graph: one descent over the nodes, as `core.sweep` does it, on masks of all rows.

`standing` are the rows that stand before the node at hand; rows that a repair sends back fly until they land. Every
row ends at just one model, which is asked about its rows alone, and in the end all answers are put in order.
"""

from collections.abc import Callable

import numpy as np

from biasbounty.core.answers import LabelType
from biasbounty.core.decision_list import PointerDecisionList, RepairNode
from biasbounty.exchange.exporting.columns import Columns
from biasbounty.exchange.exporting.graph import Graph, Name
from biasbounty.exchange.exporting.labels import element_of
from biasbounty.exchange.exporting.rows import Leaf, Rows

GroupAt = Callable[[int, "Name | None"], Name]
"""Returns the mask of a node's group; it may be false for rows that do not stand there."""


class Sweep:
    """The descent, being written."""

    def __init__(self, graph: Graph, columns: Columns, rows: Rows, labels: LabelType) -> None:
        self._graph, self._columns, self._rows, self._labels = graph, columns, rows, labels
        self._standing: Name | None = None
        """The mask of rows standing here; None while that is everyone."""
        self._flying: dict[int, list[Name]] = {}
        self._pieces: list[tuple[Name, Name]] = []

    def write(self, decision_list: PointerDecisionList, group_at: GroupAt, models: dict[int, Leaf]) -> Name:
        """Write the whole descent; return the answers, one for each row."""
        for number in range(len(decision_list), 0, -1):
            self._land(number)
            stopped = self._stop(group_at(number, self._standing))
            node = decision_list.nodes[number - 1]
            if isinstance(node, RepairNode):
                self._flying.setdefault(decision_list.heads[node.pointer], []).append(stopped)
            else:
                self._answer(models[number], stopped)
        self._land(0)
        self._answer(models[0], self._standing)
        return self._in_order()

    def _land(self, number: int) -> None:
        flying = self._flying.pop(number, [])
        if flying:
            self._standing = self._graph.joined("Or", [*flying, *([self._standing] if self._standing else [])])

    def _stop(self, mask: Name) -> Name:
        """Take away the rows that stand here and are in the group."""
        graph, standing = self._graph, self._standing
        stopped = mask if standing is None else graph.do("And", standing, mask)
        self._standing = graph.do("Not", mask) if standing is None else graph.do("Xor", standing, stopped)
        return stopped

    def _answer(self, leaf: Leaf, mask: Name | None) -> None:
        rows = self.numbers_of(mask)
        self._pieces.append((rows, self._rows.labels(self._graph, leaf, rows, self._labels)))

    def numbers_of(self, mask: Name | None) -> Name:
        """Return the numbers of the rows in a mask."""
        everyone = self._columns.numbers_of_rows
        return everyone if mask is None else self._graph.do("Compress", everyone, mask, axis=0)

    def _in_order(self) -> Name:
        """Put each answer in the place of its row."""
        if len(self._pieces) == 1:
            return self._pieces[0][1]
        graph = self._graph
        rows = graph.do("Concat", *(rows for rows, _ in self._pieces), axis=0)
        answers = graph.do("Concat", *(answers for _, answers in self._pieces), axis=0)
        size = graph.do("Reshape", self._columns.size, graph.constant([1], np.int64))
        blank = graph.constant("" if element_of(self._labels.dtype) == 8 else 0, _held(self._labels))
        return graph.do("ScatterElements", graph.do("Expand", blank, size), rows, answers)


def _held(labels: LabelType) -> np.dtype[np.generic]:
    return np.dtype(object) if labels.dtype.kind in "UTO" else labels.dtype
