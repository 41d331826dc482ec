from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.billing.config import BillingSettings
from services.billing.ledger.machine_usage import MachineUsage
from services.billing.projections.history import Day, projection
from services.billing.server import build_stores
from services.billing.store.history_store import HistoryStore

FIRST, END = date(2026, 9, 1), date(2026, 9, 4)
START = datetime(2026, 9, 1, 23, 30, tzinfo=UTC)


@pytest.fixture
async def accounts(db: Database, settings: BillingSettings) -> list[str]:
    """Two accounts: the first was charged on both days, and once nothing; the second on the last."""
    clock = ManualClock(START)
    stores = build_stores(db, settings, clock)
    ledger = stores.ledger
    opened = [(await stores.accounts.create(name)).account_id for name in ("ada", "bob")]
    for number, (account_id, micros) in enumerate([(opened[0], 5), (opened[0], 7), (opened[0], 0), (opened[1], 11)]):
        await ledger.grant(account_id, 1000, f"grant:{number}", "")
        held = await ledger.hold(account_id, 20, f"job:{number}", "")
        await ledger.settle(held.hold_id, micros, f"job:{number}:1", "")
        clock.advance(timedelta(minutes=20))
    for machine_id, sequence, minutes in (("m1", 1, 10), ("m1", 2, 40), ("m2", 1, 50)):
        end = START + timedelta(minutes=minutes)
        usage = MachineUsage(machine_id, sequence, "local", "MI300X", 1, START, end, 6_000, False, START)
        await stores.usage.record(usage)
    return opened


async def test_the_operators_days_have_charges_and_machines(db: Database, accounts: list[str]) -> None:
    assert await HistoryStore(db).days("", FIRST, END) == [
        Day(date(2026, 9, 1), 2, 12, 1_000, 1),
        Day(date(2026, 9, 2), 1, 11, 9_000, 1),
    ]


async def test_an_accounts_days_have_its_own_charges_alone(db: Database, accounts: list[str]) -> None:
    store = HistoryStore(db)
    assert await store.days(accounts[0], FIRST, END) == [Day(date(2026, 9, 1), 2, 12)]
    assert await store.days(accounts[1], FIRST, END) == [Day(date(2026, 9, 2), 1, 11)]


async def test_the_end_is_not_among_the_days(db: Database, accounts: list[str]) -> None:
    assert [day.day for day in await HistoryStore(db).days("", FIRST, date(2026, 9, 2))] == [FIRST]


async def test_a_reservation_is_charged_and_is_no_task(
    db: Database, settings: BillingSettings, accounts: list[str]
) -> None:
    ledger = build_stores(db, settings, ManualClock(START)).ledger
    held = await ledger.hold(accounts[0], 300, "res:1", "")
    for part in range(3):
        await ledger.settle(held.hold_id, 100, f"res:1:{part}", "", final=part == 2)
    assert (await HistoryStore(db).days(accounts[0], FIRST, END))[-1].reservation_micros == 300
    days = await HistoryStore(db).days("", FIRST, END)
    assert sum(day.charge_micros for day in days) == 323
    costs = projection(days, FIRST, END, 0, of_operator=False).task_costs
    assert costs is not None
    assert (costs.tasks, costs.spent_micros) == (3, 23)
    of_operator = projection(days, FIRST, END, 0, of_operator=True).task_costs
    assert of_operator is not None
    assert (of_operator.tasks, of_operator.spent_micros) == (3, 9_700)
    assert of_operator.warm_micros == 23 / 3
