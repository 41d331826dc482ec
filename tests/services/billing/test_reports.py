from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.billing.alerts import money_metrics
from services.billing.config import BillingSettings
from services.billing.errors import AccountNotFoundError, InvalidFieldError
from services.billing.ledger.books import COST_BOOKS, Book, PostingKind
from services.billing.ledger.holds import Purpose
from services.billing.ledger.machine_usage import MachineUsage, Use
from services.billing.ledger.report import CostReport, OverheadPolicy, RunCost, WorkCost
from services.billing.ledger_keeper import LedgerKeeper
from services.billing.projections.history import projection
from services.billing.server import build_stores
from services.billing.service.billing_service import Stores

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
PRICE = 3_600_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def stores(db: Database, settings: BillingSettings, clock: ManualClock) -> Stores:
    return build_stores(db, settings, clock)


async def account_with(stores: Stores, micros: int, name: str) -> str:
    account = await stores.accounts.create(name)
    await stores.ledger.grant(account.account_id, micros, f"grant:{name}", "a grant")
    return account.account_id


async def charged(stores: Stores, account_id: str, job: str, micros: int, reason: str = "", user: str = "") -> str:
    purpose = Purpose(subject=job, user_id=user or f"user_{account_id}", problem="softmax", gpu_type="MI300X")
    receipt = await stores.ledger.hold(account_id, 10**6, f"job:{job}", "", purpose=purpose)
    await stores.ledger.settle(receipt.hold_id, micros, f"job:{job}:1", f"job {job}", reason=reason)
    return receipt.hold_id


def minute(sequence: int, *uses: Use, ready: bool = True) -> MachineUsage:
    start = START + (sequence - 1) * MINUTE
    ready_time = START if ready else None
    return MachineUsage(
        "m1",
        sequence,
        "hotaisle",
        "MI300X",
        1,
        start,
        start + MINUTE,
        PRICE,
        False,
        START,
        ready_time=ready_time,
        uses=uses,
    )


async def test_cost_less_charge_is_the_overhead_and_each_part_of_it_has_a_reason(stores: Stores) -> None:
    ada, bob = await account_with(stores, 10**7, "ada"), await account_with(stores, 10**7, "bob")
    second = timedelta(seconds=1)
    await stores.usage.record(minute(1, ready=False))
    await stores.usage.record(minute(2, Use("job_a:1", 10 * second), Use("job_a:2", 20 * second)))
    await stores.usage.record(minute(3, Use("job_b:1", 30 * second), Use("other", 5 * second)))
    await charged(stores, ada, "job_a", 19_000)
    await charged(stores, bob, "job_b", 0, "machine lost")
    report = await stores.reports.costs(START, START + HOUR)
    assert report.cost_by_book == {Book.PROVISIONING: 60_000, Book.IDLE: 55_000, Book.USE: 65_000}
    assert (report.cost_micros, report.charged_micros, report.overhead_micros) == (180_000, 19_000, 161_000)
    assert report.overheads() == {
        "provisioning": 60_000,
        "idle": 55_000,
        "lost attempts": 10_000,
        "machine lost": 30_000,
        "no job": 5_000,
        "price and time": 1_000,
    }
    assert report.use_by_account() == {ada: 30_000, bob: 30_000}
    assert report.overhead_by_account(OverheadPolicy.OPERATOR) == {}
    assert report.overhead_by_account(OverheadPolicy.SHARED) == {ada: 80_500, bob: 80_500}
    balance = await stores.usage.operator_balance()
    assert (balance.cost_micros, balance.charged_micros) == (report.cost_micros, report.charged_micros)
    assert (await stores.postings.prove()).faults == []


async def test_one_works_cost_is_that_of_all_its_attempts_less_what_was_charged_for_it(stores: Stores) -> None:
    ada, second = await account_with(stores, 10**7, "ada"), timedelta(seconds=1)
    await stores.usage.record(minute(1, Use("res_a:1", 10 * second), Use("res_a:2", 20 * second)))
    await stores.usage.record(minute(2, Use("res_a:2", 30 * second), Use("res_ab:1", 5 * second)))
    hold_id = await charged(stores, ada, "res_a", 19_000)
    await charged(stores, ada, "res_ab", 1)
    await stores.ledger.refund(hold_id, 4_000, "refund", "")
    found = await stores.reports.work_cost("res_a", 2)
    assert (found.cost_micros, found.charged_micros, found.overhead_micros) == (60_000, 15_000, 45_000)
    assert (await stores.reports.work_cost("res_none", 1)).overhead_micros == 0
    for subject, attempts, field in (("", 1, "subject"), ("res_a", -1, "attempts"), ("res_a", 1001, "attempts")):
        with pytest.raises(InvalidFieldError, match=field):
            await stores.reports.work_cost(subject, attempts)


