"""Reads periods of the ledger for reports and statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.db.database import Database
from services.billing.errors import InvalidFieldError
from services.billing.ledger.books import COST_BOOKS, OPERATOR, Book, PostingKind
from services.billing.ledger.holds import Purpose
from services.billing.ledger.report import CostReport, RunCost, WorkCost
from services.billing.ledger.statement import Statement, StatementLine
from services.billing.store.account_store import read_account
from services.billing.store.history_store import day_of
from services.billing.store.journal import TransactionKind
from services.billing.store.posting_store import balance_at, last_before
from services.billing.store.tables import accounts, holds, postings, transactions

NAMES_AT_ONCE = 500
MOST_ATTEMPTS = 1000
"""Of a job, in one question."""
_STATEMENT_KINDS = (
    PostingKind.GRANT,
    PostingKind.CHARGE,
    PostingKind.REFUND,
    PostingKind.EXPIRY,
    PostingKind.REVOCATION,
)


class ReportStore:
    """Reads periods of the ledger. A period has its start, and not its end."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def costs(self, start: datetime, end: datetime) -> CostReport:
        """Cost and charge of a period."""
        _check_period(start, end)
        async with self._database.snapshot() as connection:
            period = await _period(connection, start, end)
            is_cost = (postings.c.owner == OPERATOR) & postings.c.book.in_([book.value for book in COST_BOOKS])
            costs = await _sums(connection, postings.c.book, period & is_cost)
            charged = await _sums(connection, postings.c.owner, period & (postings.c.book == Book.CHARGED.value))
            uses = await _sums(
                connection,
                postings.c.subject,
                period & (postings.c.owner == OPERATOR) & (postings.c.book == Book.USE.value),
            )
            owners = await _owners(connection, {_run_of(subject)[0] for subject in uses})
            runs = [
                RunCost(job, attempt, owners.get(job, ""), uses[subject])
                for subject, (job, attempt) in ((subject, _run_of(subject)) for subject in uses)
            ]
            reasons = await _uncharged_reasons(connection, await _transaction_period(connection, start, end))
        return CostReport({Book(book): micros for book, micros in costs.items()}, charged, runs, reasons)

    async def work_cost(self, subject: str, attempts: int) -> WorkCost:
        """Cost and charge of a job or reservation with so many attempts; raises InvalidFieldError."""
        if not subject or "\0" in subject:
            raise InvalidFieldError("subject", "must be the id of a job or reservation")
        if not 0 <= attempts <= MOST_ATTEMPTS:
            raise InvalidFieldError("attempts", f"must be from 0 to {MOST_ATTEMPTS}; it is {attempts}")
        runs = [f"{subject}:{attempt}" for attempt in range(1, attempts + 1)]
        cost = select(func.sum(postings.c.amount_micros)).where(
            postings.c.subject.in_(runs), postings.c.owner == OPERATOR, postings.c.book == Book.USE.value
        )
        charged = select(func.sum(holds.c.charged_micros - holds.c.refunded_micros)).where(holds.c.subject == subject)
        async with self._database.snapshot() as connection:
            found = [await connection.scalar(query) for query in (cost, charged)]
        return WorkCost(*(int(micros or 0) for micros in found))

    async def account_names(self) -> Mapping[str, str]:
        """The name of each account by its id."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(accounts.c.account_id, accounts.c.name))
            return {row.account_id: row.name for row in rows}

    async def statement(self, account_id: str, start: datetime, end: datetime, user_id: str = "") -> Statement:
        """An account's period; raises AccountNotFoundError."""
        _check_period(start, end)
        async with self._database.snapshot() as connection:
            account = await read_account(connection, account_id)
            period = await _period(connection, start, end)
            opening, closing = (
                await balance_at(connection, account_id, start),
                await balance_at(connection, account_id, end),
            )
            lines = await _lines(connection, account_id, period, user_id)
        return Statement(
            account_id,
            account.name,
            opening.get(Book.AVAILABLE, 0) + opening.get(Book.HELD, 0),
            closing.get(Book.AVAILABLE, 0) + closing.get(Book.HELD, 0),
            closing.get(Book.HELD, 0),
            lines,
        )


