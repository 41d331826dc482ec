"""The days that were, from the ledger and from machine usage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, exists, func, select, type_coerce

from servicekit.db.database import EPOCH, Database
from services.billing.projections.history import Day
from services.billing.store.journal import TransactionKind
from services.billing.store.tables import machine_usage, transactions
from vocabulary.money import MICROSECOND

_MICROSECONDS_PER_DAY = timedelta(days=1) // MICROSECOND


class HistoryStore:
    """Sums charges and costs of machines by day (UTC)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def days(self, account_id: str, first: date, end: date) -> Sequence[Day]:
        """The days from `first` until before `end` on which anything happened; of the operator if the id is empty.

        A run counts on the day on which it was charged, an interval of a machine on the day on which it ended. Each
        machine is one cold start.
        """
        charges = _charges(account_id, _midnight(first), _midnight(end))
        machines = _machines(_midnight(first), _midnight(end))
        found: dict[date, dict[str, Any]] = defaultdict(dict[str, Any])
        async with self._database.reading() as connection:
            for row in (await connection.execute(charges)).all():
                found[_day(row.day)] |= {
                    "tasks": row.tasks,
                    "charge_micros": int(row.charge_micros),
                    "reservation_micros": int(row.reservation_micros or 0),
                }
            for row in (await connection.execute(machines)).all() if not account_id else ():
                cost, starts = int(row.cost_micros), row.cold_starts
                found[_day(row.day)] |= {"machine_cost_micros": cost, "cold_starts": starts}
        nothing = {"tasks": 0, "charge_micros": 0}
        return [Day(day, **(nothing | figures)) for day, figures in sorted(found.items())]


def _charges(account_id: str, first: datetime, end: datetime) -> Select[int, int, Any, Any]:
    day = day_of(transactions.c.create_time)
    # A reservation is charged in parts, and a job at once.
    part = transactions.alias()
    is_reservation = exists().where(
        part.c.hold_id == transactions.c.hold_id, part.c.kind == TransactionKind.PART_SETTLEMENT.value
    )
    query = (
        select(
            day.label("day"),
            func.count(transactions.c.hold_id.distinct()).filter(~is_reservation).label("tasks"),
            func.sum(transactions.c.amount_micros).label("charge_micros"),
            func.sum(transactions.c.amount_micros).filter(is_reservation).label("reservation_micros"),
        )
        .where(
            transactions.c.kind.in_([TransactionKind.SETTLEMENT.value, TransactionKind.PART_SETTLEMENT.value]),
            transactions.c.amount_micros > 0,
            transactions.c.create_time >= first,
            transactions.c.create_time < end,
        )
        .group_by(day)
    )
    return query.where(transactions.c.account_id == account_id) if account_id else query


def _machines(first: datetime, end: datetime) -> Select[int, int, Any]:
    day = day_of(machine_usage.c.end_time)
    return (
        select(
            day.label("day"),
            func.count().filter(machine_usage.c.sequence == 1).label("cold_starts"),
            func.sum(machine_usage.c.cost_micros).label("cost_micros"),
        )
        .where(machine_usage.c.end_time >= first, machine_usage.c.end_time < end)
        .group_by(day)
    )


def day_of(instant: ColumnElement[Any]) -> ColumnElement[int]:
    """Whole days since 1970."""
    return type_coerce(instant, BigInteger) // _MICROSECONDS_PER_DAY


def _day(number: int) -> date:
    return (EPOCH + timedelta(days=number)).date()


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
