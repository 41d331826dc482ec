"""What is forgotten of history, and what must not be."""

from __future__ import annotations

from contextlib import aclosing
from datetime import timedelta
from typing import TYPE_CHECKING

from services.vmpool.machines.machine import MachineState
from services.vmpool.store import history_store
from services.vmpool.store.event_log import EventLog
from services.vmpool.store.usage_store import UsageStore
from tests.services.vmpool.conftest import a_request

if TYPE_CHECKING:
    import pytest

    from tests.services.vmpool.conftest import Bench

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


async def used_machine(bench: Bench) -> str:
    machine = await bench.warm_machine()
    for attempt in range(3):
        taken = await bench.leases.acquire(a_request(attempt=attempt))
        assert taken is not None
        await bench.leases.release(taken[0].lease_id, "done")
    return machine.machine_id


async def test_old_events_are_forgotten_but_for_the_last_of_each_machine(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_store, "BATCH", 2)
    log = EventLog(bench.database)
    machine_id = await used_machine(bench)
    bench.clock.advance(bench.settings.history_duration)
    await bench.vmpool.pruner.run_once()
    assert len(await log.after(0)) > 1
    bench.clock.advance(SECOND)
    last = await log.last_of(machine_id)
    await bench.vmpool.pruner.run_once()
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
