"""The log of changes of machines. Its numbers run over all machines, with gaps only for events that `pruner` forgot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.db.database import Database
from servicekit.records import record_of
from services.vmpool.errors import MachineNotFoundError
from services.vmpool.machines.estimate import Start, StartEstimate, start_estimate
from services.vmpool.machines.machine import ON_THE_WAY, Machine, MachineState
from services.vmpool.store.machine_row import MICROSECOND, machine_from_json, machine_to_json
from services.vmpool.store.tables import event_counter, machine_events, machines

BATCH = 500
_NEXT_SEQ = update(event_counter).values(seq=event_counter.c.seq + 1).returning(event_counter.c.seq)
_INSERT_EVENT = insert(machine_events)
STARTS_LOOKED_AT = 200
"""Number of a provider's latest starts among which those of one backend are looked for."""


@dataclass(frozen=True)
class MachineEvent:
    """A machine after a change; `estimate` is set if the machine is on its way and there is history to judge by."""

    seq: int
    time: datetime
    previous_state: MachineState
    reason: str
    estimate: StartEstimate | None
    machine: Machine

    @property
    def is_last(self) -> bool:
        """True if nothing more will happen to the machine: it is over, and its provider has taken it back."""
        return self.machine.release_time is not None


class EventLog:
    """Reads the log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def after(self, seq: int) -> Sequence[MachineEvent]:
        """The next events after number `seq`, at most BATCH of them."""
        return await self._events(_after(seq))

    async def of_machine_after(self, machine_id: str, seq: int) -> Sequence[MachineEvent]:
        """The machine's next events after number `seq`, at most BATCH of them."""
        return await self._events(_after(seq).where(machine_events.c.machine_id == machine_id))

    async def last_of(self, machine_id: str) -> MachineEvent:
        """The machine's last event; raises MachineNotFoundError if there is no such machine."""
        query = select(machine_events).where(machine_events.c.machine_id == machine_id)
        found = await self._events(query.order_by(machine_events.c.seq.desc()).limit(1))
        if not found:
            raise MachineNotFoundError(machine_id)
        return found[0]

    async def present(self) -> Sequence[MachineEvent]:
        """The last event of every machine that is not over, in the order of their numbers."""
        newest = (
            select(func.max(machine_events.c.seq))
            .join(machines, machines.c.machine_id == machine_events.c.machine_id)
            .where(machines.c.end_time.is_(None))
            .group_by(machine_events.c.machine_id)
        )
        return await self._events(
            select(machine_events).where(machine_events.c.seq.in_(newest)).order_by(machine_events.c.seq)
        )

    async def last_seq(self) -> int:
        """The highest number given out."""
        async with self._database.reading() as connection:
            return int(await connection.scalar(select(event_counter.c.seq)) or 0)

    async def _events(self, query: Select[Any]) -> Sequence[MachineEvent]:
        async with self._database.reading() as connection:
            return [_event_from_row(row) for row in await connection.execute(query)]


async def append_event(
    connection: AsyncConnection, now: datetime, previous_state: MachineState, reason: str, machine: Machine
) -> None:
    """Record a machine's change, in the transaction that makes it."""
    seq = await connection.scalar(_NEXT_SEQ)
    estimate = await start_estimate_of(connection, machine) if machine.state in ON_THE_WAY else None
    row: dict[str, Any] = {
        "seq": seq,
        "machine_id": machine.machine_id,
        "time": now,
        "previous_state": previous_state.value,
        "reason": reason,
        "estimate_us": estimate and estimate.p50 // MICROSECOND,
        "estimate_p90_us": estimate and estimate.p90 // MICROSECOND,
        "machine": machine_to_json(machine),
    }
    await connection.execute(_INSERT_EVENT, row)


async def start_estimate_of(connection: AsyncConnection, machine: Machine) -> StartEstimate | None:
    """The estimated time of such a machine from wanted to ready; None if there is no history."""
    query = (
        select(machines.c.backend, machines.c.create_time, machines.c.ready_time)
        .where(
            machines.c.provider == machine.provider,
            machines.c.gpu_type == machine.gpu_type,
            machines.c.ready_time.is_not(None),
        )
        .order_by(machines.c.create_time.desc())
        .limit(STARTS_LOOKED_AT)
    )
    rows = (await connection.execute(query)).all()
    return start_estimate([Start(row.backend, row.ready_time - row.create_time) for row in rows], machine.backend)


def _after(seq: int) -> Select[Any]:
    return select(machine_events).where(machine_events.c.seq > seq).order_by(machine_events.c.seq).limit(BATCH)


def _event_from_row(row: Row[Any]) -> MachineEvent:
    return record_of(MachineEvent, row, estimate=_estimate_from_row(row), machine=machine_from_json(row.machine))


def _estimate_from_row(row: Row[Any]) -> StartEstimate | None:
    if row.estimate_us is None:
        return None
    # Events from before the second figure was kept have only the first.
    p90_us = row.estimate_us if row.estimate_p90_us is None else row.estimate_p90_us
    return StartEstimate(row.estimate_us * MICROSECOND, p90_us * MICROSECOND)
