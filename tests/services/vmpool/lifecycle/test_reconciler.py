from __future__ import annotations

from datetime import timedelta

import pytest

from services.vmpool.errors import LeaseEndedError, ProviderError
from services.vmpool.fault import Fault
from services.vmpool.lifecycle.step_pauses import LONGEST_PAUSE
from services.vmpool.machines.lease import EXPIRY_GRACE
from services.vmpool.machines.machine import MachineState
from services.vmpool.providers.provider import Observation, ProviderState
from tests.services.vmpool.conftest import ON_SQLITE, Bench, a_request, bench_on

pytestmark = ON_SQLITE


async def test_demand_makes_a_machine_ready_step_by_step(bench: Bench) -> None:
    assert await bench.demand() == (1, "")
    states: list[MachineState] = []
    for _ in range(3):
        await bench.passes()
        states += [machine.state for machine in await bench.machines.unreleased()]
    assert states == [MachineState.PROVISIONING, MachineState.STARTING, MachineState.WARM]
    (machine,) = await bench.machines.unreleased()
    assert machine.inventory.device_title == "Scripted"


async def test_demand_that_nobody_repeats_is_forgotten(bench: Bench) -> None:
    bench.provider.failing["offers"] = ProviderError("busy")
    starting, blocked_reason = await bench.demand()
    assert starting == 0
    assert "busy" in blocked_reason
    del bench.provider.failing["offers"]
    bench.clock.advance(bench.settings.demand_lifetime)
    assert await bench.resize() == (0, "")


async def test_idle_machines_are_released_and_the_pool_shrinks_to_none(bench: Bench) -> None:
    machine = await bench.warm_machine()
    bench.clock.advance(bench.settings.idle_timeout)
    await bench.vmpool.sizer.run_once()
    await bench.passes()
    stopped = await bench.machines.get(machine.machine_id)
    assert (stopped.state, stopped.reason) == (MachineState.STOPPED, "idle")
    assert bench.provider.machines == {}


async def test_a_machine_of_another_type_gives_way(bench: Bench) -> None:
    for _ in range(2):
        await bench.demand(jobs=2)
        await bench.passes(3)
    await bench.no_demand()
    for _ in range(5):
        await bench.demand("MI210")
        await bench.passes()
    types = sorted(machine.gpu_type for machine in await bench.machines.unreleased())
    assert types == ["MI210", "MI300X"]


async def test_a_provider_that_refuses_fails_the_machine_and_is_tried_again_later(bench: Bench) -> None:
    bench.provider.failing["provision"] = ProviderError("no capacity in this region")
    await bench.demand()
    await bench.passes(2)
    starting, blocked_reason = await bench.demand()
    assert starting == 0
    assert "no capacity in this region" in blocked_reason
    del bench.provider.failing["provision"]
    bench.clock.advance(timedelta(seconds=3))
    assert await bench.demand() == (1, "")


async def test_the_providers_stage_is_reported(bench: Bench) -> None:
    await bench.demand()
    await bench.passes()
    (machine,) = await bench.machines.unreleased()
    bench.provider.observations[machine.machine_id] = Observation(ProviderState.PENDING, stage="pulling")
    await bench.passes()
    assert (await bench.machines.get(machine.machine_id)).provider_stage == "pulling"


@pytest.mark.parametrize("state", [ProviderState.PENDING, ProviderState.UNKNOWN, ProviderState.RUNNING])
async def test_a_machine_that_is_never_ready_fails_and_is_released(bench: Bench, state: ProviderState) -> None:
    await bench.demand()
    await bench.passes()
    (machine,) = await bench.machines.unreleased()
    bench.executors.silent = True
    bench.provider.observations[machine.machine_id] = Observation(state, stage="somewhere")
    await bench.passes(2)
    bench.clock.advance(bench.provider.start_timeout)
    await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.FAILED
    assert bench.provider.machines == {}


async def test_a_machine_that_ends_while_starting_fails_with_the_providers_words(bench: Bench) -> None:
    await bench.demand()
    await bench.passes(2)
    (machine,) = await bench.machines.unreleased()
    bench.provider.observations[machine.machine_id] = Observation(ProviderState.ENDED, reason="exit status 3")
    await bench.passes(2)
    failed = await bench.machines.get(machine.machine_id)
    assert (failed.state, failed.reason) == (MachineState.FAILED, "exit status 3")


async def test_a_silent_machine_is_lost_within_ten_seconds_and_its_leases_end(bench: Bench) -> None:
    machine = await bench.warm_machine()
    taken = await bench.lease()
    await bench.passes()
    bench.executors.silent = True
    for _ in range(10):
        bench.clock.advance(timedelta(seconds=1))
        await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.LOST
    assert bench.provider.machines == {}
    with pytest.raises(LeaseEndedError):
        await bench.leases.renew(taken.lease_id, timedelta(seconds=1))


