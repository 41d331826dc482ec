from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.billing.v1 import billing_pb2 as pb

from servicekit.rpc.channels import open_channel
from services.billing.wire.billing import usage_from_proto
from services.vmpool.fault import Fault
from services.vmpool.machines.lease import Lease, StartKind
from services.vmpool.machines.usage_fact import UsageFact, Use, next_fact, uses_of
from services.vmpool.store.usage_store import UsageStore
from services.vmpool.telemetry.usage_reporter import UsageReporter
from tests.services.vmpool.conftest import START, Bench, a_machine
from tests.services.vmpool.scripted_provider import RUNNING as RUNNING_SEEN
from vocabulary.slots import Slot

MINUTE = timedelta(minutes=1)
PROVISIONED = a_machine().provision(START)
RUNNING = PROVISIONED.start(START, "127.0.0.1:1")


@given(steps=st.lists(st.timedeltas(timedelta(0), 3 * MINUTE), max_size=20))
def test_facts_cover_a_machines_life_without_gap_or_overlap(steps: list[timedelta]) -> None:
    facts: list[UsageFact] = []
    now = START
    for step in steps:
        now += step
        if fact := next_fact(RUNNING, facts[-1] if facts else None, now, MINUTE):
            facts.append(fact)
    released = RUNNING.fail(now, "over", Fault.PROVIDER).release(now)
    last = next_fact(released, facts[-1] if facts else None, now + MINUTE, MINUTE)
    assert last is not None
    facts.append(last)
    assert next_fact(released, last, now + MINUTE, MINUTE) is None
    assert [fact.sequence for fact in facts] == list(range(1, len(facts) + 1))
    assert [fact.final for fact in facts] == [False] * (len(facts) - 1) + [True]
    bounds = [START, *(fact.end_time for fact in facts)]
    assert [fact.start_time for fact in facts] == bounds[:-1]
    assert bounds[-1] == now


def test_no_time_is_given_at_a_price_that_may_still_change() -> None:
    start = next_fact(PROVISIONED, None, START + MINUTE, MINUTE)
    assert start == UsageFact("m1", 1, START, START, final=False)
    assert next_fact(PROVISIONED, start, START + 2 * MINUTE, MINUTE) is None
    assert next_fact(RUNNING, start, START + 2 * MINUTE, MINUTE) == UsageFact(
        "m1", 2, START, START + 2 * MINUTE, final=False
    )


def test_a_machine_that_was_never_asked_for_costs_nothing() -> None:
    assert next_fact(a_machine(), None, START + MINUTE, MINUTE) is None


def a_lease(job_id: str, start: timedelta, end: timedelta | None, eighths: int = 8) -> Lease:
    lease = Lease("l", "m1", job_id, 1, "MI300X", (Slot(0, 0, eighths),), 1, StartKind.WARM_REUSE, START + start, START)
    return lease if end is None else replace(lease, end_time=START + end)


def test_the_use_of_an_interval_is_the_part_of_each_lease_that_lies_in_it() -> None:
    leases = [
        a_lease("over", timedelta(0), MINUTE),
        a_lease("begun before", timedelta(0), 1.5 * MINUTE),
        a_lease("half a GPU", 1.5 * MINUTE, None, eighths=4),
        a_lease("to come", 2 * MINUTE, None),
    ]
    assert uses_of(leases, START + MINUTE, START + 2 * MINUTE) == (
        Use("begun before", 1, MINUTE / 2),
        Use("half a GPU", 1, MINUTE / 4),
    )


@given(
    cuts=st.lists(st.timedeltas(timedelta(0), 9 * MINUTE), max_size=9).map(sorted),
    start=st.timedeltas(timedelta(0), 9 * MINUTE),
    end=st.timedeltas(timedelta(0), 9 * MINUTE) | st.none(),
)
def test_however_a_machines_life_is_cut_a_leases_use_adds_up_to_its_time(
    cuts: list[timedelta], start: timedelta, end: timedelta | None
) -> None:
    bounds = [START, *(START + cut for cut in cuts), START + 9 * MINUTE]
    lease = a_lease("job", start, end)
    used = sum((use.gpu_time for one in pairwise(bounds) for use in uses_of([lease], *one)), timedelta(0))
    assert used == max(timedelta(0), (end if end is not None else 9 * MINUTE) - start)


