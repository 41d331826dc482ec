"""A gateway that serves real HTTP, with a client in front and scripted services behind."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import httpx
import httpx_sse

from gateway.app import create_app
from gateway.config import GatewaySettings
from gateway.server import GatewayServer
from servicekit.rpc.errors import RpcFailure
from tests.gateway.documented import Documented, check_event
from tests.gateway.scripted_services import USER_TOKEN, ScriptedServices
from tests.service_token import SERVICE_TOKEN

DEADLINE_SECONDS = 20.0


@dataclass
class RunningGateway:
    url: str
    http: httpx.AsyncClient
    services: ScriptedServices
    settings: GatewaySettings
    server: GatewayServer
    app: Any

    @property
    def calls(self) -> dict[str, list[Any]]:
        """The requests that the services behind it got, by method."""
        return self.services.refusals.calls

    @property
    def refusals(self) -> dict[str, RpcFailure]:
        """What the services behind it refuse, by method, once a test has put it there."""
        return self.services.refusals.by_method

    @property
    def hub(self) -> Any:
        return self.app.state.gateway.hub

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, **options: Any
    ) -> AsyncGenerator[AsyncGenerator[httpx_sse.ServerSentEvent]]:
        """The frames of a stream, heartbeats left out."""
        async with httpx_sse.aconnect_sse(self.http, method, path, **options) as source:
            if source.response.is_error:
                await source.response.aread()
            assert source.response.is_success, source.response.text
            yield _frames(source, path)

    async def frames(self, method: str, path: str, **options: Any) -> list[httpx_sse.ServerSentEvent]:
        """All frames of a stream that ends."""
        async with asyncio.timeout(DEADLINE_SECONDS), self.stream(method, path, **options) as frames:
            return [frame async for frame in frames]


async def _frames(source: httpx_sse.EventSource, path: str) -> AsyncGenerator[httpx_sse.ServerSentEvent]:
    kinds = {"machines": "MachineEvent", "reservations": "ReservationEvent", "events": "TopicEvent"}
    kind = kinds.get(path.partition("?")[0].split("/")[3], "SubmissionEvent")
    async for frame in source.aiter_sse():
        if frame.data:
            check_event(kind, json.loads(frame.data))
        if frame.data and frame.event != "heartbeat":
            yield frame


def settings_for(services: ScriptedServices, **changes: Any) -> GatewaySettings:
    """Settings that point to the scripted services and cache no token."""
    fields: dict[str, Any] = dict.fromkeys(("scheduler_target", "vmpool_target", "billing_target"), services.target)
    fields |= {"token_cache": timedelta(0), "service_token_file": SERVICE_TOKEN.file}
    return GatewaySettings.model_validate(fields | changes)


@cache
def documented() -> Documented:
    """The check against the gateway's OpenAPI document, which takes a second and a half of processor time to make."""
    return Documented(create_app(GatewaySettings()).openapi())


def client_of(url: str, *, checked: bool = False) -> httpx.AsyncClient:
    """A user's client, without TLS, whose context would take longer than most tests.

    If `checked`, its answers must match the gateway's OpenAPI document.
    """
    hooks = {"response": [documented().check]} if checked else {}
    headers = {"Authorization": f"Bearer {USER_TOKEN}"}
    options: dict[str, Any] = {"trust_env": False, "timeout": DEADLINE_SECONDS, "event_hooks": hooks}
    return httpx.AsyncClient(base_url=url, headers=headers, verify=False, **options)  # noqa: S501


@asynccontextmanager
async def serve(services: ScriptedServices, settings: GatewaySettings, port: int = 0) -> AsyncGenerator[RunningGateway]:
    """Serves until the block ends; open streams are then cut."""
    app = create_app(settings)
    # It is the same for all settings (test_openapi.py), so a process makes it once.
    app.openapi_schema = documented().document
    server = GatewayServer(app, settings)
    with socket.create_server(("127.0.0.1", port)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        serving = asyncio.create_task(server.serve([listener]))
        try:
            async with client_of(url, checked=True) as http:
                await _until_up(http)
                yield RunningGateway(url, http, services, settings, server, app)
        finally:
            # Also if the test failed: a server that stays keeps the next ones from starting.
            server.should_exit = True
            await serving


async def _until_up(http: httpx.AsyncClient) -> None:
    """The listener is bound already: the first request waits in its backlog until the application is up."""
    assert (await http.get("/healthz")).status_code == httpx.codes.OK
