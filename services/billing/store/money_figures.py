"""Figures that money rules watch: the only file of alerts that knows where the ledger keeps them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, case, func, select

from servicekit.db.database import Database
from services.billing.alert_rules.money import AccountSpending, BudgetSpending, Spending
from services.billing.ledger.books import COST_BOOKS, OPERATOR, Book
from services.billing.ledger.budgets import Scope
from services.billing.store.budget_store import ChargedSums, all_budgets
from services.billing.store.journal import CHARGED_MICROS, CHARGING, read_sums
from services.billing.store.tables import accounts, balances, machine_usage, transactions

# Credit that expired is neither spent nor there to spend.
_IS_CREDIT = balances.c.book.in_([Book.GRANTED.value, Book.EXPIRED.value])
_CREDIT = (
    select(
        accounts.c.account_id,
        accounts.c.name,
        func.sum(case((_IS_CREDIT, -balances.c.amount_micros))).label("granted"),
        func.sum(case((balances.c.book == Book.CHARGED.value, balances.c.amount_micros))).label("charged"),
        func.sum(case((balances.c.book == Book.HELD.value, balances.c.amount_micros))).label("held"),
    )
    .join(balances, balances.c.owner == accounts.c.account_id, isouter=True)
    .group_by(accounts.c.account_id, accounts.c.name)
)


@dataclass(frozen=True)
class MachineCost:
    """What machines cost the operator, in micro-dollars: in all, and since two instants."""

    total_micros: int
    burn_micros: int
    forecast_micros: int


class MoneyFigures:
    """Reads what was granted and spent."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._charged = ChargedSums(database)

    async def accounts_with(self, account_ids: Collection[str]) -> Sequence[AccountSpending]:
        """The credit of these accounts, without rates."""
        query = _CREDIT.where(accounts.c.account_id.in_(account_ids))
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        return [_account_spending(row) for row in rows]

    async def all_accounts(self, burn_since: datetime, forecast_since: datetime) -> Sequence[AccountSpending]:
        """The credit of every account, with what was charged since two instants; the second is the earlier one."""
        time = transactions.c.create_time
        charged = (
            select(
                transactions.c.account_id,
                func.sum(CHARGED_MICROS).label("forecast_micros"),
                func.sum(case((time >= burn_since, CHARGED_MICROS), else_=0)).label("burn_micros"),
            )
            .where(transactions.c.kind.in_([kind.value for kind in CHARGING]), time >= forecast_since)
            .group_by(transactions.c.account_id)
        )
        async with self._database.reading() as connection:
            credit = (await connection.execute(_CREDIT)).all()
            rates = {row.account_id: row for row in await connection.execute(charged)}
        found: list[AccountSpending] = []
        for row in credit:
            rate = rates.get(row.account_id)
            burn, forecast = (int(rate.burn_micros), int(rate.forecast_micros)) if rate else (0, 0)
            found.append(_account_spending(row, max(0, burn), max(0, forecast)))
        return found

    async def budgets(self, now: datetime) -> Sequence[BudgetSpending]:
        """What is charged of each budget in its present period, and on hold."""
        await self._charged.catch_up(now)
        async with self._database.reading() as connection:
            found: list[BudgetSpending] = []
            for budget in await all_budgets(connection):
                charged, held = await self._charged.charged_and_held(connection, budget, now)
                account_id = budget.subject if budget.scope is Scope.ACCOUNT else ""
                spending = Spending(budget.limit_micros, charged, held_micros=held)
                found.append(BudgetSpending(budget.budget_id, budget.text, account_id, spending))
            return found

    async def machine_cost(self, burn_since: datetime, forecast_since: datetime) -> MachineCost:
        """The cost of machines; an interval counts as a whole from its end on."""
        cost, end = machine_usage.c.cost_micros, machine_usage.c.end_time
        query = select(
            func.sum(case((end >= burn_since, cost), else_=0)).label("burn"), func.sum(cost).label("forecast")
        ).where(end >= forecast_since)
        async with self._database.reading() as connection:
            row = (await connection.execute(query)).one()
            sums = await read_sums(connection, OPERATOR)
        total = sum(sums.get(book, 0) for book in COST_BOOKS)
        return MachineCost(total, int(row.burn or 0), int(row.forecast or 0))


def _account_spending(
    row: Row[Any, Any, Any, Any, Any], burn_micros: int = 0, forecast_micros: int = 0
) -> AccountSpending:
    granted, charged, held = int(row.granted or 0), int(row.charged or 0), int(row.held or 0)
    spending = Spending(granted, charged, burn_micros, forecast_micros, held)
    return AccountSpending(row.account_id, row.name, spending)
