"""Leases as rows. Taking and giving back slots locks the machine, and changes machine, lease and event log together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from services.vmpool.errors import LeaseConflictError, LeaseNotFoundError
from services.vmpool.machines.lease import Lease, LeaseRequest, LeaseState, StartKind, start_kind
from services.vmpool.machines.machine import READY, Machine
from services.vmpool.machines.slot import Slot, free_slot
from services.vmpool.policy.machine_choice import in_order_of_choice
from services.vmpool.store.machine_store import locked_machine, locked_machines, write_machine
from services.vmpool.store.tables import leases, machines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, timedelta

    from sqlalchemy import ColumnElement, Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from servicekit.clock import Clock
    from servicekit.db.database import Database
    from servicekit.feed import Feed

_INSERT_LEASE = insert(leases)
_STANDING = select(leases).where(
    leases.c.job_id == bindparam("job_id"),
    leases.c.attempt == bindparam("attempt"),
    leases.c.state != LeaseState.ENDED.value,
)


class LeaseStore:
    """Gives out slots, each to one lease at a time."""

    def __init__(self, database: Database, clock: Clock, feed: Feed, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._feed = feed
        self._new_id = new_id

    async def acquire(self, request: LeaseRequest) -> tuple[Lease, Machine] | None:
        """Take a slot on the most recently used machine that fits, so that the others go cold; None if none fits.

        A repeated call for the same attempt of a job returns the same lease while it stands. Raises LeaseConflictError
        if that lease has other content or has expired, and MachineNotFoundError if the machine that is asked for does
        not exist.
        """
        try:
            return await self._acquire(request)
        except IntegrityError:
            # The same attempt asked twice at the same time, and the other call was faster: its lease now stands.
            return await self._acquire(request)

    async def _acquire(self, request: LeaseRequest) -> tuple[Lease, Machine] | None:
        async with self._database.short_transaction() as connection:
            now = self._clock.now()
            standing = await _standing(connection, request, now)
            if standing is not None:
                return standing, await locked_machine(connection, standing.machine_id)
            for machine in await _candidates(connection, request):
                slot = free_slot(machine.occupied, request.eighths)
                if slot is not None:
                    taken = await self._take(connection, machine, slot, request, now)
                    break
            else:
                return None
        self._feed.notify()
        return taken

    async def renew(self, lease_id: str, duration: timedelta) -> Lease:
        """Extend a lease; raises LeaseEndedError if it has expired or ended, LeaseNotFoundError if there is none."""
        async with self._database.short_transaction() as connection:
            lease = await _locked_lease(connection, lease_id)
            renewed = lease.renew(self._clock.now(), duration)
            await _write(connection, renewed)
        return renewed

    async def release(self, lease_id: str, reason: str, *, drain_machine: bool = False, unfit_reason: str = "") -> None:
        """Free the slot; a lease that is over stays as it is. With `drain_machine` the machine takes no further lease.

        An `unfit_reason` says why the executor took no run: then the machine drains as unfit. Raises LeaseNotFoundError
        if there is no such lease.
        """
        async with self._database.short_transaction() as connection:
            lease = await _read_lease(connection, lease_id)
            machine = await locked_machine(connection, lease.machine_id)
            lease = await _locked_lease(connection, lease_id)
            if lease.state is LeaseState.ENDED:
                return
            now = self._clock.now()
            await _write(connection, lease.end(now, reason))
            changed = machine.unlease(now, lease.slot, f"a lease ended: {reason}", served=not unfit_reason)
            changed = await write_machine(connection, self._clock, machine, changed, f"a lease ended: {reason}")
            if (drain_machine or unfit_reason) and changed.state in READY:
                drained = (
                    changed.turn_unfit(now, unfit_reason) if unfit_reason else changed.drain(now, f"suspect: {reason}")
                )
                await write_machine(connection, self._clock, changed, drained, drained.reason)
        self._feed.notify()

    async def expire_due(self) -> Sequence[Lease]:
        """Mark the leases that were not renewed in time; their slots stay taken for now."""
        is_due = (leases.c.state == LeaseState.ACTIVE.value, leases.c.expire_time <= self._clock.now())
        # There is nearly always none, and a read keeps no other writer waiting.
        async with self._database.reading() as connection:
            if await connection.scalar(select(leases.c.lease_id).where(*is_due).limit(1)) is None:
                return []
        async with self._database.transaction() as connection:
            due = await _lock_leases(connection, *is_due)
            expired = [lease.expire() for lease in due]
            for lease in expired:
                await _write(connection, lease)
        return expired

    async def standing_on(self, machine_id: str) -> Sequence[Lease]:
        """The leases of a machine that hold a slot: active and expired ones."""
        query = select(leases).where(leases.c.machine_id == machine_id, leases.c.state != LeaseState.ENDED.value)
        async with self._database.reading() as connection:
            return [lease_from_row(row) for row in await connection.execute(query)]

    async def counts(self) -> dict[StartKind, int]:
        """Number of leases of each kind of start, standing and ended, that are not forgotten."""
        query = select(leases.c.start_kind, func.count()).group_by(leases.c.start_kind)
        async with self._database.reading() as connection:
            counted = {StartKind(kind): int(count) for kind, count in await connection.execute(query)}
        return dict.fromkeys(StartKind, 0) | counted

    async def _take(
        self, connection: AsyncConnection, machine: Machine, slot: Slot, request: LeaseRequest, now: datetime
    ) -> tuple[Lease, Machine]:
        reason = f"job {request.job_id} takes {slot.eighths}/8"
        changed = await write_machine(connection, self._clock, machine, machine.lease(now, slot), reason)
        lease = Lease(
            lease_id=self._new_id("lease"),
            machine_id=machine.machine_id,
            job_id=request.job_id,
            attempt=request.attempt,
            gpu_type=machine.gpu_type,
            slot=slot,
            fencing_token=changed.fencing_token,
            start_kind=start_kind(machine, now),
            create_time=now,
            expire_time=now + request.duration,
        )
        await connection.execute(_INSERT_LEASE, _lease_to_row(lease))
        return lease, changed


async def _standing(connection: AsyncConnection, request: LeaseRequest, now: datetime) -> Lease | None:
    parameters = {"job_id": request.job_id, "attempt": request.attempt}
    row = (await connection.execute(_STANDING, parameters)).one_or_none()
    if row is None:
        return None
    lease = lease_from_row(row)
    if lease.state is LeaseState.EXPIRED or lease.is_due(now) or not request.is_met_by(lease):
        raise LeaseConflictError(request.job_id, request.attempt, lease.lease_id)
    return lease


async def _candidates(connection: AsyncConnection, request: LeaseRequest) -> Sequence[Machine]:
    if request.machine_id is not None:
        machine = await locked_machine(connection, request.machine_id)
        return [machine] if machine.state in READY and machine.gpu_type in request.gpu_types else []
    query = (
        select(machines)
        .where(machines.c.state.in_([state.value for state in READY]), machines.c.gpu_type.in_(request.gpu_types))
        .order_by(machines.c.machine_id)
    )
    # Lock in an order that never changes, so that no two callers wait for each other.
    return in_order_of_choice(await locked_machines(connection, query), request.gpu_types)


async def _read_lease(connection: AsyncConnection, lease_id: str) -> Lease:
    row = (await connection.execute(select(leases).where(leases.c.lease_id == lease_id))).one_or_none()
    if row is None:
        raise LeaseNotFoundError(lease_id)
    return lease_from_row(row)


async def _locked_lease(connection: AsyncConnection, lease_id: str) -> Lease:
    found = await _lock_leases(connection, leases.c.lease_id == lease_id)
    if not found:
        raise LeaseNotFoundError(lease_id)
    return found[0]


async def _lock_leases(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> list[Lease]:
    query = select(leases).where(*conditions).order_by(leases.c.lease_id).with_for_update()
    return [lease_from_row(row) for row in await connection.execute(query)]


async def _write(connection: AsyncConnection, lease: Lease) -> None:
    await connection.execute(
        update(leases)
        .where(leases.c.lease_id == lease.lease_id)
        .values(state=lease.state.value, reason=lease.reason, expire_time=lease.expire_time, end_time=lease.end_time)
    )


def _lease_to_row(lease: Lease) -> dict[str, Any]:
    return {
        "lease_id": lease.lease_id,
        "machine_id": lease.machine_id,
        "job_id": lease.job_id,
        "attempt": lease.attempt,
        "gpu_type": lease.gpu_type,
        "gpu": lease.slot.gpu,
        "first_eighth": lease.slot.first,
        "eighths": lease.slot.eighths,
        "fencing_token": lease.fencing_token,
        "start_kind": lease.start_kind.value,
        "state": lease.state.value,
        "reason": lease.reason,
        "create_time": lease.create_time,
        "expire_time": lease.expire_time,
        "end_time": lease.end_time,
    }


def lease_from_row(row: Row[Any]) -> Lease:
    """A lease from its row."""
    return Lease(
        lease_id=row.lease_id,
        machine_id=row.machine_id,
        job_id=row.job_id,
        attempt=row.attempt,
        gpu_type=row.gpu_type,
        slot=Slot(row.gpu, row.first_eighth, row.eighths),
        fencing_token=row.fencing_token,
        start_kind=StartKind(row.start_kind),
        create_time=row.create_time,
        expire_time=row.expire_time,
        state=LeaseState(row.state),
        reason=row.reason,
        end_time=row.end_time,
    )
