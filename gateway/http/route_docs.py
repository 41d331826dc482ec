"""Words and forms of the OpenAPI document that routes share: streams, texts and failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

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
    429: "A limit: the account's of submissions, the address's of submissions or of tokens that do not work, yours "
    "or the address's of open event streams; or no provider has such a machine now. `Retry-After`, if it is there, "
    "says when to try again.",
    500: "An error in Wavepool; find it in the logs by the request's id.",
    503: "A service behind the gateway cannot be reached, or it has no place for another event stream. Nothing was "
    "changed; try again.",
    504: "A service behind the gateway did not answer in time. Try again.",
}
WITH_A_TOKEN = (401, 403, 429, 500, 503, 504)
"""Statuses that every request with a token may get, besides those that its route names."""
WITH_A_BODY = (400, 408, 413, 415, 422)


def _events(*data: str, required: Sequence[str] = ("event", "data")) -> dict[str, Any]:
    """The content of a stream: the schema describes each event, whose data are JSON as in a schema of those names."""
    text = {"type": "string"}
    schemas = [{"$ref": f"#/components/schemas/{name}"} for name in data]
    json_text = text | {
        "contentMediaType": "application/json",
        "contentSchema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas},
    }
    properties = {"event": text, "id": text, "data": json_text}
    return {"text/event-stream": {"schema": {"type": "object", "properties": properties, "required": list(required)}}}


STREAM: Responses = {
    200: {
        "description": "The submission's events, each with an id to resume from; SharedSubmissionEvents of another "
        "account's.",
        "content": _events("SubmissionEvent", "SharedSubmissionEvent"),
    }
}
TOPIC_STREAM: Responses = {
    200: {
        "description": "The events of all topics, each with an id to resume all of them from.",
        "content": _events("TopicEvent", required=("data",)),
    }
}
MACHINE_STREAM: Responses = {
    200: {
        "description": "The machine's events, each with an id to resume from.",
        "content": _events("MachineEvent"),
    }
}
RESERVATION_STREAM: Responses = {
    200: {
        "description": "The reservation's events, each with an id to resume from.",
        "content": _events("ReservationEvent"),
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
TEXT = {"schema": {"type": "string"}}
LOG: Responses = {200: {"description": "The log, as it comes.", "content": {"text/plain": TEXT}}}
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
    """The `responses` of a route that may fail with these statuses, besides those that `gateway.document` adds."""
    return {status: {"description": MEANINGS[status]} for status in statuses}
