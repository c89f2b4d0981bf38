"""Answers: their headers, their errors, pages, the ledger as lines, rounds as JSON, metrics and logs."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from onnx import ModelProto

from biasbounty import errors
from biasbounty.ledger.chain import Head, verified
from biasbounty.server.logs import Lines, raised
from biasbounty.server.problems import STATUS, problem_of
from tests.exchange.onnx_models import always, below
from tests.server.test_floods import until
from tests.server.worlds import World, a_world, logs_kept, opening_form, submission_form


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("judged"), form=opening_form(300, pot=1000)) as world:
        with world.client("hunter") as hunter:
            for group in ("x < 30", below("x", 40.0), "x < 25", "job = 'judge'"):
                hunter.post(f"/api/v1/bounties/{world.bounty}/submissions", **submission_form(group)).raise_for_status()
        world.work()
        yield world


def _bounty(world: World, rest: str = "") -> str:
    return f"/api/v1/bounties/{world.bounty}{rest}"


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/me", "/api/v1/nowhere", "/api/v1/bounties", "/"])
def test_every_answer_has_careful_headers_and_names_no_software(judged: World, path: str) -> None:
    with judged.client("anonymous") as anyone:
        headers = anyone.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert len(headers["x-request-id"]) == 16
    assert "server" not in headers
    assert "x-powered-by" not in headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nowhere", 404),
        ("DELETE", "/api/v1/bounties", 405),
        ("TRACE", "/api/v1/bounties", 405),
        ("GET", "/api/v1/bounties/none", 404),
        ("GET", "/api/v1/bounties?start=-1", 422),
        ("GET", "/api/v1/bounties?most=201", 422),
        ("GET", "/api/v1/bounties/..%2f../x", 404),
    ],
)
def test_every_error_is_a_problem(judged: World, method: str, path: str, status: int) -> None:
    with judged.client("organizer") as organizer:
        answer = organizer.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert said["status"] == status
    assert said["title"]
    assert said["detail"]


def _all_errors(kind: type[errors.BiasBountyError] = errors.BiasBountyError) -> Iterator[type[errors.BiasBountyError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _all_errors(each)


@pytest.mark.parametrize("kind", sorted(set(_all_errors()), key=str))
def test_every_exception_has_its_status_and_keeps_its_name(kind: type[errors.BiasBountyError]) -> None:
    error = kind(["words"]) if issubclass(kind, errors.RefusedError) else kind("words")
    answer = problem_of(error)
    said = json.loads(bytes(answer.body))
    assert said["error"] == kind.__name__
    own = next((status for base, status in STATUS if issubclass(kind, base)), 500)
    assert answer.status_code == said["status"] == own
    assert ("words" in said["detail"]) is (own not in (500, 503))


def test_pages_go_through_all_and_end(judged: World) -> None:
    with judged.client("hunter") as hunter:
        found: list[int] = []
        start: int | None = 0
        while start is not None:
            page = hunter.get(_bounty(judged, "/submissions"), params={"start": start, "most": 3}).json()
            found += [each["place"] for each in page["entries"]]
            start = page["next"]
    assert found == [0, 1, 2, 3]


def test_the_ledger_comes_as_lines_that_verify(judged: World) -> None:
    with judged.client("anonymous") as anyone, judged.client("hunter") as hunter:
        answer = anyone.get(_bounty(judged, "/ledger"))
        head = anyone.get(_bounty(judged, "/ledger/head")).json()
        own = hunter.get(_bounty(judged, "/submissions")).json()["entries"]
        some = anyone.get(_bounty(judged, "/ledger"), params={"start": 2, "most": 2})
    assert answer.headers["content-type"] == "application/jsonl"
    lines = answer.content.splitlines()
    receipts = [Head(each["receipt"]["entry"] + 1, each["receipt"]["head"]) for each in own]
    read = list(verified(lines, [*receipts, Head(head["size"], head["hash"])]))
    assert [line.entry.kind for line in read[:5]] == ["opened", *["received"] * 4]
    assert some.content.splitlines() == lines[2:4]


def test_rounds_are_the_decision_list(judged: World) -> None:
    with judged.client("hunter") as hunter:
        newest = hunter.get(_bounty(judged, "/rounds")).json()
        first = hunter.get(_bounty(judged, "/rounds"), params={"round": 1}).json()
        assert hunter.get(_bounty(judged, "/rounds"), params={"round": 99}).status_code == 404
    listed = judged.service.decision_list(judged.bounty)
    assert newest["round"] == len(listed.heads) - 1
    assert newest["heads"] == list(listed.heads)
    assert first["heads"] == list(listed.heads[:2])
    assert newest["nodes"][: len(first["nodes"])] == first["nodes"]
    assert newest["nodes"][0] == {
        "number": 1,
        "round": 1,
        "kind": "update",
        "group": {"predicate": "x < 30", "onnx": None},
        "model": {"predicate": None, "onnx": listed.nodes[0].model.digest},  # type: ignore[union-attr]
        "pointer": None,
        "hunter": judged.hunters["hunter"],
        "note": "",
    }
    assert newest["nodes"][1]["group"]["onnx"]


def test_a_round_is_one_onnx_file(judged: World) -> None:
    with judged.client("observer") as observer:
        data = observer.get(_bounty(judged, "/model"), params={"round": 1}).content
        assert observer.get(_bounty(judged, "/model"), params={"round": 99}).status_code == 404
    assert ModelProto.FromString(data).graph.node


def test_the_leaderboard_counts_what_was_paid(judged: World) -> None:
    with judged.client("observer") as observer:
        (first,) = observer.get(_bounty(judged, "/leaderboard")).json()["entries"]
    assert first["name"] == "hunter"
    assert first["payout"] == judged.service.bounty(judged.bounty).paid


def test_metrics_count_requests_by_route_without_ids(judged: World) -> None:
    with judged.client("observer") as observer:
        observer.get(_bounty(judged))
        observer.get("/api/v1/a/path/that/leads/nowhere")
        text = observer.get("/metrics").text
    assert 'biasbounty_requests_total{method="GET",route="/api/v1/bounties/{bounty}",status="200"}' in text
    assert 'route="other",status="404"' in text
    assert "nowhere" not in text
    assert f'biasbounty_judged{{bounty="{judged.bounty}"}} 4' in text
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rpartition(" ")[2]) >= 0


def test_a_request_is_one_line_of_json_without_its_secrets(judged: World) -> None:
    with logs_kept() as lines, judged.client("hunter") as hunter:
        hunter.get("/api/v1/me?token=bb_in_the_query")
        until(lambda: any('"route": "/api/v1/me"' in line for line in lines))
    said = [json.loads(line) for line in lines if '"route": "/api/v1/me"' in line]
    assert len(said) == 1
    assert said[0]["status"] == 200
    assert said[0]["token"] == judged.who("hunter").token
    assert "bb_" not in json.dumps(said)


def test_a_line_of_an_error_says_where_and_not_what() -> None:
    def fail() -> None:
        raise ValueError("a holdout value: 0.7310585")

    with pytest.raises(ValueError, match="a holdout value") as caught:
        fail()
    error = caught.value
    record = logging.LogRecord("biasbounty", logging.ERROR, "", 0, "failed", None, (ValueError, error, None))
    line = json.loads(Lines().format(record))
    assert line["error"] == "ValueError"
    assert raised(error)["raised"][-1].startswith("test_answers.py:")
    assert "0.7310585" not in json.dumps(line)


def test_an_unforeseen_error_is_a_problem_without_words(judged: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("a holdout value: 0.7310585")

    monkeypatch.setattr(judged.service, "bounties", fail)
    with logs_kept() as lines, judged.client("anonymous") as anyone:
        answer = anyone.get("/api/v1/bounties")
        until(lambda: "RuntimeError" in "".join(lines))
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["error"] == "Error"
    assert "0.7310585" not in answer.text + "".join(lines)


def test_a_database_that_is_away_is_a_503(judged: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise errors.StoreError("disk I/O error on row 0.7310585")

    monkeypatch.setattr(judged.service, "bounties", fail)
    with judged.client("anonymous") as anyone:
        answer = anyone.get("/healthz")
    assert answer.status_code == 503
    assert "0.7310585" not in answer.text
    assert answer.headers["retry-after"]


def test_the_description_has_an_example_for_every_good_answer(judged: World) -> None:
    bare = []
    for path, methods in judged.app.openapi()["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], path
            for status, answer in operation["responses"].items():
                content = answer.get("content", {})
                is_file = any(each.get("schema", {}).get("format") == "binary" for each in content.values())
                if status in ("200", "201") and not is_file:
                    bare += [(method, path) for each in content.values() if "example" not in each]
    assert bare == []


def test_preflight_tells_what_public_rows_say(judged: World) -> None:
    with judged.client("hunter") as hunter:
        said = hunter.post(_bounty(judged, "/preflight"), **submission_form("x > 80", always(1, "x"))).json()
    assert set(said) == {"rows", "group", "risk_before", "risk_after", "contribution"}
    assert said["rows"] == 300
