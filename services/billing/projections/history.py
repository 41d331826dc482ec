"""A projection from the days that were: a month's cost with a range, and what tasks really cost.

The range comes from months that are put together from the days that were, drawn at random with a fixed seed, so the
same days always give the same figures. It tells how much days differ, and takes for granted that days like these go on.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from services.billing.projections.scenario import DAYS_PER_MONTH

LEAST_DAYS = 7
"""Working days and weekends differ, so less than a week says nothing of a month."""
MOST_DAYS = 90
"""Older days say little of the next month."""
_DRAWN_MONTHS = 2000
_SEED = 1
_LOW, _MIDDLE, _HIGH = 0.1, 0.5, 0.9


@dataclass(frozen=True)
class Day:
    """One whole day (UTC). Of an account only its charges are known."""

    day: date
    tasks: int
    """Tasks that were charged."""
    charge_micros: int
    machine_cost_micros: int = 0
    cold_starts: int = 0
    """Machines that started."""
    reservation_micros: int = 0
    """What reservations were charged: they are no tasks, and `charge_micros` has it too."""


class DailyFigures(Protocol):
    """A source of the days that were."""

    async def days(self, account_id: str, first: date, end: date) -> Sequence[Day]:
        """The days from `first` until before `end` on which anything happened; of the operator if the id is empty."""
        ...


@dataclass(frozen=True)
class Range:
    """An amount that four of five months stay within, and its middle."""

    low_micros: int
    middle_micros: int
    high_micros: int


@dataclass(frozen=True)
class TaskCosts:
    """What tasks really cost, in micro-dollars. Cold and warm tasks at these costs add up to all that was spent.

    A warm task costs the time that it was charged for. A cold task bears what else its machine cost as well: its start,
    the time that it stood idle, and what was lost. What reservations were charged is left out of all of it.
    """

    tasks: int
    cold_tasks: int
    spent_micros: int
    mean_micros: float
    cold_micros: float | None
    warm_micros: float | None


@dataclass(frozen=True)
class Projection:
    """What days like those that were lead to."""

    days: int
    """Whole days from the first on which anything happened."""
    remaining_micros: int
    month: Range | None
    """None if there are too few days."""
    task_costs: TaskCosts | None
    """None if there was no task."""

    @property
    def months_left(self) -> tuple[float, float] | None:
        """Months until what remains is spent, at the high and at the low end of the range; None if unknown or never."""
        if self.month is None or self.month.low_micros <= 0:
            return None
        left = max(0, self.remaining_micros)
        return left / self.month.high_micros, left / self.month.low_micros


def projection(days: Sequence[Day], first: date, end: date, remaining_micros: int, *, of_operator: bool) -> Projection:
    """The projection from the days between `first` and `end`; days that are missing had no costs."""
    began = min((day.day for day in days), default=end)
    count = (end - max(first, began)).days
    spent = [day.machine_cost_micros if of_operator else day.charge_micros for day in days]
    month = _month([*spent, *[0] * (count - len(spent))]) if count >= LEAST_DAYS else None
    return Projection(count, remaining_micros, month, _task_costs(days, of_operator=of_operator))


def _month(daily: Sequence[int]) -> Range:
    drawing = random.Random(_SEED)  # noqa: S311 - it draws days, and keeps no secret
    # In one order, so that the same days give the same figures however the database lists them.
    ordered = sorted(daily)
    months = sorted(sum(drawing.choices(ordered, k=DAYS_PER_MONTH)) for _ in range(_DRAWN_MONTHS))
    low, middle, high = (months[round(share * (_DRAWN_MONTHS - 1))] for share in (_LOW, _MIDDLE, _HIGH))
    return Range(low, middle, high)


def _task_costs(days: Sequence[Day], *, of_operator: bool) -> TaskCosts | None:
    tasks = sum(day.tasks for day in days)
    if not tasks:
        return None
    reserved = sum(day.reservation_micros for day in days)
    charged = sum(day.charge_micros for day in days) - reserved
    if not of_operator:
        return TaskCosts(tasks, 0, charged, charged / tasks, None, None)
    spent = max(0, sum(day.machine_cost_micros for day in days) - reserved)
    # A machine that ran nothing, or that started for tasks of another day, makes no task cold.
    cold = min(tasks, sum(day.cold_starts for day in days))
    warm_cost = charged / tasks if cold else spent / tasks
    cold_cost = warm_cost + (spent - charged) / cold if cold else None
    return TaskCosts(tasks, cold, spent, spent / tasks, cold_cost, warm_cost)
