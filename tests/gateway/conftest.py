"""A running gateway over scripted services: one for each module, reset after every test."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest_asyncio

from gateway.http.address_limit import AddressLimits
from gateway.submissions.hub import Hub
from gateway.submissions.recent_jobs import RecentJobs
from tests.gateway.running_gateway import RunningGateway, client_of, serve, settings_for
from tests.gateway.scripted_services import ScriptedServices


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scripted() -> AsyncGenerator[ScriptedServices]:
    services = ScriptedServices()
    await services.start()
    yield services
    await services.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(scripted: ScriptedServices) -> AsyncGenerator[RunningGateway]:
    async with serve(scripted, settings_for(scripted)) as gateway:
        yield gateway


@pytest_asyncio.fixture(loop_scope="module")
async def services(scripted: ScriptedServices) -> ScriptedServices:
    await scripted.reset()
    return scripted


@pytest_asyncio.fixture(loop_scope="module")
async def gateway(running: RunningGateway, services: ScriptedServices) -> AsyncGenerator[RunningGateway]:
    state = running.app.state
    # A client of the test before may not have left yet, and jobs of all tests have the same ids.
    hub = Hub(state.gateway.upstreams.scheduler, running.settings.stream_window_bytes)
    limits = AddressLimits.of(running.settings)
    state.gateway = replace(state.gateway, hub=hub, recent_jobs=RecentJobs(), address_limits=limits)
    async with client_of(running.url, checked=True) as http:
        yield replace(running, http=http, services=services)
