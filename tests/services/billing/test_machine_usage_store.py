from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from services.billing.ledger.machine_usage import MachineUsage, Use
from services.billing.service.billing_service import Stores

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = MachineUsage(
    "m1", 1, "local", "MI300X", 1, START, START + timedelta(hours=1), 1_990_000, final=False, machine_start_time=START
)


async def test_the_first_report_of_an_interval_stands(stores: Stores) -> None:
    assert await stores.usage.record(HOUR)
    assert not await stores.usage.record(replace(HOUR, price_micros_per_hour=5))
    assert await stores.usage.record(replace(HOUR, sequence=2))
    assert await stores.usage.record(replace(HOUR, machine_id="m2"))
    assert await stores.usage.total_cost_micros() == 3 * 1_990_000


async def test_the_cost_of_some_machines_can_be_left_out_whatever_they_were_used_for(stores: Stores) -> None:
    used = (Use("job_1:1", timedelta(minutes=20)), Use("m2", timedelta(minutes=10)))
    await stores.usage.record(replace(HOUR, uses=used))
    await stores.usage.record(replace(HOUR, machine_id="m2", price_micros_per_hour=7))
    assert await stores.usage.total_cost_micros(["m1", "m3"]) == 7
    assert await stores.usage.total_cost_micros(["m2"]) == 1_990_000


async def test_services_that_start_at_once_book_the_clouds_credit_once(stores: Stores) -> None:
    outcomes = await asyncio.gather(*(stores.usage.fund(100, "cloud-credit", "") for _ in range(6)))
    assert outcomes == [None] * 6
    assert (await stores.usage.operator_balance()).granted_micros == 100


async def test_nothing_used_costs_nothing(stores: Stores) -> None:
    assert await stores.usage.total_cost_micros() == 0