class Billing:
    """Accepts usage facts unless it is `down`, has failures left, or the facts are of the `refused` machine."""

    def __init__(self) -> None:
        self.down = False
        self.failures_left = 0
        self.refused = ""
        self.taken: list[pb.RecordMachineUsageRequest] = []

    async def record(
        self, request: pb.RecordMachineUsageRequest, context: grpc.aio.ServicerContext[object, object]
    ) -> pb.RecordMachineUsageResponse:
        if self.down or self.failures_left:
            self.failures_left = max(0, self.failures_left - 1)
            await context.abort(grpc.StatusCode.INTERNAL, "down")
        if request.machine_id == self.refused:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "price_micros_per_hour: no")
        self.taken.append(request)
        return pb.RecordMachineUsageResponse()


@asynccontextmanager
async def serving(billing: Billing) -> AsyncGenerator[str]:
    handler = grpc.unary_unary_rpc_method_handler(
        billing.record,
        request_deserializer=pb.RecordMachineUsageRequest.FromString,
        response_serializer=pb.RecordMachineUsageResponse.SerializeToString,
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("wavepool.billing.v1.BillingService", {"RecordMachineUsage": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


async def test_facts_reach_billing_in_order_once_it_takes_them(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    billing = Billing()
    async with serving(billing) as target, open_channel(target) as channel:
        reporter = UsageReporter(UsageStore(bench.database, bench.clock), channel, MINUTE)
        billing.down = True
        machine = await bench.warm_machine()
        await reporter.run_once()
        assert "billing takes no usage facts now" in caplog.text
        bench.clock.advance(MINUTE)
        await reporter.run_once()
        billing.down = False
        await bench.machines.drain(machine.machine_id, "asked")
        bench.clock.advance(MINUTE / 2)
        await bench.passes()
        for _ in range(2):
            await reporter.run_once()
    assert [(fact.sequence, fact.final) for fact in billing.taken] == [(1, False), (2, False), (3, True)]
    assert {fact.price_micros_per_hour for fact in billing.taken} == {3_600_000_000}


async def test_no_fact_overtakes_one_that_billing_has_failed_to_take(bench: Bench) -> None:
    billing = Billing()
    async with serving(billing) as target, open_channel(target) as channel:
        reporter = UsageReporter(UsageStore(bench.database, bench.clock), channel, MINUTE)
        billing.down = True
        await bench.warm_machine()
        for _ in range(2):
            await reporter.run_once()
            bench.clock.advance(MINUTE)
        billing.down, billing.failures_left = False, 1
        for _ in range(2):
            await reporter.run_once()
    assert [fact.sequence for fact in billing.taken] == [1, 2, 3]


async def test_a_machine_that_never_was_is_not_reported(bench: Bench) -> None:
    await bench.machines.add(replace(a_machine(), machine_id="m1"), "test")
    store = UsageStore(bench.database, bench.clock)
    await store.write_due(MINUTE)
    assert await store.unsent() == []


async def test_a_fact_that_billing_refuses_holds_up_no_other_machines(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    billing = Billing()
    async with serving(billing) as target, open_channel(target) as channel:
        reporter = UsageReporter(UsageStore(bench.database, bench.clock), channel, MINUTE)
        for machine_id in ("m1", "m2"):
            await bench.machines.add(replace(RUNNING, machine_id=machine_id), "test")
        billing.refused = "m1"
        await reporter.run_once()
        bench.clock.advance(bench.clock.now() - START + 2 * MINUTE)
        await reporter.run_once()
    assert [(fact.machine_id, fact.sequence) for fact in billing.taken] == [("m2", 1), ("m2", 2)]
    assert "billing refuses a usage fact" in caplog.text


async def test_a_price_that_is_known_late_holds_for_all_of_a_machines_time(bench: Bench) -> None:
    billing = Billing()
    async with serving(billing) as target, open_channel(target) as channel:
        reporter = UsageReporter(UsageStore(bench.database, bench.clock), channel, MINUTE)
        await bench.demand()
        await bench.passes()
        (machine,) = await bench.machines.unreleased()
        for _ in range(3):
            await reporter.run_once()
            bench.clock.advance(MINUTE)
        dearer = replace(RUNNING_SEEN, price_micros_per_hour=7_200_000_000)
        bench.provider.observations[machine.machine_id] = dearer
        await bench.passes(2)
        await bench.machines.drain(machine.machine_id, "asked")
        await bench.passes()
        await reporter.run_once()
    stopped = await bench.machines.get(machine.machine_id)
    reported = [usage_from_proto(fact).cost_micros for fact in billing.taken]
    assert sum(reported) == stopped.cost_until(bench.clock.now()) == 3 * 120_000_000
