from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.ordering import in_order, position
from tests.services.scheduler.jobs import a_queued_job

if TYPE_CHECKING:
    from random import Random

    from services.scheduler.job import Job

JOBS = st.lists(
    st.tuples(st.integers(-100, 100), st.integers(0, 5), st.sampled_from(["MI300X", "MI210"])), max_size=12
).map(
    lambda rows: [
        a_queued_job(number, age_seconds=age, priority=priority, gpu_type=gpu_type)
        for number, (priority, age, gpu_type) in enumerate(rows)
    ]
)


def test_higher_priority_runs_before_greater_age() -> None:
    old, urgent = a_queued_job(1, age_seconds=100), a_queued_job(2, priority=1)
    assert in_order([old, urgent]) == [urgent, old]


def test_older_runs_first_among_equals_and_the_id_breaks_ties() -> None:
    young, twin, old = a_queued_job(1), a_queued_job(2), a_queued_job(3, age_seconds=1)
    assert in_order([twin, young, old]) == [old, young, twin]


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
