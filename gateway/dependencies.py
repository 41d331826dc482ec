"""Dependencies of route handlers: the gateway's parts, the caller of a request, and what the caller must be allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, cast

import grpc
import orjson
from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from starlette.requests import (
    HTTPConnection,
    Request,
)
from wavepool.audit.v1.audit_pb2 import RecordRefusalRequest
from wavepool.scheduler.v1.scheduler_pb2 import Job, SubmitJobResponse

from gateway.auth import Authenticator, Caller
from gateway.config import GatewaySettings
from gateway.http.address_limit import AddressLimits, address_of
from gateway.http.errors import FieldError, Problem, ProblemError
from gateway.http.sse import STILL_ALLOWED, EventStream, OpenStreams, StillAllowed
from gateway.http.ticket import Ticket, ticket_of
from gateway.machines.open_calls import OpenCalls
from gateway.reservations.tunnel import Tunnels
from gateway.submissions import account_jobs
from gateway.submissions.allowance import rate_limit_headers
from gateway.submissions.hub import Hub, StillShared
from gateway.submissions.recent_jobs import RecentJobs
from gateway.submissions.sharing_check import SharingCheck
from gateway.submissions.views import submission_path
from gateway.submissions.visible_jobs import VisibleJobs
from gateway.upstreams import CALL_TIMEOUT_SECONDS, Upstreams
from servicekit.actor import Actor, set_actor
from servicekit.logging import get_logger

log = get_logger(__name__)

MAX_DOUBTFUL_LOOKUPS = 4
bearer = HTTPBearer(auto_error=False, description="An API token; `wavepool up` prints the first one.")


@dataclass(frozen=True)
class Gateway:
    """All objects that handlers use."""

    settings: GatewaySettings
    upstreams: Upstreams
    hub: Hub
    calls: OpenCalls
    authenticator: Authenticator
    address_limits: AddressLimits
    streams: OpenStreams
    tunnels: Tunnels
    recent_jobs: RecentJobs = field(default_factory=RecentJobs)
    doubtful_lookups: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_DOUBTFUL_LOOKUPS))
    """Held while a token is looked up for an address that has sent too many that do not work."""

    def close(self) -> None:
        """Ends every stream cleanly; the clients resume elsewhere."""
        self.hub.close()
        self.calls.close()

    async def job_to_follow(self, caller: Caller, job_id: str, *, from_start: bool) -> Job:
        """The job, as far as its stream needs it, or another's that is shared; raises ProblemError (404).

        One that was just submitted here and is followed from its start is not looked up.
        """
        recent = self.recent_jobs.find(caller.account_id, job_id) if from_start else None
        return (
            recent if recent is not None else await account_jobs.job_of(self.upstreams, caller, job_id, or_shared=True)
        )

    def still_shared(self, caller: Caller, job: Job) -> StillShared | None:
        """Says before each frame of another account's job if it is still shared; None if it is of the caller's own."""
        if caller.sees(job.account_id):
            return None
        look_up = partial(account_jobs.job_of, self.upstreams, caller, job.job_id, or_shared=True)
        return SharingCheck(look_up, self.settings.token_cache)

    def stream_of(self, answer: SubmitJobResponse) -> EventStream:
        """The response that streams the events of a job that was just submitted, and says where to resume."""
        job = answer.job
        headers = {"X-Submission-Id": job.job_id, "Location": submission_path(job.job_id)}
        return self.stream(job, 0, {**headers, **rate_limit_headers(answer.allowance)})

    def stream(
        self,
        job: Job,
        after_seq: int,
        headers: Mapping[str, str] | None = None,
        still_shared: StillShared | None = None,
    ) -> EventStream:
        """The response that streams a job's events, with `still_shared` as other users see them."""
        settings = self.settings
        frames = self.hub.frames(job, after_seq, still_shared)
        return EventStream(frames, settings.heartbeat, settings.send_timeout, headers, job.job_id)


def gateway_of(connection: HTTPConnection) -> Gateway:
    """The objects for a request or a WebSocket."""
    return cast("Gateway", connection.app.state.gateway)


async def caller_of(connection: HTTPConnection) -> Caller:
    """The caller of a request or a WebSocket, by its ticket or else by its token; raises ProblemError (401, 429)."""
    ticket = ticket_of(connection)
    if ticket and connection.scope.get("method", "GET") != "GET":
        detail = "A ticket is for a GET or a WebSocket; send your API token as `Authorization: Bearer <token>`."
        raise ProblemError(Problem(401, detail, (FieldError("ticket", detail),)))
    return await authenticated(gateway_of(connection), _token_of(connection), address_of(connection), ticket)


def _token_of(connection: HTTPConnection) -> str:
    scheme, token = get_authorization_scheme_param(connection.headers.get("Authorization"))
    return token if scheme.lower() == "bearer" else ""


def _gateway(request: Request) -> Gateway:
    return gateway_of(request)


TheGateway = Annotated[Gateway, Depends(_gateway)]


