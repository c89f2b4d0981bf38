"""Webhooks: signed, in order, again until taken, to no address but the configured."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest

from biasbounty.errors import SettingsError
from biasbounty.server import webhooks
from biasbounty.server.webhooks import SIGNATURE, Hook, Webhooks, is_signed, post, sign
from tests.server.test_floods import until
from tests.server.worlds import World, a_world, opening_form

SECRET = "sixteen characters"  # noqa: S105


@dataclass
class Receiver:
    """Takes what is posted, after so many refusals."""

    refusals: int = 0
    status: int = 500
    url: str = ""
    taken: list[tuple[bytes, str]] = field(default_factory=list)
    asked: int = 0

    @property
    def numbers(self) -> list[int]:
        return [json.loads(body)["number"] for body, _ in self.taken]


@contextmanager
def receiving(refusals: int = 0, status: int = 500, location: str = "") -> Iterator[Receiver]:
    receiver = Receiver(refusals, status)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.asked += 1
            refused = receiver.asked <= receiver.refusals
            if not refused:
                receiver.taken.append((body, self.headers[SIGNATURE]))
            self.send_response(receiver.status if refused else 204)
            if refused and location:
                self.send_header("Location", location)
            self.end_headers()

        def do_GET(self) -> None:
            receiver.asked += 1
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        yield receiver
        server.shutdown()
        thread.join()


@pytest.fixture
def announced(tmp_path: Path) -> Iterator[World]:
    with a_world(tmp_path / "home", form=opening_form(100)) as world, world.client("organizer") as organizer:
        for verb in ("pause", "resume", "pause"):
            organizer.post(f"/api/v1/bounties/{world.bounty}/{verb}").raise_for_status()
        yield world


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "BACKOFF_SECONDS", (0.02, 0.1))
    monkeypatch.setattr(webhooks, "POLL_SECONDS", 0.05)


def test_all_events_come_in_order_signed_and_again_until_they_are_taken(announced: World, tmp_path: Path) -> None:
    with receiving(refusals=3) as receiver:
        hook = Hook(receiver.url, SECRET)
        with Webhooks(announced.service, [hook], tmp_path / "hooks"):
            until(lambda: len(receiver.taken) >= 3)
        assert receiver.numbers == [event["number"] for event in announced.service.events(announced.bounty).entries]
        for body, signature in receiver.taken:
            assert is_signed(SECRET, body, signature, int(signature[2:].partition(",")[0]))
            assert json.loads(body)["bounty"] == announced.bounty


def test_after_a_restart_they_go_on_where_they_were(announced: World, tmp_path: Path) -> None:
    with receiving() as receiver:
        for _ in range(2):
            with Webhooks(announced.service, [Hook(receiver.url, SECRET)], tmp_path / "hooks"):
                until(lambda: len(receiver.taken) >= 3)
                announced.service.move_bounty(announced.who("organizer"), announced.bounty, "resume")
                announced.service.move_bounty(announced.who("organizer"), announced.bounty, "pause")
                until(lambda: receiver.numbers[-1] == announced.service.events(announced.bounty).next)
        assert len(receiver.numbers) == len(set(receiver.numbers)) == 7


def test_an_address_that_is_away_keeps_no_other_waiting(announced: World, tmp_path: Path) -> None:
    with receiving(refusals=10**6) as away, receiving() as here:
        hooks = [Hook(away.url, SECRET), Hook(here.url, SECRET)]
        with Webhooks(announced.service, hooks, tmp_path / "hooks"):
            until(lambda: len(here.taken) == 3 and away.asked > 2)
        assert away.taken == []


def test_a_redirection_leads_nowhere() -> None:
    with receiving() as elsewhere, receiving(refusals=9, status=302, location=elsewhere.url) as receiver:
        with pytest.raises(HTTPError):
            post(Hook(receiver.url, SECRET), {"number": 1})
        assert elsewhere.asked == 0


def test_a_signature_is_of_one_body_one_secret_and_one_time() -> None:
    signature = sign(SECRET, b"body", 1000)
    assert is_signed(SECRET, b"body", signature, 1000)
    assert is_signed(SECRET, b"body", signature, 1299)
    for secret, body, said, now in (
        (SECRET, b"other", signature, 1000),
        ("another secret of ours", b"body", signature, 1000),
        (SECRET, b"body", signature, 1301),
        (SECRET, b"body", signature.replace("t=1000", "t=1001"), 1000),
        (SECRET, b"body", "", 1000),
        (SECRET, b"body", "t=,v1=", 1000),
        (SECRET, b"body", "t=1000,v1=\u00e9", 1000),
    ):
        assert not is_signed(secret, body, said, now)


@pytest.mark.parametrize("url", ["", "file:///etc/passwd", "ftp://host/x", "http://", "host/path"])
def test_an_address_is_http_or_https(url: str) -> None:
    with pytest.raises(SettingsError, match="webhook's address is none: expected http"):
        Hook(url, SECRET)


def test_a_secret_is_long_and_not_shown() -> None:
    with pytest.raises(SettingsError, match="secret is too short: expected at least 16"):
        Hook("http://host/", "short")
    assert SECRET not in repr(Hook("http://host/", SECRET))
