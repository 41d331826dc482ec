"""The fate of machines when the pool is stopped."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from services.vmpool.lifecycle.releaser import ANSWER_TIME
from services.vmpool.machines.lease import Holder
from services.vmpool.machines.machine import MachineState
from tests.services.vmpool.conftest import ON_SQLITE, Bench, a_request, bench_on

pytestmark = ON_SQLITE


async def test_stopping_the_pool_ends_its_machines_whatever_they_do(bench: Bench) -> None:
    await bench.warm_machine()
    assert await bench.leases.acquire(a_request()) is not None
    await bench.demand()
    await bench.reconciler.close()
    assert bench.provider.machines == {}
    assert await bench.machines.unreleased() == []


async def test_a_machine_whose_order_is_under_way_when_the_pool_stops_is_released_too(bench: Bench) -> None:
    bench.reconcile_with(pass_seconds=0.01)
    bench.provider.slow_order = asyncio.Event()
    await bench.demand()
    await bench.passes()
    asyncio.get_running_loop().call_later(0.1, bench.provider.slow_order.set)
    await bench.reconciler.close()
    assert bench.provider.provisioned != []
    assert bench.provider.machines == {}


async def test_an_order_that_arrives_after_the_pool_has_ended_is_released_by_the_next_one(bench: Bench) -> None:
    bench.reconcile_with(pass_seconds=0.01, order_seconds=0.01)
    bench.provider.slow_order = asyncio.Event()
    await bench.demand()
    await bench.passes()
    await bench.reconciler.close()
    bench.clock.advance(timedelta(seconds=1))
    (remembered,) = await bench.machines.unreleased()
    assert (remembered.state, remembered.reason) == (MachineState.DRAINING, "the pool is stopping")
    async with bench_on(bench.settings, bench.provider, bench.clock) as later:
        await later.passes(2)
        assert len(await later.machines.unreleased()) == 1
        bench.provider.slow_order.set()
        while not bench.provider.machines:
            await asyncio.sleep(0)
        await later.passes(2)
        assert bench.provider.machines == {}
        released = await later.machines.get(remembered.machine_id)
        assert released.state is MachineState.STOPPED
        assert released.provision_time is not None


async def test_an_order_that_never_arrives_is_given_up_in_time(bench: Bench) -> None:
    bench.reconcile_with(pass_seconds=0.01, order_seconds=0.01)
    bench.provider.slow_order = asyncio.Event()
    await bench.demand()
    await bench.passes()
    await bench.reconciler.close()
    bench.clock.advance(timedelta(seconds=1))
    async with bench_on(bench.settings, bench.provider, bench.clock) as later:
        for _ in range(2):
            bench.clock.advance(ANSWER_TIME / 2)
            assert len(await later.machines.unreleased()) == 1
            await later.passes()
        assert await later.machines.unreleased() == []
        assert (
            sum([machine.cost_until(bench.clock.now()) for machine in await later.machines.all(include_ended=True)])
            == 0
        )
    bench.provider.slow_order.set()


async def test_reserved_machines_that_can_outlive_the_pool_are_taken_on_by_the_next_one_with_their_leases(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.provider.keeps_reserved = True
    reserved, idle = await bench.warm_machine(), await bench.warm_machine("MI210")
    request = a_request("res_1", holder=Holder.RESERVATION, duration=timedelta(hours=24))
    taken = await bench.leases.acquire(request)
    assert taken is not None
    await bench.reconciler.close()
    assert set(bench.provider.machines) == {reserved.machine_id}
    assert await bench.state_of(idle.machine_id) is MachineState.STOPPED
    said = f"machine {reserved.machine_id} goes on without the pool, and so do its reservations"
    assert [record.message for record in caplog.records].count(said) == 1
    bench.clock.advance(timedelta(hours=3))
    async with bench_on(bench.settings, bench.provider, bench.clock) as later:
        await later.passes(3)
        machine = await later.machines.get(reserved.machine_id)
        assert (machine.state, machine.reservation_ids) == (MachineState.BUSY, ("res_1",))
        assert await later.leases.acquire(request) == (taken[0], machine)
        renewed = await later.leases.renew(taken[0].lease_id, timedelta(hours=24))
        assert renewed.expire_time == bench.clock.now() + timedelta(hours=24)


async def test_reserved_machines_that_cannot_outlive_the_pool_end_and_the_log_names_their_reservations(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    machine = await bench.warm_machine()
    await bench.leases.acquire(a_request("res_1", holder=Holder.RESERVATION))
    await bench.reconciler.close()
    assert bench.provider.machines == {}
    said = f"machine {machine.machine_id} ends with the pool, and so do its reservations"
    assert [record.reservation_ids for record in caplog.records if record.message == said] == [["res_1"]]


async def test_stopping_the_pool_leaves_machines_that_outlive_it(bench: Bench) -> None:
    await bench.warm_machine()
    bench.provider.ends_with_pool = False
    await bench.reconciler.close()
    assert len(bench.provider.machines) == 1
