"""Webhooks: events, posted to the addresses that the organizer configured, signed, and again until they are taken.

The events in the database are the queue, so nothing piles up here and nothing is lost: each address gets all events of
each bounty, in order and at least once. How far it is stands in a file. An address that is away keeps no other waiting.
"""

import hmac
import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from biasbounty.errors import BiasBountyError, SettingsError
from biasbounty.server.logs import raised
from biasbounty.service.service import Service

LOG = logging.getLogger("biasbounty.webhooks")

SIGNATURE = "Biasbounty-Signature"
MOST_HOOKS = 10
LEAST_SECRET = 16
POST_SECONDS = 10.0
POLL_SECONDS = 1.0
BACKOFF_SECONDS = (1.0, 300.0)
STALE_SECONDS = 300.0


@dataclass(frozen=True)
class Hook:
    """An address of the organizer's, and the secret that it shares with us.

    Args:
        url: Where events are posted to.
        secret: What they are signed by: at least 16 characters.
    """

    url: str
    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError("webhook's address is none: expected http:// or https:// and a host, got other text")
        if len(self.secret) < LEAST_SECRET:
            raise SettingsError(
                f"webhook's secret is too short: expected at least {LEAST_SECRET} characters, got {len(self.secret)}"
            )

    @property
    def name(self) -> str:
        """What the address is called in files: its hash, since it may hold a secret."""
        return sha256(self.url.encode()).hexdigest()[:16]


def sign(secret: str, body: bytes, now: int) -> str:
    """Return the signature of a body at an hour: HMAC-SHA256 of both."""
    digest = hmac.new(secret.encode(), b"%d." % now + body, sha256).hexdigest()
    return f"t={now},v1={digest}"


def is_signed(secret: str, body: bytes, signature: str, now: int) -> bool:
    """Say whether a body was signed by who knows the secret, and lately. For those who receive."""
    hour = signature.partition(",")[0].removeprefix("t=")
    if not hour.isdecimal() or abs(now - int(hour[:12])) > STALE_SECONDS:
        return False
    return hmac.compare_digest(sign(secret, body, int(hour[:12])).encode(), signature.encode("utf-8", "replace"))


class Webhooks:
    """Posts events to each address, in a thread of its own.

    Args:
        service: Whose events they are.
        hooks: Where they go.
        folder: Where it is kept how far each address is.
    """

    def __init__(self, service: Service, hooks: Sequence[Hook], folder: Path) -> None:
        if len(hooks) > MOST_HOOKS:
            raise SettingsError(f"webhooks are too many: expected at most {MOST_HOOKS}, got {len(hooks)}")
        self._service, self._folder, self._stop = service, folder, threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(hook,), daemon=True) for hook in hooks]

    def __enter__(self) -> "Webhooks":
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(1.0)

    def _run(self, hook: Hook) -> None:
        pause, longest = BACKOFF_SECONDS
        while not self._stop.is_set():
            try:
                self._post_all(hook)
            except (OSError, HTTPException, BiasBountyError) as error:
                LOG.warning("webhook failed", extra={"fields": {"hook": hook.name, **raised(error)}})
                self._stop.wait(pause * (0.5 + secrets.randbelow(500) / 1000))
                pause = min(2 * pause, longest)
            else:
                pause = BACKOFF_SECONDS[0]
                self._stop.wait(POLL_SECONDS)

    def _post_all(self, hook: Hook) -> None:
        """Post whatever an address has not had."""
        kept = self._folder / f"{hook.name}.json"
        had: dict[str, int] = json.loads(kept.read_text()) if kept.exists() else {}
        for view in self._service.bounties():
            entries: list[Any] = [None]
            while entries and not self._stop.is_set():
                entries = self._service.events(view.id, had.get(view.id, 0)).entries
                for event in entries:
                    if self._stop.is_set():
                        return
                    post(hook, {"bounty": view.id, **event})
                    had[view.id] = event["number"]
                    _keep(kept, had)


def post(hook: Hook, event: dict[str, Any], clock: Callable[[], float] = time.time) -> None:
    """Post an event; raise OSError unless the address takes it. Redirections lead nowhere: they were not configured."""
    body = json.dumps(event).encode()
    headers = {"Content-Type": "application/json", SIGNATURE: sign(hook.secret, body, int(clock()))}
    request = Request(hook.url, body, headers, method="POST")  # noqa: S310  # a Hook is http or https
    try:
        _OPENER.open(request, timeout=POST_SECONDS).close()
    except HTTPError as error:
        error.close()
        raise


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nothing; the answer counts as an error."""


_OPENER = build_opener(_NoRedirection, ProxyHandler({}))


def _keep(file: Path, had: dict[str, int]) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(had))
    with suppress(OSError):
        fresh.chmod(0o600)
    fresh.replace(file)
