"""Reads the ledger: an account's lines, and the audit of its sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, func, select

from services.billing.ledger.books import Balance, Book, PostingKind
from services.billing.store.account_store import read_account
from services.billing.store.tables import accounts, postings, transactions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from servicekit.db.database import Database


@dataclass(frozen=True)
class AccountLine:
    """A change of an account's available credit: positive if added, negative if held or spent."""

    seq: int
    posting_id: str
    kind: PostingKind
    amount_micros: int
    create_time: datetime
    description: str
    idempotency_key: str


class PostingStore:
    """Reads the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def lines(self, account_id: str, *, before_seq: int | None, limit: int) -> Sequence[AccountLine]:
        """An account's lines, newest first; only those before `before_seq` if it is given."""
        query = (
            select(postings, transactions.c.create_time, transactions.c.description)
            .join(transactions, postings.c.idempotency_key == transactions.c.idempotency_key)
            .where(postings.c.account_id == account_id, postings.c.book == Book.AVAILABLE.value)
            .order_by(postings.c.seq.desc())
            .limit(limit)
        )
        if before_seq is not None:
            query = query.where(postings.c.seq < before_seq)
        async with self._database.reading() as connection:
            await read_account(connection, account_id)
            rows = (await connection.execute(query)).all()
        return [
            AccountLine(
                row.seq,
                row.posting_id,
                PostingKind(row.kind),
                row.amount_micros,
                row.create_time,
                row.description,
                row.idempotency_key,
            )
            for row in rows
        ]

    async def mismatches(self) -> Sequence[tuple[str, Balance, Balance]]:
        """Accounts whose running sums differ from the sums of their postings: (account, kept, summed)."""
        sums = [
            func.coalesce(func.sum(postings.c.amount_micros).filter(postings.c.book == book.value), 0).label(book.value)
            for book in Book
        ]
        query = (
            select(accounts, *sums)
            .join(postings, and_(postings.c.account_id == accounts.c.account_id), isouter=True)
            .group_by(accounts.c.account_id)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        found: list[tuple[str, Balance, Balance]] = []
        for row in rows:
            kept = Balance(row.granted_micros, row.charged_micros, row.held_micros)
            summed = Balance(-int(row.granted), int(row.charged), int(row.held))
            if kept != summed or int(row.available) != kept.available_micros:
                found.append((row.account_id, kept, summed))
        return found
