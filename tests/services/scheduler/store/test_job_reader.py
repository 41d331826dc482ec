from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import event, update
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.db.database import Database, migrate
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.listing import JobFilter, PageEnd, page_end_of
from services.scheduler.jobs.run_history import RunKind
from services.scheduler.jobs.states import JobState
from services.scheduler.jobs.timing import RankingKey
from services.scheduler.server import MIGRATIONS
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from services.scheduler.store.rows import job_to_row
from services.scheduler.store.tables import jobs
from services.scheduler.wire import payloads
from submissions.visibility import Visibility
from tests.services.scheduler.jobs import ACCEPTED, LEASE, START, a_job
from tests.services.scheduler.timed_jobs import ended, timed_job

LIMIT = SubmissionLimits(20)


async def queued(store: JobStore, number: int, **changes: Any) -> Job:
    job = (await store.insert(a_job(number, source="source", **changes), LIMIT)).job
    assert job is not None
    return await store.move(job, job.enqueue("hold-1"), [b"queued"], START)


async def test_pages_show_every_job_once_and_newest_first(store: JobStore, reader: JobReader) -> None:
    # Three of the seven are of the same moment.
    for number in range(7):
        await queued(store, number, age_seconds=max(0, number - 2))
    seen: list[str] = []
    end = None
    while page := await reader.page(JobFilter(("account-1",)), 2, end):
        seen += [job.job_id for job in page]
        end = PageEnd(page[-1].create_time, page[-1].job_id)
    assert seen == ["job-002", "job-001", "job-000", "job-003", "job-004", "job-005", "job-006"]


async def test_lists_are_filtered_by_their_columns(store: JobStore, reader: JobReader) -> None:
    await queued(store, 1, user_id="ada", age_seconds=60)
    await queued(store, 2, problem="relu", queue="red")
    await queued(store, 3, account_id="account-2")
    running = await queued(store, 4)
    await store.move(running, running.start(LEASE, START), [], START)

    async def ids(wanted: JobFilter) -> list[str]:
        return sorted(job.job_id for job in await reader.page(wanted, 10, None))

    assert await ids(JobFilter()) == ["job-001", "job-002", "job-003", "job-004"]
    assert await ids(JobFilter(("account-2",))) == ["job-003"]
    assert await ids(JobFilter(("account-1",), frozenset({JobState.RUNNING}))) == ["job-004"]
    assert await ids(JobFilter(("account-1",), problem="relu")) == ["job-002"]
    assert await ids(JobFilter(user_id="ada")) == ["job-001"]
    assert await ids(JobFilter(queue="red")) == ["job-002"]
    assert await ids(JobFilter(end=START)) == await ids(JobFilter(user_id="ada"))
    assert await ids(JobFilter(begin=START)) == ["job-002", "job-003", "job-004"]
    assert await ids(JobFilter(verdicts=frozenset({"ACCEPTED"}))) == []
    assert [job.job_id for job in await reader.page(JobFilter(), 2, None, lambda job: job.user_id == "ada")] == [
        "job-001"
    ]


async def test_lists_are_filtered_by_what_became_of_a_job(store: JobStore, reader: JobReader) -> None:
    await ended(store, 1, cases={"a": 1.0}, dtype="float16")
    await ended(store, 2, cases={"a": 1.0}, mode=RUN_MODE_CHECK, machine_gpu_type="MI210")
    await ended(store, 3, verdict="OUT_OF_BOUNDS")
    running = await queued(store, 4, gpu_type="MI210")

    async def ids(**wanted: Any) -> list[str]:
        return sorted(job.job_id for job in await reader.page(JobFilter(("account-1",), **wanted), 10, None))

    assert await ids(statuses=frozenset({"ACCEPTED"})) == ["job-001"]
    assert await ids(statuses=frozenset({"CHECKED", "WRONG_ANSWER"})) == ["job-002", "job-003"]
    assert await ids(dtype="float16") == ["job-001"]
    assert await ids(modes=frozenset({RUN_MODE_CHECK})) == ["job-002", "job-004"]
    assert await ids(gpu_type="MI210") == ["job-002", "job-004"]
    await store.move(running, running.start(LEASE, START, "MI300X"), [], START)
    assert await ids(gpu_type="MI210") == ["job-002"]
    await ended(store, 5, device="cpu")
    assert await ids(gpu_type="cpu") == ["job-005"]
    assert "job-005" not in await ids(gpu_type="MI300X")
    key = RankingKey("leaky-relu", "MI300X", "float16", "cold")
    assert await ids(timed_as=key) == ["job-001"]
    assert await ids(timed_as=key, other_than="job-001") == []


