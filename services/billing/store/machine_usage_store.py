"""The operator's books: credit of the cloud, and what machines cost of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite

from servicekit.db.database import Database
from servicekit.records import row_of
from services.billing.ledger import books
from services.billing.ledger.books import COST_BOOKS, OPERATOR, Book, PostingKind, movement
from services.billing.ledger.machine_usage import MachineUsage
from services.billing.store.journal import Entry, Journal, TransactionKind, read_sums
from services.billing.store.tables import balances, chain_head, machine_usage


@dataclass(frozen=True)
class OperatorBalance:
    """Sums of the operator's books, in micro-dollars: remaining = granted - cost, which may be below zero."""

    granted_micros: int
    remaining_micros: int
    cost_by_book: Mapping[Book, int]
    charged_micros: int
    """What all accounts were charged, less refunds."""

    @property
    def cost_micros(self) -> int:
        """What all machines cost."""
        return sum(self.cost_by_book.values())


class MachineUsageStore:
    """Records the operator's costs of machines, and the credit that they are paid from."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    async def record(self, usage: MachineUsage) -> bool:
        """Books an interval; True if it is the first report of (machine, sequence), which stands."""
        dialect = postgresql if self._database.dialect_name == "postgresql" else sqlite
        statement = (
            dialect.insert(machine_usage)
            .values(row_of(machine_usage, usage))
            .on_conflict_do_nothing()
            .returning(machine_usage.c.sequence)
        )
        lines = usage.postings()
        async with self._database.transaction() as connection:
            if (await connection.execute(statement)).one_or_none() is None:
                return False
            if lines:
                entry = Entry(
                    kind=TransactionKind.MACHINE_USAGE,
                    idempotency_key=f"machine:{usage.machine_id}:{usage.sequence}",
                    amount_micros=usage.cost_micros,
                    postings=lines,
                    description=f"{usage.gpu_count} x {usage.gpu_type} at {usage.provider}",
                )
                await self._journal.append(connection, entry)
        return True

    async def fund(self, total_micros: int, key: str, description: str) -> None:
        """Makes the credit that the cloud granted `total_micros` in all, by one transaction for the difference."""
        async with self._database.transaction() as connection:
            # Locked before anything is read: of two services that start at once, one books the difference.
            seq = await connection.scalar(select(chain_head.c.seq).with_for_update())
            granted = -(await read_sums(connection, OPERATOR)).get(Book.CLOUD_GRANTED, 0)
            if granted == total_micros:
                return
            entry = Entry(
                kind=TransactionKind.CLOUD_CREDIT,
                idempotency_key=f"{key}:{seq}",
                amount_micros=total_micros - granted,
                postings=movement(OPERATOR, PostingKind.CLOUD_CREDIT, total_micros - granted),
                description=books.description_text(description),
            )
            await self._journal.append(connection, entry)

    async def operator_balance(self) -> OperatorBalance:
        """The operator's credit and costs."""
        async with self._database.reading() as connection:
            sums = await read_sums(connection, OPERATOR)
            charged = select(func.sum(balances.c.amount_micros)).where(balances.c.book == Book.CHARGED.value)
            charged_micros = int(await connection.scalar(charged) or 0)
        costs = {book: sums.get(book, 0) for book in COST_BOOKS}
        return OperatorBalance(-sums.get(Book.CLOUD_GRANTED, 0), sums.get(Book.CLOUD_CREDIT, 0), costs, charged_micros)

    async def total_cost_micros(self, besides: Collection[str] = ()) -> int:
        """Cost of all machines so far, without the machines `besides`, in micro-dollars."""
        theirs = select(func.sum(machine_usage.c.cost_micros)).where(machine_usage.c.machine_id.in_(besides))
        async with self._database.reading() as connection:
            sums = await read_sums(connection, OPERATOR)
            total = sum(sums.get(book, 0) for book in COST_BOOKS)
            return total - int((await connection.scalar(theirs) if besides else 0) or 0)
