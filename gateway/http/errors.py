"""Failures of requests, in terms of HTTP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from http import HTTPStatus

from servicekit.request_id import current_request_id

PROBLEM_MEDIA_TYPE = "application/problem+json"
SEED_PREFIXES = ("/api/amd/", "/api/submissions/")
"""Below these paths, failures are plain JSON, as their clients expect."""
RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
"""Code of a request that a limit on requests or submissions refuses."""


@dataclass(frozen=True)
class FieldError:
    """A wrong field of the request, with the fix."""

    field: str
    message: str
    is_missing: bool = False


@dataclass(frozen=True)
class Problem:
    """A failed request. `seed_error` is the short sentence that the seed-compatible routes promise, if any.

    `code` names the cause for programs, where one status has several.
    """

    status: int
    detail: str
    errors: tuple[FieldError, ...] = ()
    retry_after_seconds: float | None = None
    allow: str = ""
    seed_error: str = ""
    code: str = ""

    @property
    def title(self) -> str:
        """The status in words."""
        return HTTPStatus(self.status).phrase

    @property
    def headers(self) -> dict[str, str]:
        """Headers that the status needs."""
        headers: dict[str, str] = {}
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Bearer realm="wavepool"'
        if self.retry_after_seconds is not None:
            headers["Retry-After"] = str(max(1, math.ceil(self.retry_after_seconds)))
        if self.status == HTTPStatus.UPGRADE_REQUIRED:
            headers["Upgrade"] = "websocket"
        if self.allow:
            headers["Allow"] = self.allow
        return headers


def body_problem(status: int, detail: str) -> Problem:
    """The problem of a body that is wrong as a whole."""
    return Problem(status, detail, (FieldError("body", detail),))


class ProblemError(Exception):
    """Ends a request with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def our_fault() -> Problem:
    """The problem for a fault of ours; it says only that the logs have more."""
    return Problem(500, f"Something went wrong on our side; the logs have it as request {current_request_id()}.")
