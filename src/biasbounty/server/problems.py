"""Problems: every error as application/problem+json (RFC 9457), in the words of whoever raised it.

`error` is the name of the exception, so that a client can raise the same. What an error of the database or an
unforeseen one says may hold what nobody should see: that is not passed on.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException as RawHTTPException

from biasbounty import errors
from biasbounty.arrays import shown

KIND = "application/problem+json"
ASK_AGAIN_SECONDS = "2"

STATUS: tuple[tuple[type[errors.BiasBountyError], int], ...] = (
    (errors.NotFoundError, 404),
    (errors.NotAllowedError, 403),
    (errors.BountyStoppedError, 409),
    (errors.ConflictError, 409),
    (errors.QuotaError, 429),
    (errors.ServiceError, 422),
    (errors.SubmissionError, 422),
    (errors.ConversionError, 422),
    (errors.SettingsError, 422),
    (errors.LossError, 422),
    (errors.StoreError, 503),
)
"""The status of each error; of all others it is 500."""

UNSAID: Mapping[int, str] = {
    500: "server failed: expected an answer, got an error of ours; it is in the log, by the number of this request",
    503: "store is out of order: expected it to read or write, got an error; nothing was changed, try again",
}
"""What is said in place of an error's own words."""


class UnauthorizedError(HTTPException):
    """There is no token, or a wrong one."""

    def __init__(self, words: str) -> None:
        super().__init__(401, words, {"WWW-Authenticate": "Bearer"})


def problem(
    status: int,
    detail: str,
    error: str = "",
    reasons: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error as an answer."""
    body: dict[str, Any] = {
        "type": f"urn:biasbounty:problem:{error}" if error else "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if error:
        body["error"] = error
    if reasons:
        body["reasons"] = list(reasons)
    return JSONResponse(body, status, dict(headers or {}), KIND)


def problem_of(error: errors.BiasBountyError) -> Response:
    """Return what was raised on purpose as an answer."""
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    detail = UNSAID.get(status) or shown(error, str)
    reasons = error.reasons if isinstance(error, errors.RefusedError) else ()
    headers = {"Retry-After": ASK_AGAIN_SECONDS} if status == 503 else {}
    return problem(status, detail, type(error).__name__, reasons, headers)


def unauthorized(words: str) -> UnauthorizedError:
    """Return the error for a token that is none."""
    return UnauthorizedError(words)


def handle_problems(app: FastAPI) -> None:
    """Let an app answer with problems whatever is raised in it."""
    app.add_exception_handler(errors.BiasBountyError, _raised)
    app.add_exception_handler(RawHTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ValidationError, _invalid)


async def _raised(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.BiasBountyError)  # noqa: S101
    request.state.error = error
    return problem_of(error)


async def _of_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, RawHTTPException)  # noqa: S101
    kind = "NotAllowedError" if isinstance(error, UnauthorizedError) else ""
    kind = "NotFoundError" if error.status_code == 404 else kind
    return problem(error.status_code, str(error.detail), kind, headers=error.headers)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, (RequestValidationError, ValidationError))  # noqa: S101
    reasons = [_reason(each) for each in error.errors()[:20]]
    return problem(422, f"request is malformed: {'; '.join(reasons)}"[:1000], "SettingsError", reasons)


def _reason(said: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in said["loc"] if part != "body")
    return f"{where or 'body'}: {said['msg']}"[:200]
