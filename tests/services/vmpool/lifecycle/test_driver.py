"""The driver's handling of providers that hang, break or are away, and of executors that answer but are unfit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.vmpool.errors import LeaseEndedError
from services.vmpool.fault import Fault
from services.vmpool.lifecycle.releaser import ANSWER_TIME
from services.vmpool.lifecycle.step_pauses import LONGEST_PAUSE
from services.vmpool.machines.machine import Halt, Machine, MachineState
from services.vmpool.policy.machine_budget import held_micros
from services.vmpool.providers.provider import Observation, ProviderState, Resource
from services.vmpool.store.usage_store import UsageStore
from tests.services.vmpool.conftest import ON_SQLITE, Bench, a_request, bench_on
from tests.services.vmpool.scripted_provider import RUNNING

SECOND = timedelta(seconds=1)
AWAY = [TimeoutError("no answer"), ConnectionError("no engine"), RuntimeError("a bug of the plug-in")]


pytestmark = ON_SQLITE


async def the_machine(bench: Bench) -> Machine:
    (machine,) = await bench.machines.unreleased()
    return machine


@pytest.mark.parametrize("error", AWAY, ids=repr)
async def test_a_dead_executor_is_noticed_though_its_provider_cannot_be_asked(bench: Bench, error: Exception) -> None:
    machine = await bench.warm_machine()
    await bench.passes()
    bench.provider.failing["observe"] = error
    bench.executors.silent = True
    for _ in range(10):
        bench.clock.advance(SECOND)
        await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.LOST


async def test_a_dead_executor_is_noticed_though_its_provider_hangs(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.reconcile_with(answer_seconds=0.01)
    machine = await bench.warm_machine()
    await bench.passes()

    async def hang(*_: object) -> Observation:
        return await asyncio.Event().wait() and Observation(ProviderState.GONE)

    monkeypatch.setattr(bench.provider, "observe", hang)
    bench.executors.silent = True
    for _ in range(10):
        bench.clock.advance(SECOND)
        await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.LOST
    assert bench.provider.machines == {}


async def test_what_a_slow_provider_tells_serves_the_next_look(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.reconcile_with(answer_seconds=0.01)
    machine = await bench.warm_machine()
    answer = asyncio.Event()

    async def slow(*_: object) -> Observation:
        await answer.wait()
        return Observation(ProviderState.ENDED, reason="SIGKILL")

    monkeypatch.setattr(bench.provider, "observe", slow)
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.WARM
    answer.set()
    await bench.passes(2)
    assert (await bench.machines.get(machine.machine_id)).reason == "SIGKILL"


async def test_a_machine_ordered_before_ids_were_kept_learns_its_own(bench: Bench) -> None:
    machine = await bench.warm_machine()
    assert machine.resource_id == ""
    run = Resource(machine.resource_name, "the run's id")
    bench.provider.observations[machine.machine_id] = replace(RUNNING, resource=run)
    await bench.passes(2)
    kept = await bench.machines.get(machine.machine_id)
    assert (kept.state, kept.resource_id) == (MachineState.WARM, "the run's id")


@pytest.mark.parametrize("error", AWAY, ids=repr)
async def test_an_order_that_nobody_takes_ends_in_time(bench: Bench, error: Exception) -> None:
    """Otherwise it would count as a machine on its way for ever, and no other provider would be tried."""
    bench.provider.failing["provision"] = error
    await bench.demand()
    await bench.passes(2)
    machine = await the_machine(bench)
    assert machine.state is MachineState.REQUESTED
    bench.clock.advance(bench.provider.start_timeout)
    await bench.passes(2)
    failed = await bench.machines.get(machine.machine_id)
    assert failed.state is MachineState.FAILED
    assert str(error) in failed.reason
    # It may still arrive.
    assert failed.release_time is None
    bench.clock.advance(ANSWER_TIME)
    await bench.passes(2)
    failed = await bench.machines.get(machine.machine_id)
    assert failed.release_time is not None
    assert failed.cost_until(bench.clock.now()) == 0


@pytest.mark.parametrize("error", AWAY, ids=repr)
async def test_a_machine_that_nobody_tells_of_fails_in_time(bench: Bench, error: Exception) -> None:
    await bench.demand()
    await bench.passes()
    machine = await the_machine(bench)
    bench.provider.failing["observe"] = error
    bench.clock.advance(bench.provider.start_timeout)
    await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.FAILED
    assert bench.provider.machines == {}


async def test_a_pool_that_was_away_does_not_give_up_a_machine_at_first_sight(bench: Bench) -> None:
    await bench.demand()
    await bench.passes(2)
    machine = await the_machine(bench)
    assert machine.state is MachineState.STARTING
    bench.clock.advance(10 * bench.provider.start_timeout)
    async with bench_on(bench.settings, bench.provider, bench.clock) as next_bench:
        next_bench.executors.silent = True
        await next_bench.passes(2)
        assert await next_bench.state_of(machine.machine_id) is MachineState.STARTING
        next_bench.executors.silent = False
        await next_bench.passes()
        assert await next_bench.state_of(machine.machine_id) is MachineState.WARM


async def test_a_release_that_hangs_is_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.reconcile_with(release_seconds=0.01)
    machine = await bench.warm_machine()
    release = bench.provider.release

    async def hang(machine_id: str) -> None:
        del machine_id
        await asyncio.Event().wait()

    monkeypatch.setattr(bench.provider, "release", hang)
    await bench.machines.drain(machine.machine_id, "asked")
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.DRAINING
    monkeypatch.setattr(bench.provider, "release", release)
    bench.clock.advance(LONGEST_PAUSE)
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED


async def test_a_machine_that_joins_unfit_fails_and_is_not_bought_again_at_once(bench: Bench) -> None:
    bench.executors.unfit_reason = "its canary failed"
    await bench.demand()
    await bench.passes(4)
    (machine,) = await bench.machines.all(include_ended=True)
    assert (machine.state, machine.reason) == (MachineState.FAILED, "unfit: its canary failed")
    starting, blocked_reason = await bench.demand()
    assert starting == 0
    assert "its canary failed" in blocked_reason


@pytest.mark.parametrize("served", [False, True])
async def test_a_machine_that_turns_unfit_before_its_first_job_counts_as_a_failed_start(
    bench: Bench, served: bool
) -> None:
    machine = await bench.warm_machine()
    if served:
        taken = await bench.lease()
        await bench.leases.release(taken.lease_id, "done")
    bench.executors.unfit_reason = "its canary failed"
    await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED
    assert (await bench.demand())[0] == served


async def test_an_order_that_came_through_unheard_costs_what_it_cost(bench: Bench) -> None:
    bench.provider.loses_answers = True
    await bench.demand()
    await bench.passes(2)
    machine = await the_machine(bench)
    assert (machine.state, machine.provision_time) == (MachineState.REQUESTED, None)
    bench.clock.advance(bench.provider.start_timeout)
    await bench.passes(2)
    failed = await bench.machines.get(machine.machine_id)
    assert (failed.state, bench.provider.machines) == (MachineState.FAILED, {})
    assert failed.cost_until(bench.clock.now()) == failed.price_micros_per_hour * 120 // 3600
    usage = UsageStore(bench.database, bench.clock)
    await usage.write_due(SECOND)
    ((fact, _),) = await usage.unsent()
    assert (fact.end_time - fact.start_time, fact.final) == (bench.provider.start_timeout, True)


async def test_a_machine_that_is_stopped_while_it_is_ordered_costs_what_it_cost(bench: Bench) -> None:
    bench.reconcile_with(pass_seconds=0.01)
    bench.provider.slow_order = asyncio.Event()
    await bench.demand()
    await bench.passes()
    machine = await the_machine(bench)
    await bench.machines.halt(machine.machine_id, Halt("asked"))
    bench.clock.advance(60 * SECOND)
    bench.provider.slow_order.set()
    while await bench.machines.unreleased():
        await bench.passes()
    stopped = await bench.machines.get(machine.machine_id)
    assert (stopped.state, bench.provider.machines) == (MachineState.STOPPED, {})
    assert stopped.cost_until(bench.clock.now()) == stopped.price_micros_per_hour * 60 // 3600


async def test_an_order_that_never_came_to_a_machine_costs_nothing(bench: Bench) -> None:
    """Otherwise two hours' minimum would be booked, and held from the budget, for each sold-out cloud."""
    bench.provider.minimum_billed = 7200 * SECOND
    await bench.demand()
    await bench.passes()
    machine = await the_machine(bench)
    waiting = Observation(ProviderState.PENDING, stage="submitted", rented=False)
    bench.provider.observations[machine.machine_id] = waiting
    await bench.passes()
    sold_out = Observation(ProviderState.ENDED, reason="sold out", fault=Fault.NO_CAPACITY, rented=False)
    bench.provider.observations[machine.machine_id] = sold_out
    usage = UsageStore(bench.database, bench.clock)
    await usage.write_due(SECOND)
    bench.clock.advance(30 * SECOND)
    bench.provider.failing["release"] = ConnectionError("away")
    await bench.passes(2)
    failed = await the_machine(bench)
    assert (failed.state, held_micros(failed, bench.clock.now())) == (MachineState.FAILED, 0)
    await usage.write_due(SECOND)
    bench.clock.advance(LONGEST_PAUSE)
    del bench.provider.failing["release"]
    await bench.passes()
    await usage.write_due(SECOND)
    assert (await bench.machines.get(machine.machine_id)).cost_until(bench.clock.now()) == 0
    reported = [(fact.end_time - fact.start_time, fact.final) for fact, _ in await usage.unsent()]
    assert reported == [(0 * SECOND, False), (0 * SECOND, True)]


