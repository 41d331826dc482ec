"""The provider on a real dstack server: the life of machines, and an empty cloud at the end of each test."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.lifecycle.executor_client import ExecutorClient, ExecutorUnreachableError, Health
from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.provider import DstackProvider
from services.vmpool.providers.dstack.release import INSTANCE_PREFIX
from services.vmpool.providers.provider import ProviderState
from tests.dstack_lab.client import FINAL, LabClient, until
from tests.dstack_lab.fake_cloud import FakeCloud
from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.dstack_lab.server import DstackServer
from tests.services.vmpool.providers.dstack.dstack_words import market
from tests.services.vmpool.providers.dstack.lab_provider import (
    DEADLINE_SECONDS,
    TINY_COMMAND,
    an_order,
    lab_agent,
    lab_config,
    lab_provider,
    observed,
    submit,
)

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.timeout(300)]

RUNNING, ENDED, STOPPED, GONE, UNKNOWN = (
    ProviderState.RUNNING,
    ProviderState.ENDED,
    ProviderState.STOPPED,
    ProviderState.GONE,
    ProviderState.UNKNOWN,
)


@pytest.fixture
def settings(dstack_server: DstackServer, lab_client: LabClient, tmp_path: Path) -> DstackConfig:
    """The settings for a server without runs and fleets."""
    return lab_config(dstack_server, tmp_path)


@pytest.fixture
async def provider(settings: DstackConfig) -> AsyncIterator[DstackProvider]:
    async with lab_provider(settings) as provider:
        yield provider


async def health(endpoint: str) -> Health:
    """The executor's health, as soon as it answers."""
    executors = ExecutorClient(timedelta(seconds=2))
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while True:
                try:
                    return await executors.health(endpoint, "any")
                except ExecutorUnreachableError:
                    await asyncio.sleep(0.05)
    finally:
        await executors.close()


async def test_a_machine_is_rented_reached_over_ssh_and_given_back(
    provider: DstackProvider, fake_cloud: FakeCloud
) -> None:
    await provider.provision(an_order())
    seen = await observed(provider, RUNNING)
    assert (seen.backend, seen.region, seen.price_micros_per_hour) == ("amddevcloud", "atl1", 1_990_000)
    assert (await health(seen.endpoint)).inventory.device_title == "Tiny"
    assert [each.backend for each in fake_cloud.existing()] == ["amddevcloud"]
    assert await provider.list_all() == ["mach_1"]
    await provider.release("mach_1")
    assert fake_cloud.existing() == []
    assert (await provider.observe("mach_1")).state is GONE
    assert await provider.list_all() == []


