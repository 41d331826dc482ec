"""Usage facts as rows: written down before they are sent, and sent until billing has taken them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.records import record_of, row_of
from services.vmpool.machines.lease import Holder, LeaseState
from services.vmpool.machines.machine import Machine
from services.vmpool.machines.usage_fact import UsageFact, Use, next_fact, uses_of
from services.vmpool.store.lease_row import lease_from_row
from services.vmpool.store.machine_row import machine_from_row
from services.vmpool.store.tables import leases, machines, usage_facts
from vocabulary.money import MICROSECOND


class UsageStore:
    """An outbox of usage facts."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def write_due(self, interval: timedelta) -> None:
        """Write down every interval that is due now."""
        finished = select(usage_facts.c.machine_id).where(usage_facts.c.final)
        query = select(machines).where(machines.c.provision_time.is_not(None), machines.c.machine_id.not_in(finished))
        async with self._database.transaction() as connection:
            rows = (await connection.execute(query)).mappings().all()
            for machine in map(machine_from_row, rows):
                last = await _last_fact(connection, machine.machine_id)
                fact = next_fact(machine, last, self._clock.now(), interval)
                if fact is not None:
                    fact = replace(fact, uses=await _uses(connection, fact))
                    await connection.execute(insert(usage_facts).values(_fact_to_row(fact)))

    async def unsettled(self) -> Sequence[Machine]:
        """Machines whose whole cost billing does not have yet: unreleased ones, and released ones for a few seconds."""
        settled = select(usage_facts.c.machine_id).where(usage_facts.c.final, usage_facts.c.sent)
        owes = machines.c.provision_time.is_not(None) & machines.c.machine_id.not_in(settled)
        query = select(machines).where(machines.c.release_time.is_(None) | owes).order_by(machines.c.create_time)
        async with self._database.reading() as connection:
            return [machine_from_row(row) for row in (await connection.execute(query)).mappings()]

    async def reserved_until(self) -> Mapping[str, datetime]:
        """The end of the last reservation that stands on each machine with reservations, by machine."""
        stands = (leases.c.holder == Holder.RESERVATION.value, leases.c.state != LeaseState.ENDED.value)
        async with self._database.reading() as connection:
            rows = await connection.execute(select(leases.c.machine_id, leases.c.expire_time).where(*stands))
            ends: dict[str, datetime] = {}
            for machine_id, end in rows:
                ends[machine_id] = max(end, ends.get(machine_id, end))
        return ends

    async def unsent(self) -> Sequence[tuple[UsageFact, Machine]]:
        """The facts that billing has not taken, in order for each machine."""
        facts = (
            select(usage_facts).where(~usage_facts.c.sent).order_by(usage_facts.c.machine_id, usage_facts.c.sequence)
        )
        owners = select(machines).where(
            machines.c.machine_id.in_(select(usage_facts.c.machine_id).where(~usage_facts.c.sent))
        )
        async with self._database.reading() as connection:
            machine_of = {row["machine_id"]: row for row in (await connection.execute(owners)).mappings()}
            unsent = [_fact_from_row(row) for row in await connection.execute(facts)]
        return [
            (fact, machine_from_row(machine_of[fact.machine_id])) for fact in unsent if fact.machine_id in machine_of
        ]

    async def sent(self, fact: UsageFact) -> None:
        """Mark a fact as taken by billing."""
        async with self._database.transaction() as connection:
            await connection.execute(
                update(usage_facts)
                .where(usage_facts.c.machine_id == fact.machine_id, usage_facts.c.sequence == fact.sequence)
                .values(sent=True)
            )


async def _last_fact(connection: AsyncConnection, machine_id: str) -> UsageFact | None:
    query = (
        select(usage_facts)
        .where(usage_facts.c.machine_id == machine_id)
        .order_by(usage_facts.c.sequence.desc())
        .limit(1)
    )
    row = (await connection.execute(query)).one_or_none()
    return None if row is None else _fact_from_row(row)


async def _uses(connection: AsyncConnection, fact: UsageFact) -> tuple[Use, ...]:
    query = (
        select(leases)
        .where(leases.c.machine_id == fact.machine_id, leases.c.create_time < fact.end_time)
        .where(leases.c.end_time.is_(None) | (leases.c.end_time > fact.start_time))
        .order_by(leases.c.create_time)
    )
    rows = (await connection.execute(query)).all()
    return uses_of(map(lease_from_row, rows), fact.start_time, fact.end_time)


def _fact_to_row(fact: UsageFact) -> dict[str, Any]:
    uses = json.dumps([(use.job_id, use.attempt, use.gpu_time // MICROSECOND) for use in fact.uses])
    return row_of(usage_facts, fact, sent=False, uses=uses)


def _fact_from_row(row: Row[Any]) -> UsageFact:
    uses = tuple(Use(job_id, attempt, time * MICROSECOND) for job_id, attempt, time in json.loads(row.uses))
    return record_of(UsageFact, row, uses=uses)
