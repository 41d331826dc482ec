"""The OpenAPI document: the framework's, with our failures, and with the scope and role that each operation needs."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import TypeAdapter

from gateway.dependencies import Access, PublicRead
from gateway.http.errors import PROBLEM_MEDIA_TYPE, SEED_PREFIXES
from gateway.http.route_docs import (
    MEANINGS,
    WITH_A_BODY,
    WITH_A_TOKEN,
    ProblemDocument,
    SeedProblem,
)
from gateway.http.ticket import PARAMETER, PREFIX
from gateway.machines.schemas import MachineEvent
from gateway.reservations.event_schemas import ReservationEvent
from gateway.submissions.event_schemas import SubmissionEvent
from gateway.submissions.sharing import SharedSubmissionEvent
from gateway.submissions.topics import TopicEvent

EVENTS: dict[str, Any] = {
    "SubmissionEvent": SubmissionEvent,
    "SharedSubmissionEvent": SharedSubmissionEvent,
    "TopicEvent": TopicEvent,
    "MachineEvent": MachineEvent,
    "ReservationEvent": ReservationEvent,
}
"""Schemas of the data of event streams, by the names that `route_docs` gives them."""
TICKET = {
    "type": "apiKey",
    "in": "query",
    "name": PARAMETER,
    "description": "In place of an API token, for one GET or WebSocket: `POST /api/v1/tickets` makes it.",
}
OTHERS = "Answers may have others, of newer services."


def operation_id(route: APIRoute) -> str:
    """The handler's name, which generated clients give to their functions."""
    return route.name


def describe(app: FastAPI) -> None:
    """Serves the application's OpenAPI document, which describes our failures instead of the framework's.

    The framework would make it on the event loop, and no stream would move for a second or two.
    """

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            _add_access(document, app)
            app.openapi_schema = _with_problems(document)
        return app.openapi_schema

    async def answer(_request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(document))

    app.openapi = document
    app.add_route("/api/openapi.json", answer, include_in_schema=False)


def _add_access(document: dict[str, Any], app: FastAPI) -> None:
    """Adds to each operation what its dependencies require of a token."""
    for route in iter_route_contexts(app.routes):
        operations = document["paths"].get(route.path_format, {})
        for operation in (operations[method.lower()] for method in route.methods or () if method.lower() in operations):
            access = _access_of(route.dependant)
            scopes, roles = (list(access.scopes), list(access.roles)) if access else ([], [])
            if (route.path_format or "").startswith(PREFIX) and "get" in operations and operation is operations["get"]:
                _add_ticket(document, operation)
            operation.update({"x-scope": scopes} | ({"x-role": roles} if roles else {}))
            needs = _needs(scopes, roles, has_token="security" in operation)
            operation["description"] = f"{operation['description']}\n\n{needs}"


def _add_ticket(document: dict[str, Any], operation: dict[str, Any]) -> None:
    """Adds that a GET takes a ticket in place of a token, if it takes a token."""
    if "security" in operation:
        document["components"]["securitySchemes"][PARAMETER] = TICKET
        operation["security"] = [*operation["security"], {PARAMETER: []}]


def _access_of(dependant: Dependant) -> Access | PublicRead | None:
    """The requirement of a route; None if it has none."""
    if isinstance(dependant.call, Access | PublicRead):
        return dependant.call
    return next(filter(None, map(_access_of, dependant.dependencies)), None)


def _needs(scopes: list[str], roles: list[str], *, has_token: bool) -> str:
    if not scopes:
        return "Takes any token that works." if has_token else "Takes no token."
    role = f", and the role {_any_of(roles)}" if roles else ""
    return f"Needs the scope {_any_of(scopes)}{role}."


def _any_of(words: list[str]) -> str:
    return " or ".join(f"`{word}`" for word in words)


def _with_problems(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for model in (ProblemDocument, SeedProblem):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schema.pop("$defs"))
        schemas[model.__name__] = schema
    for name, event in EVENTS.items():
        schema = TypeAdapter(event).json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
        schemas.update(schema.pop("$defs"))
        schemas[name] = schema
    for schema in schemas.values():
        if "enum" in schema:
            schema["description"] += f" {OTHERS}"
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