async def _caller(
    request: Request, gateway: TheGateway, _: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> Caller:
    # `bearer` is for the OpenAPI document: routes of WebSockets cannot have it.
    caller = await caller_of(request)
    set_actor(Actor(caller.user_id, caller.user_name, caller.token_id, address_of(request)))
    setattr(request.state, STILL_ALLOWED, partial(gateway.authenticator.still_works, caller.token_id))
    return caller


async def authenticated(gateway: Gateway, token: str, host: str, ticket: Ticket | None = None) -> Caller:
    """The ticket's caller, or else the token's; raises ProblemError (401, 429).

    A token that works does so from any address, whatever others have sent from there. So every token is looked up, but
    for an address that has sent too many that do not work only a few at a time, which bounds the work of billing.
    """
    bad_tokens = gateway.address_limits.bad_tokens
    async with gateway.doubtful_lookups if bad_tokens.is_used_up(host) else nullcontext():
        try:
            authenticator = gateway.authenticator
            return await (authenticator.caller_with(ticket) if ticket else authenticator.caller(token))
        except ProblemError:
            if token or ticket:
                bad_tokens.count(host)
            raise


TheCaller = Annotated[Caller, Depends(_caller)]
"""Any token that works, whatever it may do. Every other dependency here also requires a scope."""


def _still_allowed(request: Request, _: TheCaller) -> StillAllowed:
    return cast("StillAllowed", getattr(request.state, STILL_ALLOWED))


TheStillAllowed = Annotated["StillAllowed", Depends(_still_allowed)]
"""For answers that go on: says if the caller's token still works."""


async def _stream_place(request: Request, caller: TheCaller, gateway: TheGateway) -> AsyncGenerator[None]:
    with gateway.streams.place_for(caller.user_id, address_of(request)):
        yield


STREAM_PLACE = Depends(_stream_place)
"""For each route that answers with an event stream: holds a place until the stream's end, or refuses it before."""


class Access:
    """A dependency that gives the caller, if the role and the token's scopes allow what a route does.

    The OpenAPI document shows `scopes` and `roles`: one of each is needed, and every role will do if there are none.
    """

    def __init__(self, *scopes: str, roles: tuple[str, ...] = ()) -> None:
        self.scopes = scopes
        self.roles = roles

    async def __call__(self, request: Request, gateway: TheGateway, caller: TheCaller) -> Caller:
        """The caller; raises ProblemError (403), which names what is missing, and writes refused acts down."""
        try:
            return self.checked(caller)
        except ProblemError as refusal:
            if self.roles and request.method != "GET":
                await _record(gateway, request, refusal)
            raise

    def checked(self, caller: Caller) -> Caller:
        """The caller; raises ProblemError (403)."""
        if self.roles:
            caller.require_role(*self.roles)
        caller.require(*self.scopes)
        return caller


async def _record(gateway: Gateway, request: Request, refusal: ProblemError) -> None:
    """Writes a refused attempt to the audit log; the refusal does not wait for it for long."""
    asked = orjson.dumps({**request.path_params, **request.query_params}).decode()
    record = RecordRefusalRequest(kind=request.scope["route"].name, request=asked, message=refusal.problem.detail)
    try:
        await gateway.upstreams.audits["billing"].RecordRefusal(record, timeout=CALL_TIMEOUT_SECONDS)
    except grpc.aio.AioRpcError:
        log.exception("a refused attempt could not be written down")


TheAccount = Annotated[Caller, Depends(Access("read"))]
"""Sees what the token's accounts have."""


class PublicRead:
    """Gives the caller, as `TheAccount` does, or None if problems are public and there is no token."""

    scopes = ("read",)
    roles = ()

    async def __call__(
        self,
        request: Request,
        gateway: TheGateway,
        shown: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> Caller | None:
        """The caller; raises ProblemError (401, 403, 429)."""
        is_named = "Authorization" in request.headers or ticket_of(request) is not None
        if gateway.settings.public_problems and not is_named:
            gateway.address_limits.public_reads.count(address_of(request))
            return None
        return Access("read").checked(await _caller(request, gateway, shown))


TheReader = Annotated[Caller | None, Depends(PublicRead())]
"""Reads what is public, or what every token may."""
TheSubmitter = Annotated[Caller, Depends(Access("submit"))]
"""Submits and cancels."""
TheManager = Annotated[Caller, Depends(Access("manage"))]
"""Manages tokens of the same user."""
TheOperator = Annotated[Caller, Depends(Access("operate", roles=("operator", "admin")))]
"""Looks after machines; an operator or an administrator."""
TheOverseer = Annotated[Caller, Depends(Access("operate", "admin", roles=("operator", "admin")))]
"""Sees everybody; an operator or an administrator."""
TheAdmin = Annotated[Caller, Depends(Access("admin", roles=("admin",)))]
"""Manages users, teams and accounts; an administrator."""


def _sender(request: Request, caller: TheSubmitter, gateway: TheGateway) -> Caller:
    # The account comes first: what it sends beyond its own share is nothing that others at its address must wait for.
    gateway.address_limits.account_submissions.count(caller.account_id)
    gateway.address_limits.submissions.count(address_of(request))
    return caller


TheSender = Annotated[Caller, Depends(_sender)]
"""Submits, and may send one more submission now, as may its address."""


def _visible_jobs(account: TheAccount, gateway: TheGateway) -> VisibleJobs:
    return VisibleJobs(gateway.upstreams, account)


TheVisibleJobs = Annotated[VisibleJobs, Depends(_visible_jobs)]
"""Requires what TheAccount requires."""