async def test_a_report_counts_what_was_booked_in_its_period(stores: Stores, clock: ManualClock) -> None:
    ada = await account_with(stores, 10**7, "ada")
    await charged(stores, ada, "job_a", 5)
    clock.advance(HOUR)
    hold_id = await charged(stores, ada, "job_b", 70)
    await stores.usage.record(minute(1))
    clock.advance(HOUR)
    await stores.ledger.refund(hold_id, 20, "refund", "")
    periods = [(START, START + HOUR), (START + HOUR, START + 2 * HOUR), (START + 2 * HOUR, START + 3 * HOUR)]
    reports = [await stores.reports.costs(*period) for period in periods]
    assert [(report.cost_micros, report.charged_micros) for report in reports] == [(0, 5), (60_000, 70), (0, -20)]
    with pytest.raises(InvalidFieldError, match="end_time"):
        await stores.reports.costs(START, START - MINUTE)


async def test_a_statement_leads_from_its_opening_to_its_closing_balance(stores: Stores, clock: ManualClock) -> None:
    ada = await account_with(stores, 10**7, "ada")
    await charged(stores, ada, "job_a", 5)
    clock.advance(DAY)
    hold_id = await charged(stores, ada, "job_b", 70)
    await charged(stores, ada, "job_c", 30, user="user_eve")
    await stores.ledger.refund(hold_id, 20, "refund", "machine lost")
    await stores.ledger.hold(ada, 500, "open", "")
    clock.advance(DAY)
    await charged(stores, ada, "job_d", 9)
    statement = await stores.reports.statement(ada, START + DAY, START + 2 * DAY)
    assert (statement.opening_micros, statement.closing_micros, statement.held_micros) == (9_999_995, 9_999_915, 500)
    assert [(line.kind, line.amount_micros) for line in statement.lines] == [
        (PostingKind.CHARGE, -70),
        (PostingKind.CHARGE, -30),
        (PostingKind.REFUND, 20),
    ]
    usage = statement.usage_by(lambda line: line.purpose.problem)
    assert (usage["softmax"].charged_micros, usage["softmax"].works) == (80, 2)
    theirs = await stores.reports.statement(ada, START, START + 3 * DAY, "user_eve")
    assert [line.purpose.subject for line in theirs.lines] == ["job_c"]
    whole = await stores.reports.statement(ada, START, START + 3 * DAY)
    assert whole.opening_micros + sum(line.amount_micros for line in whole.lines) == whole.closing_micros
    with pytest.raises(AccountNotFoundError):
        await stores.reports.statement("acct_none", START, START)


async def test_the_credit_of_the_cloud_is_what_machines_take_and_not_what_users_are_charged(stores: Stores) -> None:
    """The example that people know: 1,400 dollars granted, 5.25 taken, 1,394.75 left; 47 tasks, 3 cold and 44 warm."""
    await stores.usage.fund(1_400_000_000, "cloud-credit", "the grant")
    await stores.usage.fund(1_400_000_000, "cloud-credit", "the grant, at the next start")
    hours = START, START + timedelta(hours=1.75)
    for name in ("m1", "m2", "m3"):
        await stores.usage.record(MachineUsage(name, 1, "hotaisle", "MI300X", 1, *hours, 1_000_000, True, START))
    ada = await account_with(stores, 10**9, "ada")
    for number in range(47):
        await charged(stores, ada, f"job_{number}", 10_000)
    first, end = START.date(), START.date() + DAY
    days = await stores.history.days("", first, end)
    costs = projection(days, first, end, 1_394_750_000, of_operator=True).task_costs
    assert costs is not None
    assert (costs.tasks, costs.cold_tasks, costs.tasks - costs.cold_tasks) == (47, 3, 44)
    assert costs.spent_micros == 5_250_000
    balance = await stores.usage.operator_balance()
    assert (balance.granted_micros, balance.cost_micros, balance.remaining_micros) == (
        1_400_000_000,
        5_250_000,
        1_394_750_000,
    )
    await stores.usage.fund(1_000_000_000, "cloud-credit", "less, by the settings")
    assert (await stores.usage.operator_balance()).remaining_micros == 994_750_000


