"""Metrics: figures for Prometheus, in its text format. Of bounties only what their views show to everyone."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock

from biasbounty.service.views import BountyView

KIND = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

_OF_BOUNTIES = (
    ("received", "Submissions received.", "received"),
    ("judged", "Submissions judged or passed over.", "judged"),
    ("round", "The number of the newest round.", "round"),
    ("paid_cents", "What was paid.", "paid"),
    ("ledger_entries", "Entries of the ledger.", "ledger_size"),
)


@dataclass
class Metrics:
    """Counts requests by route, and how long they took."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    buckets: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self.requests[method, route, status] += 1
            self.buckets[route, bisect_left(BOUNDS, seconds)] += 1
            self.seconds[route] += seconds  # type: ignore[assignment]  # a Counter of floats

    def as_text(self, bounties: Iterable[BountyView], streams: int) -> str:
        """Return all figures."""
        with self._lock:
            own = [*self._requests(), *self._durations()]
        return "\n".join([*own, *_gauge("streams", "Open streams of events.", [("", streams)]), *_of(bounties), ""])

    def _requests(self) -> Iterator[str]:
        yield from _head("requests_total", "Requests answered.", "counter")
        for (method, route, status), count in sorted(self.requests.items()):
            yield f'biasbounty_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'

    def _durations(self) -> Iterator[str]:
        name = "biasbounty_request_seconds"
        yield from _head("request_seconds", "How long requests took.", "histogram")
        for route, seconds in sorted(self.seconds.items()):
            below = 0
            for place, bound in enumerate((*BOUNDS, "+Inf")):
                below += self.buckets[route, place]
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {below}'
            yield f'{name}_sum{{route="{route}"}} {seconds:.6f}'
            yield f'{name}_count{{route="{route}"}} {below}'


def _of(bounties: Iterable[BountyView]) -> Iterator[str]:
    views = list(bounties)
    for name, words, attribute in _OF_BOUNTIES:
        yield from _gauge(name, words, [(f'{{bounty="{view.id}"}}', getattr(view, attribute)) for view in views])


def _gauge(name: str, words: str, values: Iterable[tuple[str, int]]) -> Iterator[str]:
    yield from _head(name, words, "gauge")
    for labels, value in values:
        yield f"biasbounty_{name}{labels} {value}"


def _head(name: str, words: str, kind: str) -> Iterator[str]:
    yield f"# HELP biasbounty_{name} {words}"
    yield f"# TYPE biasbounty_{name} {kind}"
