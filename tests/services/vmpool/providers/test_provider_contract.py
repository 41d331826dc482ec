"""The contract of providers, run against each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from services.vmpool.errors import ProviderError
from services.vmpool.lifecycle.executor_client import ExecutorClient, ExecutorUnreachableError
from services.vmpool.providers.provider import MachineProvider, Observation, Order, ProviderState, Resource
from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.services.vmpool.local_machines import DEADLINE_SECONDS, local_config, local_machines
from tests.services.vmpool.providers.docker_machines import container_plan, docker_machines
from tests.services.vmpool.providers.dstack.lab_provider import lab_config, lab_provider
from tests.services.vmpool.providers.hosts_machines import hosts_provider, running_host
from tests.services.vmpool.scripted_provider import ScriptedProvider

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
ORDER = Order("mach_1", "MI300X", 1, "token")


ON_DSTACK = pytest.param("dstack", marks=[pytest.mark.dstack, pytest.mark.timeout(300)])


@pytest.fixture(params=["scripted", "local", "hosts", pytest.param("docker", marks=pytest.mark.docker), ON_DSTACK])
async def provider(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MachineProvider]:
    if request.param == "scripted":
        yield ScriptedProvider()
    elif request.param == "hosts":
        async with running_host(tmp_path) as host, hosts_provider(here=host.listed()) as hosts:
            yield hosts
    elif request.param == "docker":
        async with docker_machines(container_plan()) as containers:
            yield containers
    elif request.param == "dstack":
        request.getfixturevalue("lab_client")
        async with lab_provider(lab_config(request.getfixturevalue("dstack_server"), tmp_path)) as dstack:
            yield dstack
    else:
        async with local_machines(local_config(tmp_path)) as local:
            yield local


async def running(provider: MachineProvider, machine_id: str) -> Observation:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (seen := await provider.observe(machine_id)).state in {ProviderState.PENDING, ProviderState.UNKNOWN}:
            await asyncio.sleep(0.02)
    assert seen.state is ProviderState.RUNNING
    return seen


async def test_it_offers_what_can_be_ordered(provider: MachineProvider) -> None:
    offers = await provider.offers()
    assert offers
    assert all(offer.gpu_count >= 1 and offer.price_micros_per_hour >= 0 for offer in offers)


async def test_a_machine_is_found_by_what_it_was_ordered_as_whatever_the_settings_call_it_now(
    provider: MachineProvider,
) -> None:
    name = f"before-{uuid4().hex[:12]}" if provider.name not in {"local", "hosts"} else "mach_1"
    await provider.provision(replace(ORDER, name=name))
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (seen := await provider.observe("mach_1", Resource(name))).state is not ProviderState.RUNNING:
            await asyncio.sleep(0.02)
    assert seen.resource.name in {"", name}
    known = Resource(name, seen.resource.resource_id)
    await provider.release("mach_1", known)
    assert (await provider.observe("mach_1", known)).state is ProviderState.GONE
    assert await provider.list_all() == []


async def test_a_machine_that_was_never_made_is_gone(provider: MachineProvider) -> None:
    assert (await provider.observe("mach_none")).state is ProviderState.GONE
    assert await provider.list_all() == []


async def test_a_machine_comes_up_with_an_endpoint(provider: MachineProvider) -> None:
    await provider.provision(ORDER)
    assert (await running(provider, "mach_1")).endpoint
    assert await provider.list_all() == ["mach_1"]


async def test_provisioning_again_makes_no_second_machine(provider: MachineProvider) -> None:
    await provider.provision(ORDER)
    first = await running(provider, "mach_1")
    await provider.provision(ORDER)
    assert await running(provider, "mach_1") == first
    assert await provider.list_all() == ["mach_1"]


async def test_releasing_ends_the_machine_and_may_be_repeated(provider: MachineProvider) -> None:
    await provider.provision(ORDER)
    endpoint = (await running(provider, "mach_1")).endpoint
    for _ in range(2):
        await provider.release("mach_1")
    assert (await provider.observe("mach_1")).state is ProviderState.GONE
    assert await provider.list_all() == []
    executors = ExecutorClient(timedelta(seconds=1))
    with pytest.raises(ExecutorUnreachableError):
        await executors.health(endpoint, "any")


async def test_a_machine_released_at_once_leaves_nothing(provider: MachineProvider) -> None:
    await provider.provision(ORDER)
    await provider.release("mach_1")
    assert await provider.list_all() == []


async def test_what_the_executor_prints_is_kept_while_the_machine_is(provider: MachineProvider) -> None:
    with pytest.raises(ProviderError):
        await anext(aiter(provider.logs("mach_1", follow=False)))
    await provider.provision(ORDER)
    await running(provider, "mach_1")
    async for piece in provider.logs("mach_1", follow=False):
        assert isinstance(piece, bytes)


async def test_a_machine_tells_what_it_was_ordered_as(provider: MachineProvider) -> None:
    assert await provider.order_of("mach_1") is None
    await provider.provision(ORDER)
    await running(provider, "mach_1")
    assert await provider.order_of("mach_1") == ORDER


async def test_releasing_what_is_unknown_is_no_error(provider: MachineProvider) -> None:
    await provider.release("mach_none")
