"""Keeps disks and their snapshots. A reservation that is over holds none: who holds a disk is seen in its job."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, delete, func, insert, literal, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.elements import ColumnElement

from servicekit.db.database import MICROSECOND, Database
from services.scheduler.jobs.disk import Disk, DiskSnapshot, LentDisk, UnwantedSnapshots, surplus
from services.scheduler.jobs.errors import DiskExistsError, DiskInUseError, DiskNotFoundError, TooManyDisksError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import IN_FLIGHT_STATES, JobState
from services.scheduler.store.rows import job_from_row
from services.scheduler.store.tables import disk_owners, disk_snapshots, disks, jobs, unwanted_snapshots

MOST_REMOVED = 500
"""Snapshots that are removed at a time."""
_PASSWORD_BYTES = 32
_SNAPSHOT_COLUMNS = [column for column in disk_snapshots.c if column.name not in {"content", "number"}]


class DiskStore:
    """The stored disks; `most_snapshots` are kept of each, and users may have `most_disks`."""

    def __init__(self, database: Database, most_snapshots: int, most_disks: int) -> None:
        self._database = database
        self._most_snapshots = most_snapshots
        self._most_disks = most_disks

    async def create(self, disk: Disk) -> Disk:
        """Stores a new disk; raises DiskExistsError, TooManyDisksError."""
        row = {name: getattr(disk, name) for name in ("disk_id", "user_id", "name", "size_limit_bytes", "create_time")}
        try:
            async with self._database.transaction() as connection:
                await self._check_number(connection, disk.user_id)
                await connection.execute(insert(disks), row)
        except IntegrityError as error:
            raise DiskExistsError(disk.name) from error
        return disk

    async def list(self, user_id: str, *, with_deleted: bool = False) -> list[Disk]:
        """A user's disks, or everybody's if `user_id` is empty, by name; deleted ones last."""
        query = select(disks).order_by(disks.c.delete_time.is_not(None), disks.c.name, disks.c.disk_id)
        if user_id:
            query = query.where(disks.c.user_id == user_id)
        if not with_deleted:
            query = query.where(disks.c.delete_time.is_(None))
        async with self._database.snapshot() as connection:
            rows = (await connection.execute(query)).mappings().all()
            return await _whole(connection, rows)

    async def named(self, user_id: str, name: str) -> Disk:
        """A user's disk that is not deleted; raises DiskNotFoundError."""
        async with self._database.snapshot() as connection:
            return await _named(connection, user_id, name)

    async def delete(self, user_id: str, name: str, now: datetime) -> Disk:
        """Deletes a disk, whose snapshots stay for a time; raises DiskNotFoundError, DiskInUseError."""
        async with self._database.transaction() as connection:
            disk = await _free(connection, user_id, name)
            changed = update(disks).where(disks.c.disk_id == disk.disk_id).values(delete_time=now, holder_id=None)
            await connection.execute(changed)
            return (await _chosen(connection, disks.c.disk_id == disk.disk_id))[0]

    async def rename(self, user_id: str, name: str, new_name: str) -> Disk:
        """Gives a disk another name; raises DiskNotFoundError, DiskInUseError, DiskExistsError."""
        try:
            async with self._database.transaction() as connection:
                disk = await _free(connection, user_id, name)
                await connection.execute(update(disks).where(disks.c.disk_id == disk.disk_id).values(name=new_name))
                return (await _chosen(connection, disks.c.disk_id == disk.disk_id))[0]
        except IntegrityError as error:
            raise DiskExistsError(new_name) from error

    async def clone(self, user_id: str, name: str, clone_id: str, new_name: str, now: datetime) -> Disk:
        """Makes a disk with the last snapshot of another one; raises as `named` and `create` do."""
        try:
            async with self._database.transaction() as connection:
                disk = await _named(connection, user_id, name)
                await self._check_number(connection, user_id)
                row = {"disk_id": clone_id, "user_id": user_id, "name": new_name, "create_time": now}
                row |= {"size_limit_bytes": disk.size_limit_bytes, "safe_time": disk.safe_time}
                await connection.execute(insert(disks), row)
                columns = [column for column in disk_snapshots.c if column.name != "disk_id"]
                last = select(literal(clone_id), *columns).where(disk_snapshots.c.disk_id == disk.disk_id)
                last = last.order_by(disk_snapshots.c.number.desc()).limit(1)
                names = ["disk_id", *(column.name for column in columns)]
                await connection.execute(insert(disk_snapshots).from_select(names, last))
                return (await _chosen(connection, disks.c.disk_id == clone_id))[0]
        except IntegrityError as error:
            raise DiskExistsError(new_name) from error

    async def content(self, user_id: str, name: str) -> tuple[Disk, bytes]:
        """A disk, and the list of the files of its last snapshot, as its machine sent it; raises DiskNotFoundError."""
        async with self._database.snapshot() as connection:
            disk = await _named(connection, user_id, name)
            last = select(disk_snapshots.c.content).where(disk_snapshots.c.disk_id == disk.disk_id)
            last = last.order_by(disk_snapshots.c.number.desc()).limit(1)
            return disk, bytes((await connection.execute(last)).scalar_one_or_none() or b"")

    async def forget(self, before: datetime, now: datetime) -> int:
        """Forgets the disks that were deleted before a time, whose snapshots are then removed; gives their number."""
        async with self._database.transaction() as connection:
            found = await _chosen(connection, disks.c.delete_time < before)
            for disk in found:
                await _drop(connection, disk, disk.snapshots, now)
                await connection.execute(delete(disks).where(disks.c.disk_id == disk.disk_id))
        return len(found)

    async def unwanted(self, store_id: str) -> list[UnwantedSnapshots]:
        """The snapshots in a place that no disk has any more, by owner; some of them, if there are many."""
        query = (
            select(unwanted_snapshots.c.user_id, unwanted_snapshots.c.snapshot_id, disk_owners.c.password)
            .join(disk_owners, disk_owners.c.user_id == unwanted_snapshots.c.user_id)
            .where(unwanted_snapshots.c.store_id == store_id)
            .order_by(unwanted_snapshots.c.time)
            .limit(MOST_REMOVED)
        )
        found: dict[tuple[str, str], list[str]] = {}
        async with self._database.reading() as connection:
            for row in await connection.execute(query):
                found.setdefault((row.user_id, row.password), []).append(row.snapshot_id)
        return [UnwantedSnapshots(*owner, tuple(snapshot_ids)) for owner, snapshot_ids in found.items()]

    async def removed(self, snapshot_ids: Collection[str]) -> None:
        """Notes that snapshots that no disk has are gone."""
        async with self._database.transaction() as connection:
            gone = unwanted_snapshots.c.snapshot_id.in_(snapshot_ids)
            await connection.execute(delete(unwanted_snapshots).where(gone))

    async def take(self, disk_id: str, job: Job, now: datetime) -> None:
        """Gives a disk to a reservation that is about to be stored; raises DiskNotFoundError, DiskInUseError.

        Does nothing if the account has a job with the key of this one, which is then a repeated call.
        """
        repeated = select(jobs.c.job_id).where(
            jobs.c.account_id == job.account_id, jobs.c.idempotency_key == job.idempotency_key
        )
        async with self._database.transaction() as connection:
            if (await connection.execute(repeated)).first():
                return
            found = await _chosen(connection, disks.c.disk_id == disk_id)
            if not found or found[0].delete_time:
                raise DiskNotFoundError(found[0].name if found else disk_id, ())
            _check_free(found[0])
            changed = update(disks).where(disks.c.disk_id == disk_id)
            await connection.execute(changed.values(holder_id=job.job_id, last_used_time=now))

    async def lend(self, disk_id: str, job: Job) -> LentDisk | None:
        """What a machine is given for the reservation that holds the disk; None if it does not hold it any more."""
        async with self._database.transaction() as connection:
            found = await _chosen(connection, disks.c.disk_id == disk_id)
            if not found or found[0].holder_id != job.job_id:
                return None
            disk = found[0]
            password = await _password(connection, disk.user_id)
        last = disk.snapshots[-1] if disk.snapshots else None
        return LentDisk(
            disk_id=disk.disk_id,
            name=disk.name,
            owner_id=disk.user_id,
            password=password,
            size_limit_bytes=disk.size_limit_bytes,
            snapshot_id=last.snapshot_id if last else "",
            store_id=last.store_id if last else "",
            snapshot_bytes=last.size_bytes if last else 0,
        )

    async def add(self, disk_id: str, job: Job, snapshot: DiskSnapshot, content: bytes) -> bool:
        """Notes the last snapshot of a disk; a repeated call changes nothing more.

        Does nothing and gives False if this attempt at the reservation does not hold the disk any more: what it saves
        then is nobody's.
        """
        async with self._database.transaction() as connection:
            holds = select(jobs.c.job_id).where(
                jobs.c.job_id == job.job_id, jobs.c.attempt == job.attempt, jobs.c.state == JobState.RUNNING
            )
            found = await _chosen(connection, disks.c.disk_id == disk_id)
            is_holder = bool(found) and found[0].holder_id == job.job_id
            if not is_holder or not (await connection.execute(holds)).first():
                owner = found[0].user_id if found else job.user_id
                await _give_up(connection, owner, [snapshot], snapshot.time)
                return False
            disk = found[0]
            known = [one.snapshot_id for one in disk.snapshots]
            if snapshot.snapshot_id in known[:-1] or (
                snapshot.snapshot_id in known and disk.safe_time and disk.safe_time >= snapshot.time
            ):
                # A report that is repeated.
                return True
            used = {"safe_time": snapshot.time, "last_used_time": snapshot.time}
            await connection.execute(update(disks).where(disks.c.disk_id == disk_id).values(**used))
            if snapshot.snapshot_id in known:
                return True
            columns: dict[str, Any] = {
                column.name: getattr(snapshot, column.name, None) for column in _SNAPSHOT_COLUMNS
            }
            last = select(func.max(disk_snapshots.c.number)).where(disk_snapshots.c.disk_id == disk_id)
            number = ((await connection.execute(last)).scalar_one() or 0) + 1
            columns |= {"disk_id": disk_id, "number": number, "content": content}
            columns["duration_us"] = snapshot.duration // MICROSECOND
            await connection.execute(insert(disk_snapshots), columns)
            await _drop(connection, disk, surplus((*disk.snapshots, snapshot), self._most_snapshots), snapshot.time)
            return True

    async def _check_number(self, connection: AsyncConnection, user_id: str) -> None:
        """Raises TooManyDisksError."""
        count = select(func.count()).where(disks.c.user_id == user_id, disks.c.delete_time.is_(None))
        if (await connection.execute(count)).scalar_one() >= self._most_disks:
            raise TooManyDisksError(self._most_disks)


