"""Documents the failures of routes in the OpenAPI document."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field

from gateway.http.errors import PROBLEM_MEDIA_TYPE, SEED_PREFIXES

Responses = dict[int | str, dict[str, Any]]


class FieldProblem(BaseModel):
    """A wrong field, with the fix."""

    field: str
    message: str


class ProblemDocument(BaseModel):
    """A failed request, as in RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str
    request_id: str
    errors: list[FieldProblem]
    code: Annotated[str, Field(description="`RATE_LIMIT_EXCEEDED`, if a limit refuses the request.")] = ""


class SeedProblem(BaseModel):
    """A failed request of a seed-compatible route; only `error` is always there."""

    error: str
    details: str | None = None
    errors: list[FieldProblem] = []
    missing: Annotated[list[str], Field(description="Required fields that are missing or empty, with 400.")] = []
    status: Annotated[str, Field(description="`RATE_LIMIT_EXCEEDED`, with 429.")] = ""
    retry_after: Annotated[float | None, Field(description="Seconds, with 429.")] = None


MEANINGS = {
    400: "The body is not JSON; on a seed-compatible route also: a required field is missing.",
    401: "No token, or one that is unknown, revoked or expired, or whose user is disabled.",
    402: "The credit does not cover the worst case, a hard budget has no room for it, or no machine can be paid for.",
    403: "The token lacks a scope that this needs, or the user a role; the detail names it.",
    404: "Not found, or not in an account of yours.",
    408: "The body did not arrive in time; the connection is closed.",
    409: "The idempotency key was used with other content, the name is taken, the pool may not start another machine, "
    "reservations stand on the machine, a planned price begins within the new one's time, or no administrator with a "
    "working token would be left.",
    413: "The body is larger than 2 MiB.",
    415: "The body is not `application/json`.",
    422: "A field is not valid; `errors` names each one and the fix.",
    429: "A limit: the account's of submissions, or the address's of submissions or of tokens that do not work; or "
    "no provider has such a machine now. `Retry-After`, if it is there, says when to try again.",
    500: "An error in Wavepool; find it in the logs by the request's id.",
    503: "A service behind the gateway cannot be reached. Nothing was changed; try again.",
    504: "A service behind the gateway did not answer in time. Try again.",
}
WITH_A_TOKEN = (401, 403, 429, 500, 503, 504)
"""Statuses that every request with a token may get, besides those that its route names."""
WITH_A_BODY = (400, 408, 413, 415, 422)


STREAM: Responses = {
    200: {
        "description": "The submission's events, each with an id to resume from.",
        "content": {"text/event-stream": {}},
    }
}
TOPIC_STREAM: Responses = {
    200: {
        "description": "The events of all topics, each with an id to resume all of them from.",
        "content": {"text/event-stream": {}},
    }
}
MACHINE_STREAM: Responses = {
    200: {
        "description": "The machine's events, each with an id to resume from.",
        "content": {"text/event-stream": {}},
    }
}
RESERVATION_STREAM: Responses = {
    200: {
        "description": "The reservation's events, each with an id to resume from.",
        "content": {"text/event-stream": {}},
    }
}
NO_MORE_RESERVATION: Responses = {204: {"description": "It has ended, and you have seen its last event."}}
WEBSOCKET: Responses = {
    101: {"description": "The bytes of the connection follow."},
    404: {"description": "There is no such reservation in your accounts."},
    409: {"description": "Logging in is not possible now; the detail says why."},
    426: {"description": "The request asks for no upgrade to a WebSocket."},
    429: {"description": "You, or the session, have reached the limit of connections."},
}
NO_MORE_EVENTS: Responses = {204: {"description": "Its provider has taken it back, and you have seen its last event."}}
LOG: Responses = {200: {"description": "The log, as it comes.", "content": {"text/plain": {}}}}
REPORT: Responses = {200: {"description": "A DSSE envelope.", "content": {"application/json": {}}}}
NOT_READY: Responses = {
    503: {"description": "`services` names the ones that do not answer.", "content": {"application/json": {}}}
}
NOTHING_LEFT: Responses = {204: {"description": "It has ended, and you have seen its last event."}}
SIGN_IN_FAILURES: Responses = {
    403: {"description": "The identity provider knows you, but the operator does not admit you."},
    409: {"description": "Sign-in with an identity provider is off here."},
    429: {"description": "Too many sign-ins from your address; `Retry-After` says when to try again."},
    500: {"description": MEANINGS[500]},
    503: {"description": "The identity provider or a service behind the gateway cannot be reached. Try again."},
    504: {"description": MEANINGS[504]},
}


def problems(*statuses: int) -> Responses:
    """The `responses` of a route that may fail with these statuses, besides those that `describe` adds."""
    return {status: {"description": MEANINGS[status]} for status in statuses}


def describe(app: FastAPI) -> None:
    """Makes the application's OpenAPI document describe our failures instead of the framework's."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_problems(
                get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            )
        return app.openapi_schema

    app.openapi = document


def _with_problems(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for model in (ProblemDocument, SeedProblem):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schema.pop("$defs"))
        schemas[model.__name__] = schema
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _add_problems(path, operation)
    return document


def _add_problems(path: str, operation: dict[str, Any]) -> None:
    """Adds the failures that follow from the operation's inputs, and the form of all its failures."""
    responses = operation["responses"]
    # The framework's own response has another form.
    if "application/json" in responses.get("422", {}).get("content", {}):
        del responses["422"]
    for key, statuses in (("security", WITH_A_TOKEN), ("requestBody", WITH_A_BODY)):
        for status in statuses if operation.get(key) else ():
            responses.setdefault(str(status), {"description": MEANINGS[status]})
    # A parameter that the route does not have is refused on each of them.
    responses.setdefault("422", {"description": MEANINGS[422]})
    model, media_type = (
        (SeedProblem, "application/json") if path.startswith(SEED_PREFIXES) else (ProblemDocument, PROBLEM_MEDIA_TYPE)
    )
    for status, response in responses.items():
        if int(status) >= HTTPStatus.BAD_REQUEST and "content" not in response:
            response["content"] = {media_type: {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
    operation["responses"] = dict(sorted(responses.items()))
