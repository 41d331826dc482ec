"""Unfit machines: the pool stops renting after a few, tells everybody why, and an administrator resumes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool import metrics
from services.vmpool.capacity.machine_request import MachineRequest
from services.vmpool.fault import Fault
from services.vmpool.machines.machine import MachineState
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.failures import LONGEST_BACKOFF, LONGEST_SETTINGS_BACKOFF
from tests.services.vmpool.conftest import Bench, bench_on

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

NO_DEVICE = "its canary failed 2 times in a row before the first run: no device: /dev/kfd is missing"
LIMIT = 3


async def rounds(bench: Bench, count: int, jobs: int = 1) -> None:
    """Creates demand `count` times, each time after the longest back-off."""
    for _ in range(count):
        bench.clock.advance(LONGEST_BACKOFF)
        await bench.demand(jobs=jobs)
        await bench.passes(4)


async def stop_renting(bench: Bench) -> None:
    bench.executors.unfit_reason = NO_DEVICE
    await rounds(bench, LIMIT)


async def ordered(bench: Bench) -> int:
    return len(await bench.machines.all(include_ended=True))


def silent(bench: Bench) -> None:
    bench.executors.silent = True
    bench.provider.start_timeout = timedelta(0)


def unfit(bench: Bench) -> None:
    bench.executors.unfit_reason = NO_DEVICE


@pytest.mark.parametrize(("spoil", "said"), [(unfit, f"unfit: {NO_DEVICE}"), (silent, "it was not ready after 0 s")])
async def test_no_more_are_rented_after_three_that_were_of_no_use_and_who_waits_hears_why(
    bench: Bench, spoil: Callable[[Bench], None], said: str
) -> None:
    spoil(bench)
    await rounds(bench, 10)
    assert await ordered(bench) == LIMIT
    bench.clock.advance(2 * LONGEST_SETTINGS_BACKOFF)
    starting, blocked = await bench.demand()
    assert starting == 0
    assert said in blocked
    assert "3 machines in a row cost money and ran nothing (VMPOOL_UNFIT_LIMIT)" in blocked
    assert "`wavepool machines resume`" in blocked
    assert metrics.sources_stopped._value.get() == 1


async def test_it_holds_over_a_restart_and_though_the_provider_is_found_well(bench: Bench) -> None:
    await stop_renting(bench)
    bench.clock.advance(LONGEST_SETTINGS_BACKOFF)
    async with bench_on(bench.settings, bench.provider, bench.clock) as again:
        again.vmpool.sizer.found_well("scripted")
        assert (await again.demand())[0] == 0
        await rounds(again, 2)
    assert await ordered(bench) == LIMIT


async def test_failures_elsewhere_push_them_out_of_sight_never(bench: Bench) -> None:
    await stop_renting(bench)
    for number in range(60):
        other = (await bench.machines.all(include_ended=True))[-1]
        fresh = replace(other, machine_id=f"other-{number}", gpu_type="MI210", create_time=bench.clock.now())
        await bench.machines.add(fresh, "made up")
    await rounds(bench, 1)
    assert {source.gpu_type for source in await bench.vmpool.sizer.stopped()} == {"MI210", "MI300X"}


async def test_another_gpu_type_is_rented_all_the_same(bench: Bench) -> None:
    await stop_renting(bench)
    bench.executors.unfit_reason = ""
    assert (await bench.warm_machine("MI210")).state is MachineState.WARM
    assert (await bench.demand())[0] == 0


async def test_many_jobs_do_not_have_many_rented_once_one_was_of_no_use(bench: Bench) -> None:
    bench.vmpool.sizer._limits = replace(bench.vmpool.sizer._limits, max_machines=20)
    bench.executors.unfit_reason = NO_DEVICE
    await rounds(bench, 1)
    await rounds(bench, 10, jobs=12)
    assert await ordered(bench) == LIMIT


async def test_an_administrator_resumes_and_a_machine_that_is_well_ends_the_count(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await stop_renting(bench)
    (reported,) = (await stub.ListMachines(pb.ListMachinesRequest())).stopped_sources
    assert (reported.provider, reported.gpu_type) == ("scripted", "MI300X")
    assert NO_DEVICE in reported.message
    findings = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    (renting,) = [finding for finding in findings if finding.check == "renting"]
    assert not renting.ok
    assert renting.message == f"MI300X at scripted: {reported.message}"
    assert "wavepool machines --all" in renting.remedy

    assert not (await stub.ResumeRenting(pb.ResumeRentingRequest(gpu_type="MI210"))).resumed_sources
    assert (await bench.demand())[0] == 0
    resumed = (await stub.ResumeRenting(pb.ResumeRentingRequest())).resumed_sources
    assert [source.gpu_type for source in resumed] == ["MI300X"]
    assert not (await stub.ResumeRenting(pb.ResumeRentingRequest())).resumed_sources
    assert not (await stub.ListMachines(pb.ListMachinesRequest())).stopped_sources

    bench.executors.unfit_reason = ""
    assert (await bench.warm_machine()).state is MachineState.WARM


async def test_resumed_too_early_it_stops_after_three_more(bench: Bench) -> None:
    await stop_renting(bench)
    await bench.vmpool.sizer.resume()
    await rounds(bench, 10)
    assert await ordered(bench) == 2 * LIMIT


async def test_a_machine_that_is_asked_for_by_hand_is_rented_and_ends_the_stop_if_it_is_well(bench: Bench) -> None:
    await stop_renting(bench)
    bench.executors.unfit_reason = ""
    machine, started = await bench.vmpool.pool.requesting.request(MachineRequest("MI300X"))
    assert started
    await bench.passes(4)
    assert await bench.state_of(machine.machine_id) is MachineState.WARM
    assert not await bench.vmpool.sizer.stopped()


async def test_machines_that_turn_unfit_under_the_first_job_count_though_they_were_leased(bench: Bench) -> None:
    """A waiting job takes a machine before its canary is over: the executor refuses the run, and nothing ran on it."""
    for number in range(LIMIT):
        bench.clock.advance(LONGEST_BACKOFF)
        machine = await bench.warm_machine()
        taken = await bench.lease(f"job-{number}")
        await bench.leases.release(taken.lease_id, "the machine took no run", unfit_reason=NO_DEVICE)
        drained = await bench.machines.get(machine.machine_id)
        assert (drained.state, drained.fault, drained.jobs_run) == (MachineState.DRAINING, Fault.UNFIT, 0)
        assert drained.reason == f"unfit: {NO_DEVICE}"
        await bench.passes(2)
    bench.clock.advance(LONGEST_BACKOFF)
    assert NO_DEVICE in (await bench.demand())[1]
    assert await ordered(bench) == LIMIT


async def test_machines_that_cost_nothing_are_tried_again_as_ever(bench: Bench) -> None:
    bench.provider.offered = [Offer("scripted", "MI300X", 1, 0)]
    bench.executors.unfit_reason = NO_DEVICE
    await rounds(bench, LIMIT + 2)
    assert await ordered(bench) == LIMIT + 2
