"""The sweep: one descent over the nodes of a decision list that serves a whole batch.

Every row stands at the newest node at first. The sweep visits each node once, newest first, asks its group about the
rows standing there, takes those that it answers out, lets those that a repair sends back fly to the node where they
land, and lets the others pass. Nothing is kept afterwards.

Asking about exactly the rows standing there would mean gathering them, all their columns, anew at every node, which
usually costs far more than the group does. So groups are asked about a *view*: all rows not yet answered, and some that
are. The view is gathered anew once asking about answered rows has cost as much as gathering the others will (rent until
it is time to buy), and a node where few stand gathers just those. Groups are functions of one row, so the answers are
the same either way. Costs are counted, not timed: what is asked depends on the rows alone.
"""

from collections.abc import Callable, Iterator

import numpy as np

from biasbounty.core.answers import mask_of
from biasbounty.core.rows import Ids, Rows, find_true
from biasbounty.values import RowFunction

ESTIMATOR_COST = 8.0
"""What asking an estimator about a row is taken to cost, in gatherings of the row; a callable reads one column."""


class View:
    """The rows not yet answered (and some that are), by their places in it."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._ids: Ids | None = None
        self._here = np.ones(len(rows), np.bool_)
        self.standing = len(rows)
        self._flying: dict[int, list[Ids]] = {}
        self._active = len(rows)
        self._wasted = 0

    def numbers(self, places: Ids) -> Ids:
        """Return the row numbers of these places."""
        return places if self._ids is None else self._ids[places]

    def land(self, node: int) -> None:
        """Let the rows that were sent back to this node stand here."""
        for places in self._flying.pop(node, ()):
            self._here[places] = True
            self.standing += len(places)

    def take(self, places: Ids) -> Rows:
        """Return the rows at these places."""
        return self._rows if len(places) == len(self._rows) else self._rows.take(places)

    def stop(self, group: RowFunction, who: str) -> Ids:
        """Take away the rows standing here that are in the group, and return their places."""
        cost = _cost(group, self._rows)
        self._narrow(cost)
        if self.standing * (1 + cost) < len(self._here) * cost:
            places = find_true(self._here)
            places = places[mask_of(group, self._rows.take(places), who)]
            self._here[places] = False
        else:
            stopped = mask_of(group, self._rows, who) & self._here
            self._here ^= stopped
            places = find_true(stopped)
        self.standing -= len(places)
        return places

    def answer(self, places: Ids) -> None:
        """Count rows that were taken away as answered."""
        self._active -= len(places)

    def fly(self, places: Ids, landing: int) -> None:
        """Send rows that were taken away back to a node further down."""
        self._flying.setdefault(landing, []).append(places)

    def _narrow(self, cost: float) -> None:
        """Gather the rows not yet answered, once asking about the others has cost as much as that."""
        self._wasted += len(self._here) - self._active
        if self._wasted * cost <= self._active:
            return
        active = self._here.copy()
        for flying in self._flying.values():
            active[np.concatenate(flying)] = True
        kept = find_true(active)
        self._ids = self.numbers(kept)
        self._rows, self._here, self._wasted = self._rows.take(kept), self._here[kept], 0
        self._flying = {
            node: [np.searchsorted(kept, places) for places in flying] for node, flying in self._flying.items()
        }

    def rest(self) -> Ids:
        """Return the places of the rows standing here."""
        return find_true(self._here)


def _cost(group: RowFunction, rows: Rows) -> float:
    """Estimate the cost of asking about a row, in gatherings of the row."""
    return ESTIMATOR_COST if hasattr(group, "predict") else 1 / rows.gather_cost


def sweep(
    rows: Rows, start: int, group_at: Callable[[int], RowFunction], lands_at: Callable[[int], int | None]
) -> Iterator[tuple[int, Ids, View]]:
    """Yield every node that stops some rows, their places and the view; last node 0, the initial model, with the rest.

    `group_at(node)` is the node's group, `lands_at(node)` the lower node where its rows go on, or None if it answers.
    The places count only until the next node is asked for.
    """
    view = View(rows)
    for node in range(start, 0, -1):
        view.land(node)
        if not view.standing:
            continue
        places = view.stop(group_at(node), f"group of node {node}")
        if len(places):
            yield node, places, view
            landing = lands_at(node)
            if landing is None:
                view.answer(places)
            else:
                view.fly(places, landing)
    view.land(0)
    if view.standing:
        yield 0, view.rest(), view
