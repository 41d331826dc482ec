"""Whatever happens in whatever order, the books are right: on both databases, and with many clients at once."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import event

from servicekit.clock import ManualClock, new_id
from servicekit.db import database
from services.billing.config import BillingSettings
from services.billing.errors import BillingError
from services.billing.ledger.budgets import Period, Scope
from services.billing.ledger.holds import Purpose
from services.billing.ledger.machine_usage import MachineUsage, Use
from services.billing.ledger_keeper import LedgerKeeper
from services.billing.server import build_stores
from services.billing.store.budget_store import BudgetStore, ChargedSums
from services.billing.store.ledger_store import Receipt
from tests.postgres_server import PostgresServer
from tests.schemas import migrate
from vocabulary.money import Tariff

Call = Callable[[], Awaitable[Receipt]]

MIGRATIONS = "services.billing:migrations"
START = datetime(2026, 1, 1, tzinfo=UTC)
BUDGET = 150
"""Micro-dollars."""
PRICES = {"MI300X": Tariff(3_600)}
"""A micro-dollar a second."""
amounts = st.integers(1, 100)
picks = st.integers(0, 10**6)


class _CrashError(Exception):
    """Ends a transaction, as the end of its process does."""


class Books(RuleBasedStateMachine):
    """Makes calls of every kind; those that succeeded are made again later, as after a crash of their caller."""

    def __init__(self, database_url: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock(START)
        self.db = database.Database(database_url)
        self.made: list[tuple[Call, Receipt]] = []
        self.holds: list[str] = []
        self.sequence = 0
        self.intervals: list[MachineUsage] = []

    def run(self, work: Awaitable[Any]) -> Any:
        return self.runner.run(_awaited(work))

    @initialize()
    def open(self) -> None:
        self.run(migrate(self.db, MIGRATIONS))
        settings = BillingSettings(bootstrap_account="", free_daily_credit=Decimal("0.00001"))
        self.stores = build_stores(self.db, settings, self.clock)
        self.keeper = LedgerKeeper(self.stores.ledger, self.stores.postings)
        opened = [self.run(self.stores.accounts.create(name)) for name in ("ada", "bob")]
        self.accounts = [account.account_id for account in opened]
        for account_id in self.accounts:
            self.run(self.stores.ledger.grant(account_id, 100, f"first:{account_id}", ""))
        self.run(self.stores.budgets.set(Scope.ACCOUNT, self.accounts[0], Period.MONTH, BUDGET, hard=True))
        self.run(self.stores.budgets.set(Scope.USER, "user_b", Period.DAY, BUDGET, hard=True))

    def key(self, kind: str) -> str:
        self.sequence += 1
        return f"{kind}:{self.sequence}"

    def call(self, call: Call) -> Receipt | None:
        try:
            receipt = self.run(call())
        except BillingError:
            return None
        self.made.append((call, receipt))
        return receipt

    def an_account(self, pick: int) -> str:
        return self.accounts[pick % len(self.accounts)]

    def a_hold(self, pick: int) -> str:
        return self.holds[pick % len(self.holds)] if self.holds else "hold_none"

    @rule(pick=picks, amount=amounts, days=st.none() | st.integers(1, 3))
    def grant(self, pick: int, amount: int, days: int | None) -> None:
        expire_time = None if days is None else self.clock.now() + timedelta(days=days)
        grant = self.stores.ledger.grant
        self.call(partial(grant, self.an_account(pick), amount, self.key("grant"), "", expire_time))

    @rule(pick=picks, amount=amounts)
    def revoke(self, pick: int, amount: int) -> None:
        self.call(partial(self.stores.ledger.revoke, self.an_account(pick), amount, self.key("revoke"), ""))

    @rule(pick=picks, amount=amounts, days=st.none() | st.integers(1, 3), is_priced=st.booleans())
    def reserve(self, pick: int, amount: int, days: int | None, is_priced: bool) -> None:
        expire_time = None if days is None else self.clock.now() + timedelta(days=days)
        key = self.key("job")
        purpose = Purpose(subject=key, user_id=("user_a", "user_b")[pick % 3 % 2])
        hold = partial(self.stores.ledger.hold, purpose=purpose, expire_time=expire_time)
        hold = partial(hold, tariffs=PRICES) if is_priced else hold
        receipt = self.call(partial(hold, self.an_account(pick), amount, key, ""))
        if receipt:
            self.holds.append(receipt.hold_id)

    @rule(pick=picks, amount=amounts, days=st.none() | st.integers(1, 3))
    def extend(self, pick: int, amount: int, days: int | None) -> None:
        expire_time = None if days is None else self.clock.now() + timedelta(days=days)
        self.call(partial(self.stores.ledger.extend, self.a_hold(pick), amount, self.key("more"), "", expire_time))

    @rule(pick=picks, seconds=st.integers(0, 150))
    def extend_to(self, pick: int, seconds: int) -> None:
        """A priced hold is extended by its longest time."""
        extend = partial(self.stores.ledger.extend, longest=timedelta(seconds=seconds))
        receipt = self.call(partial(extend, self.a_hold(pick), 0, self.key("longer"), ""))
        assert receipt is None or receipt.hold_micros >= seconds

    @rule(pick=picks, amount=st.integers(0, 150), final=st.booleans(), in_all=st.booleans())
    def settle(self, pick: int, amount: int, final: bool, in_all: bool) -> None:
        """A priced hold is charged by the time, which is as many seconds, more or in all."""
        settle = partial(self.stores.ledger.settle, final=final, in_all=in_all)
        settle = partial(settle, billable=(timedelta(seconds=amount), "MI300X"))
        receipt = self.call(partial(settle, self.a_hold(pick), amount, self.key("settle"), ""))
        assert receipt is None or receipt.hold_charged_micros <= receipt.hold_micros

    @rule(pick=picks, amount=st.integers(0, 60), statement=st.integers(1, 11))
    def crash(self, pick: int, amount: int, statement: int) -> None:
        """A call ends before one of its statements; made again, it does its work once."""
        call = partial(self.stores.ledger.settle, self.a_hold(pick), amount, self.key("crash"), "")
        with self._crash_before(statement), suppress(BillingError, _CrashError):
            self.run(call())
        if receipt := self.call(call):
            assert self.run(call()).repeated
            assert receipt.hold_id in self.holds

    @contextmanager
    def _crash_before(self, statement: int) -> Iterator[None]:
        left = count(statement, -1)

        def crash(*_: object) -> None:
            if next(left) == 1:
                raise _CrashError

        event.listen(self.db.engine.sync_engine, "before_cursor_execute", crash)
        yield
        event.remove(self.db.engine.sync_engine, "before_cursor_execute", crash)

    @rule(pick=picks, amount=amounts)
    def refund(self, pick: int, amount: int) -> None:
        self.call(partial(self.stores.ledger.refund, self.a_hold(pick), amount, self.key("refund"), ""))

    @rule(hours=st.integers(1, 40))
    def time_passes(self, hours: int) -> None:
        self.clock.advance(timedelta(hours=hours))
        self.run(self.keeper.run_once())

    @rule(pick=picks)
    def repeat(self, pick: int) -> None:
        if not self.made:
            return
        call, first = self.made[pick % len(self.made)]
        again = self.run(call())
        assert again.repeated
        assert (again.amount_micros, again.hold_id) == (first.amount_micros, first.hold_id)

    @rule(pick=picks, amount=st.integers(0, 60), clients=st.integers(2, 16))
    def race(self, pick: int, amount: int, clients: int) -> None:
        """Several clients settle one hold at once, and reserve and repeat besides."""
        ledger, hold_id, account_id = self.stores.ledger, self.a_hold(pick), self.an_account(pick)
        calls = [partial(ledger.settle, hold_id, amount, self.key("race"), "") for _ in range(clients)]
        calls += [partial(ledger.hold, account_id, amount, self.key("race"), "") for _ in range(clients)]
        calls += [call for call, _ in self.made[-clients:]]

        async def at_once() -> list[Receipt | BaseException]:
            return await asyncio.gather(*(call() for call in calls), return_exceptions=True)

        outcomes = self.run(at_once())
        assert all(not isinstance(one, BaseException) or isinstance(one, BillingError) for one in outcomes), outcomes
        assert sum(not isinstance(one, BaseException) for one in outcomes[:clients]) <= 1
        self.holds += [one.hold_id for one in outcomes[clients : 2 * clients] if not isinstance(one, BaseException)]

    @rule(minutes=st.integers(1, 90), used=st.integers(0, 60))
    def a_machine_runs(self, minutes: int, used: int) -> None:
        start = self.intervals[-1].end_time if self.intervals else START
        end = start + timedelta(minutes=minutes)
        uses = (Use(f"job:{self.sequence}:1", min(end - start, timedelta(minutes=used))),)
        tariff = {"minimum_billed": timedelta(hours=1), "billing_increment": timedelta(minutes=1)}
        usage = MachineUsage("m1", len(self.intervals) + 1, "p", "MI300X", 1, start, end, 1_990_000, False, START)
        for name, value in {**tariff, "ready_time": START + timedelta(minutes=5), "uses": uses}.items():
            object.__setattr__(usage, name, value)
        self.intervals.append(usage)

    @rule(pick=picks)
    def a_report_arrives(self, pick: int) -> None:
        """In any order, and more than once."""
        if self.intervals:
            self.run(self.stores.usage.record(self.intervals[pick % len(self.intervals)]))

    @invariant()
    def the_books_are_right(self) -> None:
        assert self.run(self.stores.postings.prove()).faults == []

    @invariant()
    def no_credit_is_below_zero(self) -> None:
        for account_id in self.accounts:
            balance = self.run(self.stores.accounts.get(account_id)).balance
            assert min(balance.available_micros, balance.held_micros, balance.charged_micros) >= 0

    @invariant()
    def no_hard_budget_is_exceeded(self) -> None:
        spent = self.run(self.stores.budgets.all_with_spent())
        assert all(spent_micros <= budget.limit_micros for budget, spent_micros in spent)
        # Sums that are kept and moved on are those of somebody who adds everything up now.
        afresh = BudgetStore(self.db, self.clock, new_id, ChargedSums(self.db))
        assert self.run(afresh.all_with_spent()) == spent

    @invariant()
    def cost_less_charge_is_overhead(self) -> None:
        report = self.run(self.stores.reports.costs(START, self.clock.now() + timedelta(days=1)))
        assert sum(report.overheads().values()) == report.overhead_micros
        assert report.overhead_micros - report.surplus_micros == report.cost_micros - report.charged_micros
        assert report.cost_micros == self.run(self.stores.usage.operator_balance()).cost_micros

    def teardown(self) -> None:
        for interval in self.intervals:
            self.run(self.stores.usage.record(interval))
        if self.intervals:
            last = self.intervals[-1]
            billed = max(timedelta(hours=1), last.end_time - START)
            cost = self.run(self.stores.usage.operator_balance()).cost_micros
            assert cost == -(-billed // timedelta(microseconds=1) * 1_990_000 // 3_600_000_000)
        self.run(self.db.close())
        self.runner.close()


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


# Each step is a transaction on a real database.
EXAMPLES = settings(max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_on_sqlite(tmp_path: Path) -> None:
    def machine() -> Books:
        return Books(f"sqlite+aiosqlite:///{Path(tempfile.mkdtemp(dir=tmp_path)) / 'test.db'}")

    run_state_machine_as_test(machine, settings=EXAMPLES)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.postgres
def test_on_postgresql(postgres_server: PostgresServer) -> None:
    fewer = settings(EXAMPLES, max_examples=EXAMPLES.max_examples // 3)
    run_state_machine_as_test(lambda: Books(postgres_server.create_database(MIGRATIONS)), settings=fewer)


@pytest.mark.slow
async def test_sixteen_clients_at_once(database_url: str) -> None:
    db = database.Database(database_url)
    await migrate(db, MIGRATIONS)
    stores = build_stores(db, BillingSettings(bootstrap_account=""))
    account_id = (await stores.accounts.create("ada")).account_id
    await stores.ledger.grant(account_id, 10_000, "grant", "")

    async def client(number: int) -> None:
        for job in range(10):
            key = f"job:{number}:{job}"
            receipt = await stores.ledger.hold(account_id, 50, key, "")
            await stores.ledger.settle(receipt.hold_id, 20, f"{key}:part", "", final=False)
            # The answer is lost, so the client asks again while others are at work.
            await asyncio.gather(*(stores.ledger.settle(receipt.hold_id, 7, f"{key}:1", "") for _ in range(2)))

    await asyncio.gather(*(client(number) for number in range(16)))
    balance = (await stores.accounts.get(account_id)).balance
    assert (balance.charged_micros, balance.held_micros) == (160 * 27, 0)
    assert (await stores.postings.prove()).faults == []
    await db.close()