async def test_a_machine_that_hangs_is_lost_within_ten_seconds_too(bench: Bench) -> None:
    machine = await bench.warm_machine()
    await bench.passes()
    bench.executors.silent = True
    bench.executors.hang = lambda: bench.clock.advance(bench.settings.heartbeat_interval)
    began = bench.clock.now()
    while await bench.state_of(machine.machine_id) is not MachineState.LOST:
        bench.clock.advance(bench.settings.reconcile_interval)
        await bench.passes()
        assert bench.clock.now() - began <= timedelta(seconds=10)


async def test_a_short_silence_loses_nothing(bench: Bench) -> None:
    machine = await bench.warm_machine()
    await bench.passes()
    for silent in (True, False, True, False):
        bench.executors.silent = silent
        bench.clock.advance(timedelta(seconds=5))
        await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.WARM


@pytest.mark.parametrize("passes", [0, 2], ids=["provisioning", "warm"])
async def test_a_machine_that_was_stopped_at_its_provider_is_stopped_and_tells_why(bench: Bench, passes: int) -> None:
    await bench.demand()
    await bench.passes(1 + passes)
    (machine,) = await bench.machines.unreleased()
    taken = await bench.leases.acquire(a_request()) if passes else None
    bench.provider.observations[machine.machine_id] = Observation(
        ProviderState.STOPPED, reason="terminated_by_user", fault=Fault.PROVIDER, exit_status=0
    )
    await bench.no_demand()
    await bench.passes(3)
    stopped = await bench.machines.get(machine.machine_id)
    assert (stopped.state, stopped.reason) == (MachineState.STOPPED, "terminated_by_user")
    assert (stopped.fault, stopped.exit_status) == (Fault.PROVIDER, 0)
    assert bench.provider.machines == {}
    # It has done no job: the pool must not buy one machine after another.
    assert len(await bench.machines.failures()) == 1
    if taken:
        with pytest.raises(LeaseEndedError):
            await bench.leases.renew(taken[0].lease_id, timedelta(seconds=1))


async def test_a_machine_is_found_kept_and_released_under_its_old_name_after_the_pool_was_renamed(
    bench: Bench,
) -> None:
    machine = await bench.warm_machine()
    assert machine.resource_name == f"wavepool-{machine.machine_id}"
    bench.provider.pool_name = "renamed"
    async with bench_on(bench.settings, bench.provider, bench.clock) as later:
        await later.passes(2)
        assert await later.state_of(machine.machine_id) is MachineState.WARM
        await later.machines.drain(machine.machine_id, "asked")
        await later.passes(2)
        assert await later.state_of(machine.machine_id) is MachineState.STOPPED
    assert bench.provider.machines == {}


async def test_a_provider_that_cannot_be_asked_changes_nothing(bench: Bench) -> None:
    machine = await bench.warm_machine()
    for method in ("observe", "release", "list_all"):
        bench.provider.failing[method] = TimeoutError("no answer")
    await bench.machines.drain(machine.machine_id, "asked")
    await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.DRAINING
    bench.provider.failing.clear()
    bench.clock.advance(LONGEST_PAUSE)
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED


async def test_a_draining_machine_waits_for_its_lease(bench: Bench) -> None:
    machine = await bench.warm_machine()
    taken = await bench.lease()
    await bench.machines.drain(machine.machine_id, "asked")
    await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.DRAINING
    await bench.leases.release(taken.lease_id, "done")
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED


async def test_the_slot_of_an_expired_lease_is_free_once_the_run_is_gone(bench: Bench) -> None:
    await bench.warm_machine()
    assert await bench.leases.acquire(a_request()) is not None
    bench.executors.runs_in_flight = 1
    bench.clock.advance(timedelta(seconds=60))
    await bench.passes()
    assert await bench.leases.acquire(a_request("next")) is None
    bench.executors.runs_in_flight = 0
    bench.clock.advance(timedelta(seconds=2))
    await bench.passes()
    assert await bench.leases.acquire(a_request("next")) is not None


async def test_a_machine_whose_run_outlives_its_lease_is_drained_and_ended(bench: Bench) -> None:
    machine = await bench.warm_machine()
    assert await bench.leases.acquire(a_request()) is not None
    bench.executors.runs_in_flight = 1
    bench.clock.advance(timedelta(seconds=60) + EXPIRY_GRACE)
    await bench.passes(3)
    ended = await bench.machines.get(machine.machine_id)
    assert ended.state is MachineState.STOPPED
    assert "outlived its lease" in ended.reason
    assert bench.provider.machines == {}


async def test_a_pool_that_was_killed_goes_on_where_it_was(bench: Bench) -> None:
    """In every state, the next pool on the same database takes over the machine and makes no second one."""
    await bench.demand()
    for _ in range(4):
        async with bench_on(bench.settings, bench.provider, bench.clock) as next_bench:
            await next_bench.passes()
    (machine,) = await bench.machines.unreleased()
    assert machine.state is MachineState.WARM
    assert bench.provider.provisioned == [machine.machine_id]
