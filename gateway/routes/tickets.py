"""`/api/v1/tickets`: secrets for addresses that a browser opens by itself, as links and WebSockets, without a token."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, cast
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter, FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.routing import Match
from wavepool.billing.v1.identity_pb2 import CreateTicketRequest

from gateway.dependencies import TheCaller, TheGateway
from gateway.http.errors import FieldError, Problem, ProblemError
from gateway.http.json_route import JsonRoute
from gateway.http.ticket import PREFIX, address_of, parted, with_ticket
from gateway.routes.identity_calls import call
from gateway.words.shown import shown

router = APIRouter(prefix="/tickets", tags=["tokens"], route_class=JsonRoute)


class TicketRequest(BaseModel):
    """An address to open."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"path": "/api/v1/submissions/job_1/report"}]}
    )

    path: Annotated[
        str,
        Field(min_length=1, max_length=2000, description="Of a GET or a WebSocket below `/api/v1/`, with its query."),
    ]


class NewTicket(BaseModel):
    """A ticket for one request; only this answer has it."""

    ticket: str
    expire_time: datetime | None
    url: Annotated[str, Field(description="The path with the ticket: what to open.")]


@router.post("", status_code=201)
async def create_ticket(body: TicketRequest, request: Request, caller: TheCaller, gateway: TheGateway) -> NewTicket:
    """Ask for a ticket: a secret for one GET or WebSocket of exactly this path with its query, once, within 30 s.

    The answer's `url` needs no token, and is opened with the rights of yours; it makes no tokens or tickets.
    """
    fault = fault_of(body.path) or _fault_of_route(body.path, request)
    if fault:
        raise ProblemError(Problem(422, f"path: {fault}.", (FieldError("path", fault),)))
    path, _, query = body.path.partition("?")
    order = CreateTicketRequest(caller_token_id=caller.token_id, address=address_of(path, query))
    answer = await call(gateway.upstreams.identity.CreateTicket, order, {"address": "path"})
    return shown(NewTicket, answer, url=with_ticket(order.address, answer.ticket))


def fault_of(path: str) -> str:
    """Why no ticket is made for a path with its query, with the fix; empty if one may be."""
    if not path.isascii() or not path.isprintable() or " " in path or "\\" in path:
        return "must be printable ASCII without blanks; write other characters as %XX"
    if path.startswith("//") or (path.partition("?")[0].partition("/")[0] and ":" in path):
        return f"must have no scheme and no host; give what follows the host, from {PREFIX} on"
    if not path.startswith(PREFIX):
        return f"must begin with {PREFIX}"
    if "#" in path:
        return "must have no fragment; leave `#` and what follows it out"
    if parted(urlsplit(path).query)[1] is not None:
        return "has a ticket already; leave it out"
    return ""


def _fault_of_route(path: str, request: Request) -> str:
    scope = {**request.scope, "method": "GET", "path": unquote(urlsplit(path).path)}
    routes = cast("FastAPI", request.app).router.routes
    if any(route.matches(scope)[0] is Match.FULL for route in routes):
        return ""
    return "has no GET and no WebSocket; /api/docs lists the routes"
