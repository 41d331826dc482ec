"""Machines as rows. A change is one row update that compares the revision, and one event, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.actor import note_before
from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.feed import Feed
from services.vmpool.errors import MachineNotFoundError, PoolLimitError, ReservedMachineError, StaleMachineError
from services.vmpool.fault import Fault
from services.vmpool.machines.machine import OVER, Halt, Machine, MachineState
from services.vmpool.machines.offer import Source
from services.vmpool.policy.failures import Failures, failures_in_a_row
from services.vmpool.store.event_log import append_event
from services.vmpool.store.lease_row import end_leases, locked_leases_of
from services.vmpool.store.machine_row import machine_from_row, machine_to_row
from services.vmpool.store.tables import machines, resumes

FAILURE_HISTORY = 50
"""Number of latest starts at one source that are searched for failures: far more than the longest back-off needs."""

# Built once: each lease needs them twice, and building them takes longer than executing them.
_LOCKED_MACHINE = select(machines).where(machines.c.machine_id == bindparam("machine_id")).with_for_update()
_SOURCE = (machines.c.provider, machines.c.backend, machines.c.gpu_type)
_PLACE = func.row_number().over(partition_by=_SOURCE, order_by=machines.c.create_time.desc()).label("place")
_NUMBERED = (
    select(machines.c.machine_id, _PLACE)
    .where(machines.c.ready_time.is_not(None) | (machines.c.fault != Fault.NONE.value))
    .subquery()
)
# By source, because failures of one must not push those of another out of sight.
_RECENT_OF_EACH_SOURCE = (
    select(machines)
    .join(_NUMBERED, machines.c.machine_id == _NUMBERED.c.machine_id)
    .where(_NUMBERED.c.place <= FAILURE_HISTORY)
)
_COMPARED = ("machine_id", "revision", "state")
_WRITE_MACHINE = (
    update(machines)
    .where(*[machines.c[name] == bindparam(f"before_{name}") for name in _COMPARED])
    .values({column.name: bindparam(f"after_{column.name}", type_=column.type) for column in machines.columns})
    .returning(machines.c.revision)
)


class MachineStore:
    """Keeps machines. Followers of `events` hear of every change, followers of `moves` only of changes made here."""

    def __init__(self, database: Database, clock: Clock, events: Feed, moves: Feed) -> None:
        self._database = database
        self._clock = clock
        self._feeds = (events, moves)

    async def add(self, machine: Machine, reason: str, *, most: int | None = None) -> Machine:
        """Add a machine; raises PoolLimitError if that makes more than `most`, even if others add one at once."""
        async with self._database.transaction() as connection:
            await connection.execute(insert(machines).values(machine_to_row(machine)))
            await append_event(connection, self._clock.now(), machine.state, reason, machine)
            # After the event: the lock of its counter lets in one writer at a time, who sees all earlier additions.
            if most is not None and await _count_unreleased(connection) > most:
                raise PoolLimitError(f"the limit of {most} machines was reached just now")
        self._notify()
        return machine

    async def change(self, before: Machine, after: Machine, reason: str = "") -> Machine:
        """Change `before` into `after`; a `reason` is reported in place of the new state's own.

        Leases end with their machine. Raises StaleMachineError if the machine has changed since it was read.
        """
        async with self._database.transaction() as connection:
            write = _end if after.state in OVER and before.state not in OVER else write_machine
            changed = await write(connection, self._clock, before, after, reason or after.reason)
        self._notify()
        return changed

    async def drain(self, machine_id: str, reason: str, *, force: bool = True) -> Machine:
        """Let a machine finish its leases and stop; one that is draining or over stays as it is.

        Unless `force`, raises ReservedMachineError if reservations stand on it.
        """
        async with self._database.transaction() as connection:
            machine = await locked_machine(connection, machine_id)
            note_before({"state": machine.state})
            if machine.state in OVER or machine.state is MachineState.DRAINING:
                return machine
            _check_unreserved(machine, force=force)
            drained = machine.drain(self._clock.now(), reason)
            drained = await write_machine(connection, self._clock, machine, drained, reason)
        self._notify()
        return drained

    async def halt(self, machine_id: str, halt: Halt, *, force: bool = True) -> Machine:
        """Stop a machine at once and end its leases; one that is over, or drains without leases, stays as it is.

        Unless `force`, raises ReservedMachineError if reservations stand on it.
        """
        async with self._database.transaction() as connection:
            machine = await locked_machine(connection, machine_id)
            note_before({"state": machine.state})
            drained = machine.state is MachineState.DRAINING and not any(machine.occupied)
            if machine.state in OVER or drained:
                return machine
            _check_unreserved(machine, force=force)
            halted = await _end(connection, self._clock, machine, machine.halt(self._clock.now(), halt), halt.reason)
        self._notify()
        return halted

    async def get(self, machine_id: str) -> Machine:
        """The machine; raises MachineNotFoundError if there is none."""
        async with self._database.reading() as connection:
            return await read_machine(connection, machine_id)

    async def of_request(self, request_id: str) -> Machine | None:
        """The machine that was started for a request, even if it is over; None if there is none."""
        async with self._database.reading() as connection:
            found = await _select(connection, select(machines).where(machines.c.request_id == request_id))
        return found[0] if found else None

    async def unreleased(self) -> Sequence[Machine]:
        """All machines that are not released, oldest first: they exist at their provider, or may."""
        query = select(machines).where(machines.c.release_time.is_(None)).order_by(machines.c.create_time)
        async with self._database.reading() as connection:
            return await _select(connection, query)

    async def all(self, *, include_ended: bool) -> Sequence[Machine]:
        """Machines, newest first, but those that are over come last."""
        query = select(machines).order_by(machines.c.end_time.is_not(None), machines.c.create_time.desc())
        if not include_ended:
            query = query.where(machines.c.end_time.is_(None))
        async with self._database.reading() as connection:
            return await _select(connection, query)

    async def ended_since(self, since: datetime) -> Sequence[Machine]:
        """Machines that ended then or later."""
        async with self._database.reading() as connection:
            return await _select(connection, select(machines).where(machines.c.end_time >= since))

    async def failures(self) -> Mapping[Source, Failures]:
        """Failed starts by source, since the source's last successful start."""
        async with self._database.reading() as connection:
            recent = await _select(connection, _RECENT_OF_EACH_SOURCE)
            rows = await connection.execute(select(resumes))
            resumed = {Source(row.provider, row.backend, row.gpu_type): row.time for row in rows}
        return failures_in_a_row(recent, resumed)

    async def resume(self, sources: Iterable[Source]) -> None:
        """Forget the failures at these sources so far."""
        async with self._database.transaction() as connection:
            for source in sources:
                key = {"provider": source.provider, "backend": source.backend, "gpu_type": source.gpu_type}
                await connection.execute(delete(resumes).filter_by(**key))
                await connection.execute(insert(resumes).values(**key, time=self._clock.now()))
        self._notify()

    def _notify(self) -> None:
        for feed in self._feeds:
            feed.notify()


