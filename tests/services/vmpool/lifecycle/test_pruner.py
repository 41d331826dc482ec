"""History that the pool forgets, and history that it must keep."""

from __future__ import annotations

from contextlib import aclosing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool.errors import MachineNotFoundError
from services.vmpool.lifecycle.pruner import Pruner
from services.vmpool.machines.machine import MachineState
from services.vmpool.store.event_log import EventLog
from services.vmpool.store.history_store import HistoryStore
from services.vmpool.store.usage_store import UsageStore
from tests.services.vmpool.conftest import Bench

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def pruner_of(bench: Bench, **limits: int) -> Pruner:
    return Pruner(HistoryStore(bench.database, **limits), bench.settings.history_duration, bench.clock)


async def used_machine(bench: Bench) -> str:
    machine = await bench.warm_machine()
    for attempt in range(3):
        taken = await bench.lease(attempt=attempt)
        await bench.leases.release(taken.lease_id, "done")
    return machine.machine_id


async def test_old_events_are_forgotten_but_for_the_last_of_each_machine(bench: Bench) -> None:
    pruner = pruner_of(bench, batch=2)
    log = EventLog(bench.database)
    machine_id = await used_machine(bench)
    bench.clock.advance(bench.settings.history_duration)
    await pruner.run_once()
    assert len(await log.after(0)) > 1
    bench.clock.advance(SECOND)
    last = await log.last_of(machine_id)
    await pruner.run_once()
    assert await log.after(0) == [last]
    assert await log.last_seq() == last.seq
    assert await log.present() == [last]


async def test_who_follows_goes_on_after_what_was_forgotten(bench: Bench) -> None:
    machine_id = await used_machine(bench)
    bench.clock.advance(bench.settings.history_duration + SECOND)
    await bench.vmpool.pruner.run_once()
    await bench.machines.drain(machine_id, "asked")
    await bench.passes()
    async with aclosing(bench.vmpool.pool.watching.follow_machine(machine_id, 1)) as events:  # type: ignore[type-var]
        states = [event.machine.state async for event in events]
    assert states == [MachineState.WARM, MachineState.DRAINING, MachineState.STOPPED]


async def test_usage_facts_are_forgotten_once_billing_has_them(bench: Bench) -> None:
    await bench.warm_machine()
    store = UsageStore(bench.database, bench.clock)
    for _ in range(3):
        await store.write_due(MINUTE)
        bench.clock.advance(MINUTE)
    facts = [fact for fact, _ in await store.unsent()]
    await store.sent(facts[0])
    await store.sent(facts[2])
    bench.clock.advance(bench.settings.history_duration)
    await bench.vmpool.pruner.run_once()
    await store.write_due(MINUTE)
    unsent = [fact for fact, _ in await store.unsent()]
    assert [fact.sequence for fact in unsent] == [2, 4]
    assert unsent[1].start_time == facts[2].end_time


async def machines_of_long_ago(bench: Bench, used: int = 3, unused: int = 0) -> list[str]:
    """Released machines: some that were used, then some that were not. All are billed except the last."""
    machine_ids: list[str] = []
    store = UsageStore(bench.database, bench.clock)
    for number in range(used + unused):
        machine_ids.append(await used_machine(bench) if number < used else (await bench.warm_machine()).machine_id)
        bench.clock.advance(MINUTE)
        await bench.machines.drain(machine_ids[-1], "asked")
        await bench.passes()
        for fact, _ in await store.unsent():
            await store.sent(fact)
        await store.write_due(MINUTE)
    bench.clock.advance(bench.settings.history_duration + SECOND)
    return machine_ids


async def test_machines_and_leases_are_forgotten_and_the_figures_stay(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    pruner = pruner_of(bench, latest_kept=0, batch=4, machines_batch=1)
    machine_ids = await machines_of_long_ago(bench)
    figures = await stub.GetPoolMetrics(pb.GetPoolMetricsRequest())
    assert (figures.total_machines, figures.cold_starts + figures.warm_reuses) == (3, 9)
    assert figures.cost_micros > 0
    assert figures.idle_seconds > 0
    for _ in range(2):
        await pruner.run_once()
        assert await stub.GetPoolMetrics(pb.GetPoolMetricsRequest()) == figures
    assert [m.machine_id for m in await bench.machines.all(include_ended=True)] == machine_ids[2:]
    assert sum((await bench.leases.counts()).values()) == 0
    with pytest.raises(MachineNotFoundError):
        await bench.machines.get(machine_ids[0])


async def test_the_latest_machines_and_leases_stay_however_old_they_are(bench: Bench) -> None:
    machine_ids = await machines_of_long_ago(bench)
    store = UsageStore(bench.database, bench.clock)
    for fact, _ in await store.unsent():
        await store.sent(fact)
    await pruner_of(bench, latest_kept=2).run_once()
    kept = {machine.machine_id for machine in await bench.machines.all(include_ended=True)}
    assert kept == set(machine_ids[1:])
    assert sum((await bench.leases.counts()).values()) == 2


async def test_a_machine_stays_for_as_long_as_a_lease_on_it_is_remembered(bench: Bench) -> None:
    machine_ids = await machines_of_long_ago(bench, used=2, unused=2)
    await pruner_of(bench, latest_kept=2).run_once()
    kept = {machine.machine_id for machine in await bench.machines.all(include_ended=True)}
    assert kept == set(machine_ids[1:])


async def test_a_standing_lease_and_its_machine_are_never_forgotten(bench: Bench) -> None:
    machine = await bench.warm_machine()
    taken = await bench.lease()
    bench.clock.advance(2 * bench.settings.history_duration)
    await pruner_of(bench, latest_kept=0).run_once()
    assert [lease.lease_id for lease in await bench.leases.standing_on(machine.machine_id)] == [taken.lease_id]
