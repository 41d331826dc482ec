"""Dependencies of route handlers: the gateway's parts, and the account behind a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import Request  # noqa: TC002 - FastAPI reads it at run time

from gateway.auth import Account, Authenticator
from gateway.http.errors import Problem, ProblemError
from gateway.http.sse import EventStream
from gateway.submissions.recent_jobs import RecentJobs
from gateway.submissions.visible_jobs import VisibleJobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavepool.scheduler.v1.scheduler_pb2 import Job

    from gateway.config import GatewaySettings
    from gateway.machines.open_calls import OpenCalls
    from gateway.submissions.hub import Hub
    from gateway.upstreams import Upstreams

bearer = HTTPBearer(auto_error=False, description="An API token; `wavepool up` prints the first one.")


@dataclass(frozen=True)
class Gateway:
    """All objects that handlers use."""

    settings: GatewaySettings
    upstreams: Upstreams
    hub: Hub
    calls: OpenCalls
    authenticator: Authenticator
    recent_jobs: RecentJobs = field(default_factory=RecentJobs)

    def close(self) -> None:
        """Ends every stream cleanly; the clients resume elsewhere."""
        self.hub.close()
        self.calls.close()

    def stream(self, job: Job, after_seq: int, headers: Mapping[str, str] | None = None) -> EventStream:
        """The response that streams a job's events."""
        settings = self.settings
        frames = self.hub.frames(job, after_seq)
        return EventStream(frames, settings.heartbeat, settings.send_timeout, headers, job.job_id)


def _gateway(request: Request) -> Gateway:
    return cast("Gateway", request.app.state.gateway)


TheGateway = Annotated[Gateway, Depends(_gateway)]


async def _account(
    gateway: TheGateway, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> Account:
    return await gateway.authenticator.account(credentials.credentials if credentials else "")


TheAccount = Annotated[Account, Depends(_account)]


def _visible_jobs(account: TheAccount, gateway: TheGateway) -> VisibleJobs:
    return VisibleJobs(gateway.upstreams, account)


TheVisibleJobs = Annotated[VisibleJobs, Depends(_visible_jobs)]
"""Requires a valid token, like TheAccount."""


def _admin(account: TheAccount) -> Account:
    if not account.admin:
        raise ProblemError(Problem(403, "This needs the token of an administrator."))
    return account


TheAdmin = Annotated[Account, Depends(_admin)]
