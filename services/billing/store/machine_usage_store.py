"""Machine usage as rows."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite

from services.billing.store.tables import machine_usage

if TYPE_CHECKING:
    from collections.abc import Collection

    from servicekit.db.database import Database
    from services.billing.ledger.machine_usage import MachineUsage


class MachineUsageStore:
    """Stores the operator's costs of machines."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, usage: MachineUsage) -> bool:
        """Stores an interval; True if it is the first report of (machine, sequence), which stands."""
        dialect = postgresql if self._database.dialect_name == "postgresql" else sqlite
        statement = (
            dialect.insert(machine_usage)
            .values(_row(usage))
            .on_conflict_do_nothing()
            .returning(machine_usage.c.sequence)
        )
        async with self._database.transaction() as connection:
            return (await connection.execute(statement)).one_or_none() is not None

    async def total_cost_micros(self, besides: Collection[str] = ()) -> int:
        """Cost of all machines so far, without the machines `besides`, in micro-dollars."""
        query = select(func.sum(machine_usage.c.cost_micros)).where(machine_usage.c.machine_id.not_in(besides))
        async with self._database.reading() as connection:
            total = await connection.scalar(query)
        return int(total or 0)


def _row(usage: MachineUsage) -> dict[str, Any]:
    row = asdict(usage)
    for name in ("minimum_billed", "billing_increment"):
        row[f"{name}_us"] = row.pop(name) // timedelta(microseconds=1)
    return row | {"cost_micros": usage.cost_micros}
