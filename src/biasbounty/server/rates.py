"""Rates: how often somebody may ask, and how many things may be under way at once; both in bounded memory."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address


class Rates:
    """A bucket for each asker, which fills at a rate up to a burst. Whoever was silent longest is forgotten first."""

    def __init__(self, per_second: float, burst: int, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._most, self._clock = per_second, float(burst), most, clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, asker: Hashable) -> float:
        """Take one from the asker's bucket and return 0, or return in how many seconds there will be one."""
        now = self._clock()
        had, before = self._buckets.pop(asker, (self._burst, now))
        left = min(self._burst, had + (now - before) * self._rate)
        taken = left >= 1
        self._buckets[asker] = (left - 1 if taken else left, now)
        while len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1 - left) / self._rate

    def __len__(self) -> int:
        return len(self._buckets)


@dataclass
class Places:
    """So many places in all, and so many for each asker."""

    most: int
    most_each: int

    def __post_init__(self) -> None:
        self._taken: Counter[Hashable] = Counter()

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._taken.total()

    def is_free(self, asker: Hashable) -> bool:
        """Say whether an asker can have a place."""
        return self.taken < self.most and self._taken[asker] < self.most_each

    @contextmanager
    def one(self, asker: Hashable) -> Iterator[bool]:
        """Hold a place while the block runs; say whether there was one."""
        free = self.is_free(asker)
        self._taken[asker] += free
        try:
            yield free
        finally:
            self._taken[asker] -= free
            self._taken += Counter()  # drops who has none


def asker_of(address: str) -> str:
    """Return who is behind an address: one that has an IPv6 address has 2**64 of them."""
    try:
        read = ip_address(address)
    except ValueError:
        return address[:64]
    return str(int(read) >> 64) if isinstance(read, IPv6Address) else address
