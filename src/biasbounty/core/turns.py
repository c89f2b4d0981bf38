"""Turns: whoever arrives first is judged first, however long the scoring before it takes.

The order of judgement is shown, and decides what is asked next. If it were the order of finishing, a model that is slow
about certain holdout rows could tell of them without being charged.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from biasbounty.errors import SettingsError


class Turn:
    """A place in the order."""

    def __init__(self, turns: "Turns", number: int) -> None:
        self._turns, self._number = turns, number

    def wait(self) -> None:
        """Return when all who came before are done."""
        self._turns.wait(self._number)


class Turns:
    """The order: numbers are given at arrival, and served one by one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._given = self._served = 0
        self._done: set[int] = set()
        self._within: set[int] = set()
        """The threads that have a turn: one that waited for another turn would wait for itself."""

    @contextmanager
    def take(self) -> Iterator[Turn]:
        """Take the next number; leaving the block gives it up, whether it was served or not."""
        thread = threading.get_ident()
        with self._changed:
            if thread in self._within:
                raise SettingsError(
                    "bounty is asked for a verdict from within a submission: expected groups and models that submit "
                    "nothing themselves; submit after this one is judged"
                )
            number, self._given = self._given, self._given + 1
            self._within.add(thread)
        try:
            yield Turn(self, number)
        finally:
            self._finish(number, thread)

    def wait(self, number: int) -> None:
        """Return when it is this number's turn."""
        with self._changed:
            self._changed.wait_for(lambda: self._served == number)

    def _finish(self, number: int, thread: int) -> None:
        with self._changed:
            self._within.discard(thread)
            self._done.add(number)
            while self._served in self._done:
                self._done.remove(self._served)
                self._served += 1
            self._changed.notify_all()
