"""Gives out leases. Taking and giving back slots locks the machines, and changes them, the leases and the event log.

All of that is one transaction.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import Clock
from servicekit.db.database import EPOCH, MICROSECOND, Database
from servicekit.feed import Feed
from services.vmpool.errors import (
    LeaseConflictError,
    LeaseNotFoundError,
    MachineNotReadyError,
    SlotTakenError,
)
from services.vmpool.machines.lease import (
    Holder,
    Lease,
    LeaseRequest,
    LeaseState,
    PlacedRequest,
    StartKind,
    check_lasts,
    check_placement_on,
    start_kind,
    time_needed,
)
from services.vmpool.machines.machine import READY, Machine
from services.vmpool.policy.machine_choice import in_order_of_choice
from services.vmpool.store.lease_row import (
    add_lease,
    break_gang,
    lease_from_row,
    locked_lease,
    locked_leases,
    write_lease,
)
from services.vmpool.store.machine_store import locked_machine, locked_machines, read_machine, write_machine
from services.vmpool.store.tables import leases, machines
from vocabulary.slots import Slot, free_slots, overlap, size_text

Grant = tuple[Lease, Machine]

_STANDING = (
    select(leases)
    .where(
        leases.c.job_id == bindparam("job_id"),
        leases.c.attempt == bindparam("attempt"),
        leases.c.state != LeaseState.ENDED.value,
    )
    .order_by(leases.c.part)
)


class LeaseStore:
    """Gives out slots, each to one lease at a time."""

    def __init__(self, database: Database, clock: Clock, feed: Feed, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._feed = feed
        self._new_id = new_id

    async def acquire(self, request: LeaseRequest) -> Grant | None:
        """Take slots of the most recently used machine that fits, so that the others go cold; None if none fits.

        A repeated call for the same attempt of a job returns the same lease while it stands. Raises LeaseConflictError
        if that lease has other content or has expired, and MachineNotFoundError if the machine that is asked for does
        not exist.
        """
        granted = await self._granted(lambda connection: self._standing_or_picked(connection, request))
        return granted[0] if granted else None

    async def place(self, request: PlacedRequest) -> Sequence[Grant]:
        """Take exactly these slots, of all machines or of none; the leases come in the order of the placements.

        A repeated call for the same attempt of a job returns the same leases while they stand. Raises
        LeaseConflictError if they have other content or one of them is over, MachineNotFoundError, InvalidFieldError if
        a machine never has such slots, MachineNotReadyError, and SlotTakenError.
        """
        return await self._granted(lambda connection: self._standing_or_placed(connection, request))

    async def _granted(self, take: Callable[[AsyncConnection], Awaitable[Sequence[Grant]]]) -> Sequence[Grant]:
        try:
            async with self._database.short_transaction() as connection:
                granted = await take(connection)
        except IntegrityError:
            # The same attempt asked twice at the same time, and the other call was faster: its leases now stand.
            async with self._database.short_transaction() as connection:
                granted = await take(connection)
        if granted:
            self._feed.notify()
        return granted

    async def _standing_or_picked(self, connection: AsyncConnection, request: LeaseRequest) -> Sequence[Grant]:
        if standing := await self._standing(connection, request):
            return standing
        now = self._clock.now()
        for machine in await _candidates(connection, request, now):
            slots = free_slots(machine.occupied, request.eighths)
            if slots:
                return [await self._take(connection, machine, slots, request, now)]
        # The same attempt may have taken the last ones while this call waited for the machines.
        return await self._standing(connection, request)

    async def _standing_or_placed(self, connection: AsyncConnection, request: PlacedRequest) -> Sequence[Grant]:
        # Locked first: the same attempt may be about to take these slots.
        present = await _machines_by_id(connection, {placement.machine_id for placement in request.placements})
        if standing := await self._standing(connection, request):
            return standing
        for placement in request.placements:
            machine = present[placement.machine_id]
            check_placement_on(machine, placement, request.gpu_types)
            if machine.state not in READY:
                raise MachineNotReadyError(machine.machine_id, machine.state)
            if request.holder is Holder.RESERVATION:
                check_lasts(machine, self._clock.now() + time_needed(request))
            if (slot := overlap(machine.occupied, placement.slots)) is not None:
                raise SlotTakenError(machine.machine_id, str(slot))
        gang_id = self._new_id("gang") if len(request.placements) > 1 else ""
        # One time for all, so that the leases of a gang expire together.
        now = self._clock.now()
        return [
            await self._take(connection, present[placement.machine_id], placement.slots, request, now, gang_id, part)
            for part, placement in enumerate(request.placements)
        ]

    async def _standing(self, connection: AsyncConnection, request: LeaseRequest | PlacedRequest) -> Sequence[Grant]:
        """The standing leases of the attempt; raises LeaseConflictError if they do not fit, or one has expired."""
        parameters = {"job_id": request.job_id, "attempt": request.attempt}
        found = [lease_from_row(row) for row in await connection.execute(_STANDING, parameters)]
        over = [lease for lease in found if lease.state is LeaseState.EXPIRED or lease.is_due(self._clock.now())]
        if over or (found and not request.is_met_by(found)):
            raise LeaseConflictError(request.job_id, request.attempt, (over or found)[0].lease_id)
        return [(lease, await read_machine(connection, lease.machine_id)) for lease in found]

    async def renew(self, lease_id: str, duration: timedelta) -> Lease:
        """Extend a lease, and with it the others of its gang.

        Raises LeaseEndedError if it has expired or ended, LeaseNotFoundError if there is none, and InvalidFieldError if
        it is a reservation's and its machine does not last so long.
        """
        async with self._database.short_transaction() as connection:
            lease, others = await locked_lease(connection, lease_id)
            now = self._clock.now()
            renewed = lease.renew(now, duration)
            if lease.holder is Holder.RESERVATION and renewed.expire_time > lease.expire_time:
                for each in (lease, *others):
                    check_lasts(await read_machine(connection, each.machine_id), renewed.expire_time)
            # Its gang is whole: once another of its leases is over, this one is not active.
            for changed in (renewed, *(other.renew(now, duration) for other in others)):
                await write_lease(connection, changed)
        return renewed

    async def release(self, lease_id: str, reason: str, *, drain_machine: bool = False, unfit_reason: str = "") -> None:
        """Free the slots; a lease that is over stays as it is. With `drain_machine` the machine takes no further lease.

        The other leases of its gang expire. An `unfit_reason` says why the executor took no run: then the machine
        drains as unfit. Raises LeaseNotFoundError if there is no such lease.
        """
        async with self._database.short_transaction() as connection:
            machine = await locked_machine(connection, await _machine_of(connection, lease_id))
            lease, others = await locked_lease(connection, lease_id)
            if lease.state is LeaseState.ENDED:
                return
            now = self._clock.now()
            ended = lease.end(now, reason)
            await write_lease(connection, ended)
            await break_gang(connection, ended, others)
            changed = machine.unlease(
                now,
                lease.slots,
                f"a lease ended: {reason}",
                served=not unfit_reason,
                reservation_id=lease.reservation_id,
            )
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
            expired = [lease.expire() for lease in await locked_leases(connection, *is_due)]
            for lease in expired:
                await write_lease(connection, lease)
        return expired

    async def restored(self) -> int:
        """End all leases of a database that was restored from a backup; gives the number of machines in its record.

        Their executors may have seen later leases, so the next ones have tokens above any of theirs.
        """
        standing = select(leases.c.lease_id).where(leases.c.state != LeaseState.ENDED.value)
        async with self._database.reading() as connection:
            lease_ids = list(await connection.scalars(standing))
        for lease_id in lease_ids:
            await self.release(lease_id, "the pool was restored from a backup")
        token = (self._clock.now() - EPOCH) // MICROSECOND
        raise_tokens = update(machines).where(machines.c.release_time.is_(None)).values(fencing_token=token)
        async with self._database.transaction() as connection:
            return (await connection.execute(raise_tokens)).rowcount

    async def get(self, lease_id: str) -> Lease:
        """The lease, also if it is over; raises LeaseNotFoundError if there is none."""
        found = await self.of_ids({lease_id})
        if lease_id not in found:
            raise LeaseNotFoundError(lease_id)
        return found[lease_id]

    async def of_ids(self, lease_ids: Collection[str]) -> Mapping[str, Lease]:
        """The leases with these ids, also those that are over."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(leases).where(leases.c.lease_id.in_(lease_ids)))
            return {row.lease_id: lease_from_row(row) for row in rows}

    async def standing_on(self, machine_id: str) -> Sequence[Lease]:
        """The leases of a machine that hold slots: active and expired ones."""
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
        self,
        connection: AsyncConnection,
        machine: Machine,
        slots: tuple[Slot, ...],
        request: LeaseRequest | PlacedRequest,
        now: datetime,
        gang_id: str = "",
        part: int = 0,
    ) -> Grant:
        reservation_id = request.job_id if request.holder is Holder.RESERVATION else ""
        leased = machine.lease(now, slots, request.idle_time, reservation_id)
        lease = Lease(
            lease_id=self._new_id("lease"),
            machine_id=machine.machine_id,
            job_id=request.job_id,
            attempt=request.attempt,
            gpu_type=machine.gpu_type,
            slots=slots,
            fencing_token=leased.fencing_token,
            start_kind=start_kind(machine, now),
            create_time=now,
            expire_time=now + request.duration,
            gang_id=gang_id,
            part=part,
            holder=request.holder,
        )
        reason = f"{request.holder.value} {request.job_id} takes {size_text(lease.size)}"
        changed = await write_machine(connection, self._clock, machine, leased, reason)
        await add_lease(connection, lease)
        return lease, changed