def _check_unreserved(machine: Machine, *, force: bool) -> None:
    if machine.reservation_ids and not force:
        raise ReservedMachineError(machine.machine_id, machine.reservation_ids)


async def write_machine(
    connection: AsyncConnection, clock: Clock, before: Machine, after: Machine, reason: str
) -> Machine:
    """Compare and set the row, and add the event, inside the caller's transaction; raises StaleMachineError."""
    changed = replace(after, revision=before.revision + 1)
    compared = {"machine_id": before.machine_id, "revision": before.revision, "state": before.state.value}
    parameters = {f"before_{name}": value for name, value in compared.items()}
    parameters |= {f"after_{name}": value for name, value in machine_to_row(changed).items()}
    if (await connection.execute(_WRITE_MACHINE, parameters)).one_or_none() is None:
        raise StaleMachineError(before.machine_id)
    await append_event(connection, clock.now(), before.state, reason, changed)
    return changed


async def read_machine(connection: AsyncConnection, machine_id: str) -> Machine:
    """One machine; raises MachineNotFoundError if there is none."""
    found = await _select(connection, select(machines).where(machines.c.machine_id == machine_id))
    if not found:
        raise MachineNotFoundError(machine_id)
    return found[0]


async def locked_machines(connection: AsyncConnection, query: Select[Any]) -> list[Machine]:
    """The machines of a query, locked against other writers until the transaction ends."""
    return await _select(connection, query.with_for_update())


async def locked_machine(connection: AsyncConnection, machine_id: str) -> Machine:
    """One machine, locked; raises MachineNotFoundError if there is none."""
    row = (await connection.execute(_LOCKED_MACHINE, {"machine_id": machine_id})).mappings().one_or_none()
    if row is None:
        raise MachineNotFoundError(machine_id)
    return machine_from_row(row)


async def _count_unreleased(connection: AsyncConnection) -> int:
    query = select(func.count()).select_from(machines).where(machines.c.release_time.is_(None))
    return int(await connection.scalar(query) or 0)


async def _select(connection: AsyncConnection, query: Select[Any]) -> list[Machine]:
    return [machine_from_row(row) for row in (await connection.execute(query)).mappings()]


async def _end(connection: AsyncConnection, clock: Clock, before: Machine, after: Machine, reason: str) -> Machine:
    """Change a machine that is over or stops, and end its leases."""
    await locked_machine(connection, before.machine_id)
    own, others = await locked_leases_of(connection, before.machine_id)
    changed = await write_machine(connection, clock, before, after, reason)
    await end_leases(connection, changed, own, others, clock.now())
    return changed