async def _named(connection: AsyncConnection, user_id: str, name: str) -> Disk:
    """Raises DiskNotFoundError."""
    # PostgreSQL accepts no NUL character, not even in a comparison.
    if "\0" not in name:
        chosen = (disks.c.user_id == user_id) & (disks.c.name == name) & disks.c.delete_time.is_(None)
        if found := await _chosen(connection, chosen):
            return found[0]
    names = select(disks.c.name).where(disks.c.user_id == user_id, disks.c.delete_time.is_(None)).order_by(disks.c.name)
    raise DiskNotFoundError(name, (await connection.execute(names)).scalars().all())


async def _free(connection: AsyncConnection, user_id: str, name: str) -> Disk:
    """A disk that nobody holds; raises DiskNotFoundError, DiskInUseError."""
    disk = await _named(connection, user_id, name)
    _check_free(disk)
    return disk


def _check_free(disk: Disk) -> None:
    if disk.holder_id and disk.holder_state:
        raise DiskInUseError(disk.name, disk.holder_id, disk.holder_state)


async def _chosen(connection: AsyncConnection, chosen: ColumnElement[bool]) -> list[Disk]:
    """The disks that a writer chooses, locked until its end."""
    rows = (await connection.execute(select(disks).where(chosen).with_for_update())).mappings().all()
    return await _whole(connection, rows)


