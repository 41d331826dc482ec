"""The log of what happened to machines, numbered without gaps over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select, update

from services.vmpool.estimate import HISTORY, start_estimate
from services.vmpool.machine import ON_THE_WAY, Machine, MachineState
from services.vmpool.store.machine_row import MICROSECOND, machine_from_json, machine_to_json
from services.vmpool.store.tables import event_counter, machine_events, machines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from servicekit.database import Database

BATCH = 500


@dataclass(frozen=True)
class MachineEvent:
    """A machine after a change; `estimate` is set while it is on its way and there is history to judge by."""

    seq: int
    time: datetime
    previous_state: MachineState
    reason: str
    estimate: timedelta | None
    machine: Machine


class EventLog:
    """Reads the log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def after(self, seq: int) -> Sequence[MachineEvent]:
        """The next events after number `seq`, at most BATCH of them."""
        query = select(machine_events).where(machine_events.c.seq > seq).order_by(machine_events.c.seq).limit(BATCH)
        async with self._database.reading() as connection:
            return [_event_from_row(row) for row in await connection.execute(query)]

    async def present(self) -> Sequence[MachineEvent]:
        """The last event of every machine that is not over, in the order of their numbers."""
        newest = (
            select(func.max(machine_events.c.seq))
            .join(machines, machines.c.machine_id == machine_events.c.machine_id)
            .where(machines.c.end_time.is_(None))
            .group_by(machine_events.c.machine_id)
        )
        query = select(machine_events).where(machine_events.c.seq.in_(newest)).order_by(machine_events.c.seq)
        async with self._database.reading() as connection:
            return [_event_from_row(row) for row in await connection.execute(query)]

    async def last_seq(self) -> int:
        """The highest number given out."""
        async with self._database.reading() as connection:
            return int(await connection.scalar(select(event_counter.c.seq)) or 0)


async def append_event(
    connection: AsyncConnection, now: datetime, previous_state: MachineState, reason: str, machine: Machine
) -> None:
    """Write down what became of a machine, in the transaction that changes it."""
    seq = await connection.scalar(
        update(event_counter).values(seq=event_counter.c.seq + 1).returning(event_counter.c.seq)
    )
    estimate = await start_estimate_of(connection, machine) if machine.state in ON_THE_WAY else None
    await connection.execute(
        insert(machine_events).values(
            seq=seq,
            machine_id=machine.machine_id,
            time=now,
            previous_state=previous_state.value,
            reason=reason,
            estimate_us=None if estimate is None else estimate // MICROSECOND,
            machine=machine_to_json(machine),
        )
    )


async def start_estimate_of(connection: AsyncConnection, machine: Machine) -> timedelta | None:
    """How long such a machine takes from being wanted to being ready."""
    query = (
        select(machines.c.create_time, machines.c.ready_time)
        .where(
            machines.c.provider == machine.provider,
            machines.c.gpu_type == machine.gpu_type,
            machines.c.ready_time.is_not(None),
        )
        .order_by(machines.c.create_time.desc())
        .limit(HISTORY)
    )
    rows = (await connection.execute(query)).all()
    return start_estimate([row.ready_time - row.create_time for row in rows])


def _event_from_row(row: Row[Any]) -> MachineEvent:
    return MachineEvent(
        seq=row.seq,
        time=row.time,
        previous_state=MachineState(row.previous_state),
        reason=row.reason,
        estimate=None if row.estimate_us is None else row.estimate_us * MICROSECOND,
        machine=machine_from_json(row.machine),
    )
