"""The sizer at work, with a scripted provider and scripted money."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import grpc
import pytest
from wavepool.billing.v1 import billing_pb2 as pb

from servicekit.rpc.channels import open_channel
from services.vmpool.capacity.funding import LIFETIME, BillingFunding
from services.vmpool.errors import NoCapacityError, ProviderError
from services.vmpool.fault import Fault
from services.vmpool.machines.lease import Holder
from services.vmpool.machines.machine import Inventory, MachineState
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.policy.packing import Demand, Pace
from services.vmpool.store.pace_store import PaceStore
from services.vmpool.store.usage_store import UsageStore
from tests.services.vmpool.conftest import START, Bench, a_machine, a_request

DOLLAR = 1_000_000
HOUR = timedelta(hours=1)


async def test_no_capacity_falls_back_to_the_next_type_at_once_and_says_so(bench: Bench) -> None:
    bench.provider.failing["provision"] = ProviderError("no MI300X left in ams", Fault.NO_CAPACITY)
    demand = Demand("MI300X", 8, 1, ("MI210",))
    bench.vmpool.pool.demand.report([demand], bench.clock.now())
    assert await bench.resize() == (1, "")
    await bench.passes()
    del bench.provider.failing["provision"]
    await bench.passes()
    starting, blocked_reason = await bench.resize()
    assert starting == 1
    assert "no MI300X left in ams" in blocked_reason
    assert "trying MI210 at scripted now" in blocked_reason
    (machine,) = await bench.machines.unreleased()
    assert (machine.gpu_type, "no MI300X left in ams" in machine.reason) == ("MI210", True)


async def test_a_machine_that_is_adopted_while_billing_is_asked_takes_its_room(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def funds() -> Funds:
        await bench.machines.add(a_machine(machine_id="adopted"), "it was found")
        return Funds()

    monkeypatch.setattr(bench.funding, "funds", funds)
    assert (await bench.demand(jobs=2))[0] == 1
    assert len(await bench.machines.unreleased()) == bench.settings.max_machines == 2


async def test_a_job_takes_a_machine_of_a_fallback_type_and_keeps_its_lease(bench: Bench) -> None:
    await bench.warm_machine("MI210")
    with pytest.raises(NoCapacityError):
        await bench.vmpool.pool.leasing.acquire(a_request("picky"))
    wanted = a_request(fallback_gpu_types=("MI250X", "MI210"))
    lease, machine = await bench.vmpool.pool.leasing.acquire(wanted)
    assert (lease.gpu_type, machine.gpu_type) == ("MI210", "MI210")
    again, _ = await bench.vmpool.pool.leasing.acquire(wanted)
    assert again.lease_id == lease.lease_id


async def test_a_job_prefers_the_wanted_type_to_a_fallback_that_was_used_later(bench: Bench) -> None:
    for minutes, gpu_type in enumerate(("MI300X", "MI210")):
        time = bench.clock.now() + timedelta(minutes=minutes)
        machine = a_machine(machine_id=gpu_type, gpu_type=gpu_type).provision(time).start(time, "127.0.0.1:1")
        await bench.machines.add(machine.join(time, Inventory()), "test")
    _, machine = await bench.vmpool.pool.leasing.acquire(a_request(fallback_gpu_types=("MI210",)))
    assert machine.gpu_type == "MI300X"


async def test_without_money_nothing_is_started_and_the_caller_hears_why(bench: Bench) -> None:
    bench.funding.left = Funds(DOLLAR, 100 * DOLLAR)
    with pytest.raises(NoCapacityError, match=r"\$1\.00 of the machine budget of \$100\.00 is left"):
        await bench.vmpool.pool.leasing.acquire(a_request())
    assert await bench.machines.unreleased() == []


async def test_machines_that_run_are_leased_while_billing_is_away(bench: Bench) -> None:
    machine = await bench.warm_machine()
    bench.funding.left = Funds(unknown="billing does not answer")
    _, leased = await bench.vmpool.pool.leasing.acquire(a_request())
    assert leased.machine_id == machine.machine_id
    assert await bench.demand(jobs=2) == (0, await _reason(bench))
    assert await bench.state_of(machine.machine_id) is MachineState.BUSY


async def _reason(bench: Bench) -> str:
    _, reason = await bench.resize()
    assert "billing does not answer, so no machine that costs money is started" in reason
    return reason


async def test_paces_are_measured_from_leases_and_starts(bench: Bench) -> None:
    paces = PaceStore(bench.database, bench.clock)
    assert await paces.paces() == {}
    await bench.demand()
    await bench.passes(2)
    bench.clock.advance(timedelta(seconds=90))
    await bench.passes()
    for job_id, seconds in (("one", 10), ("two", 30)):
        lease, _ = await bench.vmpool.pool.leasing.acquire(a_request(job_id))
        bench.clock.advance(timedelta(seconds=seconds))
        await bench.leases.release(lease.lease_id, "done")
    assert await paces.paces() == {"MI300X": Pace(timedelta(seconds=20), timedelta(seconds=90))}


class Billing:
    """Reports a budget, and records which machines it was asked to leave out."""

    def __init__(self) -> None:
        self.answer = pb.GetMachineBudgetResponse(budget_micros=100 * DOLLAR, spent_micros=40 * DOLLAR)
        self.asked: list[list[str]] = []
        self.down = False

    async def GetMachineBudget(  # noqa: N802 - the RPC's name
        self, request: pb.GetMachineBudgetRequest, context: grpc.aio.ServicerContext[object, object]
    ) -> pb.GetMachineBudgetResponse:
        if self.down:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "down for a moment")
        self.asked.append(list(request.besides_machine_ids))
        return self.answer


@asynccontextmanager
async def funding_by(billing: Billing, bench: Bench) -> AsyncGenerator[BillingFunding]:
    server = grpc.aio.server()
    method = grpc.unary_unary_rpc_method_handler(
        billing.GetMachineBudget,
        pb.GetMachineBudgetRequest.FromString,
        pb.GetMachineBudgetResponse.SerializeToString,
    )
    name = "wavepool.billing.v1.BillingService"
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(name, {"GetMachineBudget": method})])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{port}") as channel:
        yield BillingFunding(UsageStore(bench.database, bench.clock), channel, bench.clock)
    await server.stop(None)


async def test_what_machines_hold_is_taken_from_what_billing_tells(bench: Bench) -> None:
    billing = Billing()
    async with funding_by(billing, bench) as funding:
        assert await funding.funds() == Funds(60 * DOLLAR, 100 * DOLLAR)
        running = a_machine(price_micros_per_hour=2 * DOLLAR).provision(START)
        await bench.machines.add(running, "test")
        bench.clock.advance(START + 2 * HOUR - bench.clock.now())
        assert await funding.funds() == Funds((60 - 4 - 2) * DOLLAR, 100 * DOLLAR, ahead_micros=2 * DOLLAR)
    assert billing.asked == [[], ["m1"]]


async def test_a_reservation_that_stands_holds_its_machine_until_its_end_and_is_no_job_to_measure(
    bench: Bench,
) -> None:
    machine = await bench.warm_machine()
    taken = await bench.lease("res_1", holder=Holder.RESERVATION, duration=10 * HOUR)
    hourly = machine.price_micros_per_hour
    async with funding_by(Billing(), bench) as funding:
        assert await funding.funds() == Funds(60 * DOLLAR - 10 * hourly, 100 * DOLLAR, ahead_micros=10 * hourly)
        await bench.leases.release(taken.lease_id, "done")
        assert await funding.funds() == Funds(60 * DOLLAR - hourly, 100 * DOLLAR, ahead_micros=hourly)
    paces = await PaceStore(bench.database, bench.clock).paces()
    assert paces["MI300X"].job_time is None


async def test_billing_is_not_asked_again_for_seconds(bench: Bench) -> None:
    billing = Billing()
    async with funding_by(billing, bench) as funding:
        for _ in range(3):
            await funding.funds()
        assert len(billing.asked) == 1
        bench.clock.advance(LIFETIME)
        await funding.funds()
    assert len(billing.asked) == 2


async def test_billing_that_is_away_is_reported_and_one_without_a_limit_sets_none(bench: Bench) -> None:
    billing = Billing()
    billing.down = True
    async with funding_by(billing, bench) as funding:
        assert "down for a moment" in (await funding.funds()).unknown
        billing.down = False
        billing.answer = pb.GetMachineBudgetResponse()
        assert await funding.funds() == Funds()