def _check_period(start: datetime, end: datetime) -> None:
    if end < start:
        raise InvalidFieldError("end_time", f"must not be before start_time, {start.isoformat()}")


async def _period(connection: AsyncConnection, start: datetime, end: datetime) -> ColumnElement[bool]:
    first, last = await last_before(connection, start), await last_before(connection, end)
    return (postings.c.transaction_seq > first) & (postings.c.transaction_seq <= last)


async def _transaction_period(connection: AsyncConnection, start: datetime, end: datetime) -> ColumnElement[bool]:
    first, last = await last_before(connection, start), await last_before(connection, end)
    return (transactions.c.seq > first) & (transactions.c.seq <= last)


async def _sums(
    connection: AsyncConnection, key: ColumnElement[str], condition: ColumnElement[bool]
) -> Mapping[str, int]:
    query = select(key, func.sum(postings.c.amount_micros)).where(condition).group_by(key)
    return {name: int(micros) for name, micros in await connection.execute(query)}


def _run_of(subject: str) -> tuple[str, int]:
    """The job and the attempt of `<job>:<attempt>`; another subject is a job with one attempt."""
    job, _, attempt = subject.rpartition(":")
    return (job, int(attempt)) if attempt.isdecimal() and job else (subject, 1)


async def _owners(connection: AsyncConnection, jobs: AbstractSet[str]) -> Mapping[str, str]:
    owners: dict[str, str] = {}
    names = sorted(jobs)
    for start in range(0, len(names), NAMES_AT_ONCE):
        some = names[start : start + NAMES_AT_ONCE]
        query = select(holds.c.subject, holds.c.account_id).where(holds.c.subject.in_(some))
        owners |= {row.subject: row.account_id for row in await connection.execute(query)}
    return owners


async def _uncharged_reasons(connection: AsyncConnection, period: ColumnElement[bool]) -> Mapping[str, str]:
    query = (
        select(holds.c.subject, transactions.c.reason)
        .join(holds, transactions.c.hold_id == holds.c.hold_id)
        .where(period, transactions.c.kind == TransactionKind.SETTLEMENT.value)
        .where(transactions.c.reason != "", holds.c.charged_micros == holds.c.refunded_micros, holds.c.subject != "")
    )
    return {row.subject: row.reason for row in await connection.execute(query)}


async def _lines(
    connection: AsyncConnection, account_id: str, period: ColumnElement[bool], user_id: str
) -> Sequence[StatementLine]:
    # The database adds the parts of a day up: a reservation has 1,440 of them.
    is_part = (postings.c.kind == PostingKind.CHARGE.value) & transactions.c.hold_id.is_not(None)
    moved = (
        select(
            postings.c.kind.label("moved_kind"),
            func.sum(postings.c.amount_micros).label("moved_micros"),
            func.min(transactions.c.create_time).label("start_time"),
            func.max(postings.c.transaction_seq).label("last_seq"),
        )
        .join(transactions, postings.c.transaction_seq == transactions.c.seq)
        .where(period, postings.c.owner == account_id, postings.c.book == Book.AVAILABLE.value)
        .where(postings.c.kind.in_([kind.value for kind in _STATEMENT_KINDS]))
        .group_by(
            postings.c.kind,
            case((is_part, transactions.c.hold_id), else_=""),
            case((is_part, day_of(transactions.c.create_time)), else_=postings.c.seq),
        )
        .subquery()
    )
    query = (
        select(moved, transactions, *[holds.c[name] for name in ("subject", "user_id", "queue", "problem", "gpu_type")])
        .join(transactions, moved.c.last_seq == transactions.c.seq)
        .join(holds, transactions.c.hold_id == holds.c.hold_id, isouter=True)
        .order_by(moved.c.last_seq)
    )
    if user_id:
        query = query.where(holds.c.user_id == user_id)
    return [
        StatementLine(
            row.create_time,
            PostingKind(row.moved_kind),
            int(row.moved_micros),
            row.description,
            row.reason,
            Purpose(*(part or "" for part in (row.subject, row.user_id, row.queue, row.problem, row.gpu_type))),
            row.hold_id or "",
            row.start_time,
            row.last_seq,
        )
        for row in await connection.execute(query)
    ]
