"""Forgets old rows. The sums of machines and leases are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Delete, and_, delete, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.db.database import Database
from services.vmpool.machines.lease import StartKind
from services.vmpool.machines.pool_totals import PoolTotals
from services.vmpool.store.machine_row import MICROSECOND, machine_from_row
from services.vmpool.store.tables import leases, machine_events, machines, pool_totals, usage_facts

BATCH = 2000
"""Rows of one transaction: few, so that other writers do not wait long."""
MACHINES_BATCH = 200
"""Machines of one transaction; each of them has more rows."""
LATEST_KEPT = 200
"""Latest machines and leases that stay however old they are, because estimates and paces are measured by them."""


@dataclass(frozen=True)
class HistoryStore:
    """Forgets old rows, and keeps sums of them."""

    database: Database
    batch: int = BATCH
    machines_batch: int = MACHINES_BATCH
    latest_kept: int = LATEST_KEPT

    async def totals(self) -> PoolTotals:
        """The sums over forgotten machines and leases."""
        async with self.database.reading() as connection:
            row = (await connection.execute(select(pool_totals))).one()
        idle = timedelta(microseconds=row.idle_us)
        return PoolTotals(row.machines, idle, row.cost_micros, row.cold_starts, row.warm_reuses)

    async def forget_events(self, before: datetime) -> int:
        """Forget older events, except the last one of each machine, which shows its present or final state.

        Numbers are never used again: the log then has gaps, all of them in the past.
        """
        later = machine_events.alias()
        overtaken = (
            select(later.c.seq)
            .where(later.c.machine_id == machine_events.c.machine_id, later.c.seq > machine_events.c.seq)
            .exists()
        )
        old = select(machine_events.c.seq).where(machine_events.c.time < before, overtaken).limit(self.batch)
        return await self._in_batches(delete(machine_events).where(machine_events.c.seq.in_(old)))

    async def forget_facts(self, before: datetime) -> int:
        """Forget older intervals that billing has taken, except each machine's last, at whose end the next begins."""
        later = usage_facts.alias()
        overtaken = (
            select(later.c.sequence)
            .where(later.c.machine_id == usage_facts.c.machine_id, later.c.sequence > usage_facts.c.sequence)
            .exists()
        )
        key = (usage_facts.c.machine_id, usage_facts.c.sequence)
        old = select(*key).where(and_(usage_facts.c.sent, usage_facts.c.end_time < before, overtaken)).limit(self.batch)
        return await self._in_batches(delete(usage_facts).where(tuple_(*key).in_(old)))

    async def forget_leases(self, before: datetime) -> int:
        """Forget leases that ended before, except the latest."""
        ended = select(leases.c.lease_id).where(leases.c.end_time.is_not(None))
        latest = ended.order_by(leases.c.end_time.desc()).limit(self.latest_kept)
        old = (
            select(leases.c.lease_id)
            .where(leases.c.end_time < before, leases.c.lease_id.not_in(latest))
            .limit(self.batch)
        )
        forgotten = 0
        while True:
            async with self.database.transaction() as connection:
                gone = delete(leases).where(leases.c.lease_id.in_(old)).returning(leases.c.start_kind)
                kinds = list((await connection.execute(gone)).scalars())
                cold, warm = (kinds.count(kind.value) for kind in (StartKind.COLD_START, StartKind.WARM_REUSE))
                await _add(connection, cold_starts=cold, warm_reuses=warm)
            forgotten += len(kinds)
            if len(kinds) < self.batch:
                return forgotten

    async def forget_machines(self, before: datetime) -> int:
        """Forget machines that were released before, with their events and usage facts, except the latest.

        A machine stays if billing has not taken its last interval, or if it has a lease that is not forgotten.
        """
        forgotten = 0
        while True:
            async with self.database.transaction() as connection:
                count = await self._forget_some_machines(connection, before)
            forgotten += count
            if count < self.machines_batch:
                return forgotten

    async def _forget_some_machines(self, connection: AsyncConnection, before: datetime) -> int:
        latest = select(machines.c.machine_id).order_by(machines.c.create_time.desc()).limit(self.latest_kept)
        leased = select(leases.c.lease_id).where(leases.c.machine_id == machines.c.machine_id).exists()
        reported = (
            select(usage_facts.c.sequence)
            .where(usage_facts.c.machine_id == machines.c.machine_id, usage_facts.c.final, usage_facts.c.sent)
            .exists()
        )
        query = (
            select(machines)
            .where(machines.c.release_time < before, machines.c.machine_id.not_in(latest), ~leased)
            .where(reported | machines.c.provision_time.is_(None))
            .limit(self.machines_batch)
        )
        old = [machine_from_row(row) for row in (await connection.execute(query)).mappings()]
        await _delete_machines(connection, [machine.machine_id for machine in old])
        await _add(
            connection,
            machines=len(old),
            idle_us=sum(machine.idle_until(before) // MICROSECOND for machine in old),
            cost_micros=sum(machine.cost_until(before) for machine in old),
        )
        return len(old)

    async def _in_batches(self, statement: Delete) -> int:
        forgotten = 0
        while True:
            async with self.database.transaction() as connection:
                count = (await connection.execute(statement)).rowcount
            forgotten += count
            if count < self.batch:
                return forgotten


async def _delete_machines(connection: AsyncConnection, machine_ids: Sequence[str]) -> None:
    for table in (usage_facts, machine_events, machines):
        await connection.execute(delete(table).where(table.c.machine_id.in_(machine_ids)))


async def _add(connection: AsyncConnection, **more: int) -> None:
    sums: dict[str, Any] = {name: pool_totals.c[name] + count for name, count in more.items() if count}
    if sums:
        await connection.execute(update(pool_totals).values(sums))
