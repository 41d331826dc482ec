"""Budgets as rows, and what was spent of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, func, insert, or_, select

from services.billing.errors import NotFoundError
from services.billing.ledger.budgets import Budget, Period, Scope, period_start
from services.billing.ledger.holds import HoldState
from services.billing.store.journal import CHARGED_MICROS, CHARGING
from services.billing.store.tables import accounts, budgets, holds, transactions, users

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from servicekit.clock import Clock
    from servicekit.db.database import Database
    from services.billing.ledger.holds import Purpose


_NAMED = (
    select(budgets, func.coalesce(accounts.c.name, users.c.name).label("subject_name"))
    .join(
        accounts, (budgets.c.scope == Scope.ACCOUNT.value) & (accounts.c.account_id == budgets.c.subject), isouter=True
    )
    .join(users, (budgets.c.scope == Scope.USER.value) & (users.c.user_id == budgets.c.subject), isouter=True)
)


class BudgetStore:
    """Sets, lists and removes budgets."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def set(self, scope: Scope, subject: str, period: Period, limit_micros: int, *, hard: bool) -> Budget:
        """Sets a budget, in place of the one with the same scope, subject and period."""
        budget = Budget(self._new_id("budget"), scope, subject, period, limit_micros, hard)
        same = and_(budgets.c.scope == scope.value, budgets.c.subject == subject, budgets.c.period == period.value)
        row = {
            "budget_id": budget.budget_id,
            "scope": scope.value,
            "subject": subject,
            "period": period.value,
            "limit_micros": limit_micros,
            "hard": hard,
            "create_time": self._clock.now(),
        }
        async with self._database.transaction() as connection:
            await connection.execute(delete(budgets).where(same))
            await connection.execute(insert(budgets).values(row))
        return budget

    async def remove(self, budget_id: str) -> None:
        """Removes a budget; raises NotFoundError if there is none."""
        async with self._database.transaction() as connection:
            gone = await connection.execute(delete(budgets).where(budgets.c.budget_id == budget_id))
        if gone.rowcount == 0:
            raise NotFoundError(f"There is no budget {budget_id!r}.")

    async def all_with_spent(self) -> Sequence[tuple[Budget, int]]:
        """All budgets, each with what is spent or on hold in its present period, in micro-dollars."""
        now = self._clock.now()
        async with self._database.reading() as connection:
            return [
                (budget, await spent_micros(connection, budget, period_start(budget.period, now)))
                for budget in await all_budgets(connection)
            ]


async def all_budgets(connection: AsyncConnection) -> Sequence[Budget]:
    """All budgets."""
    query = _NAMED.order_by(budgets.c.scope, budgets.c.subject, budgets.c.period)
    return [_budget_from_row(row) for row in await connection.execute(query)]


async def limits_of(connection: AsyncConnection, account_id: str, purpose: Purpose) -> Sequence[Budget]:
    """The budgets that a hold of the account for this purpose comes under.

    They are locked: two holds of different accounts may come under one budget.
    """
    subjects = [(Scope.ACCOUNT, account_id), (Scope.USER, purpose.user_id), (Scope.QUEUE, purpose.queue)]
    ours = or_(*[and_(budgets.c.scope == scope.value, budgets.c.subject == subject) for scope, subject in subjects])
    query = _NAMED.where(ours).order_by(budgets.c.budget_id).with_for_update(of=budgets)
    return [_budget_from_row(row) for row in await connection.execute(query)]


async def spent_micros(connection: AsyncConnection, budget: Budget, since: datetime) -> int:
    """Micro-dollars that are charged since then, less refunds, and what open holds may still charge."""
    held = select(func.sum(holds.c.amount_micros - holds.c.charged_micros)).where(
        _is_of(budget), holds.c.state == HoldState.OPEN.value
    )
    return await charged_micros(connection, budget, since) + int(await connection.scalar(held) or 0)


async def charged_micros(connection: AsyncConnection, budget: Budget, since: datetime) -> int:
    """Micro-dollars that are charged since then, less refunds."""
    charged = select(func.sum(CHARGED_MICROS)).where(
        transactions.c.create_time >= since, transactions.c.kind.in_([kind.value for kind in CHARGING])
    )
    if budget.scope is Scope.ACCOUNT:
        charged = charged.where(transactions.c.account_id == budget.subject)
    else:
        charged = charged.join(holds, transactions.c.hold_id == holds.c.hold_id).where(_is_of(budget))
    return int(await connection.scalar(charged) or 0)


def _is_of(budget: Budget) -> ColumnElement[bool]:
    column = {Scope.ACCOUNT: holds.c.account_id, Scope.USER: holds.c.user_id, Scope.QUEUE: holds.c.queue}[budget.scope]
    return column == budget.subject


def _budget_from_row(row: Row[Any]) -> Budget:
    period, limit_micros = Period(row.period), row.limit_micros
    return Budget(row.budget_id, Scope(row.scope), row.subject, period, limit_micros, row.hard, row.subject_name or "")
