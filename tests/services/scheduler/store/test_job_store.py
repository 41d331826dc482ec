"""The contract of the store, on each kind of database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any, cast

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from wavepool.submission.v1.submission_pb2 import RUN_MODE_FULL, TIMING_MODE_FIRST_CALL, Submission

from servicekit.db.database import Database
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.errors import IllegalMoveError, StaleJobError
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.states import JobState
from services.scheduler.queue.event_hub import EventHub
from services.scheduler.store import tables
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from tests.services.scheduler.jobs import ACCEPTED, LEASE, START, a_job

LIMIT = SubmissionLimits(20)


async def queued(store: JobStore, number: int = 1) -> Job:
    job = (await store.insert(a_job(number, source="source"), LIMIT)).job
    assert job is not None
    return await store.move(job, job.enqueue("hold-1"), [b"queued"], START)


async def test_job_comes_back_as_it_was_stored_in_every_state(store: JobStore) -> None:
    job = (await store.insert(a_job(request_id="request-1"), LIMIT)).job
    assert job is not None
    moves: list[Callable[[Job], Job]] = [
        lambda job: job.enqueue("hold-1"),
        lambda job: job.provision(),
        lambda job: job.start(LEASE, START),
        lambda job: job.progress(3, 77),
        lambda job: job.request_cancel(START),
        lambda job: job.settle(ACCEPTED),
        lambda job: job.finish(500, START),
    ]
    for move in moves:
        after = move(job)
        job = await store.move(job, after, [b"event"], START)
        assert job == replace(after, last_seq=job.last_seq)
        assert await store.get(job.job_id) == job
    assert job.last_seq == 7


async def test_submission_comes_back_as_it_was_stored_and_jobs_have_none_of_its_texts(database: Database) -> None:
    sent = Submission(
        problem="relu",
        source="source",
        launch_plan="{}",
        problem_definition="class Mine: pass",
        mode=RUN_MODE_FULL,
        dtype="float16",
        language="hip",
        timing_mode=TIMING_MODE_FIRST_CALL,
        profile=True,
    )
    assert {field.name for field, _ in sent.ListFields()} == set(Submission.DESCRIPTOR.fields_by_name)
    draft = a_job()
    drafted = replace(draft, spec=replace(draft.spec, submission=sent))
    writing = JobStore(database, lambda _: None)
    job = (await writing.insert(drafted, LIMIT)).job
    assert job is not None
    kept = {"problem": "relu", "mode": RUN_MODE_FULL, "dtype": "float16", "language": "hip"}
    assert job.spec.submission == Submission(**kept, timing_mode=TIMING_MODE_FIRST_CALL, profile=True)
    for store in (writing, JobStore(database, lambda _: None)):
        assert await store.get(job.job_id) == job
        assert await store.whole_submission(job) == sent
        assert await store.submission_to_run(job) == sent


@pytest.mark.parametrize(("gpu_types", "prices"), [((), ()), (("MI210", "MI300A"), (1, 1 << 40))])
async def test_fallback_gpu_types_and_their_prices_come_back_as_they_were_stored(
    store: JobStore, gpu_types: tuple[str, ...], prices: tuple[int, ...]
) -> None:
    drafted = a_job(fallback_gpu_types=gpu_types, fallback_prices_micros_per_hour=prices)
    assert (await store.insert(drafted, LIMIT)).job == drafted
    assert await store.get(drafted.job_id) == drafted


async def test_lost_attempt_leaves_nothing_of_its_lease_behind(store: JobStore) -> None:
    job = await queued(store)
    job = await store.move(job, job.start(LEASE, START, "MI210"), [], START)
    assert await store.get(job.job_id) == job
    job = await store.move(job, job.retry(), [b"retrying"], START)
    assert await store.get(job.job_id) == job
    assert (job.lease, job.machine_id, job.machine_gpu_type) == (None, "", "")
    assert (job.start_time, job.attempt) == (None, 2)


async def test_several_machines_come_back_with_all_their_leases_and_go_with_the_attempt(store: JobStore) -> None:
    draft = a_job()
    asked = Reservation("train", (), timedelta(hours=1))
    drafted = replace(draft, spec=replace(draft.spec, machines=2), reservation=asked)
    inserted = (await store.insert(drafted, LIMIT)).job
    assert inserted == drafted
    job = await store.move(inserted, inserted.enqueue("hold-1"), [], START)
    other = replace(LEASE, lease_id="lease-2", machine_id="machine-2", fencing_token=7)
    job = await store.move(job, job.start(LEASE, START, "MI300X", [other]), [], START)
    found = await store.get(job.job_id)
    assert found == job
    assert found.leases == (LEASE, other)
    assert [node.machine_id for node in found.reserved.nodes] == ["machine-2"]
    job = await store.move(job, job.retry(), [], START)
    found = await store.get(job.job_id)
    assert found == job
    assert (found.leases, found.reserved.nodes) == ((), ())


async def reserved(store: JobStore, number: int = 1, **fields: Any) -> Job:
    job = a_job(number, reservation=Reservation("train", (), timedelta(hours=1), **fields))
    job = (await store.insert(job, LIMIT)).job
    assert job
    return await store.move(job, job.enqueue("hold-1"), [], START)


async def test_a_reservation_that_is_due_does_not_become_pending_again(store: JobStore, reader: JobReader) -> None:
    pending = await reserved(store, start_time=START)
    due = await store.move(pending, pending.changed(reservation=pending.reserved.come_due()), [b"queued"], START)
    with pytest.raises(IllegalMoveError, match="from queued to pending"):
        await store.move(due, due.changed(reservation=pending.reservation), [b"pending"], START)
    assert await store.get(due.job_id) == due
    assert [event.payload for event in await reader.events(due.job_id, 0, 9)] == [b"queued"]


async def test_reservations_of_before_get_their_states(store: JobStore, database: Database) -> None:
    await reserved(store, 1)
    await reserved(store, 2, start_time=START)
    await reserved(store, 3, start_time=START, is_due=True)
    for number in range(4, 9):
        job = await reserved(store, number)
        job = await store.move(job, job.start(LEASE, START), [], START)
        if number > 4:
            fields = {"is_expiring": True} if number == 6 else {"active_time": START}
            job = await store.move(job, job.changed(reservation=replace(job.reserved, **fields)), [], START)
        if number == 7:
            await store.move(job, job.request_cancel(START), [], START)
        if number == 8:
            job = await store.move(job, job.settle(ACCEPTED), [], START)
            await store.move(job, job.finish(0, START), [], START)
    await queued(store, 9)
    columns = tables.jobs.c
    query = select(columns.reservation_state).order_by(columns.job_id)
    async with database.transaction() as connection:
        written = (await connection.execute(query)).scalars().all()
        await connection.execute(update(tables.jobs).values(reservation_state=None))
        await connection.run_sync(import_module("services.scheduler.migrations.versions.0034_reservation_states").fill)
        filled = (await connection.execute(query)).scalars().all()
    waiting, running = ["queued", "pending", "queued"], ["preparing", "active", "expiring", "expiring", "expired"]
    assert written == filled == [*waiting, *running, None]


async def test_move_from_a_state_that_the_row_has_left_writes_nothing(store: JobStore, reader: JobReader) -> None:
    job = await queued(store)
    moved = await store.move(job, job.provision(), [b"provisioning"], START)
    with pytest.raises(StaleJobError):
        await store.move(job, job.settle(ACCEPTED), [b"late"], START)
    assert await store.get(job.job_id) == moved
    assert [event.payload for event in await reader.events(job.job_id, 0, 10)] == [b"queued", b"provisioning"]


async def test_of_many_simultaneous_moves_exactly_one_happens(store: JobStore, reader: JobReader) -> None:
    job = await queued(store)
    results = await asyncio.gather(
        *[store.move(job, job.provision(), [b"provisioning"], START) for _ in range(8)], return_exceptions=True
    )
    assert sum(isinstance(result, StaleJobError) for result in results) == 7
    assert len(await reader.events(job.job_id, 0, 10)) == 2


async def test_two_followers_of_one_run_cannot_both_write_the_same_events(store: JobStore) -> None:
    job = await queued(store)
    job = await store.move(job, job.start(LEASE, START), [], START)
    await store.move(job, job.progress(2, 0), [b"1", b"2"], START)
    with pytest.raises(StaleJobError):
        await store.move(job, job.progress(1, 0), [b"1"], START)


async def test_cancellation_survives_a_write_that_did_not_know_of_it(store: JobStore) -> None:
    job = await queued(store)
    job = await store.move(job, job.start(LEASE, START), [], START)
    await store.move(job, job.request_cancel(START), [], START)
    reported = await store.move(job, job.progress(1, 0), [b"1"], START)
    assert reported.cancel_time == START


async def test_sequence_has_no_gap_over_moves_of_several_events(store: JobStore, reader: JobReader) -> None:
    job = await queued(store)
    job = await store.move(job, job.start(LEASE, START), [], START)
    job = await store.move(job, job.progress(3, 5), [b"a", b"b", b"c"], START)
    job = await store.move(job, job.settle(ACCEPTED), [], START)
    job = await store.move(job, job.finish(500, START), [b"ended"], START)
    events = await reader.events(job.job_id, 0, 10)
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert [event.last for event in events] == [False, False, False, False, True]
    assert [event.cost_micros for event in events] == [0, 5, 5, 5, 500]


async def test_events_are_announced_once_their_transaction_is_over(database: Database, reader: JobReader) -> None:
    announced: list[JobEvent] = []
    open_transactions: list[int] = []

    def announce(events: Sequence[JobEvent]) -> None:
        announced.extend(events)
        open_transactions.append(cast("Any", database.engine.pool).checkedout())

    job = await queued(JobStore(database, announce))
    assert announced == await reader.events(job.job_id, 0, 10)
    assert open_transactions == [0]


async def test_move_that_the_database_refuses_is_not_announced(store: JobStore, hub: EventHub) -> None:
    job = await queued(store)
    job = await store.move(job, job.start(LEASE, START), [], START)
    with hub.subscription(job.job_id) as subscription, pytest.raises(IntegrityError):
        await store.move(job, job.progress(1, job.hold_micros + 1), [b"1"], START)
    assert subscription.last_seq == 0


async def test_repeated_key_gives_the_first_job_and_stores_nothing(store: JobStore, reader: JobReader) -> None:
    first = await queued(store)
    again = (await store.insert(a_job(2, idempotency_key="key-1", source="other"), LIMIT)).job
    assert again == first
    assert await store.get("job-002") is None
    assert await reader.counts() == {JobState.QUEUED: 1}


async def test_simultaneous_submissions_of_one_key_make_one_job(store: JobStore, reader: JobReader) -> None:
    inserted = await asyncio.gather(*[store.insert(a_job(number, idempotency_key="key"), LIMIT) for number in range(8)])
    assert len({job.job_id for job, _ in inserted if job}) == 1
    assert await reader.counts() == {JobState.RESERVING: 1}


async def test_account_cannot_pass_its_limit_even_at_once(store: JobStore, reader: JobReader) -> None:
    inserted = await asyncio.gather(*[store.insert(a_job(number), SubmissionLimits(3)) for number in range(8)])
    assert sum(job is not None for job, _ in inserted) == 3
    assert await reader.counts() == {JobState.RESERVING: 3}
    assert (await store.insert(a_job(9, account_id="account-2"), SubmissionLimits(3))).job is not None


async def test_job_that_is_over_makes_room(store: JobStore) -> None:
    job = await queued(store)
    assert (await store.insert(a_job(2), SubmissionLimits(1))).job is None
    job = await store.move(job, job.settle(ACCEPTED), [], START)
    await store.move(job, job.finish(0, START), [b"ended"], START)
    assert (await store.insert(a_job(2), SubmissionLimits(1))).job is not None


async def test_abandoned_submission_frees_its_key(store: JobStore) -> None:
    job = (await store.insert(a_job(), LIMIT)).job
    assert job is not None
    await store.move(job, job.abandon(), [], START)
    second = (await store.insert(a_job(2, idempotency_key=job.idempotency_key), LIMIT)).job
    assert second is not None
    assert second.job_id == "job-002"


async def test_deleted_submission_takes_its_source_along(database: Database, store: JobStore) -> None:
    job = (await store.insert(a_job(), LIMIT)).job
    assert job is not None
    await store.delete(job)
    assert await store.get(job.job_id) is None
    async with database.reading() as connection:
        assert (await connection.execute(select(tables.job_texts))).all() == []


async def test_job_that_moved_on_is_not_deleted(store: JobStore) -> None:
    job = (await store.insert(a_job(), LIMIT)).job
    assert job is not None
    moved = await store.move(job, job.enqueue("hold-1"), [b"queued"], START)
    await store.delete(job)
    assert await store.get(job.job_id) == moved


async def test_source_can_be_read_again_and_again(store: JobStore) -> None:
    job = await queued(store)
    assert [(await store.whole_submission(job)).source for _ in range(3)] == ["source"] * 3


async def test_jobs_are_found_by_state_and_by_id(store: JobStore) -> None:
    one, two = await queued(store, 1), await queued(store, 2)
    two = await store.move(two, two.provision(), [], START)
    assert await store.ids_in_states({JobState.QUEUED}) == {one.job_id: JobState.QUEUED}
    found = [job async for job in store.by_ids([one.job_id, two.job_id, "gone"])]
    assert sorted(job.job_id for job in found) == [one.job_id, two.job_id]


@pytest.mark.parametrize(
    "broken",
    [{"state": "lost"}, {"state": "running"}, {"state": "finished"}, {"hold_id": None}, {"cost_micros": 2_000_000}],
    ids=["unknown state", "running without lease", "over without end", "queued without hold", "cost above hold"],
)
async def test_database_refuses_what_no_move_can_make(
    database: Database, store: JobStore, broken: dict[str, object]
) -> None:
    job = await queued(store)
    with pytest.raises(IntegrityError):
        async with database.transaction() as connection:
            await connection.execute(update(tables.jobs).where(tables.jobs.c.job_id == job.job_id).values(broken))
