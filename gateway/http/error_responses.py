"""Writes problems: RFC 9457 for our own routes, the seed's plain JSON for the seed-compatible ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

import grpc
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from gateway.http.errors import (
    PROBLEM_MEDIA_TYPE,
    RATE_LIMIT_EXCEEDED,
    SEED_PREFIXES,
    FieldError,
    Problem,
    ProblemError,
    body_problem,
    our_fault,
)
from gateway.http.rpc_status import problem_of_rpc
from gateway.words.json_values import to_json
from servicekit.logging import get_logger
from servicekit.request_id import current_request_id

log = get_logger(__name__)

STATUSES_OF_BODIES = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})
MISSING_KINDS = frozenset({"missing", "string_too_short"})
METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
FIXES = {
    "extra_forbidden": "is not a field of this request; remove it, or correct its name",
    "model_attributes_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
    "list_type": "must be a JSON array",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number, and a smaller one",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
}
"""Fixes by the validator's kind of error."""


def install(app: FastAPI) -> None:
    """Makes every failure of a request a problem."""
    app.add_exception_handler(ProblemError, _on_problem)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(grpc.aio.AioRpcError, _on_rpc_error)
    app.add_exception_handler(Exception, _on_our_fault)


def problem_response(problem: Problem, path: str) -> Response:
    """The problem in the form that the route's clients expect."""
    if path.startswith(SEED_PREFIXES):
        body, media_type = _seed_body(problem), "application/json"
        status = 400 if "missing" in body else problem.status
    else:
        body, media_type, status = _rfc_9457_body(problem, path), PROBLEM_MEDIA_TYPE, problem.status
    return Response(to_json(body), status, problem.headers, media_type)


def problem_of_validation(error: RequestValidationError) -> Problem:
    """The problem that names each wrong field."""
    details = cast("Sequence[Mapping[str, Any]]", error.errors())
    broken = next((detail for detail in details if detail["type"] == "json_invalid"), None)
    if broken is not None:
        reason = broken.get("ctx", {}).get("error", "")
        return body_problem(400, f"The body is not valid JSON: {reason} at character {broken['loc'][-1]}.")
    errors = tuple(_field_error(detail) for detail in details)
    named = ", ".join(f"{error.field}: {error.message}" for error in errors)
    return Problem(422, f"Some fields of the request are not valid: {named}.", errors)


def _rfc_9457_body(problem: Problem, path: str) -> dict[str, Any]:
    body = {
        "type": "about:blank",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "instance": path,
        "request_id": current_request_id(),
        "errors": [{"field": error.field, "message": error.message} for error in problem.errors],
    }
    return {**body, "code": problem.code} if problem.code else body


def _seed_body(problem: Problem) -> dict[str, Any]:
    missing = [error.field for error in problem.errors if error.is_missing]
    if missing:
        return {"error": f"Missing required fields: {', '.join(missing)}", "missing": missing}
    error = problem.seed_error or problem.detail
    if problem.status == HTTPStatus.TOO_MANY_REQUESTS:
        return {
            "status": RATE_LIMIT_EXCEEDED,
            "error": problem.seed_error or "Too many submissions",
            "details": problem.detail,
            "retry_after": problem.retry_after_seconds,
        }
    body: dict[str, Any] = {"error": error}
    if error != problem.detail:
        body["details"] = problem.detail
    if problem.errors:
        body["errors"] = [{"field": error.field, "message": error.message} for error in problem.errors]
    return body


def _field_error(detail: Mapping[str, Any]) -> FieldError:
    # The first part says where the field is; a field may have such a name, too.
    is_placed = detail["loc"][0] in {"body", "query", "path", "header"}
    location = [str(part) for part in detail["loc"][is_placed:]]
    # Which form of a field was meant is no part of its name.
    location = [part for part in location if not part.startswith("~")]
    is_missing = detail["type"] in MISSING_KINDS
    message = "is required and must not be empty" if is_missing else _fix(detail)
    return FieldError(".".join(location) or "body", message, is_missing)


def _fix(detail: Mapping[str, Any]) -> str:
    """The fix for a field, if the validator's message says only that the field is wrong."""
    if detail["type"] == "enum":
        return f"must be one of {detail['ctx']['expected']}"
    words = str(detail["msg"]).removeprefix("Value error, ")
    return FIXES.get(detail["type"], words.replace("Input should be", "must be", 1))


def _allowed_methods(request: Request) -> str:
    """The methods of all routes at the request's path; the framework's own answer has only those of the first.

    A path that is written out, such as `/queues/apply`, has only its own, not those for any name in its place.
    """
    app = cast("FastAPI", request.app)
    routes = (route for route in iter_route_contexts(app.routes) if route.path == request.url.path)
    own = {method for route in routes for method in route.methods or ()}
    if own:
        return ", ".join(method for method in METHODS if method in own)
    asked = ({**request.scope, "method": method} for method in METHODS)
    return ", ".join(
        scope["method"] for scope in asked if any(route.matches(scope)[0] is Match.FULL for route in app.router.routes)
    )


async def _on_problem(request: Request, error: Exception) -> Response:
    return problem_response(cast("ProblemError", error).problem, request.url.path)


async def _on_invalid_request(request: Request, error: Exception) -> Response:
    return problem_response(problem_of_validation(cast("RequestValidationError", error)), request.url.path)


async def _on_http_exception(request: Request, error: Exception) -> Response:
    failure = cast("HTTPException", error)
    is_method = failure.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    allow = _allowed_methods(request) if is_method else ""
    detail = {
        HTTPStatus.NOT_FOUND: f"There is nothing at {request.url.path}; /api/docs lists the routes.",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{request.method} is not possible here; use {allow}.",
    }.get(HTTPStatus(failure.status_code), failure.detail)
    if failure.status_code in STATUSES_OF_BODIES:
        return problem_response(body_problem(failure.status_code, detail), request.url.path)
    return problem_response(Problem(failure.status_code, detail, allow=allow), request.url.path)


async def _on_rpc_error(request: Request, error: Exception) -> Response:
    failure = cast("grpc.aio.AioRpcError", error)
    problem = problem_of_rpc(failure)
    if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.warning("a call failed", extra={"code": failure.code().name, "detail": failure.details()})
    return problem_response(problem, request.url.path)


async def _on_our_fault(request: Request, error: Exception) -> Response:
    del error  # the server logs it with its traceback
    return problem_response(our_fault(), request.url.path)