async def _whole(connection: AsyncConnection, rows: Collection[RowMapping]) -> list[Disk]:
    """The disks of these rows, with their snapshots and with who holds them."""
    disk_ids = [row["disk_id"] for row in rows]
    snapshots: dict[str, list[DiskSnapshot]] = {disk_id: [] for disk_id in disk_ids}
    query = select(*_SNAPSHOT_COLUMNS).where(disk_snapshots.c.disk_id.in_(disk_ids))
    for row in (await connection.execute(query.order_by(disk_snapshots.c.number))).mappings():
        values = dict(row)
        duration = timedelta(microseconds=values.pop("duration_us"))
        snapshots[values.pop("disk_id")].append(DiskSnapshot(**values, duration=duration))
    holders = [row["holder_id"] for row in rows if row["holder_id"]]
    held = select(jobs).where(jobs.c.job_id.in_(holders), jobs.c.state.in_(IN_FLIGHT_STATES))
    alive = {row["job_id"]: job_from_row(row) for row in (await connection.execute(held)).mappings()}
    return [_disk(row, alive.get(row["holder_id"] or ""), snapshots[row["disk_id"]]) for row in rows]


def _disk(row: RowMapping, holder: Job | None, snapshots: list[DiskSnapshot]) -> Disk:
    columns = {name: value for name, value in row.items() if name != "holder_id"}
    return Disk(
        **columns,
        holder_id=holder.job_id if holder else "",
        holder_state=holder.reservation_state if holder else None,
        snapshots=tuple(snapshots),
    )


