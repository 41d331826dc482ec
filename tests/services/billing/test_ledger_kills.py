"""Billing may be killed between any two statements: nothing is lost, and nothing is charged twice."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
from datetime import timedelta

import pytest
from sqlalchemy import event

from servicekit.db import database
from services.billing.config import BillingSettings
from services.billing.server import build_stores
from services.billing.service.billing_service import Stores
from vocabulary.money import Tariff

ROUNDS = [60, pytest.param(1_000, marks=pytest.mark.soak)]
STATEMENTS = 100
"""More than a round executes, so that some rounds end by themselves."""
PROCESSES = multiprocessing.get_context("forkserver")
"""A copy of pytest's own process would hold the locks that its other threads had, those of gRPC among them."""
PRICES = {"MI300X": Tariff(3_600)}
"""A micro-dollar a second."""


async def one_job(stores: Stores, account_id: str, number: int) -> None:
    """As the scheduler does: reserve, charge a part, extend, settle, refund. Each call may be repeated."""
    ledger = stores.ledger
    receipt = await ledger.hold(account_id, 30, f"job:{number}", "", tariffs=PRICES)

    async def used(seconds: int, key: str, *, final: bool) -> None:
        time = timedelta(seconds=seconds), "MI300X"
        await ledger.settle(receipt.hold_id, 0, f"job:{number}:{key}", "", billable=time, in_all=True, final=final)

    await used(20, "part", final=False)
    await ledger.extend(receipt.hold_id, 0, f"job:{number}:more", "", longest=timedelta(seconds=50))
    await used(37, "end", final=True)
    await ledger.refund(receipt.hold_id, 10, f"job:{number}:refund", "")


def run_until_killed(database_url: str, account_id: str, number: int, statement: int) -> None:
    """Runs a job in this process, which SIGKILLs itself before its `statement`th statement or commit."""
    left = statement

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    async def body() -> None:
        db = database.Database(database_url)
        for name in ("before_cursor_execute", "commit"):
            event.listen(db.engine.sync_engine, name, count)
        await one_job(build_stores(db, BillingSettings(bootstrap_account="")), account_id, number)
        await db.close()

    asyncio.run(body())


def killed_at(database_url: str, account_id: str, number: int, statement: int) -> bool:
    """Runs a job in a process of its own; True if it was killed before it ended."""
    process = PROCESSES.Process(target=run_until_killed, args=(database_url, account_id, number, statement))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_killed_settlement_is_neither_lost_nor_doubled(database_url: str, rounds: int) -> None:
    async def prepare() -> str:
        db = database.Database(database_url)
        await database.migrate(db, "services.billing:migrations")
        stores = build_stores(db, BillingSettings(bootstrap_account=""))
        account = await stores.accounts.create("ada")
        await stores.ledger.grant(account.account_id, 10**6, "grant", "")
        await db.close()
        return account.account_id

    async def again(account_id: str, first: int, count: int) -> None:
        """The scheduler asks again, and gets the same answers."""
        db = database.Database(database_url)
        stores = build_stores(db, BillingSettings(bootstrap_account=""))
        for number in range(first, first + count):
            await one_job(stores, account_id, number)
        balance = (await stores.accounts.get(account_id)).balance
        assert (balance.charged_micros, balance.held_micros) == ((first + count) * 27, 0)
        assert (await stores.postings.prove()).faults == []
        await db.close()

    PROCESSES.set_forkserver_preload([__name__])
    account_id = asyncio.run(prepare())
    killed = 0
    chance = random.Random(0)  # noqa: S311 - the same rounds each time
    for first in range(0, rounds, 20):
        for number in range(first, first + 20):
            killed += killed_at(database_url, account_id, number, chance.randint(1, STATEMENTS))
        asyncio.run(again(account_id, first, 20))
    assert rounds / 3 < killed < rounds
