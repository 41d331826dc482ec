"""A running gateway over scripted services."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.gateway.running_gateway import RunningGateway, serve, settings_for
from tests.gateway.scripted_services import ScriptedServices

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@pytest.fixture
async def services() -> AsyncGenerator[ScriptedServices]:
    scripted = ScriptedServices()
    await scripted.start()
    yield scripted
    await scripted.stop()


@pytest.fixture
async def gateway(services: ScriptedServices) -> AsyncGenerator[RunningGateway]:
    async with serve(services, settings_for(services)) as running:
        yield running
