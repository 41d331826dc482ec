"""What the interface's documentation says of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

if TYPE_CHECKING:
    from fastapi import FastAPI

Responses = dict[int | str, dict[str, Any]]


class FieldProblem(BaseModel):
    """A field that is wrong, and what to do about it."""

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


MEANINGS = {
    400: "The body is not JSON.",
    401: "No token, or one that is unknown or revoked.",
    402: "The credit does not cover the worst case.",
    403: "The token is not an administrator's, and what is asked for needs one.",
    404: "There is no such thing in your account, or at all.",
    409: "The idempotency key was used with other content, the pool may start no other machine, or the token is the "
    "last one of all administrators.",
    413: "The body is larger than 2 MiB.",
    415: "The body is not `application/json`.",
    422: "A field is wrong; `errors` names each, and the fix.",
    429: "Too many submissions in flight, or nobody has such a machine now; `Retry-After` tells when to try again.",
    503: "A service behind the gateway cannot be reached; nothing was changed. Try again.",
}


STREAM: Responses = {
    200: {
        "description": "The submission's events, each with an id to resume from.",
        "content": {"text/event-stream": {}},
    }
}
MACHINE_STREAM: Responses = {
    200: {
        "description": "The machine's events, each with an id to resume from.",
        "content": {"text/event-stream": {}},
    }
}
NO_MORE_EVENTS: Responses = {204: {"description": "Its provider has taken it back, and you have seen its last event."}}
LOG: Responses = {200: {"description": "The log, as it comes.", "content": {"text/plain": {}}}}
NOTHING_LEFT: Responses = {204: {"description": "It is over, and you have seen its last event."}}


def problems(*statuses: int) -> Responses:
    """The `responses` of a route that may fail with these statuses."""
    return {
        status: {
            "description": MEANINGS[status],
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
        }
        for status in statuses
    }


def describe(app: FastAPI) -> None:
    """Make the application's OpenAPI document tell failures as they are, where the framework would tell its own."""

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
    schema = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(schema.pop("$defs"))
    schemas["ProblemDocument"] = schema
    for path in document["paths"].values():
        for operation in path.values():
            if "application/json" in operation["responses"].get("422", {}).get("content", {}):
                del operation["responses"]["422"]
    return document
