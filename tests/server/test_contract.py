"""The API does what its description says: schemathesis asks what the description allows, and what it does not.

The examples are drawn from a fixed seed. A finding is a 5xx, an answer that is not described, or one that is described
otherwise.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from tests.server.test_roles import ENDPOINTS
from tests.server.worlds import World, a_world, headers_of, submission_form

EXAMPLES = 30
CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "missing_required_header",
)
DESCRIBED = [each for each in ENDPOINTS if not each.path.endswith("openapi.json")]


@dataclass
class Asked:
    """A world, its description and ids that exist."""

    world: World
    schema: Any
    ids: dict[str, str]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """Open a world of its own: what is asked here closes bounties and revokes tokens."""
    load_all_checks()
    with a_world(tmp_path_factory.mktemp("contract")) as made, made.client("hunter") as hunter:
        sent = hunter.post(f"/api/v1/bounties/{made.bounty}/submissions", **submission_form()).json()
        schema = schemathesis.openapi.from_url(f"{made.address}/api/v1/openapi.json")
        yield Asked(made, schema, {"bounty": made.bounty, "submission": sent["submission"]})


@pytest.mark.parametrize("endpoint", DESCRIBED, ids=lambda each: f"{each.method} {each.path}")
def test_no_answer_is_a_5xx_or_undescribed(asked: Asked, endpoint: Any) -> None:
    operation = asked.schema[endpoint.path][endpoint.method]
    checks = [CHECKS.get_one(name) for name in CHECKED]
    cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in _modes(operation)))

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, is_real=st.booleans(), role=st.sampled_from(["organizer", "hunter", "anonymous"]))
    def ask(case: Any, is_real: bool, role: str) -> None:
        for name in set(case.path_parameters or ()) & set(asked.ids) if is_real else ():
            case.path_parameters[name] = asked.ids[name]
        case.call_and_validate(checks=checks, headers=headers_of(asked.world.secrets[role]))

    ask()


def _modes(operation: Any) -> list[GenerationMode]:
    """Ask wrongly too, where anything can be wrong."""
    has_any = operation.body or any(True for _ in operation.iter_parameters())
    return [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if has_any else [])]
