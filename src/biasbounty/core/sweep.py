"""The sweep: one descent over the nodes of a decision list that serves a whole batch (THEORY 2).

Each row has a position: the newest node that may still stop it. It stands at every node from there down; a repair that
sends it back lowers its position, and an answer takes it out. So the sweep visits each node once, newest first, asks
its group about the rows standing there, and keeps nothing afterwards.

Asking about exactly those rows would mean gathering them, with all their columns, anew at every node, which usually
costs far more than the group does. So groups are asked about a *view*: all rows not yet answered, and some that are.
The view is gathered anew once asking about answered rows has cost as much as gathering the others will (rent until it
is time to buy), and a node where few stand gathers just those. Groups are functions of one row, so the answers are the
same either way. Costs are counted, not timed: what is asked depends on the rows alone.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from biasbounty.core.answers import Mask, mask_of
from biasbounty.core.rows import Ids, Rows
from biasbounty.values import RowFunction

ANSWERED = -1
ESTIMATOR_COST = 8.0
"""What asking an estimator about a row is taken to cost, in gatherings of the row; a callable reads one column."""


class View:
    """The rows not yet answered (and some that are), with their numbers and positions."""

    def __init__(self, rows: Rows, start: int) -> None:
        self._rows = rows
        self._ids: Ids | None = None
        self._positions: npt.NDArray[Any] = np.full(len(rows), start, np.int16 if start < 1 << 15 else np.int32)
        self._active = len(rows)
        self._wasted = 0

    def standing(self, node: int) -> Mask:
        """Mark the rows standing at this node."""
        return np.asarray(self._positions >= node)

    def numbers(self, places: Ids) -> Ids:
        """Return the row numbers of these places in the view."""
        return places if self._ids is None else self._ids[places]

    def in_group(self, group: RowFunction, here: Mask, count: int) -> Ids:
        """Ask the group about the rows standing here, and return the places of those in it."""
        cost = _cost(group, self._rows)
        if count * (1 + cost) < len(here) * cost:
            places = np.flatnonzero(here)
            return places[mask_of(group, self._rows.take(places))]
        return np.flatnonzero(mask_of(group, self._rows) & here)

    def move(self, places: Ids, position: int) -> None:
        """Send rows back to a position, or take them out as answered."""
        self._positions[places] = position
        if position == ANSWERED:
            self._active -= len(places)

    def narrow(self, group: RowFunction) -> None:
        """Gather the rows not yet answered, once asking about the others has cost as much as that."""
        self._wasted += len(self._positions) - self._active
        if self._wasted * _cost(group, self._rows) <= self._active:
            return
        places = self.places()
        self._ids = self.numbers(places)
        self._rows = self._rows.take(places)
        self._positions = self._positions[places]
        self._wasted = 0

    def places(self) -> Ids:
        """Return the places of the rows not yet answered."""
        return np.flatnonzero(self._positions != ANSWERED)


def _cost(group: RowFunction, rows: Rows) -> float:
    """Estimate the cost of asking about a row, in gatherings of the row."""
    return ESTIMATOR_COST if hasattr(group, "predict") else 1 / rows.gather_cost


def sweep(
    rows: Rows, start: int, group_at: Callable[[int], RowFunction], lands_at: Callable[[int], int | None]
) -> Iterator[tuple[int, Ids]]:
    """Yield every node that stops some rows, with those rows; last node 0, the initial model, with the rest.

    `group_at(node)` is the node's group, `lands_at(node)` the lower node where its rows go on, or None if it answers.
    """
    view = View(rows, start)
    for node in range(start, 0, -1):
        group = group_at(node)
        view.narrow(group)
        here = view.standing(node)
        count = int(np.count_nonzero(here))
        if not count:
            continue
        stopped = view.in_group(group, here, count)
        if len(stopped):
            numbers, landing = view.numbers(stopped), lands_at(node)
            view.move(stopped, ANSWERED if landing is None else landing)
            yield node, numbers
    rest = view.places()
    if len(rest):
        yield 0, view.numbers(rest)