async def test_a_release_that_fails_is_tried_again_less_and_less_often(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = await bench.warm_machine()
    begin, tries = bench.clock.now(), list[int]()

    async def refuse(machine_id: str, *_: object) -> None:
        tries.append(round((bench.clock.now() - begin).total_seconds()))
        raise ConnectionError(f"{machine_id}: the cloud is away")

    monkeypatch.setattr(bench.provider, "release", refuse)
    await bench.machines.drain(machine.machine_id, "asked")
    for _ in range(130):
        await bench.passes()
        bench.clock.advance(SECOND)
    assert tries == [0, 1, 3, 7, 15, 31, 61, 91, 121]


async def test_a_machine_that_moves_on_does_not_wait_for_what_failed_before(bench: Bench) -> None:
    bench.provider.loses_answers = True
    await bench.demand()
    for _ in range(20):
        await bench.passes()
        bench.clock.advance(SECOND)
    machine = await the_machine(bench)
    await bench.machines.halt(machine.machine_id, Halt("asked"))
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED


@pytest.mark.parametrize("busy", [False, True])
async def test_a_machine_that_has_lived_its_longest_life_is_stopped_whatever_it_does(bench: Bench, busy: bool) -> None:
    machine = await bench.warm_machine()
    limited = replace(machine, max_duration=3600 * SECOND)
    await bench.machines.change(await bench.machines.get(machine.machine_id), limited)
    taken = await bench.leases.acquire(a_request(duration=7200 * SECOND)) if busy else None
    bench.clock.advance(3599 * SECOND)
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is (MachineState.BUSY if busy else MachineState.WARM)
    bench.clock.advance(SECOND)
    await bench.passes(2)
    stopped = await bench.machines.get(machine.machine_id)
    assert (stopped.state, stopped.fault) == (MachineState.STOPPED, Fault.EXPIRED)
    assert "longest life of 3600 s" in stopped.reason
    if taken:
        with pytest.raises(LeaseEndedError):
            await bench.leases.renew(taken[0].lease_id, SECOND)
    assert (await bench.demand())[0] == 1, "it counts as a failed start"
