"""What is removed of old jobs, and what stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.scheduler.jobs.job import Job
from services.scheduler.monitoring.pruner import JobPruner
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from services.scheduler.store.old_jobs import Kept, OldJobs
from tests.services.scheduler.jobs import ACCEPTED, LEASE, START, a_job
from tests.services.scheduler.store.test_job_store import LIMIT

DAY = timedelta(days=1)


async def begun(store: JobStore, number: int) -> Job:
    job = (await store.insert(a_job(number, source="source"), LIMIT)).job
    assert job
    job = await store.move(job, job.enqueue("hold-1"), [b"queued"], START)
    return await store.move(job, job.start(LEASE, START), [b"started"], START)


async def end(store: JobStore, job: Job, days: int = 0) -> Job:
    job = await store.move(job, job.settle(ACCEPTED), [b"run"], START)
    return await store.move(job, job.finish(500, START + days * DAY), [b"ended"], START)


@pytest.mark.parametrize("kept", list(Kept))
async def test_a_part_of_a_job_is_gone_when_its_time_is_over_and_the_rest_stays(
    database: Database, store: JobStore, reader: JobReader, kept: Kept
) -> None:
    clock, others = ManualClock(START + 10 * DAY), {one: 100 * DAY for one in Kept if one is not kept}
    late, *old = [await begun(store, number) for number in range(4)]
    old = [await end(store, job) for job in old]
    pruner = JobPruner(OldJobs(database, batch=2), others | {kept: 9 * DAY}, clock)
    await pruner.run_once()
    late = await end(store, late, days=5)

    async def parts(job: Job) -> tuple[str, list[bytes], bytes]:
        found = await JobStore(database, lambda _: None).get(job.job_id)
        assert found
        whole = await JobStore(database, lambda _: None).whole_submission(found)
        return whole.source, [one.payload for one in await reader.events(job.job_id, 0, 9)], found.result

    events = [b"queued", b"started", b"run", b"ended"]
    whole = ("source", events, ACCEPTED.result)
    without = {
        Kept.SOURCE: ("", events, ACCEPTED.result),
        Kept.EVENTS: ("source", [b"ended"], ACCEPTED.result),
        Kept.RESULT: ("source", events, b""),
    }
    await pruner.run_once()
    assert [await parts(job) for job in (late, *old)] == [whole, *[without[kept]] * 3]
    clock.advance(5 * DAY)
    await pruner.run_once()
    assert await parts(late) == without[kept]


async def test_what_is_kept_for_ever_stays(database: Database, store: JobStore) -> None:
    job = await end(store, await begun(store, 1))
    await JobPruner(OldJobs(database), dict.fromkeys(Kept, 0 * DAY), ManualClock(START + 9999 * DAY)).run_once()
    assert await store.get(job.job_id) == job
    assert (await store.whole_submission(job)).source == "source"
