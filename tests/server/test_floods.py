"""Floods: of requests, of headers, of streams, of connections; each is bounded, and leaves room for others."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from biasbounty.errors import SettingsError
from biasbounty.server import Settings
from biasbounty.server.rates import Places, Rates, asker_of
from tests.server.worlds import World, a_world, opening_form, settings_with, submission_form

STREAMS = settings_with(
    most_streams=6, most_streams_each=4, stream_seconds=30.0, heartbeat_seconds=0.2, pause_seconds=1
)


@pytest.fixture(scope="module")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("streaming"), STREAMS, form=opening_form(100)) as made:
        yield made


def test_a_bucket_lets_a_burst_through_and_then_its_rate() -> None:
    now = 0.0
    rates = Rates(2.0, 5, 10, lambda: now)
    assert [rates.wait("a") for _ in range(5)] == [0.0] * 5
    assert rates.wait("a") == pytest.approx(0.5)
    assert rates.wait("b") == 0.0
    now = 0.5
    assert rates.wait("a") == 0.0
    assert rates.wait("a") > 0
    now = 1000.0
    assert [rates.wait("a") > 0 for _ in range(6)] == [False] * 5 + [True]


def test_buckets_are_bounded_and_the_longest_silent_is_forgotten() -> None:
    rates = Rates(1.0, 1, 100, lambda: 0.0)
    for asker in range(10_000):
        rates.wait(asker)
    assert len(rates) == 100
    assert rates.wait(9_999) > 0
    assert rates.wait(0) == 0.0


def test_places_are_counted_in_all_and_for_each() -> None:
    places = Places(3, 2)
    with places.one("a") as first, places.one("a") as second, places.one("a") as third, places.one("b") as other:
        assert (first, second, third, other) == (True, True, False, True)
        with places.one("c") as last:
            assert not last
    assert places.taken == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.2.3.4", "1.2.3.5", False),
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("x" * 1000, "x" * 64, True),
    ],
)
def test_an_ipv6_network_is_one_asker(one: str, other: str, same: bool) -> None:
    assert (asker_of(one) == asker_of(other)) is same


def test_requests_of_one_token_are_bounded_and_others_go_on(tmp_path: Path) -> None:
    slow = settings_with(requests_per_second=0.1, request_burst=5)
    form = opening_form(100)
    with a_world(tmp_path, slow, form=form) as world, world.client("hunter") as hunter, world.client("other") as other:
        answers = [hunter.get("/api/v1/me") for _ in range(10)]
        assert [each.status_code for each in answers] == [200] * 5 + [429] * 5
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 10
        assert answers[-1].headers["content-type"] == "application/problem+json"
        assert other.get("/api/v1/me").status_code == 200
        assert other.get("/healthz").status_code == 200


def test_requests_of_one_address_are_bounded(tmp_path: Path) -> None:
    slow = settings_with(address_requests_per_second=0.1, address_burst=8)
    with a_world(tmp_path, slow, form=opening_form(100)) as world, world.client("anonymous") as anyone:
        statuses = [anyone.get(path).status_code for path in ("/healthz", "/nowhere", "/api/v1/me") * 4]
    assert statuses.count(429) >= 4
    assert statuses[-1] == 429


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Long": "x" * 15_000, "X-More": "y" * 2000},
        {f"X-{number}": "y" for number in range(150)},
    ],
    ids=["long", "many"],
)
def test_headers_over_the_cap_are_refused(streaming: World, headers: dict[str, str]) -> None:
    with streaming.client("hunter") as hunter:
        answer = hunter.get("/api/v1/me", headers=headers)
    assert answer.status_code in (400, 431)


def test_a_query_over_the_cap_is_refused(streaming: World) -> None:
    with streaming.client("hunter") as hunter:
        assert hunter.get("/api/v1/bounties", params={"start": "1" * 15_900}).status_code in (400, 422, 431)


def _line(world: World, path: str, **options: int) -> socket.socket:
    host, port = world.address.removeprefix("http://").split(":")
    line = socket.socket()
    for name, value in options.items():
        line.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    line.settimeout(10)
    line.connect((host, int(port)))
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
    return line


def test_streams_are_bounded_and_their_places_come_back(streaming: World) -> None:
    path = f"/api/v1/bounties/{streaming.bounty}/events/stream"
    lines = [_line(streaming, path) for _ in range(4)]
    try:
        assert all(line.recv(4096).startswith(b"HTTP/1.1 200") for line in lines)
        with streaming.client("hunter") as hunter:
            answer = hunter.get(path)
            assert answer.status_code == 429
            assert "retry-after" in answer.headers
            assert hunter.get("/api/v1/me").status_code == 200
            assert (
                hunter.post(f"/api/v1/bounties/{streaming.bounty}/submissions", **submission_form()).status_code == 201
            )
    finally:
        for line in lines:
            line.close()
    until(lambda: streaming.door.streams.taken == 0)
    last = _line(streaming, path)
    assert last.recv(4096).startswith(b"HTTP/1.1 200")
    last.close()


def test_a_client_that_takes_in_nothing_is_let_go(streaming: World) -> None:
    """It asks for much more than fits in all buffers, and reads none of it."""
    path, count = "/api/v1/openapi.json", 400
    with streaming.client("anonymous") as anyone:
        size = len(anyone.get(path).content)
    line = _line(streaming, path, SO_RCVBUF=1024)
    line.setblocking(False)
    ask = f"GET {path} HTTP/1.1\r\nHost: test\r\n\r\n".encode()
    assert line.send(ask * (count - 1)) == len(ask) * (count - 1)
    threading.Event().wait(2.5)
    line.settimeout(10)
    said = 0
    with line, suppress(ConnectionError):
        while chunk := line.recv(2**20):
            said += len(chunk)
    assert said < size * count


def until(happened: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for what happens elsewhere."""
    pause = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if happened():
            return
        pause.wait(0.05)
    raise AssertionError("it did not happen")


def test_a_setting_is_a_number_above_nothing() -> None:
    for wrong in ({"threads": 0}, {"most_streams": -1}, {"pause_seconds": float("inf")}, {"most_json_bytes": "many"}):
        with pytest.raises(SettingsError, match="is not usable: expected a number above 0"):
            Settings(**wrong)