async def test_pages_of_the_fastest_show_proven_times_then_others_and_every_job_once(
    store: JobStore, reader: JobReader
) -> None:
    # Several are equally fast or have no time.
    for number, runtime_ns in enumerate([30.0, 20.1, 20.1, 20.1, 10.0]):
        await ended(store, number, cases={"a": 1.0}, mean_runtime_ns=runtime_ns)
    await ended(store, 5, cases={"a": 1.0}, mean_runtime_ns=1.0, timing=run_event_pb2.TIMING_UNSTABLE)
    await ended(store, 6, verdict="WRONG_ANSWER")
    await queued(store, 7)
    seen: list[str] = []
    end, fastest = None, JobFilter(("account-1",), problem="leaky-relu", fastest=True)
    while page := await reader.page(fastest, 2, end):
        seen += [job.job_id for job in page]
        end = page_end_of(page[-1], fastest)
    assert seen == [f"job-00{number}" for number in (4, 3, 2, 1, 0, 5, 7, 6)]


@pytest.mark.parametrize(
    "job",
    [
        timed_job(1, {"a": 1.0}, dtype="float16"),
        timed_job(2, {"a": 1.0}, device="cpu", timing_mode="hot", timing=run_event_pb2.TIMING_UNSTABLE),
        timed_job(3, verdict="OUT_OF_BOUNDS"),
        a_job(4).enqueue("hold-1"),
    ],
    ids=lambda job: job.job_id,
)
def test_what_is_filled_in_for_jobs_of_before_is_what_new_ones_get(job: Job) -> None:
    migration = importlib.import_module("services.scheduler.migrations.versions.0029_visibility")
    row = job_to_row(job)
    filled = migration._filled(SimpleNamespace(**row))
    assert filled.pop("filled_id") == job.job_id
    # The cpu device has been told from the GPU that was asked for since 0032.
    assert filled.pop("new_ran_on") == "MI300X"
    assert filled == {name: row[name.removeprefix("new_")] for name in filled}


async def test_submission_in_the_making_is_in_no_list(store: JobStore, reader: JobReader) -> None:
    await store.insert(a_job(source="source"), LIMIT)
    assert await reader.page(JobFilter(), 10, None) == []


async def test_events_are_read_after_a_sequence_number_and_up_to_a_limit(store: JobStore, reader: JobReader) -> None:
    job = await queued(store, 1)
    job = await store.move(job, job.start(LEASE, START), [b"2"], START)
    await store.move(job, job.progress(3, 0), [b"3", b"4", b"5"], START)
    assert [event.payload for event in await reader.events(job.job_id, 2, 2)] == [b"3", b"4"]
    assert await reader.last_seqs([job.job_id, "no-such"]) == {job.job_id: 5}


async def test_run_times_are_those_of_finished_jobs(store: JobStore, reader: JobReader) -> None:
    for number in range(2):
        job = await queued(store, number)
        job = await store.move(job, job.start(LEASE, START), [], START)
        job = await store.move(job, job.settle(ACCEPTED), [], START)
        await store.move(job, job.finish(0, START + timedelta(seconds=4 + number)), [b"ended"], START)
    kind = RunKind("leaky-relu", RUN_MODE_CHECK, "MI300X")
    assert await reader.run_times({JobState.FINISHED}, 10) == [
        (kind, timedelta(seconds=4)),
        (kind, timedelta(seconds=5)),
    ]
    assert await reader.run_times({JobState.FAILED}, 10) == []


async def test_changes_of_an_account_are_read_once_each_in_the_order_of_their_commits(
    store: JobStore, reader: JobReader
) -> None:
    begin = await reader.revision()
    await store.insert(a_job(0), LIMIT)
    first, second = await queued(store, 1), await queued(store, 3)
    other = await queued(store, 2, account_id="account-2")
    changed = await reader.changed_jobs("account-1", begin, 10)
    assert [job.job_id for _, job in changed] == [first.job_id, second.job_id], "and nobody sees one that reserves"
    place = changed[-1][0]
    assert begin < place < await reader.revision()
    assert await reader.changed_jobs("account-1", place, 10) == []
    place = await reader.revision()
    await store.move(second, second.start(LEASE, START), [], START)
    await store.move(first, first.start(LEASE, START), [], START)
    running = await reader.changed_jobs("account-1", place, 10)
    assert [(job.job_id, job.state) for _, job in running] == [
        (second.job_id, JobState.RUNNING),
        (first.job_id, JobState.RUNNING),
    ]
    assert await reader.changed_jobs("account-1", place, 1) == running[:1]
    assert await reader.last_revisions(["account-1", other.account_id, "nobody"], place) == {
        "account-1": running[-1][0]
    }


