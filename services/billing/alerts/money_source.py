"""Reports the readings about money: at each interval all of them, and at once those of accounts whose credit moved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from servicekit.clock import Clock
from services.billing.alert_rules.money import (
    AccountSpending,
    BudgetSpending,
    Spending,
    Windows,
    account_readings,
    account_share_reading,
    budget_reading,
    operator_readings,
)
from services.billing.alert_rules.rule import Reading
from services.billing.alerts import money_metrics
from services.billing.alerts.evaluator import Evaluator
from services.billing.store.money_figures import MachineCost, MoneyFigures

SOURCE = "billing"
COALESCING_SECONDS = 0.1
"""Movements of credit within this time are looked at together, so that many a second cost few looks."""
_MISSED_INTERVALS = 3
"""A reading stands for so many intervals: one late pass is no silence."""


class MoneySource:
    """A source of readings, and a loop that a movement of credit wakes."""

    name = "money readings"

    def __init__(
        self,
        figures: MoneyFigures,
        evaluator: Evaluator,
        clock: Clock,
        windows: Windows,
        interval: timedelta,
        cloud_credit_micros: int,
        machine_budget_micros: int | None,
    ) -> None:
        self._figures = figures
        self._evaluator = evaluator
        self._clock = clock
        self._windows = windows
        self._interval = interval
        self._cloud_credit_micros = cloud_credit_micros
        self._machine_budget_micros = machine_budget_micros
        self._moved: set[str] = set()
        self._next_look: datetime | None = None
        self.wake = asyncio.Event()

    def credit_moved(self, account_id: str) -> None:
        """Notes that an account's credit has moved. Costs no query and never fails: money does not wait for alerts."""
        if not self._moved:
            asyncio.get_running_loop().call_later(COALESCING_SECONDS, self.wake.set)
        self._moved.add(account_id)

    async def run_once(self) -> None:
        """Looks at everything if that is due, otherwise at the accounts whose credit moved."""
        now = self._clock.now()
        # Taken before the look: what moves during it is looked at again.
        moved, self._moved = self._moved, set()
        try:
            if self._next_look is None or now >= self._next_look:
                await self._look_at_everything(now)
                # From the end of the look: however long one takes, there is time for the accounts that move.
                self._next_look = self._clock.now() + self._interval
            elif moved:
                accounts = await self._figures.accounts_with(moved)
                shares = [account_share_reading(account, now) for account in accounts]
                await self._evaluator.take_some(SOURCE, shares, self._interval * _MISSED_INTERVALS)
        except BaseException:
            self._moved |= moved
            raise

    async def _look_at_everything(self, now: datetime) -> None:
        since = now - self._windows.burn, now - self._windows.forecast
        accounts = await self._figures.all_accounts(*since)
        cost = await self._figures.machine_cost(*since)
        charged_micros = sum(account.spending.burn_micros for account in accounts)
        money_metrics.show_burn(charged_micros, cost.burn_micros, self._windows.burn)
        readings = self._readings(accounts, cost, await self._figures.budgets(now), now)
        await self._evaluator.take_all(SOURCE, readings, self._interval * _MISSED_INTERVALS, now)

    def _readings(
        self, accounts: Sequence[AccountSpending], cost: MachineCost, budgets: Sequence[BudgetSpending], now: datetime
    ) -> Iterator[Reading]:
        cloud = Spending(self._cloud_credit_micros, cost.total_micros, cost.burn_micros, cost.forecast_micros)
        yield from operator_readings(cloud, self._machine_budget_micros, self._windows, now)
        for account in accounts:
            yield from account_readings(account, self._windows, now)
        for budget in budgets:
            yield budget_reading(budget, now)
