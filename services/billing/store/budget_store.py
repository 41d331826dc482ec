"""Budgets as rows, and what was spent of them.

A reservation is charged 1,440 times a day, so a month of a queue can be a million transactions, and a hold waits for
their sum with the lock of its account. Transactions are numbered in the order of their commits and never change, so the
sum up to a number stays right: `ChargedSums` keeps it, and adds up what came after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import Clock
from servicekit.db.act_store import note_rows_before
from servicekit.db.database import Database
from servicekit.records import record_of, row_of
from services.billing.errors import NotFoundError
from services.billing.ledger.budgets import Budget, Period, Scope, period_start
from services.billing.ledger.holds import Purpose
from services.billing.store.journal import CHARGED_MICROS, CHARGING
from services.billing.store.posting_store import last_before
from services.billing.store.tables import accounts, budgets, chain_head, holds, transactions, users

_NAMED = (
    select(budgets, func.coalesce(accounts.c.name, users.c.name).label("subject_name"))
    .join(
        accounts, (budgets.c.scope == Scope.ACCOUNT.value) & (accounts.c.account_id == budgets.c.subject), isouter=True
    )
    .join(users, (budgets.c.scope == Scope.USER.value) & (users.c.user_id == budgets.c.subject), isouter=True)
)


class BudgetStore:
    """Sets, lists and removes budgets."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str], charged: ChargedSums) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._charged = charged

    async def set(self, scope: Scope, subject: str, period: Period, limit_micros: int, *, hard: bool) -> Budget:
        """Sets a budget, in place of the one with the same scope, subject and period."""
        budget = Budget(self._new_id("budget"), scope, subject, period, limit_micros, hard)
        same = and_(budgets.c.scope == scope.value, budgets.c.subject == subject, budgets.c.period == period.value)
        row = row_of(budgets, budget, create_time=self._clock.now())
        async with self._database.transaction() as connection:
            await note_rows_before(connection, select(budgets).where(same))
            await connection.execute(delete(budgets).where(same))
            await connection.execute(insert(budgets).values(row))
        return budget

    async def remove(self, budget_id: str) -> None:
        """Removes a budget; raises NotFoundError if there is none."""
        async with self._database.transaction() as connection:
            await note_rows_before(connection, select(budgets).where(budgets.c.budget_id == budget_id))
            gone = await connection.execute(delete(budgets).where(budgets.c.budget_id == budget_id))
        if gone.rowcount == 0:
            raise NotFoundError(f"There is no budget {budget_id!r}.")

    async def all_with_spent(self) -> Sequence[tuple[Budget, int]]:
        """All budgets, each with what is spent or on hold in its present period, in micro-dollars."""
        now = self._clock.now()
        async with self._database.reading() as connection:
            return [
                (budget, await self._charged.spent_micros(connection, budget, now))
                for budget in await all_budgets(connection)
            ]


class ChargedSums:
    """What was charged of budgets. It is right at any time, and fast if `catch_up` was called not long ago."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # The number of the last transaction that counts, and the micro-dollars up to it.
        self._known: dict[tuple[str, str, datetime], tuple[int, int]] = {}

    async def spent_micros(self, connection: AsyncConnection, budget: Budget, now: datetime) -> int:
        """Micro-dollars that are charged in the present period, and what open holds may still charge."""
        return sum(await self.charged_and_held(connection, budget, now))

    async def charged_and_held(self, connection: AsyncConnection, budget: Budget, now: datetime) -> tuple[int, int]:
        """Micro-dollars that are charged in the present period, less refunds; and what open holds may still charge."""
        # In this order: what another connection charges between the two counts twice, and never not at all.
        held = await _held_micros(connection, budget)
        first, micros = await self._known_of(connection, budget, now)
        return micros + await _charged_after(connection, budget, first), held

    async def catch_up(self, now: datetime) -> None:
        """Adds up what was charged so far of each budget, and forgets what is over."""
        known: dict[tuple[str, str, datetime], tuple[int, int]] = {}
        # Not within a transaction that writes: that could still be undone, and its number given to another.
        async with self._database.reading() as connection:
            for budget in await all_budgets(connection):
                last = await connection.scalar(select(chain_head.c.seq)) or 0
                first, micros = await self._known_of(connection, budget, now)
                micros += await _charged_after(connection, budget, first, last)
                known[_key(budget, now)] = last, micros
        self._known = known

    async def _known_of(self, connection: AsyncConnection, budget: Budget, now: datetime) -> tuple[int, int]:
        known = self._known.get(_key(budget, now))
        return known or (await last_before(connection, period_start(budget.period, now)), 0)


async def all_budgets(connection: AsyncConnection) -> Sequence[Budget]:
    """All budgets."""
    query = _NAMED.order_by(budgets.c.scope, budgets.c.subject, budgets.c.period)
    return [record_of(Budget, row) for row in await connection.execute(query)]


async def limits_of(connection: AsyncConnection, account_id: str, purpose: Purpose) -> Sequence[Budget]:
    """The budgets that a hold of the account for this purpose comes under.

    They are locked: two holds of different accounts may come under one budget.
    """
    subjects = [(Scope.ACCOUNT, account_id), (Scope.USER, purpose.user_id), (Scope.QUEUE, purpose.queue)]
    ours = or_(*[and_(budgets.c.scope == scope.value, budgets.c.subject == subject) for scope, subject in subjects])
    query = _NAMED.where(ours).order_by(budgets.c.budget_id).with_for_update(of=budgets)
    return [record_of(Budget, row) for row in await connection.execute(query)]


async def _held_micros(connection: AsyncConnection, budget: Budget) -> int:
    """Micro-dollars that open holds may still charge."""
    left = func.sum(holds.c.amount_micros - holds.c.charged_micros)
    column = {Scope.ACCOUNT: holds.c.account_id, Scope.USER: holds.c.user_id, Scope.QUEUE: holds.c.queue}[budget.scope]
    # Few holds are open, and they have an index that the database takes if it reads the state in the query.
    is_open = text("holds.state = 'open'")
    return int(await connection.scalar(select(left).where(_equals(column, budget.subject), is_open)) or 0)


async def _charged_after(connection: AsyncConnection, budget: Budget, first: int, last: int | None = None) -> int:
    query = select(func.sum(CHARGED_MICROS)).where(
        transactions.c.seq > first, transactions.c.kind.in_([kind.value for kind in CHARGING])
    )
    if last is not None:
        query = query.where(transactions.c.seq <= last)
    if budget.scope is Scope.ACCOUNT:
        query = query.where(_equals(transactions.c.account_id, budget.subject))
    else:
        column = holds.c.user_id if budget.scope is Scope.USER else holds.c.queue
        query = query.join(holds, transactions.c.hold_id == holds.c.hold_id).where(_equals(column, budget.subject))
    return int(await connection.scalar(query) or 0)


def _equals(column: ColumnElement[Any], value: str) -> ColumnElement[bool]:
    """Equality that no index is used for: all that ever was of a subject is more than what is looked at."""
    return func.coalesce(column, "") == value


def _key(budget: Budget, now: datetime) -> tuple[str, str, datetime]:
    return budget.scope.value, budget.subject, period_start(budget.period, now)
