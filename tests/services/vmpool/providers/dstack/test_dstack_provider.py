"""The provider on a real dstack server: what comes of machines, and that the cloud has none at the end of each test."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from services.vmpool.executor_client import ExecutorClient, ExecutorUnreachableError
from services.vmpool.providers.provider import Order, ProviderState
from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.services.vmpool.providers.dstack.lab_provider import (
    DEADLINE_SECONDS,
    lab_config,
    lab_provider,
    observed,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from services.vmpool.executor_client import Health
    from services.vmpool.providers.dstack_config import DstackConfig
    from services.vmpool.providers.dstack_provider import DstackProvider
    from tests.dstack_lab.client import LabClient
    from tests.dstack_lab.fake_cloud import FakeCloud
    from tests.dstack_lab.server import DstackServer

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.timeout(300)]

RUNNING, ENDED, GONE, UNKNOWN = (
    ProviderState.RUNNING,
    ProviderState.ENDED,
    ProviderState.GONE,
    ProviderState.UNKNOWN,
)


@pytest.fixture
def settings(dstack_server: DstackServer, lab_client: LabClient, tmp_path: Path) -> DstackConfig:
    """On a server without runs and fleets."""
    return lab_config(dstack_server, tmp_path)


@pytest.fixture
async def provider(settings: DstackConfig) -> AsyncIterator[DstackProvider]:
    async with lab_provider(settings) as provider:
        yield provider


def order(machine_id: str = "mach_1", backend: str = "amddevcloud", **more: object) -> Order:
    return replace(Order(machine_id, "MI300X", 1, "token", backend=backend), **more)  # type: ignore[arg-type]


async def health(endpoint: str) -> Health:
    """The executor's, as soon as it answers."""
    executors = ExecutorClient(timedelta(seconds=2))
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while True:
                try:
                    return await executors.health(endpoint)
                except ExecutorUnreachableError:
                    await asyncio.sleep(0.05)
    finally:
        await executors.close()


async def test_a_machine_is_rented_reached_over_ssh_and_given_back(
    provider: DstackProvider, fake_cloud: FakeCloud
) -> None:
    await provider.provision(order())
    seen = await observed(provider, RUNNING)
    assert (seen.backend, seen.region, seen.price_micros_per_hour) == ("amddevcloud", "atl1", 1_990_000)
    assert (await health(seen.endpoint)).inventory.device_title == "Tiny"
    assert [each.backend for each in fake_cloud.existing()] == ["amddevcloud"]
    assert await provider.list_all() == ["mach_1"]
    await provider.release("mach_1")
    assert fake_cloud.existing() == []
    assert (await provider.observe("mach_1")).state is GONE
    assert await provider.list_all() == []
