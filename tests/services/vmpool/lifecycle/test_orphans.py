"""Orphans: machines that the provider has and the record does not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.vmpool import metrics
from services.vmpool.config import VmPoolSettings
from services.vmpool.errors import ProviderError
from services.vmpool.machines.machine import MachineState, Origin
from services.vmpool.machines.machine_token import MachineTokens
from services.vmpool.machines.orphan_policy import OrphanPolicy
from services.vmpool.providers.provider import Observation, Order, ProviderState
from tests.services.vmpool.conftest import ON_SQLITE, Bench, a_request, bench_on
from vocabulary.money import Tariff

DEADLINE_SECONDS = 60


pytestmark = ON_SQLITE


def without_record(settings: VmPoolSettings, tmp_path: Path, **changes: object) -> VmPoolSettings:
    """The same pool with its database lost."""
    tmp_path.mkdir(exist_ok=True)
    return settings.model_copy(update={"database_url": f"sqlite+aiosqlite:///{tmp_path / 'new.db'}", **changes})


async def test_a_machine_with_our_token_is_adopted_and_serves_again(bench: Bench, tmp_path: Path) -> None:
    machine = await bench.warm_machine()
    async with bench_on(without_record(bench.settings, tmp_path), bench.provider, bench.clock) as anew:
        await anew.passes(3)
        adopted = await anew.machines.get(machine.machine_id)
        assert (adopted.state, adopted.origin, adopted.token) == (MachineState.WARM, Origin.ADOPTED, machine.token)
        assert await anew.leases.acquire(a_request()) is not None
    assert bench.provider.provisioned == [machine.machine_id]


async def test_an_adopted_machine_s_leases_have_higher_tokens_than_those_that_were_lost(
    bench: Bench, tmp_path: Path
) -> None:
    """Its executor remembers the highest token, and refuses lower ones."""
    await bench.warm_machine()
    before = await bench.lease()
    for number in range(2):
        settings = without_record(bench.settings, tmp_path / str(number))
        bench.clock.advance(bench.settings.idle_timeout / 2)
        async with bench_on(settings, bench.provider, bench.clock) as anew:
            await anew.passes(3)
            after = await anew.lease()
            assert after.fencing_token > before.fencing_token
            before = after


async def test_a_lost_machine_is_found_before_jobs_are_heard(bench: Bench, tmp_path: Path) -> None:
    machine = await bench.warm_machine()
    async with bench_on(without_record(bench.settings, tmp_path), bench.provider, bench.clock) as anew:
        await anew.reconciler.look_around()
        await anew.demand()
        assert [each.machine_id for each in await anew.machines.unreleased()] == [machine.machine_id]


async def test_a_provider_that_is_slow_to_list_its_machines_does_not_keep_them_waiting(bench: Bench) -> None:
    bench.reconcile_with(pass_seconds=0.01, look_seconds=1000)
    bench.provider.slow_list = asyncio.Event()
    assert (await bench.warm_machine()).state is MachineState.WARM
    bench.provider.machines["mach_theirs"] = Order("mach_theirs", "MI300X", 1, "their token")
    look = bench.reconciler._look
    assert look is not None
    bench.provider.slow_list.set()
    async with asyncio.timeout(DEADLINE_SECONDS):
        await look
    assert metrics.orphans.labels("scripted")._value.get() == 1


async def test_a_provider_whose_list_is_broken_does_not_keep_them_waiting(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.provider.failing["list_all"] = KeyError("a plug-in's own mistake")
    await bench.warm_machine()
    assert "could not look for orphans" in caplog.text


async def test_an_adopted_machine_that_nobody_needs_is_released_like_any_other(bench: Bench, tmp_path: Path) -> None:
    await bench.warm_machine()
    async with bench_on(without_record(bench.settings, tmp_path), bench.provider, bench.clock) as anew:
        await anew.passes(3)
        bench.clock.advance(bench.settings.idle_timeout)
        await anew.vmpool.sizer.run_once()
        await anew.passes()
    assert bench.provider.machines == {}


async def test_an_adopted_machine_costs_what_its_provider_says(bench: Bench, tmp_path: Path) -> None:
    machine = await bench.warm_machine()
    bench.provider.observations[machine.machine_id] = Observation(
        ProviderState.RUNNING,
        endpoint="127.0.0.1:1",
        backend="hotaisle",
        price_micros_per_hour=1_990_000,
        minimum_billed=timedelta(hours=1),
        billing_increment=timedelta(minutes=1),
    )
    async with bench_on(without_record(bench.settings, tmp_path), bench.provider, bench.clock) as anew:
        await anew.passes(3)
        adopted = await anew.machines.get(machine.machine_id)
    assert (adopted.backend, adopted.tariff) == (
        "hotaisle",
        Tariff(1_990_000, timedelta(hours=1), timedelta(minutes=1)),
    )


async def test_a_machine_with_another_token_is_reported_once_and_left_alone(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench.provider.machines["mach_theirs"] = Order("mach_theirs", "MI300X", 1, "their token")
    for _ in range(3):
        await bench.passes()
        bench.clock.advance(bench.settings.idle_timeout)
    assert list(bench.provider.machines) == ["mach_theirs"]
    assert sum("not our token" in record.getMessage() for record in caplog.records) == 1
    assert metrics.orphans.labels("scripted")._value.get() == 1


async def test_a_machine_in_our_name_with_no_executor_in_it_is_released(bench: Bench) -> None:
    bench.provider.machines["mach_empty"] = Order("mach_empty", "MI300X", 1, "")
    bench.provider.empty.add("mach_empty")
    await bench.passes()
    assert bench.provider.machines == {}


async def test_the_settings_may_have_such_machines_released(bench: Bench, tmp_path: Path) -> None:
    bench.provider.machines["mach_theirs"] = Order("mach_theirs", "MI300X", 1, "their token")
    strict = without_record(bench.settings, tmp_path, strangers=OrphanPolicy.RELEASE)
    async with bench_on(strict, bench.provider, bench.clock) as anew:
        await anew.passes()
    assert bench.provider.machines == {}


async def test_a_machine_that_came_back_after_its_release_is_released_once_more(bench: Bench) -> None:
    machine = await bench.warm_machine()
    order = bench.provider.machines[machine.machine_id]
    await bench.machines.drain(machine.machine_id, "test")
    await bench.passes()
    assert bench.provider.machines == {}
    bench.provider.machines[machine.machine_id] = order
    async with bench_on(bench.settings, bench.provider, bench.clock) as anew:
        await anew.passes()
        assert await anew.state_of(machine.machine_id) is MachineState.STOPPED
    assert bench.provider.machines == {}


async def test_a_provider_that_cannot_be_asked_is_asked_again_at_the_next_pass(bench: Bench) -> None:
    bench.provider.machines["mach_theirs"] = replace(
        Order("mach_theirs", "MI300X", 1, ""), token=MachineTokens(bench.settings.resolved_secret()).of("mach_theirs")
    )
    bench.provider.failing["list_all"] = ProviderError("busy")
    await bench.passes()
    assert await bench.machines.unreleased() == []
    del bench.provider.failing["list_all"]
    await bench.passes()
    assert [machine.machine_id for machine in await bench.machines.unreleased()] == ["mach_theirs"]


async def test_an_orphan_that_cannot_be_released_keeps_nobody_from_the_others(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = await bench.warm_machine()
    for machine_id, order in [("a-stuck", "a"), ("b-hung", "b")]:
        bench.provider.machines = {
            machine_id: Order(machine_id, "MI300X", 1, order),
            **bench.provider.machines,
        }
        bench.provider.empty.add(machine_id)
    tried: list[str] = []

    async def release(machine_id: str, *_: object) -> None:
        tried.append(machine_id)
        if machine_id == "b-hung":
            await asyncio.Event().wait()
        raise ProviderError("it may still cost money")

    monkeypatch.setattr(bench.provider, "release", release)
    async with bench_on(without_record(bench.settings, tmp_path), bench.provider, bench.clock) as anew:
        anew.reconcile_with(look_seconds=0.1)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await anew.machines.unreleased() or len(tried) < 2:
                await anew.reconciler.look_around()
                await asyncio.sleep(0)
            assert (await anew.machines.get(machine.machine_id)).origin is Origin.ADOPTED
            bench.clock.advance(timedelta(seconds=59))  # no machine may cost money unseen for a minute
            while len(tried) < 3:
                await anew.reconciler.look_around()
                await asyncio.sleep(0)
        assert sorted(tried) == ["a-stuck", "a-stuck", "b-hung"]
        anew.provider.ends_with_pool = False
        await anew.reconciler.close()
