"""Rows that only grow old: events and usage facts. Machines and leases stay, since the pool's figures sum them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, select, tuple_

from services.vmpool.store.tables import machine_events, usage_facts

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Delete

    from servicekit.database import Database

BATCH = 2000
"""Rows of one transaction, which keeps other writers from waiting long."""


class HistoryStore:
    """Forgets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def forget_events(self, before: datetime) -> int:
        """Forget what happened before, but for the last event of each machine, which tells how it is or ended.

        Numbers are never given out again: the log has gaps then, all of them in the past.
        """
        later = machine_events.alias()
        overtaken = (
            select(later.c.seq)
            .where(later.c.machine_id == machine_events.c.machine_id, later.c.seq > machine_events.c.seq)
            .exists()
        )
        old = select(machine_events.c.seq).where(machine_events.c.time < before, overtaken).limit(BATCH)
        return await self._in_batches(delete(machine_events).where(machine_events.c.seq.in_(old)))

    async def forget_facts(self, before: datetime) -> int:
        """Forget intervals that billing has taken, but for the last of each machine, where its next one begins."""
        later = usage_facts.alias()
        overtaken = (
            select(later.c.sequence)
            .where(later.c.machine_id == usage_facts.c.machine_id, later.c.sequence > usage_facts.c.sequence)
            .exists()
        )
        key = (usage_facts.c.machine_id, usage_facts.c.sequence)
        old = select(*key).where(and_(usage_facts.c.sent, usage_facts.c.end_time < before, overtaken)).limit(BATCH)
        return await self._in_batches(delete(usage_facts).where(tuple_(*key).in_(old)))

    async def _in_batches(self, statement: Delete) -> int:
        forgotten = 0
        while True:
            async with self._database.transaction() as connection:
                count = (await connection.execute(statement)).rowcount
            forgotten += count
            if count < BATCH:
                return forgotten
