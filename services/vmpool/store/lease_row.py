"""Converts leases to and from rows, and changes them inside a caller's transaction.

Callers lock in one order, so that no two wait for each other: machines by id, then leases by id, then the counter of
events, which `write_machine` locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.records import record_of, row_of
from services.vmpool.errors import LeaseNotFoundError
from services.vmpool.machines.lease import Lease, LeaseState
from services.vmpool.machines.machine import Machine
from services.vmpool.store.tables import leases
from vocabulary.slots import Slot, gpus_for

_INSERT_LEASE = insert(leases)
_STANDING = leases.c.state != LeaseState.ENDED.value
_OWN = leases.alias()
_OWN_GANG = select(_OWN.c.gang_id).where(_OWN.c.lease_id == bindparam("lease_id")).scalar_subquery()
# Built once: every renewal and every release needs it.
_WITH_GANG = (
    select(leases)
    .where(or_(leases.c.lease_id == bindparam("lease_id"), leases.c.gang_id == _OWN_GANG))
    .order_by(leases.c.lease_id)
    .with_for_update()
)


def lease_to_row(lease: Lease) -> dict[str, Any]:
    """All columns of the lease. The slots of one lease begin at the same eighth, and have the same size."""
    gpus, first_eighth = sum(1 << slot.gpu for slot in lease.slots), lease.slots[0].first
    return row_of(leases, lease, gpus=gpus, first_eighth=first_eighth, eighths=lease.size)


def lease_from_row(row: Row[Any]) -> Lease:
    """The lease in a row of `lease_to_row`."""
    gpus = [gpu for gpu in range(row.gpus.bit_length()) if row.gpus >> gpu & 1]
    eighths = row.eighths // gpus_for(row.eighths)
    return record_of(Lease, row, slots=tuple(Slot(gpu, row.first_eighth, eighths) for gpu in gpus))


async def add_lease(connection: AsyncConnection, lease: Lease) -> None:
    """Add a lease; raises IntegrityError if its attempt has one already, or if one of its slots is taken."""
    await connection.execute(_INSERT_LEASE, lease_to_row(lease))


async def write_lease(connection: AsyncConnection, lease: Lease) -> None:
    """Store the lease's state, reason and times."""
    await connection.execute(
        update(leases)
        .where(leases.c.lease_id == lease.lease_id)
        .values(state=lease.state.value, reason=lease.reason, expire_time=lease.expire_time, end_time=lease.end_time)
    )


async def locked_leases(connection: AsyncConnection, *conditions: ColumnElement[bool]) -> list[Lease]:
    """Leases, locked against other writers until the transaction ends."""
    query = select(leases).where(*conditions).order_by(leases.c.lease_id).with_for_update()
    return [lease_from_row(row) for row in await connection.execute(query)]


async def locked_lease(connection: AsyncConnection, lease_id: str) -> tuple[Lease, list[Lease]]:
    """A lease and the other leases of its gang, all locked; raises LeaseNotFoundError if there is no such lease."""
    rows = await connection.execute(_WITH_GANG, {"lease_id": lease_id})
    found = {row.lease_id: lease_from_row(row) for row in rows}
    if lease_id not in found:
        raise LeaseNotFoundError(lease_id)
    return found.pop(lease_id), list(found.values())


async def locked_leases_of(connection: AsyncConnection, machine_id: str) -> tuple[list[Lease], list[Lease]]:
    """A machine's leases that hold slots, and the other leases of their gangs, all locked.

    Nobody may add a lease to the machine meanwhile: lock it first.
    """
    own = select(leases.c.gang_id).where(leases.c.machine_id == machine_id, _STANDING)
    found = await locked_leases(
        connection, _STANDING, or_(leases.c.machine_id == machine_id, leases.c.gang_id.in_(own))
    )
    return (
        [lease for lease in found if lease.machine_id == machine_id],
        [lease for lease in found if lease.machine_id != machine_id],
    )


async def end_leases(
    connection: AsyncConnection, machine: Machine, own: Sequence[Lease], others: Sequence[Lease], now: datetime
) -> None:
    """End the leases of a machine that is over or stops, and expire the others of their gangs."""
    reason = f"its machine is {machine.state.value}: {machine.reason}"
    ended = {lease.gang_id: lease.end(now, reason) for lease in own}
    for lease in own:
        await write_lease(connection, lease.end(now, reason))
    for lease in others:
        await break_gang(connection, ended[lease.gang_id], [lease])


async def break_gang(connection: AsyncConnection, ended: Lease, others: Iterable[Lease]) -> None:
    """Expire the active leases among the others of a gang, of which one has ended."""
    for lease in others:
        if lease.state is LeaseState.ACTIVE:
            await write_lease(connection, lease.lose_gang(ended))
