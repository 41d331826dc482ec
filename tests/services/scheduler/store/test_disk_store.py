"""Who has a disk, and which snapshot is its last, in each kind of database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, update

from servicekit.db.database import Database
from services.scheduler.jobs.disk import Disk, DiskSnapshot, DiskState
from services.scheduler.jobs.errors import DiskExistsError, DiskInUseError, DiskNotFoundError, TooManyDisksError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation, ReservedDisk
from services.scheduler.jobs.states import JobState
from services.scheduler.store.disk_store import DiskStore
from services.scheduler.store.rows import job_to_row
from services.scheduler.store.tables import jobs
from tests.services.scheduler.jobs import START, a_job

GIB = 1 << 30
MINUTE = timedelta(minutes=1)


@pytest.fixture
def disks(database: Database) -> DiskStore:
    return DiskStore(database, most_snapshots=3, most_disks=3)


async def made(disks: DiskStore, name: str = "work", user_id: str = "ada") -> Disk:
    return await disks.create(Disk(f"dsk_{user_id}_{name}", user_id, name, GIB, START))


def a_reservation(number: int = 1, **changes: Any) -> Job:
    reserved = Reservation("training", (), timedelta(hours=1), disk=ReservedDisk("dsk_ada_work", "work"))
    lease = {"hold_id": "hold-1", "start_time": START}
    return a_job(number, **{"state": JobState.RUNNING, "attempt": 1, "reservation": reserved, **lease, **changes})


async def stored(database: Database, job: Job) -> Job:
    row = job_to_row(job) | {"lease_id": "lease-1" if job.state is JobState.RUNNING else None}
    async with database.transaction() as connection:
        await connection.execute(insert(jobs), row)
    return job


async def moved(database: Database, job: Job, **columns: Any) -> None:
    async with database.transaction() as connection:
        await connection.execute(update(jobs).where(jobs.c.job_id == job.job_id).values(**columns))


def taken(number: int) -> DiskSnapshot:
    return DiskSnapshot(f"s-{number}", "folder-1", START + number * MINUTE, 10, 1, "interval", timedelta(seconds=1))


async def test_what_is_stored_of_a_disk_is_read_again(disks: DiskStore, database: Database) -> None:
    await made(disks)
    job = a_reservation()
    await disks.take("dsk_ada_work", job, START)
    await stored(database, job)
    assert await disks.add("dsk_ada_work", job, taken(1), b"list")
    (disk,) = await disks.list("ada")
    assert disk == Disk(
        "dsk_ada_work",
        "ada",
        "work",
        GIB,
        START,
        last_used_time=START + MINUTE,
        safe_time=START + MINUTE,
        holder_id=job.job_id,
        holder_state=job.reservation_state,
        snapshots=(taken(1),),
    )
    assert disk.state is DiskState.RESTORING
    assert await disks.content("ada", "work") == (disk, b"list")


async def test_a_disk_is_had_until_its_reservation_is_over_and_no_longer(disks: DiskStore, database: Database) -> None:
    await made(disks)
    first, second = a_reservation(1), a_reservation(2)
    await disks.take("dsk_ada_work", first, START)
    # Until it is stored nobody has it: it may never be.
    await disks.take("dsk_ada_work", first, START)
    await stored(database, first)
    with pytest.raises(DiskInUseError):
        await disks.take("dsk_ada_work", second, START)
    with pytest.raises(DiskInUseError):
        await disks.delete("ada", "work", START)
    await moved(database, first, state=JobState.SETTLING)
    with pytest.raises(DiskInUseError):
        await disks.take("dsk_ada_work", second, START)
    await moved(database, first, state=JobState.FAILED, end_time=START, lease_id=None)
    await disks.take("dsk_ada_work", second, START)


async def test_a_repeated_call_takes_nothing(disks: DiskStore, database: Database) -> None:
    await made(disks)
    job = a_reservation(idempotency_key="key")
    await disks.take("dsk_ada_work", job, START)
    await stored(database, job)
    await disks.take("dsk_ada_work", replace(a_reservation(2), idempotency_key="key"), START)
    assert (await disks.named("ada", "work")).holder_id == job.job_id


async def test_an_earlier_attempt_saves_for_nobody(disks: DiskStore, database: Database) -> None:
    await made(disks)
    job = a_reservation()
    await disks.take("dsk_ada_work", job, START)
    await stored(database, job)
    await disks.lend("dsk_ada_work", job)
    await moved(database, job, attempt=2)
    assert not await disks.add("dsk_ada_work", job, taken(1), b"")
    assert (await disks.named("ada", "work")).snapshots == ()
    (unwanted,) = await disks.unwanted("folder-1")
    assert (unwanted.owner_id, unwanted.snapshot_ids) == ("ada", ("s-1",))


async def test_a_reservation_that_lost_its_disk_to_another_saves_for_nobody(
    disks: DiskStore, database: Database
) -> None:
    await made(disks)
    first, second = a_reservation(1), a_reservation(2)
    await disks.take("dsk_ada_work", first, START)
    await stored(database, first)
    await moved(database, first, state=JobState.SETTLING)
    await moved(database, first, state=JobState.FAILED, end_time=START, lease_id=None)
    await disks.take("dsk_ada_work", second, START)
    await stored(database, second)
    assert await disks.lend("dsk_ada_work", first) is None
    assert not await disks.add("dsk_ada_work", first, taken(1), b"")
    assert await disks.add("dsk_ada_work", second, taken(2), b"")


async def test_a_repeated_report_changes_nothing_more(disks: DiskStore, database: Database) -> None:
    await made(disks)
    job = a_reservation()
    await disks.take("dsk_ada_work", job, START)
    await stored(database, job)
    for number in (1, 2, 1, 2):
        assert await disks.add("dsk_ada_work", job, taken(number), b"")
    disk = await disks.named("ada", "work")
    assert ([one.snapshot_id for one in disk.snapshots], disk.safe_time) == (["s-1", "s-2"], taken(2).time)
    later = replace(taken(2), time=taken(5).time)
    assert await disks.add("dsk_ada_work", job, later, b"")
    disk = await disks.named("ada", "work")
    assert (len(disk.snapshots), disk.safe_time) == (2, later.time)


async def test_the_last_snapshot_is_the_one_that_came_last_whatever_its_machines_clock_says(
    disks: DiskStore, database: Database
) -> None:
    await made(disks)
    job = a_reservation()
    await disks.take("dsk_ada_work", job, START)
    await stored(database, job)
    for number in (9, 1):
        await disks.add("dsk_ada_work", job, taken(number), b"")
    lent = await disks.lend("dsk_ada_work", job)
    assert lent
    assert lent.snapshot_id == "s-1"


async def test_what_two_disks_have_is_unwanted_only_once_neither_has_it(disks: DiskStore, database: Database) -> None:
    await made(disks)
    job = a_reservation(user_id="ada")
    await disks.take("dsk_ada_work", job, START)
    await stored(database, job)
    await disks.lend("dsk_ada_work", job)
    await disks.add("dsk_ada_work", job, taken(1), b"list")
    clone = await disks.clone("ada", "work", "dsk_2", "copy", START)
    assert (clone.snapshots, clone.safe_time) == ((taken(1),), taken(1).time)
    assert (await disks.content("ada", "copy"))[1] == b"list"
    for number in (2, 3, 4):
        await disks.add("dsk_ada_work", job, taken(number), b"")
    assert await disks.unwanted("folder-1") == []
    await disks.delete("ada", "copy", START)
    assert await disks.forget(START, START) == 0
    assert await disks.forget(START + MINUTE, START) == 1
    (unwanted,) = await disks.unwanted("folder-1")
    assert unwanted.snapshot_ids == ("s-1",)
    assert await disks.unwanted("folder-2") == []
    await disks.removed(["s-1"])
    assert await disks.unwanted("folder-1") == []


async def test_names_and_numbers_of_disks_are_checked(disks: DiskStore) -> None:
    await made(disks)
    await made(disks, "second")
    with pytest.raises(DiskExistsError):
        await disks.create(Disk("dsk_x", "ada", "work", GIB, START))
    with pytest.raises(DiskExistsError):
        await disks.rename("ada", "work", "second")
    with pytest.raises(DiskExistsError):
        await disks.clone("ada", "work", "dsk_x", "second", START)
    await disks.clone("ada", "work", "dsk_x", "third", START)
    with pytest.raises(TooManyDisksError):
        await disks.clone("ada", "work", "dsk_y", "fourth", START)
    assert (await disks.rename("ada", "work", "renamed")).name == "renamed"
    for name in ("work", "a\0b"):
        with pytest.raises(DiskNotFoundError, match=r"renamed|second"):
            await disks.named("ada", name)


async def test_one_of_several_who_make_a_disk_at_the_same_time_does(disks: DiskStore) -> None:
    made_by = [disks.create(Disk(f"dsk_{n}", "ada", "work", GIB, START)) for n in range(5)]
    results = await asyncio.gather(*made_by, return_exceptions=True)
    assert sorted(type(one).__name__ for one in results) == ["Disk"] + ["DiskExistsError"] * 4