async def _candidates(connection: AsyncConnection, request: LeaseRequest, now: datetime) -> Sequence[Machine]:
    is_reservation = request.holder is Holder.RESERVATION
    if request.machine_id is not None:
        machine = await locked_machine(connection, request.machine_id)
        if is_reservation:
            check_lasts(machine, now + time_needed(request))
        return [machine] if machine.state in READY and machine.gpu_type in request.gpu_types else []
    query = (
        select(machines)
        .where(machines.c.state.in_([state.value for state in READY]), machines.c.gpu_type.in_(request.gpu_types))
        .order_by(machines.c.machine_id)
    )
    # Lock in an order that never changes, so that no two callers wait for each other.
    locked = await locked_machines(connection, query)
    # A caller that lets the pool choose does not get a machine that was started for another job.
    fitting = (
        one
        for one in locked
        if (one.own_job_id in {"", request.job_id} or not one.is_unused)
        and (not is_reservation or one.lasts_until(now + time_needed(request)))
    )
    return in_order_of_choice(fitting, request.gpu_types)


async def _machines_by_id(connection: AsyncConnection, machine_ids: set[str]) -> dict[str, Machine]:
    """These machines, locked in the order of their ids."""
    return {machine_id: await locked_machine(connection, machine_id) for machine_id in sorted(machine_ids)}


async def _machine_of(connection: AsyncConnection, lease_id: str) -> str:
    machine_id = await connection.scalar(select(leases.c.machine_id).where(leases.c.lease_id == lease_id))
    if machine_id is None:
        raise LeaseNotFoundError(lease_id)
    return str(machine_id)
