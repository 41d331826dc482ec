"""Money alerts from the ledger to the channel, on real databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event
from wavepool.billing.v1.billing_pb2 import SettleChargeRequest

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.billing.alert_rules.money import money_rules
from services.billing.alerts import money_metrics
from services.billing.ledger.budgets import Period, Scope
from services.billing.ledger.machine_usage import MachineUsage
from services.billing.service.billing_service import BillingServicer, Stores
from tests.services.billing.alerts.conftest import INTERVAL, START, Bench


async def test_a_settlement_that_crosses_is_announced_once_and_a_top_up_arms_again(bench: Bench) -> None:
    account_id = await bench.account(100)
    await bench.look()
    for charge, credit in ((79, 0), (1, 0), (1, 0), (0, 100), (79, 0)):
        await (bench.spend(account_id, charge) if charge else bench.grant(account_id, credit))
        await bench.look()
    fired, resolved = "fired account-credit-spent-80", "resolved account-credit-spent-80"
    assert bench.told == [fired, resolved, fired]
    assert bench.recorder.notices[0].summary == "ada has spent $0.00008 of its credit of $0.0001 (80.0%)."
    assert dict(bench.recorder.notices[0].labels) == {"account": account_id}
    first, end, second = bench.recorder.notices
    assert first.alert_id == end.alert_id != second.alert_id


async def test_a_hold_that_crosses_is_announced_before_it_is_charged_and_once(bench: Bench, stores: Stores) -> None:
    account_id = await bench.account(100)
    held = await stores.ledger.hold(account_id, 79, "res_1", "")
    announced: list[int] = []
    for minute in range(1, 11):
        if minute == 4:
            await stores.ledger.extend(held.hold_id, 16, "res_1:extend", "")
        await stores.ledger.settle(held.hold_id, 9, f"res_1:{minute}", "", final=minute == 10)
        bench.source.credit_moved(account_id)
        await bench.look()
        announced.append(len(bench.told))
    assert announced == [0] * 3 + [1] * 7
    assert bench.told == ["fired account-credit-spent-80"]
    assert bench.recorder.notices[0].summary == (
        "ada has spent $0.000036 of its credit of $0.0001, and $0.000059 is on hold (95.0%)."
    )


async def test_holds_that_come_and_go_near_the_share_are_announced_once(bench: Bench, stores: Stores) -> None:
    account_id = await bench.account(1000)
    await bench.spend(account_id, 795)
    for job in range(3):
        held = await stores.ledger.hold(account_id, 10, f"job_{job}", "")
        bench.source.credit_moved(account_id)
        await bench.look()
        await stores.ledger.settle(held.hold_id, 0, f"job_{job}:1", "")
        bench.source.credit_moved(account_id)
        await bench.look()
    assert bench.told == ["fired account-credit-spent-80"]


@pytest.mark.parametrize("hard", [True, False])
async def test_a_budget_is_announced_at_its_share_and_anew_in_its_next_period(
    bench: Bench, stores: Stores, hard: bool
) -> None:
    account_id = await bench.account(1000)
    budget = await stores.budgets.set(Scope.ACCOUNT, account_id, Period.DAY, 100, hard=hard)
    await bench.ledger.hold(account_id, 10, "open", "")
    for micros in (69, 1, 1):
        await bench.spend(account_id, micros)
        await bench.look(INTERVAL)
    assert bench.told == ["fired budget-spent-80"]
    [notice] = bench.recorder.notices
    figures = "$0.00007 of $0.0001 are charged, and $0.00001 is on hold (80.0%)"
    assert notice.summary == f"Of the budget of account ada (for each day), {figures}."
    assert dict(notice.labels) == {"budget": budget.budget_id, "account": account_id}
    await bench.look(timedelta(days=1))
    await bench.spend(account_id, 85)
    await bench.look(INTERVAL)
    assert bench.told == ["fired budget-spent-80", "resolved budget-spent-80", "fired budget-spent-80"]
    await stores.budgets.remove(budget.budget_id)
    await bench.look(INTERVAL)
    assert bench.told[-1] == "resolved budget-spent-80"


async def test_only_the_accounts_that_moved_are_looked_at_between_two_intervals(bench: Bench) -> None:
    ada, bob = await bench.account(100), await bench.account(100, "bob")
    await bench.look()
    for account_id in (ada, bob):
        await bench.spend(account_id, 90)
    bench.source._moved.discard(bob)
    await bench.look()
    assert await bench.events(bob) == []
    await bench.look(INTERVAL)
    assert await bench.events(bob) == ["fired account-credit-spent-80"]


async def test_a_crossing_right_before_a_crash_is_found_at_the_next_start(
    bench: Bench, db: Database, stores: Stores, clock: ManualClock
) -> None:
    account_id = await bench.account(100)
    await bench.look()
    await bench.spend(account_id, 90)
    restarted = Bench(db, stores, clock, bench.rules)
    await restarted.look()
    assert restarted.told == ["fired account-credit-spent-80"]
    again = Bench(db, stores, clock, bench.rules)
    await again.look()
    assert again.told == []


async def test_processes_that_look_at_once_announce_one_alert(
    bench: Bench, db: Database, stores: Stores, clock: ManualClock
) -> None:
    others = [bench, *(Bench(db, stores, clock, bench.rules) for _ in range(3))]
    fired, resolved = "fired account-credit-spent-80", "resolved account-credit-spent-80"
    account_id = await bench.account(100)
    await bench.spend(account_id, 90)
    await asyncio.gather(*(other.source.run_once() for other in others))
    assert await bench.events() == [fired]
    clock.advance(INTERVAL)
    await bench.grant(account_id, 100)
    await asyncio.gather(*(other.source.run_once() for other in others))
    assert await bench.events() == [fired, resolved]
    for other in others:
        await other.delivery.run_once()
    assert [told for other in others for told in other.told] == [fired, resolved]


async def test_each_threshold_of_a_list_is_announced(db: Database, stores: Stores, clock: ManualClock) -> None:
    bench = Bench(db, stores, clock, money_rules([0.5, 0.8, 0.95], None, None, 0))
    account_id = await bench.account(100)
    for charge in (49, 1, 29, 1, 15):
        await bench.spend(account_id, charge)
        await bench.look()
    assert bench.told == [f"fired account-credit-spent-{percent}" for percent in (50, 80, 95)]


def usage(sequence: int, dollars_per_hour: float, hours: float = 1.0) -> MachineUsage:
    end = START - timedelta(minutes=1)
    return MachineUsage(
        machine_id="m1",
        sequence=sequence,
        provider="dstack",
        gpu_type="MI300X",
        gpu_count=1,
        start_time=end - timedelta(hours=hours),
        end_time=end,
        price_micros_per_hour=round(dollars_per_hour * 1_000_000),
        final=False,
        machine_start_time=end - timedelta(hours=hours),
    )


async def test_the_cost_of_machines_alerts_the_operator(db: Database, stores: Stores, clock: ManualClock) -> None:
    """The cloud credit is a dollar, the machine budget fifty cents; machines cost 40 cents an hour."""
    bench = Bench(db, stores, clock, money_rules([0.8], 0.3, None, 7), budget_micros=500_000)
    await bench.usage.record(usage(1, 0.4))
    await bench.look()
    assert bench.told == ["fired machine-budget-spent-80", "fired operator-burn-rate"]
    assert money_metrics.burn.labels("machine_cost")._value.get() == 400_000
    assert {tuple(notice.labels) for notice in bench.recorder.notices} == {()}
    await bench.look(timedelta(minutes=31))
    assert bench.told[2:] == ["fired cloud-credit-ends-soon"]
    assert bench.recorder.notices[-1].summary == (
        "At this rate ($0.40 a day) the cloud credit ends on 2026-01-02: $0.60 is left."
    )
    await bench.usage.record(usage(2, 0.45))
    await bench.look(INTERVAL)
    assert bench.told[3:] == ["fired cloud-credit-spent-80"]
    await bench.look(timedelta(hours=1))
    assert bench.told[4:] == ["resolved operator-burn-rate"]


async def test_an_account_that_spends_fast_is_named(db: Database, stores: Stores, clock: ManualClock) -> None:
    bench = Bench(db, stores, clock, money_rules([0.8], None, 2.0, 0))
    fast, slow = await bench.account(1_000_000_000, "fast"), await bench.account(1_000_000_000, "slow")
    await bench.spend(fast, 2_000_001)
    await bench.spend(slow, 2_000_000)
    await bench.look()
    assert [notice.summary for notice in bench.recorder.notices] == [
        "fast spends $2.00 an hour, which is more than $2.00."
    ]
    assert money_metrics.burn.labels("charge")._value.get() == 4_000_001
    await bench.look(timedelta(hours=1, seconds=1))
    assert money_metrics.burn.labels("charge")._value.get() == 0
    assert bench.told == ["fired account-burn-rate", "resolved account-burn-rate"]


async def test_a_settlement_costs_no_query_more_than_the_ledgers_own(bench: Bench, db: Database) -> None:
    account_id = await bench.account(100)
    statements: list[str] = []
    event.listen(db.engine.sync_engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    held = [(await bench.ledger.hold(account_id, amount, f"job:{amount}", "")).hold_id for amount in (1, 90)]
    statements.clear()
    await bench.ledger.settle(held[0], 1, "job:1:1", "")
    own = len(statements)
    stores = replace(bench.stores, ledger=bench.ledger)
    servicer = BillingServicer(stores, (), bench.clock, (0.8,), 0, bench.source)
    request = SettleChargeRequest(hold_id=held[1], amount_micros=90, idempotency_key="job:2:1")
    await servicer.SettleCharge(request, None)  # type: ignore[arg-type]
    assert (own > 0, len(statements)) == (True, 2 * own)
    await bench.look()
    assert bench.told == ["fired account-credit-spent-80"]


async def test_figures_that_cannot_be_read_lose_no_movement(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    account_id = await bench.account(100)
    await bench.look()
    await bench.spend(account_id, 90)
    with monkeypatch.context() as broken:
        broken.setattr(bench.source._figures, "accounts_with", None)
        with pytest.raises(TypeError):
            await bench.source.run_once()
    await bench.look()
    assert bench.told == ["fired account-credit-spent-80"]
