from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.submission_checks import MAX_PRIORITY, MIN_PRIORITY
from services.scheduler.queue import ordering
from tests.services.scheduler.jobs import START, a_queued_job

if TYPE_CHECKING:
    from random import Random

    from services.scheduler.jobs.job import Job

POINT = timedelta(seconds=1)
PRIORITIES = st.integers(MIN_PRIORITY, MAX_PRIORITY)
JOBS = st.lists(st.tuples(PRIORITIES, st.integers(0, 300), st.sampled_from(["MI300X", "MI210"])), max_size=12).map(
    lambda rows: [
        a_queued_job(number, age_seconds=age, priority=priority, gpu_type=gpu_type)
        for number, (priority, age, gpu_type) in enumerate(rows)
    ]
)


def in_order(jobs: list[Job]) -> list[Job]:
    return ordering.in_order(jobs, POINT)


def position(job: Job, jobs: list[Job]) -> int:
    return len(ordering.ahead(job, jobs, POINT)) + 1


def test_a_point_of_priority_is_worth_its_waiting_and_no_more() -> None:
    old, urgent = a_queued_job(1, age_seconds=100), a_queued_job(2, priority=99)
    assert in_order([old, urgent]) == [old, urgent]
    more_urgent = a_queued_job(3, priority=100, age_seconds=1)
    assert in_order([old, more_urgent]) == [more_urgent, old]


def test_older_runs_first_among_equals_and_the_id_breaks_ties() -> None:
    young, twin, old = a_queued_job(1), a_queued_job(2), a_queued_job(3, age_seconds=1)
    assert in_order([twin, young, old]) == [old, young, twin]


@given(
    st.integers(-10, 10),
    st.lists(st.lists(st.tuples(st.integers(-10, 10), st.integers(0, 999_999)), max_size=4), min_size=1, max_size=8),
)
def test_no_job_waits_for_ever(priority: int, traffic: list[list[tuple[int, int]]]) -> None:
    """One machine takes a job each second, and `traffic` repeats, often faster than that."""
    patient = a_queued_job(0, priority=priority)
    waiting, seconds = [patient], 0
    # All jobs that can go first arrive within the time that the priority range is worth; each takes one second.
    longest_seconds = (1 + max(map(len, traffic))) * (10 - priority + 1)
    while patient in waiting:
        assert seconds <= longest_seconds
        for number, (urgency, microseconds) in enumerate(traffic[seconds % len(traffic)], start=1):
            came = START + timedelta(seconds=seconds, microseconds=microseconds)
            waiting.append(a_queued_job(seconds * 10 + number, priority=urgency, create_time=came))
        waiting.remove(in_order(waiting)[0])
        seconds += 1


@given(JOBS, st.randoms())
def test_order_does_not_depend_on_arrival(jobs: list[Job], shuffle: Random) -> None:
    shuffled = list(jobs)
    shuffle.shuffle(shuffled)
    assert in_order(shuffled) == in_order(jobs)


def test_jobs_that_share_a_gpu_type_stand_in_one_queue() -> None:
    first = a_queued_job(1, age_seconds=2)
    second = a_queued_job(2, age_seconds=1, fallback_gpu_types=("MI210",))
    third = a_queued_job(3, gpu_type="MI210")
    assert [position(job, [third, second, first]) for job in (first, second, third)] == [1, 2, 2]


@given(JOBS)
def test_positions_of_one_gpu_type_count_from_one_without_gaps(jobs: list[Job]) -> None:
    for gpu_type in ("MI300X", "MI210"):
        same = [job for job in in_order(jobs) if job.spec.gpu_type == gpu_type]
        assert [position(job, jobs) for job in same] == list(range(1, len(same) + 1))
