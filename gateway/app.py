"""Builds the gateway: settings in, an ASGI application out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib.metadata import version

from fastapi import Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.middleware.gzip import GZipMiddleware

from gateway.auth import Authenticator
from gateway.config import GatewaySettings
from gateway.dependencies import Gateway
from gateway.document import describe, operation_id
from gateway.http import error_responses
from gateway.http.address_limit import AddressLimits
from gateway.http.body_limit import BodyLimit
from gateway.http.known_query import check_query
from gateway.http.request_scope import RequestScope
from gateway.http.sse import OpenStreams
from gateway.machines.open_calls import OpenCalls
from gateway.reservations.tunnel import Tunnels
from gateway.routes import (
    account,
    accounts,
    alerts,
    amd,
    audit,
    billing,
    catalogue,
    disks,
    events,
    health,
    job_metrics,
    keys,
    machines,
    offers,
    orchestrator_metrics,
    prices,
    projections,
    queues,
    rankings,
    reservations,
    seed_submissions,
    sign_in,
    submissions,
    teams,
    tickets,
    tokens,
    users,
)
from gateway.routes.pages import serve_pages
from gateway.submissions.hub import Hub
from gateway.upstreams import Upstreams, open_upstreams
from servicekit.clock import SystemClock

EXPOSED_HEADERS = [
    "ETag",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "X-Request-Id",
    "X-Submission-Id",
]
"""Headers of answers that pages of other origins may read."""
ALLOWED_HEADERS = [
    *("Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID", "X-Request-Id")
]
"""Headers of requests that such pages may send."""
COMPRESSED_BYTES = 1024
"""The smallest JSON that is compressed."""
COMPRESSION_LEVEL = 6
"""Of 9: the OpenAPI document (987 kB) took 8 ms and 75 kB, against 27 ms and 71 kB at 9."""
NEVER_COMPRESSED = ("text/*", "application/octet-stream", "image/*")
"""Event streams, logs and contents of disks, which are sent as they come; and files that the build compressed."""
DESCRIPTION = """\
Submit AMD HIP kernels, follow them as they compile, are checked and measured, and see what they cost.
Every route but sign-in and the health checks takes an API token as `Authorization: Bearer <token>`.
Failures are problem documents (RFC 9457); those of the routes for existing front ends are plain JSON.
"""


def create_app(settings: GatewaySettings) -> FastAPI:
    """Builds the application; its connections open and close with its lifespan."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with open_upstreams(settings) as upstreams:
            hub = Hub(upstreams.scheduler, settings.stream_window_bytes)
            authenticator = Authenticator(upstreams.identity, settings.token_cache)
            streams = OpenStreams(settings)
            limits = AddressLimits.of(settings)
            tunnels = Tunnels(settings.tunnels_per_user, settings.tunnel_mib_per_day << 20, SystemClock())
            app.state.gateway = Gateway(settings, upstreams, hub, OpenCalls(), authenticator, limits, streams, tunnels)
            async with _front_door(settings, upstreams, tunnels) as app.state.ssh_port:
                yield
            app.state.gateway.close()

    app = FastAPI(
        title="Wavepool",
        version=version("wavepool"),
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        dependencies=[Depends(check_query)],
        generate_unique_id_function=operation_id,
    )
    app.add_middleware(BodyLimit)
    app.add_middleware(
        GZipMiddleware,
        minimum_size=COMPRESSED_BYTES,
        compresslevel=COMPRESSION_LEVEL,
        exclude_content_types=NEVER_COMPRESSED,
    )
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=ALLOWED_HEADERS,
            expose_headers=EXPOSED_HEADERS,
        )
    app.add_middleware(RequestScope)
    error_responses.install(app)
    for module in (
        submissions,
        events,
        catalogue,
        machines,
        offers,
        account,
        billing,
        prices,
        projections,
        rankings,
        queues,
        reservations,
        disks,
        tokens,
        tickets,
        keys,
        accounts,
        users,
        teams,
        sign_in,
        alerts,
        audit,
        job_metrics,
    ):
        app.include_router(module.router, prefix="/api/v1")
    for module in (orchestrator_metrics, amd, seed_submissions, health):
        app.include_router(module.router)
    describe(app)
    serve_pages(app, settings.web_dir)
    return app


def _front_door(settings: GatewaySettings, upstreams: Upstreams, tunnels: Tunnels) -> AbstractAsyncContextManager[int]:
    """Serves SSH and gives its port; 0 if GATEWAY_SSH_PORT is not set."""
    if not settings.ssh_port:
        return nullcontext(0)
    # Only here: the SSH library looks for other libraries by running a compiler.
    from gateway.reservations.front_door import front_door

    return front_door(settings, upstreams, tunnels)
