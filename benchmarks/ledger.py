"""Measures the ledger beside plain single-row inserts on the same database, in the same run.

    settle            hold and settle a job: the settlement alone is timed
    settle, 16 at once   16 clients on 16 accounts: settlements a second
    insert            one row in one transaction, by the same engine with the same durability
    balance           an account's balance, with 1,000 transactions in the ledger and with many
    report            cost and charge of all of them
    proof             all of them added up again, digests included

SQLite lies in a temporary folder on this machine's disk (WAL, synchronous=FULL), PostgreSQL is a server of its own with
its default durability, on loopback. Run: `python -m benchmarks.ledger [--transactions 1000000] [--only sqlite]`.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import BigInteger, Column, MetaData, Table, Text, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.db.database import EPOCH, Database, migrate
from services.billing.config import BillingSettings
from services.billing.ledger import books, chain
from services.billing.server import build_stores
from services.billing.service.billing_service import Stores
from services.billing.store.journal import changes_of, posting_to_row
from services.billing.store.tables import balances, chain_head, grants, holds, postings, transactions
from tests.postgres_server import PostgresServer

SETTLEMENTS = 500
CLIENTS = 16
READS = 200
BATCH_JOBS = 5000
HOLD_MICROS, CHARGE_MICROS = 497_500, 235_943

PLAIN = Table("benchmark_rows", MetaData(), Column("id", BigInteger, primary_key=True), Column("text", Text))


async def seconds_of(call: Callable[[int], Awaitable[object]], count: int) -> list[float]:
    """The duration of each of `count` calls, one after the other."""
    found: list[float] = []
    for number in range(count):
        start = time.perf_counter()
        await call(number)
        found.append(time.perf_counter() - start)
    return found


def line(name: str, seconds: Sequence[float]) -> str:
    """Rate, median and 99th percentile."""
    p99 = statistics.quantiles(seconds, n=100)[98]
    rate = len(seconds) / sum(seconds)
    return f"{name:<38} {rate:8.0f}/s   p50 {statistics.median(seconds) * 1e3:8.2f} ms   p99 {p99 * 1e3:8.2f} ms"


async def settlements(stores: Stores, account_id: str, prefix: str, count: int) -> list[float]:
    """The duration of each settlement; the holds are made between them."""
    found: list[float] = []
    for number in range(count):
        key = f"{prefix}:{number}"
        receipt = await stores.ledger.hold(account_id, HOLD_MICROS, key, "")
        start = time.perf_counter()
        await stores.ledger.settle(receipt.hold_id, CHARGE_MICROS, f"{key}:1", "")
        found.append(time.perf_counter() - start)
    return found


async def measure(url: str, many: int) -> None:
    """Measures one database and prints the figures."""
    db = Database(url)
    await migrate(db, "services.billing:migrations")
    stores = build_stores(db, BillingSettings(bootstrap_account=""))
    accounts = [(await stores.accounts.create(f"user-{n}")).account_id for n in range(CLIENTS)]
    for account_id in accounts:
        await stores.ledger.grant(account_id, 10**12, f"grant:{account_id}", "")
    await measure_settlements(db, stores, accounts)
    few = await seconds_of(lambda _: stores.accounts.get(accounts[0]), READS)
    print(line("balance, about 2,000 transactions", few))
    for first in range(0, many // 2, BATCH_JOBS):
        await fill(db, accounts[1], range(first, min(first + BATCH_JOBS, many // 2)))
    lots = await seconds_of(lambda _: stores.accounts.get(accounts[1]), READS)
    print(line(f"balance, {many:,} transactions more", lots))
    await measure_reading(stores, accounts[1])
    await db.close()


async def measure_settlements(db: Database, stores: Stores, accounts: Sequence[str]) -> None:
    """Settlements alone and by many clients, and inserts of one row."""
    async with db.transaction() as connection:
        await connection.run_sync(PLAIN.create)

    async def one_row(number: int) -> None:
        async with db.transaction() as connection:
            await connection.execute(insert(PLAIN).values(id=number, text="x" * 100))

    await settlements(stores, accounts[0], "warm-up", 20)
    settled = await settlements(stores, accounts[0], "alone", SETTLEMENTS)
    plain = await seconds_of(one_row, SETTLEMENTS)
    start = time.perf_counter()
    at_once = await asyncio.gather(
        *(settlements(stores, one, f"at-once:{one}", SETTLEMENTS // CLIENTS) for one in accounts)
    )
    rate = CLIENTS * (SETTLEMENTS // CLIENTS) / (time.perf_counter() - start)
    print(line("settle", settled))
    print(line("insert of one row", plain))
    print(f"{'settle beside insert':<38} {sum(settled) / sum(plain):8.2f} times as long")
    print(line(f"settle, {CLIENTS} clients at once", [seconds for client in at_once for seconds in client]))
    print(f"{f'hold and settle, {CLIENTS} clients':<38} {rate:8.0f} jobs/s in all")


async def measure_reading(stores: Stores, account_id: str) -> None:
    """Reports and proofs of the whole ledger."""
    now = datetime.now(UTC)
    for name, work in (
        ("report over all", lambda: stores.reports.costs(EPOCH, now + timedelta(days=1))),
        ("balance of an instant", lambda: stores.postings.balance_at(account_id, now)),
        ("checkpoint", lambda: stores.postings.checkpoint(every=1)),
        ("balance of an instant, checkpointed", lambda: stores.postings.balance_at(account_id, now)),
        ("proof of all", stores.postings.prove),
        ("proof since the checkpoint", lambda: stores.postings.prove(whole=False)),
    ):
        start = time.perf_counter()
        result = await work()
        print(f"{name:<38} {time.perf_counter() - start:8.2f} s")
        if faults := getattr(result, "faults", None):
            sys.exit(f"the books are wrong: {faults[:3]}")


async def fill(db: Database, account_id: str, jobs: range) -> None:
    """Writes jobs, two transactions each, as the journal would, but all in one database transaction."""
    async with db.transaction() as connection:
        head = (await connection.execute(select(chain_head))).one()
        entries, digests = chained(account_id, jobs, head.seq, head.digest, head.time)
        hold = {"account_id": account_id, "amount_micros": HOLD_MICROS, "charged_micros": CHARGE_MICROS}
        hold |= {"refunded_micros": 0, "billed_us": 0, "state": "settled", "prices": "{}"}
        hold |= dict.fromkeys(("user_id", "queue", "problem", "gpu_type"), "")
        rows = [{"hold_id": f"fill-{job}", "subject": f"fill-{job}", **hold} for job in jobs]
        await connection.execute(insert(holds), rows)
        moved = [
            {name: value for name, value in vars(entry).items() if name != "postings"} | {"digest": one}
            for entry, one in zip(entries, digests, strict=True)
        ]
        await connection.execute(insert(transactions), moved)
        lines = [(entry.seq, posting) for entry in entries for posting in entry.postings]
        await connection.execute(insert(postings), [posting_to_row(*one) for one in lines])
        await add_up(connection, account_id, [posting for _, posting in lines])
        await connection.execute(update(chain_head).values(seq=entries[-1].seq, digest=digests[-1]))


def chained(
    account_id: str, jobs: range, seq: int, digest: str, now: datetime
) -> tuple[list[chain.Transaction], list[str]]:
    """A hold and a settlement for each job, with their digests."""
    entries: list[chain.Transaction] = []
    digests: list[str] = []
    held = books.movement(account_id, books.PostingKind.HOLD, HOLD_MICROS)
    settled = books.charge(account_id, CHARGE_MICROS, HOLD_MICROS)
    for job in jobs:
        for kind, key, amount, lines in (
            ("hold", f"fill:{job}", HOLD_MICROS, held),
            ("settlement", f"fill:{job}:1", CHARGE_MICROS, settled),
        ):
            seq += 1
            entry = chain.Transaction(seq, key, kind, account_id, f"fill-{job}", amount, 0, "", "", now, lines)
            digest = chain.digest(digest, entry, EPOCH)
            entries.append(entry)
            digests.append(digest)
    return entries, digests


async def add_up(connection: AsyncConnection, account_id: str, lines: Sequence[books.Posting]) -> None:
    """Moves the account's books and its grant by the postings."""
    for change in changes_of(lines):
        book = (balances.c.owner == change["owner"]) & (balances.c.book == change["book"])
        amount = balances.c.amount_micros + int(str(change["amount_micros"]))
        if (await connection.execute(update(balances).where(book).values(amount_micros=amount))).rowcount == 0:
            await connection.execute(insert(balances).values(change))
    charged = sum(one.amount_micros for one in lines if one.book is books.Book.CHARGED)
    left = grants.c.remaining_micros - charged
    await connection.execute(update(grants).where(grants.c.account_id == account_id).values(remaining_micros=left))


@contextmanager
def databases(only: str) -> Generator[list[tuple[str, str]]]:
    """The URL of an empty database of each kind."""
    with tempfile.TemporaryDirectory(prefix="wavepool-ledger-") as folder:
        found = [("sqlite", f"sqlite+aiosqlite:///{Path(folder) / 'ledger.db'}")] if only != "postgresql" else []
        if only == "sqlite":
            yield found
            return
        server = PostgresServer(durable=True)
        server.start()
        try:
            yield [*found, ("postgresql", server.create_database())]
        finally:
            server.stop()


def main() -> None:
    """Prints the figures of each kind of database."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transactions", type=int, default=1_000_000, help="in the large ledger")
    parser.add_argument("--only", choices=("sqlite", "postgresql"), default="")
    arguments = parser.parse_args()
    with databases(arguments.only) as found:
        for name, url in found:
            print(f"\n{name}")
            asyncio.run(measure(url, arguments.transactions))


if __name__ == "__main__":
    main()
