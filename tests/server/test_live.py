"""Live: events come as they happen, from where a listener was; background workers outlive what goes wrong."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from biasbounty.errors import SettingsError, StoreError
from biasbounty.server import Background, serve
from biasbounty.server.serving import listen
from tests.server.test_floods import until
from tests.server.worlds import World, a_world, opening_form, settings_with, submission_form

LIVE = settings_with(stream_seconds=20.0, heartbeat_seconds=0.1)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("live"), LIVE, form=opening_form(200), workers=2) as world:
        yield world


def _events(asks: httpx.Client, world: World, count: int, **headers: str) -> list[dict[str, Any]]:
    """Listen until so many events came."""
    found: list[dict[str, Any]] = []
    path = f"/api/v1/bounties/{world.bounty}/events/stream"
    with asks.stream("GET", path, headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == count:
                break
    return found


def test_verdicts_come_live_and_a_listener_goes_on_where_it_was(live: World) -> None:
    with live.client("hunter") as hunter, live.client("anonymous") as anyone:
        heard: list[dict[str, Any]] = []
        listener = threading.Thread(target=lambda: heard.extend(_events(anyone, live, 3)))
        listener.start()
        sent = [
            hunter.post(f"/api/v1/bounties/{live.bounty}/submissions", **submission_form(f"x < {age}")).json()
            for age in (40, 45, 50)
        ]
        listener.join(30)
        assert [each["submission"] for each in heard] == [each["submission"] for each in sent]
        assert {each["kind"] for each in heard} == {"judged"}
        again = _events(anyone, live, 2, **{"Last-Event-ID": str(heard[0]["number"])})
        assert again == heard[1:]
        assert anyone.get(f"/api/v1/bounties/{live.bounty}/events").json()["entries"] == heard


def test_a_silent_stream_says_that_it_is_there(live: World) -> None:
    with live.client("anonymous") as anyone:
        path = f"/api/v1/bounties/{live.bounty}/events/stream"
        with anyone.stream("GET", path, params={"after": 10**6}) as answer:
            lines = answer.iter_lines()
            assert [line for line, _ in zip(lines, range(6), strict=False) if line.startswith(":")]


def test_one_look_at_the_database_serves_all_listeners_and_ends_with_them(live: World) -> None:
    path = f"/api/v1/bounties/{live.bounty}/events/stream?after=1000000"
    with live.client("anonymous") as one, live.client("anonymous") as other:
        opened = one.stream("GET", path), other.stream("GET", path)
        with opened[0], opened[1]:
            until(lambda: live.door.streams.taken == 2)
            assert len(live.door.live._looking) == 1
    until(lambda: live.door.streams.taken == 0 and not live.door.live._looking)


def test_a_stream_of_no_bounty_is_a_404(live: World) -> None:
    with live.client("anonymous") as anyone:
        assert anyone.get("/api/v1/bounties/none/events/stream").status_code == 404


def test_background_goes_on_after_whatever_goes_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_world(tmp_path, form=opening_form(100)) as world:
        service = world.service
        failures: list[str] = []
        judge = service.judge

        def fail_twice(bounty: str) -> int:
            if len(failures) < 2:
                failures.append(bounty)
                raise StoreError("database is away")
            return judge(bounty)

        monkeypatch.setattr(service, "judge", fail_twice)
        with Background(service, 1) as background, world.client("hunter") as hunter:
            sent = hunter.post(f"/api/v1/bounties/{world.bounty}/submissions", **submission_form()).json()
            background.wake()
            path = f"/api/v1/submissions/{sent['submission']}"
            until(lambda: hunter.get(path).json()["state"] == "judged", 20)
        assert len(failures) == 2


def test_background_finds_by_itself_what_others_handed_in(tmp_path: Path) -> None:
    with (
        a_world(tmp_path, form=opening_form(100)) as world,
        Background(world.service, 1),
        world.client("hunter") as asks,
    ):
        sent = asks.post(f"/api/v1/bounties/{world.bounty}/submissions", **submission_form()).json()
        until(lambda: asks.get(f"/api/v1/submissions/{sent['submission']}").json()["state"] == "judged", 20)


def test_background_may_be_workers_alone(tmp_path: Path) -> None:
    with a_world(tmp_path, form=opening_form(100)) as world, Background(world.service, 1, judge=False) as background:
        assert not any(thread._target == background._judge for thread in background._threads)  # type: ignore[attr-defined]


def test_a_port_that_is_taken_is_said_in_words(live: World) -> None:
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(SettingsError, match="server cannot listen there: expected a free port"):
            serve(live.app, "127.0.0.1", port)


def test_two_bytes_of_garbage_are_no_request(live: World) -> None:
    host, port = live.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall(b"\0\1\r\n\r\n")
        assert line.recv(4096).startswith(b"HTTP/1.1 400 ")
