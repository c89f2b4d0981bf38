"""A connection that is lost on the way there or back costs nobody a submission, and gives nobody two."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from biasbounty.client import Client
from biasbounty.client.http import Http
from biasbounty.errors import QuotaError, SettingsError, StoreError, UnreachableError
from tests.client.stage import on_stage
from tests.exchange.onnx_models import always


class Losing(httpx.BaseTransport):
    """A network that loses what some say: the request before it is sent, or the answer after it was given."""

    def __init__(self, loses: Callable[[int], str]) -> None:
        self._network, self._loses, self.sent = httpx.HTTPTransport(), loses, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        lost = self._loses(self.sent)
        if lost == "request":
            raise httpx.ConnectError("lost on the way there")
        answer = self._network.handle_request(request)
        if lost == "answer":
            answer.read()
            raise httpx.ReadError("lost on the way back")
        return answer

    def close(self) -> None:
        self._network.close()


def test_a_lost_answer_is_asked_for_again_and_it_is_one_submission(tmp_path: Path) -> None:
    waits: list[float] = []
    with on_stage(tmp_path) as stage:
        losing = Losing(lambda number: {1: "request", 2: "answer"}.get(number % 3, ""))
        with stage.hunter(transport=losing, sleep=waits.append) as bounty:
            done = [bounty.submit(f"AGEP < {age}", always(1, "AGEP")) for age in (40, 30, 20)]
            assert [each.place for each in done] == [0, 1, 2]
            assert bounty.refresh().received == 3
    assert len(waits) > 10
    assert max(waits) <= 0.4


def test_waits_double_up_to_a_bound_and_end_in_words_that_name_the_address() -> None:
    waits: list[float] = []
    losing = Losing(lambda _: "request")
    with (
        Client("http://127.0.0.1:9/", "bb_x", transport=losing, tries=9, sleep=waits.append) as client,
        pytest.raises(UnreachableError, match=r"expected one at http://127.0.0.1:9, got ConnectError in 9 tries"),
    ):
        client.bounties()
    assert losing.sent == 9
    bounds = [min(10.0, 0.2 * 2**number) for number in range(8)]
    assert all(bound / 2 <= wait <= bound for wait, bound in zip(waits, bounds, strict=True))


def _answering(*answers: httpx.Response) -> httpx.MockTransport:
    left = list(answers)
    return httpx.MockTransport(lambda _: left.pop(0))


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    waits: list[float] = []
    busy = httpx.Response(429, headers={"Retry-After": "3"}, json={"detail": "slowly"})
    down = httpx.Response(503, json={"detail": "database is away", "error": "StoreError"})
    good = httpx.Response(200, json={"scope": "hunter"})
    http = Http("http://x", None, transport=_answering(busy, down, good), sleep=waits.append)
    assert http.json("GET", "/me") == {"scope": "hunter"}
    assert waits[0] == 3
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (httpx.Response(429, json={"detail": "quota is used up", "error": "QuotaError"}), QuotaError, "used up"),
        (httpx.Response(429, headers={"Retry-After": "40000"}, json={"detail": "tomorrow"}), QuotaError, "tomorrow"),
        (httpx.Response(503, json={"detail": "away", "error": "StoreError"}), StoreError, "away"),
        (httpx.Response(200, text="<html>hello"), UnreachableError, "is http://x a server of biasbounty"),
        (httpx.Response(302, headers={"Location": "http://y"}), UnreachableError, "expected no redirection, got 302"),
        (httpx.Response(200, json=[1]), UnreachableError, "expected a page, got list"),
        (httpx.Response(200, json={"entries": [{"id": "1"}]}), UnreachableError, "expected a BountyInfo"),
    ],
)
def test_refusals_and_strange_answers_are_told_as_they_are(
    answer: httpx.Response, kind: type[Exception], words: str
) -> None:
    with (
        Client("http://x", None, transport=_answering(answer), tries=1) as client,
        pytest.raises(kind, match=words),
    ):
        client.bounties()


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "", None, "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="address is none: expected http://... or https://..."):
        Client(url)
