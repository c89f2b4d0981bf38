"""The sweep: one descent over the nodes of a decision list that serves a whole batch (THEORY 2).

Every row stands somewhere; the sweep goes from the newest node to the oldest, and at each node asks the group about the
rows standing there. Nothing is kept between sweeps, and no node is visited twice.

Asking about exactly those rows would mean gathering them, all their columns, again at every node, which usually costs
far more than the group does. So a group is asked about a *view*, a superset of the rows standing there, and the view is
gathered anew once asking about rows that have left has cost as much as the gathering will (rent until it is time to
buy). Costs are counted in cells: a callable is taken to read one column, an estimator all of them. Groups are
functions of one row, so the answers are the same either way.
"""

from collections.abc import Callable, Iterator

import numpy as np

from biasbounty.core.answers import mask_of
from biasbounty.core.rows import Ids, Rows
from biasbounty.values import RowFunction


class Standing:
    """The rows that stand at the node the sweep has reached."""

    def __init__(self, rows: Rows) -> None:
        self._all = self._view = rows
        self._ids: Ids | None = None
        self._here = np.ones(len(rows), np.bool_)
        self.count = len(rows)
        self._wasted = 0

    def ids(self) -> Ids:
        """Return the numbers of the rows standing here, in order."""
        return self._numbers(np.flatnonzero(self._here))

    def _numbers(self, positions: Ids) -> Ids:
        return positions if self._ids is None else self._ids[positions]

    def leave(self, group: RowFunction) -> Ids:
        """Take away the rows that are in the group, and return their numbers."""
        self._narrow(1 if hasattr(group, "predict") else self._all.columns)
        leaving = mask_of(group, self._view) & self._here
        self._here ^= leaving
        positions = np.flatnonzero(leaving)
        self.count -= len(positions)
        return self._numbers(positions)

    def _narrow(self, patience: int) -> None:
        """Gather the rows standing here once the waste has reached the cost of gathering them."""
        self._wasted += len(self._here) - self.count
        if self._wasted <= patience * self.count:
            return
        positions = np.flatnonzero(self._here)
        self._ids = self._numbers(positions)
        self._view = self._view.take(positions)
        self._here = np.ones(len(positions), np.bool_)
        self._wasted = 0

    def join(self, arriving: Ids) -> None:
        """Add rows that left at an earlier node and come down here."""
        here = np.zeros(len(self._all), np.bool_)
        here[self.ids()] = True
        here[arriving] = True
        self._view, self._ids, self._here = self._all, None, here
        self.count += len(arriving)


def sweep(
    rows: Rows, start: int, group_at: Callable[[int], RowFunction], lands_at: Callable[[int], int | None]
) -> Iterator[tuple[int, Ids]]:
    """Yield every node that some rows' group stops, with those rows; last node 0, the initial model, with the rest.

    `group_at(node)` is the node's group, `lands_at(node)` the lower node where its rows go on, or None if it answers.
    """
    standing = Standing(rows)
    in_flight: dict[int, list[Ids]] = {}
    for node in range(start, 0, -1):
        for arriving in in_flight.pop(node, ()):
            standing.join(arriving)
        if not standing.count:
            continue
        leaving = standing.leave(group_at(node))
        if len(leaving):
            landing = lands_at(node)
            if landing is not None:
                in_flight.setdefault(landing, []).append(leaving)
            yield node, leaving
    for arriving in in_flight.pop(0, ()):
        standing.join(arriving)
    if standing.count:
        yield 0, standing.ids()
