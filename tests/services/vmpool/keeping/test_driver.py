"""What the driver makes of providers that hang, break or are away, and of executors that are there and unfit."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from services.vmpool.machines.machine import Machine, MachineState
from services.vmpool.providers.provider import Observation, ProviderState
from tests.services.vmpool.conftest import a_request, bench_on

if TYPE_CHECKING:
    from pathlib import Path

    from tests.services.vmpool.conftest import Bench

SECOND = timedelta(seconds=1)
AWAY = [TimeoutError("no answer"), ConnectionError("no engine"), RuntimeError("a bug of the plug-in")]


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind is enough here: what differs between databases is tested at the stores."""
    return f"sqlite+aiosqlite:///{tmp_path / 'vmpool.db'}"


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
    monkeypatch.setattr("services.vmpool.keeping.observer.PATIENCE_SECONDS", 0.01)
    machine = await bench.warm_machine()
    await bench.passes()

    async def hang(machine_id: str) -> Observation:
        del machine_id
        return await asyncio.Event().wait() and Observation(ProviderState.GONE)

    monkeypatch.setattr(bench.provider, "observe", hang)
    bench.executors.silent = True
    for _ in range(10):
        bench.clock.advance(SECOND)
        await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.LOST
    assert bench.provider.machines == {}


async def test_what_a_slow_provider_tells_serves_the_next_look(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.vmpool.keeping.observer.PATIENCE_SECONDS", 0.01)
    machine = await bench.warm_machine()
    answer = asyncio.Event()

    async def slow(machine_id: str) -> Observation:
        del machine_id
        await answer.wait()
        return Observation(ProviderState.ENDED, reason="SIGKILL")

    monkeypatch.setattr(bench.provider, "observe", slow)
    await bench.passes()
    assert await bench.state_of(machine.machine_id) is MachineState.WARM
    answer.set()
    await bench.passes(2)
    assert (await bench.machines.get(machine.machine_id)).reason == "SIGKILL"


@pytest.mark.parametrize("error", AWAY, ids=repr)
async def test_an_order_that_nobody_takes_ends_in_time(bench: Bench, error: Exception) -> None:
    """Else it counts as a machine on its way for ever, and no other provider is tried."""
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
    assert failed.release_time is not None


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
    monkeypatch.setattr("services.vmpool.keeping.driver.RELEASE_SECONDS", 0.01)
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
        taken = await bench.leases.acquire(a_request())
        assert taken is not None
        await bench.leases.release(taken[0].lease_id, "done")
    bench.executors.unfit_reason = "its canary failed"
    await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED
    assert (await bench.demand())[0] == served