async def test_a_new_name_and_visibility_are_changes_that_moves_leave_alone(store: JobStore, reader: JobReader) -> None:
    job = await queued(store, 1)
    place = await reader.revision()
    labelled = await store.label(job, {"name": "v3", "visibility": Visibility.LINK})
    assert (labelled.spec.name, labelled.visibility, labelled.state) == ("v3", Visibility.LINK, JobState.QUEUED)
    assert [changed for _, changed in await reader.changed_jobs("account-1", place, 10)] == [labelled]
    # The queue has the job as it was before.
    await store.move(job, job.start(LEASE, START), [], START)
    moved = await store.get(job.job_id)
    assert moved
    assert (moved.spec.name, moved.visibility, moved.state) == ("v3", Visibility.LINK, JobState.RUNNING)
    assert (await store.label(moved, {"name": ""})).spec.name == ""


async def test_public_submissions_of_a_user_are_listed_from_all_accounts(store: JobStore, reader: JobReader) -> None:
    for number, visibility in enumerate([*Visibility, Visibility.PUBLIC]):
        job = await queued(store, number, user_id="ada", account_id=f"account-{number}", age_seconds=number)
        await store.label(job, {"visibility": visibility})
    await store.label(await queued(store, 9, user_id="bob"), {"visibility": Visibility.PUBLIC})
    wanted = JobFilter(user_id="ada", visibility=Visibility.PUBLIC)
    newest, oldest = await reader.page(wanted, 10, None)
    assert (newest.job_id, oldest.job_id) == ("job-002", "job-003")
    assert await reader.page(wanted, 10, page_end_of(newest, wanted)) == [oldest]


async def test_public_submissions_of_a_user_are_read_from_an_index_of_these(tmp_path: Path) -> None:
    # On SQLite: PostgreSQL reads a small table whole, whatever its indexes.
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'plan.db'}")
    await migrate(database, MIGRATIONS)
    executed: list[tuple[str, Any]] = []
    event.listen(
        database.engine.sync_engine, "before_cursor_execute", lambda *call: executed.append((call[2], call[3]))
    )
    await JobReader(database).page(JobFilter(user_id="ada", visibility=Visibility.PUBLIC), 50, None)
    [(statement, bound)] = [(said, bound) for said, bound in executed if "FROM jobs" in said]
    async with database.reading() as connection:
        plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", bound)).all()
    await database.close()
    assert [str(row[-1]) for row in plan] == ["SEARCH jobs USING INDEX jobs_public (user_id=?)"]


async def test_writes_that_share_a_transaction_have_revisions_of_their_own(store: JobStore, reader: JobReader) -> None:
    await asyncio.gather(*[queued(store, number) for number in range(5)])
    revisions = [revision for revision, _ in await reader.changed_jobs("account-1", 0, 10)]
    assert revisions == sorted(set(revisions))
    assert len(revisions) == 5


async def test_the_device_of_jobs_of_before_is_read_from_the_events_of_their_machines(
    store: JobStore, reader: JobReader, database: Database
) -> None:
    migration = importlib.import_module("services.scheduler.migrations.versions.0032_machine_devices")
    there = [machine_placed("machine-1", "cpu")]
    for number in (1, 2):
        # Of one that has lost its events, another job of its machine tells.
        await move_to_machine(store, number, "machine-1", there if number == 1 else [])
    await move_to_machine(store, 3, "machine-2", [machine_placed("machine-2", "rocm")])
    await move_to_machine(store, 4, "machine-3", [b"\xff no event"])
    await queued(store, 5)
    async with database.transaction() as connection:
        await connection.execute(update(jobs).values(machine_device="", ran_on="MI300X"))
        await connection.run_sync(migration.fill)
    found = {job.job_id: (job.machine_device, job.hardware) for job in await reader.page(JobFilter(), 9, None)}
    assert found == {
        "job-001": ("cpu", "cpu"),
        "job-002": ("cpu", "cpu"),
        "job-003": ("rocm", "MI300X"),
        "job-004": ("", "MI300X"),
        "job-005": ("", ""),
    }
    listed = [job.job_id for job in await reader.page(JobFilter(gpu_type="cpu"), 9, None)]
    assert sorted(listed) == ["job-001", "job-002"]


def machine_placed(machine_id: str, device: str) -> bytes:
    machine = vmpool_pb2.Machine(machine_id=machine_id, gpu_type="MI300X", device=device)
    return payloads.provisioning(scheduler_pb2.Provisioning(stage="ready", machine=machine))


async def move_to_machine(store: JobStore, number: int, machine_id: str, events: Sequence[bytes]) -> None:
    waiting = await queued(store, number)
    lease = replace(LEASE, lease_id=f"lease-{number}", machine_id=machine_id)
    await store.move(waiting, waiting.start(lease, START, "MI300X"), list(events), START)