async def _password(connection: AsyncConnection, user_id: str) -> str:
    """The password of an owner's snapshots, which is made if there is none."""
    query = select(disk_owners.c.password).where(disk_owners.c.user_id == user_id)
    if (password := (await connection.execute(query)).scalar_one_or_none()) is None:
        password = secrets.token_urlsafe(_PASSWORD_BYTES)
        await connection.execute(insert(disk_owners), {"user_id": user_id, "password": password})
    return password


async def _drop(connection: AsyncConnection, disk: Disk, dropped: Collection[DiskSnapshot], now: datetime) -> None:
    """Takes snapshots from a disk; those that no other disk has are then unwanted."""
    names = [one.snapshot_id for one in dropped]
    mine = (disk_snapshots.c.disk_id == disk.disk_id) & disk_snapshots.c.snapshot_id.in_(names)
    await connection.execute(delete(disk_snapshots).where(mine))
    await _give_up(connection, disk.user_id, dropped, now)


async def _give_up(connection: AsyncConnection, user_id: str, dropped: Collection[DiskSnapshot], now: datetime) -> None:
    """Notes which snapshots no disk has any more."""
    names = [one.snapshot_id for one in dropped]
    wanted = select(disk_snapshots.c.snapshot_id).where(disk_snapshots.c.snapshot_id.in_(names))
    known = select(unwanted_snapshots.c.snapshot_id).where(unwanted_snapshots.c.snapshot_id.in_(names))
    kept = {*(await connection.execute(wanted)).scalars(), *(await connection.execute(known)).scalars()}
    rows = [
        {"snapshot_id": one.snapshot_id, "user_id": user_id, "store_id": one.store_id, "time": now}
        for one in dropped
        if one.snapshot_id not in kept
    ]
    if rows:
        await connection.execute(insert(unwanted_snapshots), rows)