async def test_charges_in_parts_are_one_line_and_each_day_has_its_own(stores: Stores, clock: ManualClock) -> None:
    ada = await account_with(stores, 10**7, "ada")
    other = await charged(stores, ada, "job_a", 5)
    purpose = Purpose(subject="res_1", user_id="user_ada", gpu_type="MI300X")
    held = await stores.ledger.hold(ada, 900, "res_1", "", purpose=purpose)
    for hour in range(20):
        clock.advance(HOUR)
        await stores.ledger.settle(held.hold_id, 10, f"part:{hour}", f"hour {hour}", final=hour == 19)
    await stores.ledger.refund(held.hold_id, 30, "refund", "lost")
    statement = await stores.reports.statement(ada, START, START + 2 * DAY)
    assert [(line.kind, line.amount_micros, line.hold_id) for line in statement.lines] == [
        (PostingKind.GRANT, 10**7, ""),
        (PostingKind.CHARGE, -5, other),
        (PostingKind.CHARGE, -200, held.hold_id),
        (PostingKind.REFUND, 30, held.hold_id),
    ]
    line = statement.lines[2]
    assert (line.start_time, line.time, line.description) == (START + HOUR, START + 20 * HOUR, "hour 19")
    days = statement.usage_by(lambda one: one.time.date().isoformat())
    assert [(usage.charged_micros, usage.works) for usage in days.values()] == [(115, 2), (60, 1)]
    # Each period has its own part.
    of_a_day = await stores.reports.statement(ada, START, START + 12 * HOUR)
    assert [line.amount_micros for line in of_a_day.lines] == [10**7, -5, -110]


amounts = st.integers(0, 10**9)
run_costs = st.builds(RunCost, st.sampled_from("jk"), st.integers(1, 3), st.sampled_from(["", "a", "b"]), amounts)


@given(
    st.dictionaries(st.sampled_from(COST_BOOKS), amounts),
    st.dictionaries(st.sampled_from("ab"), st.integers(-(10**9), 10**9)),
    st.lists(run_costs),
)
def test_overhead_is_never_below_zero_and_what_is_charged_beyond_the_cost_is_surplus(
    costs: dict[Book, int], charged: dict[str, int], used: list[RunCost]
) -> None:
    costs[Book.USE] = sum(run.micros for run in used) + costs.get(Book.USE, 0)
    report = CostReport(costs, charged, used, {"j": "machine lost"})
    assert report.overhead_micros - report.surplus_micros == report.cost_micros - report.charged_micros
    assert min(report.overhead_micros, report.surplus_micros) == 0
    parts, shares = report.overheads().values(), report.overhead_by_account(OverheadPolicy.SHARED).values()
    assert sum(parts) == report.overhead_micros
    assert sum(shares) == (report.overhead_micros if any(run.account_id for run in used) else 0)
    assert min([report.overhead_micros, report.surplus_micros, *shares]) >= 0
    # A refund of what an earlier period charged is overhead of this one, whatever this one cost.
    assert report.cost_micros or report.charged_micros < 0 or not parts


@pytest.mark.parametrize(
    ("cost", "charged", "answer"), [(0, 5, (0, 5)), (5, 0, (5, 0)), (5, 5, (0, 0)), (5, 7, (0, 2))]
)
def test_work_that_costs_nothing_has_a_surplus_and_no_overhead(
    cost: int, charged: int, answer: tuple[int, int]
) -> None:
    found = WorkCost(cost, charged)
    assert (found.overhead_micros, found.surplus_micros) == answer


async def test_prometheus_shows_the_books_of_accounts_together_and_of_the_operator(stores: Stores) -> None:
    for name in ("ada", "bob"):
        await account_with(stores, 100, name)
    await stores.usage.record(minute(1))
    await LedgerKeeper(stores.ledger, stores.postings).run_once()
    assert money_metrics.books.labels("accounts", "available")._value.get() == 200
    assert money_metrics.books.labels("operator", "idle")._value.get() == 60_000
    assert money_metrics.transactions._value.get() == 3
