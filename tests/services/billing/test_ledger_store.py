from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import DBAPIError

from services.billing.errors import (
    HoldNotFoundError,
    HoldSettledError,
    IdempotencyKeyReusedError,
    InsufficientCreditError,
)
from services.billing.store.tables import holds, postings, transactions

if TYPE_CHECKING:
    from sqlalchemy import Table

    from servicekit.db.database import Database
    from services.billing.service.billing_service import Stores
    from services.billing.store.ledger_store import Receipt


async def account_with(stores: Stores, micros: int, name: str = "ada") -> str:
    account = await stores.accounts.create(name, admin=False)
    await stores.ledger.grant(account.account_id, micros, f"grant:{name}", "")
    return account.account_id


async def test_a_repeated_hold_answers_as_the_first_did(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    first = await stores.ledger.hold(account_id, 60, "job:1", "a job")
    await stores.ledger.grant(account_id, 7, "later", "")
    again = await stores.ledger.hold(account_id, 60, "job:1", "another description")
    assert (again.movement, again.available_micros) == (first.movement, 40)
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
    assert len({receipt.movement.hold_id for receipt in receipts}) == 1
    assert (await stores.accounts.get(account_id)).balance.held_micros == 30


async def held(stores: Stores, account_id: str, micros: int) -> str:
    return str((await stores.ledger.hold(account_id, micros, "job:1", "")).movement.hold_id)


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


async def test_a_charge_above_hold_and_credit_goes_into_debt_and_blocks_new_holds(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    receipt = await stores.ledger.settle(await held(stores, account_id, 60), 150, "job:1:1", "")
    assert receipt.available_micros == -50
    with pytest.raises(InsufficientCreditError):
        await stores.ledger.hold(account_id, 1, "job:2", "")


async def test_an_unknown_hold_is_not_found(stores: Stores) -> None:
    with pytest.raises(HoldNotFoundError):
        await stores.ledger.settle("hold_none", 1, "key", "")


async def test_the_alert_fires_once_and_again_after_new_credit(stores: Stores) -> None:
    account_id = await account_with(stores, 100)
    fired: list[bool] = []
    for number, (charge, credit) in enumerate([(79, 0), (1, 0), (1, 100), (79, 0), (1, 0)]):
        receipt = await stores.ledger.hold(account_id, 1, f"job:{number}", "")
        settled = await stores.ledger.settle(str(receipt.movement.hold_id), charge, f"job:{number}:1", "")
        fired.append(settled.alert_fired)
        if credit:
            await stores.ledger.grant(account_id, credit, f"credit:{number}", "")
    assert fired == [False, True, False, True, False]


async def test_every_transaction_sums_to_zero_and_the_audit_agrees(stores: Stores, db: Database) -> None:
    account_id = await account_with(stores, 100)
    await stores.accounts.create("empty", admin=False)
    await stores.ledger.settle(await held(stores, account_id, 60), 25, "job:1:1", "")
    async with db.reading() as connection:
        rows = (await connection.execute(select(postings))).all()
    sums = {key: sum(row.amount_micros for row in rows if row.idempotency_key == key) for key in {r[2] for r in rows}}
    assert sums == {"grant:ada": 0, "job:1": 0, "job:1:1": 0}
    assert await stores.postings.mismatches() == []


async def test_the_audit_finds_a_sum_that_was_changed_behind_our_back(stores: Stores, db: Database) -> None:
    account_id = await account_with(stores, 100)
    async with db.transaction() as connection:
        await connection.exec_driver_sql("UPDATE accounts SET charged_micros = 1")
    assert [found[0] for found in await stores.postings.mismatches()] == [account_id]


async def test_the_database_refuses_to_open_a_settled_hold_again(stores: Stores, db: Database) -> None:
    account_id = await account_with(stores, 100)
    async with db.transaction() as connection:
        hold = {"hold_id": "h1", "account_id": account_id, "amount_micros": 1, "settled": True}
        await connection.execute(insert(holds).values(hold))
    with pytest.raises(DBAPIError, match="illegal move"):
        async with db.transaction() as connection:
            await connection.execute(update(holds).values(settled=False))


@pytest.mark.parametrize("table", [postings, transactions])
async def test_the_database_refuses_to_change_the_ledger(stores: Stores, db: Database, table: Table) -> None:
    await account_with(stores, 100)
    for statement in (update(table).values(amount_micros=1), delete(table)):
        with pytest.raises(DBAPIError, match="append-only"):
            async with db.transaction() as connection:
                await connection.execute(statement)
