"""HTTP: requests to a server, tried again where a connection is lost, and refusals raised as exceptions.

Every request may be sent twice: reads change nothing, and a submission carries a key by which the server knows it
again. So what is lost on the way is sent again, after a wait that doubles each time.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from biasbounty._version import __version__
from biasbounty.client.problems import error_of
from biasbounty.errors import MissingExtraError, SettingsError, UnreachableError

try:
    import httpx
except ImportError as error:  # pragma: no cover
    raise MissingExtraError("the client needs httpx: install biasbounty[client]") from error

PREFIX = "/api/v1"
TRIES = 7
PAGE = 200
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds before the second try, and at most between two."""
PATIENCE = 60.0
"""Whoever is told to come back later than in so many seconds is told no."""
BUSY = (502, 503, 504)
"""What a server, or a proxy before it, answers when trying again may help. So does 429 that says when."""
TIMEOUT = httpx.Timeout(60.0, connect=10.0)

Files = Mapping[str, tuple[str | None, bytes, str]]
Tried = TypeVar("Tried")
Downloaded = Callable[[int, int | None], None]
"""Told how many bytes have come, and of how many."""


class Http:
    """A server's API, with a token.

    Args:
        url: The server's address, as `biasbounty serve` prints it.
        token: The token of a hunter, an observer or the organizer.
        transport: What carries requests in place of the network.
        tries: How often a request is sent before it is given up.
        sleep: How to wait between two tries.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        transport: httpx.BaseTransport | None = None,
        tries: int = TRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = _address(url)
        self._tries, self._sleep = tries, sleep
        headers = {"User-Agent": f"biasbounty/{__version__}"}
        if token:
            headers["Authorization"] = f"Bearer {_token(token)}"
        self._client = httpx.Client(
            base_url=self.url + PREFIX, headers=headers, transport=transport, timeout=TIMEOUT, follow_redirects=False
        )

    def __repr__(self) -> str:
        return f"Http({self.url})"

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def json(self, method: str, path: str, **options: Any) -> Any:
        """Send a request, and return what is answered as JSON."""
        answer = self._sent(method, path, **options)
        if not answer.content:
            return None
        try:
            return answer.json()
        except ValueError as error:
            raise self._strange("JSON", answer) from error

    def entries(self, path: str, start: str = "start", first: int = 0) -> Iterator[Any]:
        """Yield the entries of all pages; `start` is what the first of a page is named by."""
        place: int | None = first
        while place is not None:
            page = self.json("GET", path, params={start: place, "most": PAGE} if place else {"most": PAGE})
            if not isinstance(page, dict) or not isinstance(page.get("entries"), list):
                raise UnreachableError(
                    f"server answers with another thing: expected a page, got {type(page).__name__}; is {self.url} a "
                    "server of biasbounty?"
                )
            yield from page["entries"]
            place = page.get("next") if page["entries"] else None

    def pause(self, breaks: int) -> None:
        """Wait before a connection is opened again."""
        self._sleep(min(LONGEST_WAIT, FIRST_WAIT * 2**breaks))

    def file(self, path: str, progress: Downloaded | None = None, **options: Any) -> bytes:
        """Fetch a file."""
        if progress is None:
            return self._sent("GET", path, **options).content
        return self._tried(lambda: self._downloaded(path, progress, options))

    def _downloaded(self, path: str, progress: Downloaded, options: Mapping[str, Any]) -> bytes:
        with self._client.stream("GET", path, **options) as answer:
            self._require_good(answer)
            told = answer.headers.get("content-length")
            total, parts, come = (int(told) if told else None), [], 0
            for part in answer.iter_bytes(1 << 16):
                parts.append(part)
                come += len(part)
                progress(come, total)
        return b"".join(parts)

    @contextmanager
    def stream(self, path: str, **options: Any) -> Iterator[httpx.Response]:
        """Open an answer that keeps coming; a connection that is lost is for the caller to open again."""
        try:
            with self._client.stream("GET", path, **options) as answer:
                self._require_good(answer)
                yield answer
        except httpx.TransportError as error:
            raise self._lost(error) from error

    def _sent(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._tried(lambda: self._require_good(self._client.request(method, path, **options)))

    def _tried(self, attempt: Callable[[], Tried]) -> Tried:
        """Try, and try again while the connection is lost or the server is busy."""
        wait = FIRST_WAIT
        for last in (*(False for _ in range(self._tries - 1)), True):
            try:
                return attempt()
            except (httpx.TransportError, _Busy) as error:
                if last:
                    raise (error.refusal if isinstance(error, _Busy) else self._lost(error)) from error
                told = error.seconds if isinstance(error, _Busy) else None
                self._sleep(wait * random.uniform(0.5, 1.0) if told is None else told)  # noqa: S311
                wait = min(LONGEST_WAIT, 2 * wait)
        raise AssertionError("unreachable: the last try returns or raises")

    def _require_good(self, answer: httpx.Response) -> httpx.Response:
        """Raise for a refusal; return what is none."""
        if answer.is_success:
            return answer
        answer.read()
        if answer.is_redirect:
            raise self._strange("no redirection", answer)
        refusal = error_of(answer.status_code, _parsed(answer))
        seconds = _seconds(answer.headers.get("retry-after"))
        if answer.status_code in BUSY or (answer.status_code == 429 and seconds is not None):
            raise _Busy(refusal, seconds)
        raise refusal

    def _lost(self, error: Exception) -> UnreachableError:
        return UnreachableError(
            f"server cannot be reached: expected one at {self.url}, got {type(error).__name__} in {self._tries} tries; "
            "see that it runs, and that the address is the one it printed"
        )

    def _strange(self, expected: str, answer: httpx.Response) -> UnreachableError:
        return UnreachableError(
            f"server answers with another thing: expected {expected}, got {answer.status_code} and "
            f"{answer.headers.get('content-type', 'no type')!r:.60}; is {self.url} a server of biasbounty?"
        )


class _Busy(Exception):  # noqa: N818
    """A server that says: later."""

    def __init__(self, refusal: Exception, seconds: float | None) -> None:
        super().__init__(str(refusal))
        self.refusal, self.seconds = refusal, seconds


def _parsed(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _seconds(told: str | None) -> float | None:
    """Read how long to wait; a date, nonsense, or too long is no answer."""
    try:
        seconds = float(told or "nan")
    except ValueError:
        return None
    return seconds if 0 <= seconds <= PATIENCE else None


def _address(url: Any) -> str:
    try:
        parsed = httpx.URL(url)
    except (TypeError, httpx.InvalidURL):
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise SettingsError(f"address is none: expected http://... or https://..., got {url!r:.80}")
    return str(parsed).rstrip("/")


def _token(token: Any) -> str:
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(
            "token is none: expected the text that `biasbounty token create` printed, got another thing"
        )
    return token
