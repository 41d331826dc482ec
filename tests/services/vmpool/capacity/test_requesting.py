"""RequestMachine over gRPC: machines that it starts or finds, and requests that it refuses."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.machines.machine import MachineState
from services.vmpool.machines.offer import Offer
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.providers.provider import Scope
from tests.refused_calls import refused
from tests.services.vmpool.conftest import ON_SQLITE, Bench

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

DOLLAR = 1_000_000
HOTAISLE = Offer(
    "scripted",
    "MI300X",
    1,
    2 * DOLLAR,
    backend="hotaisle",
    region="us-michigan-1",
    minimum_billed=timedelta(minutes=30),
    billing_increment=timedelta(minutes=1),
)
AMD_8 = Offer("scripted", "MI300X", 8, 24 * DOLLAR, backend="amddevcloud", region="atl1")
AMD_SPOT = Offer("scripted", "MI300X", 1, DOLLAR, backend="amddevcloud", region="atl1", spot=True)


pytestmark = ON_SQLITE


@pytest.fixture
def clouds(bench: Bench) -> Bench:
    """A pool whose provider has two clouds."""
    bench.provider.offered = [HOTAISLE, AMD_8, AMD_SPOT]
    return bench


def asked(**fields: Any) -> pb.RequestMachineRequest:
    return pb.RequestMachineRequest(**({"gpu_type": "MI300X"} | fields))


async def test_a_machine_is_started_as_it_was_asked_for(clouds: Bench, stub: VmPoolServiceAsyncStub) -> None:
    answer = await stub.RequestMachine(
        asked(
            gpu_type="mi300x", gpu_count=8, backend="AMDdevcloud", max_duration=Duration(seconds=7200), reason="a demo"
        )
    )
    machine = answer.machine
    assert (answer.started, machine.state, machine.gpu_count) == (True, pb.MACHINE_STATE_REQUESTED, 8)
    assert (machine.backend, machine.region, machine.spot) == ("amddevcloud", "atl1", False)
    assert (machine.price_micros_per_hour, machine.max_duration.seconds) == (24 * DOLLAR, 7200)
    assert machine.origin == pb.MACHINE_ORIGIN_REQUEST
    assert machine.reason.endswith(": a demo")
    await clouds.passes(3)
    (order,) = clouds.provider.machines.values()
    assert (order.gpu_count, order.max_duration) == (8, timedelta(hours=2))
    assert await clouds.state_of(machine.machine_id) is MachineState.WARM


async def test_a_tariff_and_a_spot_policy_are_kept(clouds: Bench, stub: VmPoolServiceAsyncStub) -> None:
    usual = (await stub.RequestMachine(asked())).machine
    assert (usual.backend, usual.minimum_billed.seconds, usual.billing_increment.seconds) == ("hotaisle", 1800, 60)
    spot = (await stub.RequestMachine(asked(spot_policy=pb.SPOT_POLICY_SPOT))).machine
    assert (spot.backend, spot.spot, spot.price_micros_per_hour) == ("amddevcloud", True, DOLLAR)


async def test_the_same_request_again_gives_the_same_machine_also_after_it_is_over(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    answers = await asyncio.gather(*(stub.RequestMachine(asked(request_id="r1", force_new=True)) for _ in range(5)))
    (machine_id,) = {answer.machine.machine_id for answer in answers}
    assert all(answer.started for answer in answers)
    await stub.StopMachine(pb.StopMachineRequest(machine_id=machine_id))
    await bench.passes(2)
    again = await stub.RequestMachine(asked(request_id="r1", force_new=True))
    assert (again.machine.machine_id, again.machine.state) == (machine_id, pb.MACHINE_STATE_STOPPED)
    await refused(
        stub.RequestMachine(asked(request_id="r1", gpu_type="MI210")), grpc.StatusCode.ALREADY_EXISTS, machine_id
    )


async def test_a_machine_that_stands_idle_is_the_answer_unless_a_new_one_is_wanted(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    warm = await bench.warm_machine()
    bench.clock.advance(timedelta(minutes=9))
    found = await stub.RequestMachine(asked())
    assert (found.machine.machine_id, found.started) == (warm.machine_id, False)
    bench.clock.advance(timedelta(minutes=9))
    await bench.vmpool.sizer.run_once()
    assert await bench.state_of(warm.machine_id) is MachineState.WARM
    new = await stub.RequestMachine(asked(force_new=True))
    assert (new.started, new.machine.machine_id != warm.machine_id) == (True, True)


async def test_a_machine_on_its_way_is_the_answer_and_one_in_use_is_not(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    first = await stub.RequestMachine(asked())
    second = await stub.RequestMachine(asked())
    assert (second.machine.machine_id, second.started) == (first.machine.machine_id, False)
    await bench.passes(3)
    await stub.AcquireLease(pb.AcquireLeaseRequest(job_id="job", gpu_type="MI300X", eighths=8))
    third = await stub.RequestMachine(asked())
    assert (third.machine.machine_id != first.machine.machine_id, third.started) == (True, True)


async def test_bad_requests_are_refused_by_field_with_the_legal_values_and_the_nearest(
    clouds: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    cases = [
        (
            asked(gpu_type="MI300"),
            "gpu_type",
            "MI300A, MI250X, MI210; it is 'MI300', and the nearest is MI300X",
        ),
        (asked(gpu_count=9), "gpu_count", "1, 2, 4, 8; it is 9, and the nearest is 8"),
        (asked(gpu_count=0), "gpu_count", "it is 0, and the nearest is 1"),
        (asked(provider="script"), "provider", "scripted"),
        (asked(backend="hotisle"), "backend", "amddevcloud, hotaisle; it is 'hotisle', and the nearest is hotaisle"),
        (asked(backend="hotaisle", region="atl1"), "region", "the nearest is us-michigan-1"),
        (asked(spot_policy=9), "spot_policy", "on-demand, spot, auto"),
        (asked(max_price_micros_per_hour=-1), "max_price_micros_per_hour", "nearest is 0"),
        (asked(max_price_micros_per_hour=DOLLAR), "max_price_micros_per_hour", "cheapest is $2.00"),
        (asked(max_duration=Duration(seconds=-1)), "max_duration", "nearest is 0 s"),
        (asked(max_duration=Duration(seconds=10**13)), "max_duration", "the nearest is 31536000 s"),
        (asked(max_duration=Duration(seconds=10**18)), "max_duration", "out of range"),
        (asked(request_id="x" * 101), "request_id", "at most 100"),
        (asked(reason="x" * 201), "reason", "at most 200"),
    ]
    for request, field, said in cases:
        error = await refused(stub.RequestMachine(request), grpc.StatusCode.INVALID_ARGUMENT, field=field)
        assert said in error.violations[0][1]
    assert await clouds.machines.all(include_ended=True) == []


async def test_nothing_is_started_beyond_the_limit_and_the_machines_that_reach_it_are_named(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    first = (await stub.RequestMachine(asked(force_new=True))).machine
    racing = [stub.RequestMachine(asked(force_new=True)) for _ in range(3)]
    outcomes = await asyncio.gather(*racing, return_exceptions=True)
    errors = [outcome for outcome in outcomes if isinstance(outcome, grpc.aio.AioRpcError)]
    assert [error.code() for error in errors] == [grpc.StatusCode.FAILED_PRECONDITION] * 2
    assert first.machine_id in str(errors[0].details())
    assert len(await bench.machines.unreleased()) == 2


async def test_nothing_is_started_that_the_budget_does_not_cover(clouds: Bench, stub: VmPoolServiceAsyncStub) -> None:
    clouds.funding.left = Funds(left_micros=DOLLAR, budget_micros=10 * DOLLAR)
    await refused(stub.RequestMachine(asked()), grpc.StatusCode.FAILED_PRECONDITION, "budget of $10.00")
    assert await clouds.machines.unreleased() == []


async def test_a_size_that_no_provider_can_ever_have_is_refused_at_once(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    bench.provider.scope = Scope(gpu_counts=(1, 2))
    error = await refused(stub.RequestMachine(asked(gpu_count=8)))
    said = "must be one of 1, 2 (what the providers are set up for); it is 8, and the nearest is 2"
    assert (error.code, error.violations) == (grpc.StatusCode.INVALID_ARGUMENT, (("gpu_count", said),))


async def test_who_asks_by_hand_is_not_put_off_by_faults_of_settings(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    bench.provider.failing["provision"] = ProviderError("no such image", Fault.MISCONFIGURED)
    await bench.demand()
    await bench.passes(2)
    assert "no such image" in (await bench.demand())[1]
    del bench.provider.failing["provision"]
    assert (await stub.RequestMachine(asked())).started


async def test_a_doctor_who_finds_the_provider_well_lets_it_be_tried_again(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    bench.provider.failing["provision"] = ProviderError("no such image", Fault.MISCONFIGURED)
    await bench.demand()
    await bench.passes(2)
    bench.clock.advance(timedelta(seconds=1))
    bench.provider.failing["offers"] = ProviderError("no such image")
    await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())
    assert (await bench.demand())[0] == 0
    bench.provider.failing.clear()
    await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())
    assert (await bench.demand())[0] == 1


async def test_what_nobody_has_is_refused_in_the_providers_words(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    await refused(
        stub.RequestMachine(asked(gpu_count=8)),
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "a machine with 8 MI300X now, only with 1",
    )
    bench.clock.advance(timedelta(minutes=10))
    bench.provider.failing["offers"] = ProviderError("the token has run out")
    await refused(
        stub.RequestMachine(asked(backend="somewhere")), grpc.StatusCode.RESOURCE_EXHAUSTED, "the token has run out"
    )


async def test_a_repeated_request_gets_its_machine_whatever_the_case_of_its_names(
    clouds: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    del clouds
    wanted = asked(backend="HotAisle", region="US-Michigan-1", request_id="r1")
    first, again = await stub.RequestMachine(wanted), await stub.RequestMachine(wanted)
    assert first.machine.machine_id == again.machine.machine_id


async def test_a_request_that_names_no_gpu_gets_the_default_type(clouds: Bench, stub: VmPoolServiceAsyncStub) -> None:
    answer = await stub.RequestMachine(asked(gpu_type="", backend="amddevcloud", spot_policy=pb.SPOT_POLICY_SPOT))
    assert answer.machine.gpu_type == "MI300X"
