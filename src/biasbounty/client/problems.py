"""Problems: a server's refusals (problem+json) as the exceptions that the service raised, with the same words."""

from collections.abc import Mapping
from typing import Any

from biasbounty import errors
from biasbounty.errors import (
    BiasBountyError,
    ConflictError,
    NotAllowedError,
    NotFoundError,
    QuotaError,
    RefusedError,
    ServiceError,
    SettingsError,
    StoreError,
)

BY_STATUS: Mapping[int, type[BiasBountyError]] = {
    400: SettingsError,
    401: NotAllowedError,
    403: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    413: SettingsError,
    422: SettingsError,
    429: QuotaError,
    503: StoreError,
}
"""What a status means where the problem names no exception of ours."""


def error_of(status: int, problem: Any) -> BiasBountyError:
    """Return the exception that a problem stands for."""
    problem = problem if isinstance(problem, Mapping) else {}
    kind = _named(problem) or BY_STATUS.get(status, ServiceError)
    words = str(problem.get("detail") or problem.get("title") or f"server refuses: expected an answer, got {status}")
    if kind is RefusedError:
        reasons = problem.get("reasons")
        return RefusedError([str(reason) for reason in reasons] if reasons else [words])
    return kind(words)


def _named(problem: Mapping[str, Any]) -> type[BiasBountyError] | None:
    """Return the class that a problem names, in a field of its own or at the end of its type."""
    for said in (problem.get("error"), problem.get("type")):
        name = str(said or "").rsplit("/", 1)[-1].rsplit(":", 1)[-1].rsplit("#", 1)[-1]
        kind = getattr(errors, name, None) if name.isidentifier() else None
        if isinstance(kind, type) and issubclass(kind, BiasBountyError):
            return kind
    return None