async def test_every_way_to_end_keeps_exit_status_and_words_and_costs_nothing_after_release(
    provider: DstackProvider, settings: DstackConfig, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    await submit(settings, an_order("mach_zero"), "echo all is done")
    await submit(settings, an_order("mach_three", "hotaisle"), "echo no good; exit 3")
    await submit(settings, an_order("mach_long", max_duration=timedelta(seconds=2)))
    await submit(settings, an_order("mach_stop"))
    await submit(settings, an_order("mach_abort"))
    for machine_id, abort in (("mach_stop", False), ("mach_abort", True)):
        await observed(provider, RUNNING, machine_id=machine_id)
        await asyncio.to_thread(lab_client.stop, f"wavepool-{machine_id.removeprefix('mach_')}", abort=abort)
    ends = {
        "mach_zero": (STOPPED, Fault.EXECUTOR_EXITED, 0, "done_by_runner"),
        "mach_three": (ENDED, Fault.EXECUTOR_EXITED, 3, "container_exited_with_error"),
        "mach_long": (STOPPED, Fault.EXPIRED, None, "max_duration_exceeded"),
        "mach_stop": (STOPPED, Fault.PROVIDER, None, "ed_by_user"),
        "mach_abort": (STOPPED, Fault.PROVIDER, None, "aborted_by_user"),
    }
    for machine_id, (state, fault, exit_status, words) in ends.items():
        seen = await observed(provider, ENDED, STOPPED, machine_id=machine_id)
        assert seen.state is state
        assert (seen.fault, seen.exit_status) == (fault, exit_status), seen
        assert words in seen.reason
        assert ("its log ends: no good" in seen.reason) == (machine_id == "mach_three")
    assert sorted(await provider.list_all()) == sorted(ends)
    assert await printed(provider, "mach_three", follow=True) == b"no good\r\n"
    await asyncio.gather(*(provider.release(machine_id) for machine_id in ends))
    assert fake_cloud.existing() == []
    assert await provider.list_all() == []
    # The server has forgotten the run, and we have kept its log.
    assert await printed(provider, "mach_three", follow=False) == b"no good\r\n"
    with pytest.raises(ProviderError, match="no log of it was kept"):
        await printed(provider, "mach_none", follow=False)


async def test_an_executor_without_a_real_sandbox_ends_its_machine_with_the_setting_s_name(
    settings: DstackConfig, fake_cloud: FakeCloud
) -> None:
    # A machine of the lab is not a container, and lacks only bubblewrap.
    command = f"PATH=/nowhere exec {sys.executable} -m services.executor"
    agent = lab_agent(command, EXECUTOR_SANDBOX="required", DOCKER_HOST="unix:///nowhere/docker.sock")
    async with lab_provider(replace(settings, agent=agent)) as provider:
        await provider.provision(an_order())
        seen = await observed(provider, ENDED)
    assert (seen.fault, seen.exit_status) == (Fault.EXECUTOR_EXITED, 1), seen
    assert "EXECUTOR_SANDBOX=required needs a sandbox that does not work here" in seen.reason
    assert "VMPOOL_DSTACK_PRIVILEGED=true" in seen.reason
    assert fake_cloud.existing() == []


async def test_a_machine_whose_pool_is_gone_for_good_ends_by_itself(
    settings: DstackConfig, fake_cloud: FakeCloud
) -> None:
    agent = replace(lab_agent("exec python -m services.executor"), orphan_timeout=timedelta(seconds=2))
    fleet = replace(settings.fleet, idle_duration=timedelta(seconds=1))
    async with lab_provider(replace(settings, agent=agent, fleet=fleet)) as provider:
        await provider.provision(an_order())
        # Nothing asks the executor, as if the pool's host had died.
        seen = await observed(provider, STOPPED)
        assert (seen.exit_status, seen.fault) == (0, Fault.EXECUTOR_EXITED), seen
        await asyncio.to_thread(fake_cloud.wait_until, lambda cloud: cloud.existing() == [])
        assert "no pool has asked for this machine" in (await printed(provider, "mach_1", follow=False)).decode()
    assert len(fake_cloud.ledger()) == 1


async def test_an_idle_machine_goes_to_the_next_run_and_releasing_the_first_leaves_it_alone(
    provider: DstackProvider, settings: DstackConfig, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    await submit(settings, an_order("mach_cold"), "true")
    await asyncio.to_thread(lab_client.wait, "wavepool-cold", "done")
    await asyncio.to_thread(until, lambda: [each.status.value for each in lab_client.instances()] == ["idle"])
    await provider.provision(an_order("mach_warm"))
    seen = await observed(provider, RUNNING, machine_id="mach_warm")
    assert len(fake_cloud.ledger()) == 1
    await provider.release("mach_cold")
    assert (await health(seen.endpoint)).inventory.device_title == "Tiny"
    assert await provider.list_all() == ["mach_warm"]
    await provider.release("mach_warm")
    assert fake_cloud.existing() == []


@pytest.mark.parametrize(("status", "words"), [(422, "no MI300X is left in atl1"), (500, "500")])
async def test_a_cloud_that_refuses_is_no_capacity_in_its_own_words(
    provider: DstackProvider, fake_cloud: FakeCloud, status: int, words: str
) -> None:
    fake_cloud.refuse("create", status, "no MI300X is left in atl1", backend="amddevcloud")
    await provider.provision(an_order())
    seen = await observed(provider, ENDED)
    assert (seen.fault, seen.rented) == (Fault.NO_CAPACITY, False)
    assert seen.reason.startswith("dstack: failed_to_start_due_to_no_capacity: Failed to provision in fleet 'wavepool'")
    assert words in seen.reason
    await provider.release("mach_1")
    assert fake_cloud.ledger() == []


@pytest.mark.parametrize(
    ("sizes", "backends"),
    [
        ({}, {"amddevcloud", "hotaisle"}),
        ({"disk": "1TB.."}, {"hotaisle"}),
        ({"memory": "230GB.."}, {"amddevcloud"}),
        ({"cpu": "x86:..16"}, {"hotaisle"}),
        ({"disk": "100TB.."}, set()),
    ],
)
async def test_the_plan_has_machines_of_the_sizes_that_are_asked_for(
    settings: DstackConfig, sizes: dict[str, str], backends: set[str]
) -> None:
    async with lab_provider(replace(settings, market=market(**sizes))) as provider:
        await provider.offers()
        assert {offer.backend for offer in await provider.offers()} == backends


async def test_a_full_fleet_is_no_capacity_and_what_is_in_it_runs_on(
    dstack_server: DstackServer, lab_client: LabClient, fake_cloud: FakeCloud, settings: DstackConfig
) -> None:
    async with lab_provider(replace(settings, fleet=replace(settings.fleet, size=1))) as provider:
        await provider.provision(an_order("mach_first"))
        await observed(provider, RUNNING, machine_id="mach_first")
        await provider.provision(an_order("mach_second"))
        seen = await observed(provider, ENDED, machine_id="mach_second")
        assert seen.fault is Fault.NO_CAPACITY
        await provider.release("mach_second")
        assert (await observed(provider, RUNNING, machine_id="mach_first")).endpoint
        await provider.release("mach_first")
    assert fake_cloud.existing() == []
    assert len(fake_cloud.ledger()) == 1


async def test_a_missing_fleet_is_made_unless_the_settings_forbid_it(
    settings: DstackConfig, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    forbidden = replace(settings, fleet=replace(settings.fleet, create=False))
    with pytest.raises(ProviderError, match=r"no fleet 'wavepool'.*VMPOOL_DSTACK_CREATE_FLEET=true") as refused:
        async with lab_provider(forbidden):
            pass
    assert refused.value.fault is Fault.MISCONFIGURED
    async with lab_provider(settings) as provider:
        await provider.offers()
        lab_client.release("wavepool")
        await provider.provision(an_order())
        await observed(provider, RUNNING)
        await provider.release("mach_1")
    assert fake_cloud.existing() == []


async def test_a_machine_that_cannot_make_containers_is_a_matter_for_the_operator(
    provider: DstackProvider, fake_cloud: FakeCloud
) -> None:
    fake_cloud.break_containers("manifest for wavepool:latest not found")
    await provider.provision(an_order())
    seen = await observed(provider, ENDED)
    assert seen.fault is Fault.MISCONFIGURED
    assert "manifest for wavepool:latest not found" in seen.reason
    await provider.release("mach_1")
    assert fake_cloud.existing() == []


async def test_a_dead_machine_is_unreachable_and_its_release_ends_the_rent(
    provider: DstackProvider, fake_cloud: FakeCloud
) -> None:
    await provider.provision(an_order())
    await observed(provider, RUNNING)
    fake_cloud.power_off(fake_cloud.existing()[0].id)
    seen = await observed(provider, ENDED)
    assert (seen.fault, seen.rented) == (Fault.UNREACHABLE, True)
    assert len(fake_cloud.existing()) == 1
    await provider.release("mach_1")
    assert fake_cloud.existing() == []


async def test_a_machine_can_be_given_back_before_it_has_started(
    provider: DstackProvider, fake_cloud: FakeCloud
) -> None:
    fake_cloud.hold_boots()
    await provider.provision(an_order())
    fake_cloud.wait_until(lambda cloud: len(cloud.existing()) == 1)
    await provider.release("mach_1")
    assert fake_cloud.existing() == []
    assert await provider.list_all() == []


async def test_a_machine_that_the_cloud_makes_while_it_is_given_back_is_given_back_too(
    provider: DstackProvider, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    fake_cloud.hold_creates()
    await provider.provision(an_order())
    await asyncio.to_thread(until, lambda: [each.status.value for each in lab_client.instances()] == ["pending"])
    release = asyncio.create_task(provider.release("mach_1"))
    await asyncio.to_thread(until, lambda: lab_client.run("wavepool-1").status.value in ("terminating", *FINAL))
    fake_cloud.heal()
    await release
    assert [each.status for each in fake_cloud.ledger()] == ["deleted"]
    assert await provider.list_all() == []


async def test_a_server_that_is_killed_or_hangs_is_no_news_of_its_machines(
    provider: DstackProvider, settings: DstackConfig, fake_cloud: FakeCloud, dstack_server: DstackServer
) -> None:
    await provider.provision(an_order())
    endpoint = (await observed(provider, RUNNING)).endpoint
    dstack_server.kill()
    with pytest.raises(ConnectionError, match="cannot be reached"):
        await provider.observe("mach_1")
    assert (await health(endpoint)).inventory.device_title == "Tiny"
    with pytest.raises(ConnectionError, match="cannot be reached"):
        await provider.release("mach_1")
    dstack_server.start()
    assert (await observed(provider, RUNNING)).endpoint == endpoint
    impatient = replace(settings, server=replace(settings.server, timeout=timedelta(seconds=0.5)))
    dstack_server.hang()
    try:
        other = DstackProvider(impatient)
        with pytest.raises(TimeoutError):
            await other.observe("mach_1")
        with pytest.raises(TimeoutError, match=r"finding it: dstack at .* has not answered"):
            await other.release("mach_1")
        with pytest.raises(TimeoutError):
            await other.offers()
        await other.close()
    finally:
        dstack_server.resume()
    assert len(fake_cloud.existing()) == 1
    await provider.release("mach_1")
    assert fake_cloud.existing() == []


async def test_a_machine_that_the_server_has_forgotten_is_not_taken_for_gone_while_it_answers(
    provider: DstackProvider, settings: DstackConfig, fake_cloud: FakeCloud, dstack_server: DstackServer
) -> None:
    await provider.provision(an_order())
    endpoint = (await observed(provider, RUNNING)).endpoint
    await health(endpoint)
    dstack_server.kill()
    dstack_server.lose_data()
    dstack_server.start()
    another = DstackProvider(settings)
    for each in (provider, another):
        async with asyncio.timeout(DEADLINE_SECONDS):
            # A busy server may be UNKNOWN for other reasons first.
            while "answers all the same" not in (seen := await each.observe("mach_1")).reason:
                assert seen.state is UNKNOWN
        assert seen.state is UNKNOWN
        with pytest.raises(ProviderError, match=r"has forgotten machine mach_1, .*: give the server its data back, or"):
            await each.release("mach_1")
    assert (await health(endpoint)).inventory.device_title == "Tiny"
    fake_cloud.destroy(fake_cloud.existing()[0].id)
    for each in (provider, another):
        await observed(each, GONE)
        await each.release("mach_1")
    await another.close()


async def test_ordering_twice_makes_one_machine_and_another_process_finds_it(
    provider: DstackProvider, settings: DstackConfig, fake_cloud: FakeCloud
) -> None:
    another = DstackProvider(settings)
    await asyncio.gather(*(each.provision(an_order()) for each in (provider, another, provider)))
    endpoint = (await observed(provider, RUNNING)).endpoint
    assert (await observed(another, RUNNING)).endpoint == endpoint
    await another.close()
    assert len(fake_cloud.ledger()) == 1
    await provider.release("mach_1")
    assert fake_cloud.existing() == []


async def test_a_machine_whose_run_somebody_deleted_is_found_and_released_and_unknown_ones_are_left_alone(
    provider: DstackProvider, settings: DstackConfig, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    await submit(settings, an_order("mach_lost"), "true")
    await asyncio.to_thread(lab_client.wait, "wavepool-lost", "done")
    lab_client.api.client.runs.delete(settings.server.project, ["wavepool-lost"])
    lab_client.create_fleet("theirs", backends=["hotaisle"])
    # It has our name, and not the token's mark.
    lab_client.submit("wavepool-theirs", TINY_COMMAND, fleets=["theirs"])
    await asyncio.to_thread(lab_client.wait, "wavepool-theirs", "running")
    (found,) = await provider.list_all()
    assert found.startswith(INSTANCE_PREFIX)
    # Its fleet does not matter.
    fleet = replace(settings.fleet, name="renamed")
    async with lab_provider(replace(settings, fleet=fleet)) as renamed:
        assert await renamed.list_all() == [found]
        await renamed.release(found)
    assert [each.backend for each in fake_cloud.existing()] == ["hotaisle"]
    assert await provider.list_all() == []
    await asyncio.to_thread(lab_client.clear)


async def test_a_machine_outlives_the_name_of_its_pool_and_the_run_that_somebody_deleted(
    provider: DstackProvider, settings: DstackConfig, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    await provider.provision(an_order())
    known = (await observed(provider, RUNNING)).resource
    assert (known.name, bool(known.resource_id)) == ("wavepool-1", True)
    # The default fleet is named after the pool, so it has another name too.
    fleet = replace(settings.fleet, name="renamed")
    async with lab_provider(replace(settings, pool_name="renamed", fleet=fleet)) as renamed:
        await observed(renamed, GONE)
        await observed(renamed, RUNNING, resource=known)
        await asyncio.to_thread(lab_client.stop, "wavepool-1", abort=False)
        await asyncio.to_thread(lab_client.wait, "wavepool-1", "terminated")
        lab_client.api.client.runs.delete(settings.server.project, ["wavepool-1"])
        for found_by in (known, replace(known, resource_id="")):
            async with asyncio.timeout(DEADLINE_SECONDS):
                while "lists its instance" not in (seen := await renamed.observe("mach_1", found_by)).reason:
                    await asyncio.sleep(0.1)
            assert seen.state is UNKNOWN
        assert len(fake_cloud.existing()) == 1
        await renamed.release("mach_1", known)
        assert fake_cloud.existing() == []
        await observed(renamed, GONE, resource=known)


async def test_a_run_that_has_our_name_and_not_our_mark_is_never_taken_for_ours(
    provider: DstackProvider, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    await provider.offers()
    lab_client.submit("wavepool-1", "sleep 600", fleets=["wavepool"])
    await asyncio.to_thread(lab_client.wait, "wavepool-1", "running")
    with pytest.raises(ProviderError, match=r"a run 'wavepool-1' that is not ours: delete it, or rename the pool"):
        await provider.provision(an_order())
    await observed(provider, GONE)
    await provider.release("mach_1")
    assert await provider.list_all() == []
    assert lab_client.run("wavepool-1").status.value == "running"
    # Not even if the run is over and deleted, and its machine is idle in our fleet.
    await asyncio.to_thread(lab_client.stop, "wavepool-1", abort=False)
    await asyncio.to_thread(lab_client.wait, "wavepool-1", "terminated")
    lab_client.api.client.runs.delete("main", ["wavepool-1"])
    assert await provider.list_all() == []
    assert len(fake_cloud.existing()) == 1
    await asyncio.to_thread(lab_client.clear)


async def printed(provider: DstackProvider, machine_id: str, *, follow: bool) -> bytes:
    return b"".join([piece async for piece in provider.logs(machine_id, follow=follow)])
