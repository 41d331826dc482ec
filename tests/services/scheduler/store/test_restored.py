"""The jobs of a database that was restored from a backup."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.states import JobState
from services.scheduler.runs.restored import end_jobs_in_flight
from services.scheduler.store.job_store import JobStore
from tests.services.scheduler.jobs import ACCEPTED, LEASE, START, a_job
from tests.services.scheduler.store.test_job_store import LIMIT

HOUR = timedelta(hours=1)


async def held(store: JobStore, number: int, reservation: Reservation | None = None) -> Job:
    job = (await store.insert(a_job(number, reservation=reservation), LIMIT)).job
    assert job
    return await store.move(job, job.enqueue(f"hold-{number}"), [], START)


async def test_jobs_in_flight_fail_by_our_fault_and_cost_nothing_and_others_stay(
    database: Database, store: JobStore
) -> None:
    queued, ended, later, missed = (
        await held(store, 1),
        await held(store, 2),
        await held(store, 3, Reservation("later", (), HOUR, start_time=START + 2 * HOUR)),
        await held(store, 4, Reservation("missed", (), HOUR, start_time=START)),
    )
    running = await held(store, 5)
    running = await store.move(running, running.start(LEASE, START), [], START)
    running = await store.move(running, running.progress(3, 77), [b"compiling"], START)
    ended = await store.move(ended, ended.start(LEASE, START).settle(ACCEPTED), [], START)
    told = await end_jobs_in_flight(database, ManualClock(START + HOUR))
    assert sorted(told["failed_holds"]) == ["hold-1", "hold-4", "hold-5"]
    assert (sorted(told["kept_holds"]), told["failed_jobs"]) == (["hold-2", "hold-3"], 3)
    for job in (queued, running, missed):
        found = await store.get(job.job_id)
        assert found
        assert (found.state, found.ending, found.verdict) == (JobState.SETTLING, JobState.FAILED, "INFRA_ERROR")
        assert (found.cost_micros, found.lease) == (0, job.lease)
        assert "restored from a backup" in found.message
    assert (await store.get(ended.job_id), await store.get(later.job_id)) == (ended, later)


async def test_a_reservation_that_was_open_is_refunded_and_its_user_is_the_first_of_the_queue(
    database: Database, store: JobStore
) -> None:
    job = await held(store, 1, Reservation("train", (), HOUR))
    job = await store.move(job, job.start(LEASE, START), [], START)
    opened = replace(job.reserved, active_time=START, ready_time=START)
    await store.move(job, job.progress(1, 0).changed(reservation=opened), [], START)
    await end_jobs_in_flight(database, ManualClock(START + timedelta(minutes=10)))
    found = await store.get(job.job_id)
    assert found
    assert found.reserved.left == timedelta(minutes=50)
    assert "Everything charged is refunded" in found.message
