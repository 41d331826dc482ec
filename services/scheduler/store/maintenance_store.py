"""Keeps which GPU types operators have taken into maintenance."""

from __future__ import annotations

from sqlalchemy import delete, insert, select

from servicekit.db.act_store import note_rows_before
from servicekit.db.database import Database
from services.scheduler.jobs.reservation_checks import Maintenance
from services.scheduler.store.tables import maintenance


class MaintenanceStore:
    """Maintenance by GPU type."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> dict[str, Maintenance]:
        """All that was begun and not ended, also what is over by its time."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(maintenance).order_by(maintenance.c.gpu_type))
            return {row.gpu_type: Maintenance(row.reason, (row.user_id,), row.until) for row in rows}

    async def begin(self, gpu_type: str, one: Maintenance) -> None:
        """Begins it, or replaces what was begun."""
        row = {"gpu_type": gpu_type, "reason": one.reason, "until": one.until, "user_id": "".join(one.users[:1])}
        async with self._database.transaction() as connection:
            await note_rows_before(connection, select(maintenance).where(maintenance.c.gpu_type == gpu_type))
            await connection.execute(delete(maintenance).where(maintenance.c.gpu_type == gpu_type))
            await connection.execute(insert(maintenance).values(row))

    async def end(self, gpu_type: str) -> bool:
        """Ends it; False if none was begun."""
        async with self._database.transaction() as connection:
            await note_rows_before(connection, select(maintenance).where(maintenance.c.gpu_type == gpu_type))
            ended = await connection.execute(delete(maintenance).where(maintenance.c.gpu_type == gpu_type))
            return ended.rowcount > 0
