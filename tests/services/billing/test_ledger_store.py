from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from sqlalchemy import Table, delete, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.billing.config import BillingSettings
from services.billing.errors import (
    BudgetExceededError,
    HoldExpiredError,
    HoldNotFoundError,
    HoldSettledError,
    IdempotencyKeyReusedError,
    InsufficientCreditError,
    InvalidFieldError,
    SpentCreditError,
)
from services.billing.ledger.books import Book
from services.billing.ledger.budgets import Period, Scope
from services.billing.ledger.holds import Purpose
from services.billing.ledger.machine_usage import MachineUsage
from services.billing.server import build_stores
from services.billing.service.billing_service import Stores
from services.billing.store.ledger_store import Receipt
from services.billing.store.posting_store import PostingStore
from services.billing.store.tables import postings, transactions
from vocabulary.money import Tariff

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


async def account_with(stores: Stores, micros: int, name: str = "ada") -> str:
    account = await stores.accounts.create(name)
    await stores.ledger.grant(account.account_id, micros, f"grant:{name}", "")
    return account.account_id


async def test_a_repeated_hold_answers_as_the_first_did(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    first = await stores.ledger.hold(account_id, 60, "job:1", "a job")
    await stores.ledger.grant(account_id, 7, "later", "")
    again = await stores.ledger.hold(account_id, 60, "job:1", "another description")
    assert (again.hold_id, again.amount_micros, again.available_micros) == (first.hold_id, 60, 40)
    assert again.repeated


async def test_a_key_with_other_content_is_refused(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    other_id = await account_with(stores, 100, "bob")
    await stores.ledger.hold(account_id, 60, "job:1", "")
    for attempt in (
        stores.ledger.hold(account_id, 59, "job:1", ""),
        stores.ledger.hold(other_id, 60, "job:1", ""),
        stores.ledger.grant(account_id, 60, "job:1", ""),
    ):
        with pytest.raises(IdempotencyKeyReusedError):
            await attempt
    assert (await stores.accounts.get(account_id)).balance.available_micros == 40


async def test_racing_holds_never_take_more_than_is_available(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    attempts = [stores.ledger.hold(account_id, 30, f"job:{number}", "") for number in range(8)]
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    assert sum(isinstance(outcome, InsufficientCreditError) for outcome in outcomes) == 5
    assert (await stores.accounts.get(account_id)).balance.available_micros == 10


async def test_racing_repeats_of_one_key_make_one_hold(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    receipts = await asyncio.gather(*(stores.ledger.hold(account_id, 30, "job:1", "") for _ in range(6)))
    assert len({receipt.hold_id for receipt in receipts}) == 1
    assert (await stores.accounts.get(account_id)).balance.held_micros == 30


async def held(stores: Stores, account_id: str, micros: int) -> str:
    return str((await stores.ledger.hold(account_id, micros, "job:1", "")).hold_id)


async def test_racing_settlements_charge_once(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    attempts = [stores.ledger.settle(hold_id, 20 + number, f"job:1:{number}", "") for number in range(6)]
    outcomes: list[Receipt | BaseException] = await asyncio.gather(*attempts, return_exceptions=True)
    assert sum(isinstance(outcome, HoldSettledError) for outcome in outcomes) == 5
    balance = (await stores.accounts.get(account_id)).balance
    assert balance.held_micros == 0
    assert 20 <= balance.charged_micros <= 25


async def test_a_repeated_settlement_answers_as_the_first_did(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    first = await stores.ledger.settle(hold_id, 25, "job:1:1", "")
    again = await stores.ledger.settle(hold_id, 25, "job:1:1", "")
    assert (first.available_micros, again.available_micros, again.repeated) == (75, 75, True)
    for amount, key in ((26, "job:1:1"), (25, "job:1:2")):
        with pytest.raises(HoldSettledError):
            await stores.ledger.settle(hold_id, amount, key, "")


async def test_settling_with_a_key_of_another_purpose_leaves_the_hold_standing(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    with pytest.raises(IdempotencyKeyReusedError):
        await stores.ledger.settle(hold_id, 25, "grant:ada", "")
    assert (await stores.accounts.get(account_id)).balance.held_micros == 60


async def test_a_charge_ends_at_its_hold_and_the_rest_is_the_operators(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    receipt = await stores.ledger.settle(hold_id, 150, "job:1:1", "")
    assert (receipt.amount_micros, receipt.available_micros) == (60, 40)
    years = [datetime(year, 1, 1, tzinfo=UTC) for year in (2000, 3000)]
    statement = await stores.reports.statement(account_id, *years)
    assert statement.lines[-1].reason == "capped at the hold"
    again = await stores.ledger.settle(hold_id, 150, "job:1:1", "")
    assert (again.amount_micros, again.repeated) == (60, True)


async def test_a_hold_is_charged_in_parts_and_its_rest_given_back(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    for minute in range(3):
        receipt = await stores.ledger.settle(hold_id, 10, f"res:1:{minute}", "", final=False)
        assert (receipt.amount_micros, receipt.available_micros) == (10, 40)
    repeated = await stores.ledger.settle(hold_id, 10, "res:1:2", "", final=False)
    assert repeated.repeated
    assert (await stores.ledger.settle(hold_id, 5, "res:1:end", "")).available_micros == 65
    balance = (await stores.accounts.get(account_id)).balance
    assert (balance.charged_micros, balance.held_micros) == (35, 0)


async def test_the_parts_of_a_charge_cost_together_what_their_time_costs_at_once(stores: Stores) -> None:
    account_id = await account_with(stores, 1_000_000)
    tariff = Tariff(3_600_000, minimum=MINUTE, increment=timedelta(seconds=7))
    hold = await stores.ledger.hold(account_id, 900_000, "job:1", "", tariffs={"MI300X": tariff})
    part = (timedelta(milliseconds=40_300), "mi300x")
    charged = [
        (await stores.ledger.settle(hold.hold_id, 0, f"part:{number}", "", billable=part, final=False)).amount_micros
        for number in range(3)
    ]
    last = await stores.ledger.settle(hold.hold_id, 0, "end", "", billable=part)
    assert sum(charged) + last.amount_micros == tariff.cost_micros(4 * part[0]) == 168_000
    assert charged[0] == 60_000
    again = await stores.ledger.settle(hold.hold_id, 0, "end", "", billable=part)
    assert (again.amount_micros, again.repeated) == (last.amount_micros, True)


async def test_work_that_takes_a_range_pays_for_the_gpus_that_it_got_and_never_for_more_than_the_hold(
    stores: Stores,
) -> None:
    account_id = await account_with(stores, 10_000_000)
    tariff = Tariff(3_600_000, gpus=4)
    asked = [(1, 60_000), (2, 120_000), (0, 240_000)]
    for number, (gpus, cost) in enumerate(asked):
        hold = await stores.ledger.hold(account_id, 900_000, f"job:{number}", "", tariffs={"MI300X": tariff})
        with pytest.raises(InvalidFieldError, match="the hold is for 4"):
            await stores.ledger.settle(hold.hold_id, 0, f"end:{number}", "", billable=(MINUTE, "MI300X"), gpus=5)
        first = await stores.ledger.settle(hold.hold_id, 0, f"end:{number}", "", billable=(MINUTE, "MI300X"), gpus=gpus)
        again = await stores.ledger.settle(hold.hold_id, 0, f"end:{number}", "", billable=(MINUTE, "MI300X"), gpus=gpus)
        assert (first.amount_micros, again.amount_micros, again.repeated) == (cost, cost, True)


async def test_a_repeated_part_is_known_though_the_hold_was_extended_since(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    assert (await stores.ledger.settle(hold_id, 70, "part:1", "", final=False)).amount_micros == 60
    await stores.ledger.extend(hold_id, 30, "more", "")
    again = await stores.ledger.settle(hold_id, 70, "part:1", "", final=False)
    assert (again.amount_micros, again.repeated) == (60, True)
    assert (await stores.accounts.get(account_id)).balance.charged_micros == 60


async def test_a_hold_is_extended_once_for_each_key_and_never_beyond_the_credit(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    for _ in range(2):
        assert (await stores.ledger.extend(hold_id, 30, "res:1:more", "")).available_micros == 10
    with pytest.raises(InsufficientCreditError):
        await stores.ledger.extend(hold_id, 11, "res:1:more2", "")
    assert (await stores.ledger.settle(hold_id, 90, "res:1:end", "")).amount_micros == 90


async def test_an_expired_hold_gives_its_rest_back_and_refuses_a_charge(
    db: Database, settings: BillingSettings
) -> None:
    clock = ManualClock(NOW)
    stores = build_stores(db, settings, clock)
    account_id = await account_with(stores, 100)
    receipt = await stores.ledger.hold(account_id, 60, "job:1", "", expire_time=NOW + MINUTE)
    await stores.ledger.settle(receipt.hold_id, 15, "job:1:part", "", final=False)
    assert await stores.ledger.expire_holds() == 0
    clock.advance(MINUTE)
    assert await stores.ledger.expire_holds() == 1
    assert await stores.ledger.expire_holds() == 0
    assert (await stores.accounts.get(account_id)).balance.available_micros == 85
    with pytest.raises(HoldExpiredError):
        await stores.ledger.settle(receipt.hold_id, 1, "job:1:1", "")
    with pytest.raises(HoldExpiredError):
        await stores.ledger.extend(receipt.hold_id, 1, "job:1:more", "")
    assert (await stores.postings.prove()).faults == []


async def test_a_refund_is_credit_again_and_never_more_than_the_charge(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    await stores.ledger.settle(hold_id, 50, "job:1:1", "")
    for _ in range(2):
        assert (await stores.ledger.refund(hold_id, 20, "refund:1", "machine lost")).available_micros == 70
    with pytest.raises(InvalidFieldError, match="amount_micros"):
        await stores.ledger.refund(hold_id, 31, "refund:2", "")
    assert (await stores.accounts.get(account_id)).balance.charged_micros == 30
    assert (await stores.postings.prove()).faults == []


async def test_a_grant_is_taken_back_only_while_it_is_available(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    await held(stores, account_id, 60)
    with pytest.raises(SpentCreditError, match=r"\$0.000041 cannot be taken back: \$0.00004 is available"):
        await stores.ledger.revoke(account_id, 41, "mistake", "")
    assert (await stores.ledger.revoke(account_id, 40, "mistake", "")).available_micros == 0
    assert (await stores.accounts.get(account_id)).balance.granted_micros == 60
    assert (await stores.postings.prove()).faults == []


async def test_the_credit_that_expires_first_is_spent_first_and_the_rest_of_it_lapses(
    db: Database, settings: BillingSettings
) -> None:
    clock = ManualClock(NOW)
    stores = build_stores(db, settings, clock)
    account_id = await account_with(stores, 100)
    await stores.ledger.grant(account_id, 50, "promotion", "", NOW + MINUTE)
    first = await stores.ledger.hold(account_id, 30, "job:1", "")
    await stores.ledger.settle(first.hold_id, 30, "job:1:1", "")
    second = await stores.ledger.hold(account_id, 110, "job:2", "")
    clock.advance(MINUTE)
    # 20 of the promotion are left, which the hold will spend first.
    assert await stores.ledger.expire_grants() == 0
    assert (await stores.accounts.get(account_id)).balance.expired_micros == 0
    await stores.ledger.settle(second.hold_id, 0, "job:2:1", "")
    assert await stores.ledger.expire_grants() == 1
    balance = (await stores.accounts.get(account_id)).balance
    assert (balance.expired_micros, balance.available_micros) == (20, 100)
    assert [grant.remaining_micros for grant in await stores.ledger.grants_of(account_id)] == [0, 100]
    assert (await stores.postings.prove()).faults == []


async def test_the_free_quota_comes_once_a_day_and_lapses_at_midnight(db: Database, settings: BillingSettings) -> None:
    clock = ManualClock(NOW)
    stores = build_stores(db, settings.model_copy(update={"free_daily_credit": Decimal("0.00005")}), clock)
    account_id = (await stores.accounts.create("ada")).account_id
    first = await stores.ledger.hold(account_id, 30, "job:1", "")
    with pytest.raises(InsufficientCreditError):
        await stores.ledger.hold(account_id, 21, "job:2", "")
    await stores.ledger.settle(first.hold_id, 30, "job:1:1", "")
    clock.advance(timedelta(days=1))
    await stores.ledger.hold(account_id, 50, "job:3", "")
    with pytest.raises(InsufficientCreditError):
        await stores.ledger.hold(account_id, 1, "job:4", "")
    assert (await stores.accounts.get(account_id)).balance.expired_micros == 20


@pytest.mark.parametrize(("scope", "subject"), [(Scope.ACCOUNT, ""), (Scope.USER, "user_1"), (Scope.QUEUE, "batch")])
async def test_a_hard_budget_refuses_what_could_exceed_it_and_a_soft_one_does_not(
    db: Database, settings: BillingSettings, scope: Scope, subject: str
) -> None:
    clock = ManualClock(NOW)
    stores = build_stores(db, settings, clock)
    account_id = await account_with(stores, 1000)
    purpose = Purpose(subject="job_1", user_id="user_1", queue="batch")
    await stores.budgets.set(scope, subject or account_id, Period.DAY, 100, hard=True)
    await stores.budgets.set(scope, subject or account_id, Period.WEEK, 1, hard=False)
    first = await stores.ledger.hold(account_id, 60, "job:1", "", purpose=purpose)
    with pytest.raises(
        BudgetExceededError, match=rf"budget of {scope} .*for each day\) has \$0.00004 of \$0.0001 left"
    ):
        await stores.ledger.hold(account_id, 41, "job:2", "", purpose=purpose)
    await stores.ledger.settle(first.hold_id, 50, "job:1:1", "")
    second = await stores.ledger.hold(account_id, 50, "job:2", "", purpose=purpose)
    await stores.ledger.settle(second.hold_id, 50, "job:2:1", "")
    clock.advance(timedelta(days=1))
    await stores.ledger.hold(account_id, 100, "job:3", "", purpose=purpose)
    assert {budget.period: spent for budget, spent in await stores.budgets.all_with_spent()} == {
        Period.DAY: 100,
        Period.WEEK: 200,
    }


async def test_racing_holds_of_several_accounts_never_exceed_the_budget_of_their_user(stores: Stores) -> None:
    account_ids = [await account_with(stores, 1000, f"team-{number}") for number in range(8)]
    await stores.budgets.set(Scope.USER, "user_1", Period.DAY, 30, hard=True)
    purpose = Purpose(user_id="user_1")
    attempts = [
        stores.ledger.hold(account_id, 30, f"job:{account_id}", "", purpose=purpose) for account_id in account_ids
    ]
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    assert sum(isinstance(outcome, BudgetExceededError) for outcome in outcomes) == 7


@pytest.mark.parametrize("scope", [Scope.ACCOUNT, Scope.USER, Scope.QUEUE])
async def test_sums_that_are_kept_are_moved_on_by_what_is_charged_and_refunded_and_end_with_the_period(
    db: Database, settings: BillingSettings, scope: Scope
) -> None:
    clock = ManualClock(NOW)
    stores = build_stores(db, settings, clock)
    account_id = await account_with(stores, 1000)
    other_id = await account_with(stores, 1000, "bob")
    subject = {Scope.ACCOUNT: account_id, Scope.USER: "user_1", Scope.QUEUE: "batch"}[scope]
    await stores.budgets.set(scope, subject, Period.DAY, 500, hard=True)
    purpose = Purpose(user_id="user_1", queue="batch")
    found: list[int] = []

    async def note() -> None:
        await stores.ledger.catch_up_budgets()
        [(_, spent)] = await stores.budgets.all_with_spent()
        found.append(spent)

    hold = await stores.ledger.hold(account_id, 100, "job:1", "", purpose=purpose)
    others = await stores.ledger.hold(other_id, 50, "job:2", "", purpose=Purpose(user_id="user_2", queue="other"))
    await note()
    await stores.ledger.settle(hold.hold_id, 30, "part", "", final=False)
    await stores.ledger.settle(others.hold_id, 50, "other", "")
    await note()
    await stores.ledger.settle(hold.hold_id, 10, "end", "")
    await stores.ledger.refund(hold.hold_id, 5, "refund", "")
    await note()
    clock.advance(timedelta(days=1))
    await note()
    await stores.ledger.refund(hold.hold_id, 5, "refund:2", "")
    await note()
    assert found == [100, 100, 35, 0, -5]


async def test_what_is_refunded_is_room_in_the_budget_again(stores: Stores) -> None:
    account_id = await account_with(stores, 1000)
    await stores.budgets.set(Scope.ACCOUNT, account_id, Period.DAY, 100, hard=True)
    hold_id = await held(stores, account_id, 100)
    await stores.ledger.settle(hold_id, 60, "part", "", final=False)
    await stores.ledger.settle(hold_id, 40, "end", "")
    await stores.ledger.refund(hold_id, 70, "refund", "")
    [(_, spent)] = await stores.budgets.all_with_spent()
    assert spent == 30


async def test_a_proof_finds_no_fault_while_others_write(stores: Stores) -> None:
    account_id = await account_with(stores, 1000)

    async def work(worker: int) -> None:
        for number in range(12):
            hold = await stores.ledger.hold(account_id, 5, f"job:{worker}:{number}", "")
            await stores.ledger.settle(hold.hold_id, 2, f"end:{worker}:{number}", "")

    async def prove() -> list[str]:
        return [fault for _ in range(12) for fault in (await stores.postings.prove()).faults]

    faults, *_ = await asyncio.gather(prove(), *(work(worker) for worker in range(3)))
    assert faults == []


async def test_an_unknown_hold_is_not_found(stores: Stores) -> None:
    with pytest.raises(HoldNotFoundError):
        await stores.ledger.settle("hold_none", 1, "key", "")


async def test_the_proof_finds_every_kind_of_change_behind_our_back(stores: Stores, db: Database) -> None:
    account_id = await account_with(stores, 100)
    await stores.ledger.settle(await held(stores, account_id, 60), 25, "job:1:1", "")
    sound = await stores.postings.prove()
    assert (sound.last_seq, sound.postings, sound.faults) == (3, 8, [])
    assert await stores.postings.checkpoint(every=1) == 3
    for sequence, price_micros in ((1, 40), (2, 0)):
        begin = NOW + timedelta(hours=sequence)
        hour = begin, begin + timedelta(hours=1)
        await stores.usage.record(MachineUsage("m1", sequence, "local", "MI300X", 1, *hour, price_micros, False, NOW))
    await stores.ledger.hold(account_id, 20, "job:2", "")
    sound = await stores.postings.prove()
    assert (sound.last_seq, sound.faults) == (5, [])
    for change, fault in (
        ("UPDATE checkpoints SET amount_micros = amount_micros + 1 WHERE book = 'charged'", "at checkpoint 3 of"),
        ("UPDATE holds SET amount_micros = amount_micros + 1 WHERE state = 'open'", "its open holds have 21 left"),
        ("UPDATE machine_usage SET cost_micros = 41 WHERE sequence = 1", "by report 1, and its transaction differs"),
        ("DELETE FROM machine_usage WHERE sequence = 1", "reported to have cost 0, and the books say 40"),
        ("UPDATE balances SET amount_micros = amount_micros + 1 WHERE book = 'charged'", "charged, differs"),
        ("UPDATE grants SET remaining_micros = remaining_micros - 1", "its grants have"),
        ("UPDATE holds SET charged_micros = 24 WHERE charged_micros = 25", "charged, its postings"),
        ("UPDATE chain_head SET seq = seq + 1", "its head says 6"),
        ("UPDATE transactions SET description = 'better' WHERE seq = 2", "transaction 2 or one before it was changed"),
        ("UPDATE postings SET amount_micros = 26 WHERE amount_micros = 25", "do not sum to zero"),
        ("DELETE FROM transactions WHERE seq = 2", "transactions 2 to 2 are missing"),
    ):
        found = await _faults_after(db, change)
        assert any(fault in one for one in found), (change, found)
    assert (await stores.postings.prove()).faults == []


async def _faults_after(db: Database, change: str) -> list[str]:
    """The faults that a proof finds after a change, which is undone."""
    async with db.engine.connect() as connection:
        await _without_guards(connection, db)
        await connection.exec_driver_sql(change)
        proof = await PostingStore(_OneConnection(connection)).prove()
        await connection.rollback()
    return proof.faults


class _OneConnection:
    """Reads within a transaction that has not ended."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncConnection]:
        yield self._connection


async def _without_guards(connection: AsyncConnection, db: Database) -> None:
    """As somebody with a shell on the database would."""
    if db.dialect_name == "postgresql":
        await connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        return
    await connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    triggers = (await connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'")).scalars()
    for name in list(triggers):
        await connection.exec_driver_sql(f"DROP TRIGGER {name}")


async def test_a_proof_may_begin_at_the_last_checkpoint(stores: Stores, db: Database) -> None:
    account_id = await account_with(stores, 100)
    assert await stores.postings.checkpoint(every=2) is None
    await stores.ledger.grant(account_id, 5, "more", "")
    assert await stores.postings.checkpoint(every=2) == 2
    await stores.ledger.grant(account_id, 6, "still more", "")
    proof = await stores.postings.prove(whole=False)
    assert (proof.first_seq, proof.last_seq, proof.faults) == (3, 3, [])
    assert await stores.postings.checkpoint(every=2) is None


async def test_a_balance_of_the_past_is_found_with_and_without_a_checkpoint(
    db: Database, settings: BillingSettings
) -> None:
    clock = ManualClock(NOW)
    stores = build_stores(db, settings, clock)
    account_id = await account_with(stores, 1)
    for number in range(6):
        clock.advance(MINUTE)
        await stores.ledger.grant(account_id, 10, f"grant:{number}", "")
        await stores.postings.checkpoint(every=3)
    for number in range(7):
        sums = await stores.postings.balance_at(account_id, NOW + number * MINUTE + MINUTE / 2)
        assert sums[Book.AVAILABLE] == 1 + 10 * number
    assert (await stores.postings.balance_at(account_id, NOW))[Book.AVAILABLE] == 0


async def test_a_clock_that_is_set_back_does_not_disorder_the_ledger(db: Database, settings: BillingSettings) -> None:
    clock = ManualClock(NOW)
    stores = build_stores(db, settings, clock)
    account_id = await account_with(stores, 1)
    clock.advance(-MINUTE)
    await stores.ledger.grant(account_id, 1, "later", "")
    times = [line.create_time for line in await stores.postings.lines(account_id, before_seq=None, limit=5)]
    assert times == [NOW, NOW]


async def test_the_database_refuses_to_open_an_ended_hold_and_to_charge_it_too_much(
    stores: Stores, db: Database
) -> None:
    account_id = await account_with(stores, 100)
    hold_id = await held(stores, account_id, 60)
    await stores.ledger.settle(hold_id, 1, "job:1:1", "")
    for change in ("state = 'open'", "charged_micros = 61", "refunded_micros = 2"):
        with pytest.raises(DBAPIError, match=r"illegal move|charge above the hold|holds_refunds"):
            async with db.transaction() as connection:
                await connection.exec_driver_sql(f"UPDATE holds SET {change}")  # noqa: S608 - a literal above


async def test_the_database_refuses_credit_below_zero(stores: Stores, db: Database) -> None:
    await account_with(stores, 100)
    for below in ("amount_micros = -1", "amount_micros = amount_micros - 101"):
        with pytest.raises(DBAPIError, match="credit below zero"):
            async with db.transaction() as connection:
                await connection.exec_driver_sql(f"UPDATE balances SET {below} WHERE book = 'available'")  # noqa: S608


@pytest.mark.parametrize("table", [postings, transactions])
async def test_the_database_refuses_to_change_the_ledger(stores: Stores, db: Database, table: Table) -> None:
    await account_with(stores, 100)
    for statement in (update(table).values(amount_micros=1), delete(table)):
        with pytest.raises(DBAPIError, match="append-only"):
            async with db.transaction() as connection:
                await connection.execute(statement)


async def test_a_restored_ledger_holds_and_charges_nothing_for_what_the_scheduler_does_not_have(stores: Stores) -> None:
    account_id = await account_with(stores, 1000)
    purposes = ("unknown", "kept", "lost", "charged since")
    unknown, kept, lost, charged = [
        (await stores.ledger.hold(account_id, 100, f"job:{one}", "")).hold_id for one in purposes
    ]
    others = (await stores.ledger.hold(account_id, 100, "ci/job:1", "")).hold_id
    await stores.ledger.settle(charged, 70, "job:charged since:1", "")
    assert await stores.ledger.restored([lost, charged], [kept]) == 2
    balance = (await stores.accounts.get(account_id)).balance
    assert (balance.charged_micros, balance.held_micros) == (0, 300)
    for hold_id in (kept, lost, others):
        await stores.ledger.settle(hold_id, 0, f"end:{hold_id}", "")
    with pytest.raises(HoldSettledError):
        await stores.ledger.settle(unknown, 0, "another", "")
    assert (await stores.postings.prove()).faults == []
