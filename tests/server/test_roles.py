"""Every endpoint, for every role. The table is held against the app's own routes, so that none is forgotten."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

import pytest

from biasbounty.server import routes_bounties as bounties
from biasbounty.server import routes_health as health
from biasbounty.server import routes_ledger as ledger
from biasbounty.server import routes_people as people
from biasbounty.server import routes_submissions as submissions
from tests.server.worlds import ROLES, World, opening_form, submission_form

API = "/api/v1"
Ask = tuple[str, dict[str, Any]]


class Endpoint(NamedTuple):
    """How an endpoint is asked, and what each role hears."""

    method: str
    path: str
    expected: tuple[int, int, int, int, int]
    """For anonymous, observer, hunter, other hunter and organizer."""
    ask: Callable[[World, str], Ask]


def _plain(path: str) -> Callable[[World, str], Ask]:
    return lambda world, role: (path.replace("{bounty}", world.bounty), {})


def _of_bounty(**kwargs: Any) -> Callable[[World, str], Ask]:
    return lambda world, role: ("", kwargs)


def _moved(verb: str) -> Callable[[World, str], Ask]:
    def ask(world: World, role: str) -> Ask:
        return f"{API}/bounties/{world.new_bounty() if role == 'organizer' else world.bounty}/{verb}", {}

    return ask


def _handed_in(world: World, role: str = "hunter") -> str:
    with world.client("hunter") as hunter:
        answer = hunter.post(f"{API}/bounties/{world.bounty}/submissions", **submission_form())
    return str(answer.json()["submission"])


def _token(world: World, role: str) -> Ask:
    token, _ = world.service.create_token(world.who("organizer"), "observer", "to be revoked")
    return f"{API}/tokens/{token.id}", {}


def _artifact(world: World, role: str) -> Ask:
    digest = sha256(world.service.file(world.bounty, "public")).hexdigest()
    return f"{API}/bounties/{world.bounty}/artifacts/{digest}", {}


def _renewed(world: World, role: str) -> Ask:
    path, kwargs = _token(world, role)
    return f"{path}/renew", kwargs


def _hunter(world: World, role: str) -> Ask:
    """Name who is to be erased: the organizer erases somebody, others try to erase the hunter, who can."""
    if role == "organizer":
        world.add_hunter("forgotten")
        return f"{API}/hunters/{world.hunters['forgotten']}", {}
    return f"{API}/hunters/{world.hunters['hunter']}", {}


ALL = (200,) * 5
ANY_TOKEN = (401, 200, 200, 200, 200)
ORGANIZER = (401, 403, 403, 403, 200)

ENDPOINTS = (
    Endpoint("GET", "/healthz", ALL, _plain("/healthz")),
    Endpoint("GET", "/metrics", (401, 200, 403, 403, 200), _plain("/metrics")),
    Endpoint("GET", f"{API}/openapi.json", ALL, _plain(f"{API}/openapi.json")),
    Endpoint("GET", f"{API}/bounties", ALL, _plain(f"{API}/bounties")),
    Endpoint(
        "POST", f"{API}/bounties", (401, 403, 403, 403, 201), lambda world, role: (f"{API}/bounties", opening_form(100))
    ),
    *(
        Endpoint("GET", f"{API}/bounties/{{bounty}}{rest}", ALL, _plain(f"{API}/bounties/{{bounty}}{rest}"))
        for rest in ("", "/ledger", "/ledger/head", "/events", "/events/stream")
    ),
    Endpoint("GET", f"{API}/bounties/{{bounty}}/openings", (404,) * 5, _plain(f"{API}/bounties/{{bounty}}/openings")),
    *(
        Endpoint("GET", f"{API}/bounties/{{bounty}}{rest}", ANY_TOKEN, _plain(f"{API}/bounties/{{bounty}}{rest}"))
        for rest in (
            "/files/train",
            "/files/public",
            "/files/model",
            "/model",
            "/rounds",
            "/leaderboard",
            "/submissions",
            "/export",
        )
    ),
    *(
        Endpoint("POST", f"{API}/bounties/{{bounty}}/{verb}", (401, 403, 403, 403, status), _moved(verb))
        for verb, status in (("pause", 200), ("close", 200), ("resume", 409), ("reopen", 409))
    ),
    Endpoint("GET", f"{API}/bounties/{{bounty}}/artifacts/{{digest}}", ANY_TOKEN, _artifact),
    Endpoint(
        "POST",
        f"{API}/bounties/{{bounty}}/rotate-keys",
        ORGANIZER,
        lambda world, role: (f"{API}/bounties/{world.bounty}/rotate-keys", {}),
    ),
    Endpoint(
        "POST",
        f"{API}/bounties/{{bounty}}/preflight",
        (401, 403, 200, 200, 200),
        lambda world, role: (f"{API}/bounties/{world.bounty}/preflight", submission_form()),
    ),
    Endpoint(
        "POST",
        f"{API}/bounties/{{bounty}}/submissions",
        (401, 403, 201, 201, 403),
        lambda world, role: (f"{API}/bounties/{world.bounty}/submissions", submission_form()),
    ),
    Endpoint(
        "POST",
        f"{API}/bounties/{{bounty}}/notes",
        (401, 403, 201, 201, 201),
        lambda world, role: (f"{API}/bounties/{world.bounty}/notes", {"json": {"text": "a note"}}),
    ),
    Endpoint(
        "GET",
        f"{API}/submissions/{{submission}}",
        (401, 404, 200, 404, 200),
        lambda world, role: (f"{API}/submissions/{_handed_in(world)}", {}),
    ),
    Endpoint(
        "POST",
        f"{API}/submissions/{{submission}}/withdraw",
        (401, 403, 200, 404, 403),
        lambda world, role: (f"{API}/submissions/{_handed_in(world)}/withdraw", {}),
    ),
    Endpoint("GET", f"{API}/me", ANY_TOKEN, _plain(f"{API}/me")),
    Endpoint("GET", f"{API}/tokens", ORGANIZER, _plain(f"{API}/tokens")),
    Endpoint(
        "POST",
        f"{API}/tokens",
        (401, 403, 403, 403, 201),
        lambda world, role: (f"{API}/tokens", {"json": {"scope": "observer", "label": "test"}}),
    ),
    Endpoint("POST", f"{API}/tokens/{{token}}/renew", ORGANIZER, _renewed),
    Endpoint("DELETE", f"{API}/tokens/{{token}}", (401, 403, 403, 403, 204), _token),
    Endpoint("DELETE", f"{API}/hunters/{{hunter}}", (401, 403, 204, 403, 204), _hunter),
)
CASES = [(endpoint, role) for endpoint in ENDPOINTS for role in ROLES]


def _routes(world: World) -> set[tuple[str, str]]:
    described = world.app.openapi()["paths"]
    routes = {(method.upper(), path) for path, methods in described.items() for method in methods}
    return routes | {("GET", str(world.app.openapi_url))}


def test_the_table_has_every_route_of_the_app(world: World) -> None:
    assert _routes(world) == {(each.method, each.path) for each in ENDPOINTS}


def test_every_route_is_described(world: World) -> None:
    routers = [module.router for module in (bounties, health, ledger, people, submissions)]
    assert sum(len(router.routes) for router in routers) + 1 == len(_routes(world))


@pytest.mark.parametrize(("endpoint", "role"), CASES, ids=lambda case: case if isinstance(case, str) else case.path)
def test_each_role_hears_what_the_table_says(world: World, endpoint: Endpoint, role: str) -> None:
    path, kwargs = endpoint.ask(world, role)
    with world.client(role) as asks:
        answer = asks.request(endpoint.method, path, **kwargs)
    assert answer.status_code == endpoint.expected[ROLES.index(role)], answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert {"type", "title", "status", "detail"} <= set(answer.json())
    if endpoint.method == "DELETE" and "hunters" in path and role == "hunter":
        world.add_hunter("hunter")  # for the tests to come


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: f"{each.method} {each.path}")
def test_a_wrong_token_is_refused_everywhere(world: World, endpoint: Endpoint) -> None:
    path, kwargs = endpoint.ask(world, "anonymous")
    if path in ("/healthz", f"{API}/openapi.json"):
        return  # they ask for nothing, and look at nothing
    with world.client("anonymous") as asks:
        for wrong in ("Bearer bb_of_nobody", "Bearer", "Basic dXNlcg==", "Bearer " + "x" * 300):
            answer = asks.request(endpoint.method, path, headers={"Authorization": wrong}, **kwargs)
            assert answer.status_code == 401, (wrong, answer.text)
            assert answer.headers["www-authenticate"] == "Bearer"


def test_a_revoked_token_is_none(world: World) -> None:
    token, secret = world.service.create_token(world.who("organizer"), "observer", "soon revoked")
    with world.client("organizer") as organizer:
        asked = {"Authorization": f"Bearer {secret}"}
        assert organizer.get(f"{API}/me", headers=asked).status_code == 200
        assert organizer.delete(f"{API}/tokens/{token.id}").status_code == 204
        assert organizer.get(f"{API}/me", headers=asked).status_code == 401


def test_every_use_case_of_the_service_has_an_endpoint(world: World) -> None:
    """What is not asked for over HTTP starts, works and ends here; and no route lets the holdout out."""
    own = {
        "export_everything",
        "back_up",
        "init",
        "close",
        "identify",
        "worker",
        "judge",
        "judge_all",
        "counts",
        "context",
    }
    public = {name for name in vars(type(world.service)) if not name.startswith("_")}
    asked = "".join(path.read_text() for path in sorted(_sources()))
    assert {name for name in public - own if f"service.{name}" not in asked} == set()


def _sources() -> list[Any]:
    from pathlib import Path

    import biasbounty.server

    return list(Path(biasbounty.server.__path__[0]).glob("routes_*.py"))
