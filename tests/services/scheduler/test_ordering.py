from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.fairness.settings import Queues, QueueSettings
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Resources
from services.scheduler.queue.ordering import Age, Claim, Classic, JobFacts, facts_of, rank_of, ranked_by
from services.scheduler.queue.plugins import ORDERINGS, Choices, Orderings
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.waiting import WaitingJobs
from tests.services.scheduler.jobs import START, a_queued_job
from vocabulary.limits import DEFAULT_QUEUE, MAX_PRIORITY, MIN_PRIORITY

POINT = timedelta(seconds=1)
PRIORITIES = st.integers(MIN_PRIORITY, MAX_PRIORITY)
JOBS = st.lists(st.tuples(PRIORITIES, st.integers(0, 300), st.sampled_from(["MI300X", "MI210"])), max_size=12).map(
    lambda rows: [
        a_queued_job(number, age_seconds=age, priority=priority, gpu_type=gpu_type)
        for number, (priority, age, gpu_type) in enumerate(rows)
    ]
)


def waiting_jobs(jobs: list[Job]) -> WaitingJobs:
    waiting = WaitingJobs(ranked_by(Age(POINT)))
    for job in jobs:
        waiting.put(job)
    return waiting


def in_order(jobs: list[Job]) -> list[Job]:
    return waiting_jobs(jobs).in_turn(len(jobs))


def position(job: Job, jobs: list[Job]) -> int:
    return waiting_jobs(jobs).ahead(job).position


def in_queue(queue: str, number: int, **changes: Any) -> Job:
    job = a_queued_job(number, **changes)
    return replace(job, spec=replace(job.spec, queue=queue))


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


@given(JOBS, st.sets(st.integers(0, 11)))
def test_a_job_that_left_is_ahead_of_nobody(jobs: list[Job], left: set[int]) -> None:
    waiting = waiting_jobs(jobs)
    for number in left & set(range(len(jobs))):
        waiting.remove(jobs[number].job_id)
    rest = [job for number, job in enumerate(jobs) if number not in left]
    assert waiting.in_turn(99) == waiting_jobs(rest).in_turn(99)
    assert [waiting.ahead(job).position for job in rest] == [position(job, rest) for job in rest]


def test_queues_take_turns_by_what_they_have_of_their_fair_share() -> None:
    red = [in_queue("red", number, age_seconds=100 - number) for number in range(1, 5)]
    blue = [in_queue("blue", number, age_seconds=10 - number) for number in range(5, 7)]
    waiting = waiting_jobs([*red, *blue])
    waiting.claims = {"MI300X": {"red": Claim(used=1000, fair_share=4000), "blue": Claim(0, 2000)}}
    # Turns: red 2/4, 3/4, 4/4, 5/4; blue 1/2, 2/2.
    assert [job.job_id[-1] for job in waiting.in_turn(9)] == ["5", "1", "2", "6", "3", "4"]


QUEUED = st.lists(
    st.tuples(st.sampled_from(["red", "blue", "green"]), st.integers(0, 300), st.sampled_from(["MI300X", "MI210"])),
    max_size=12,
)
CLAIMS = st.dictionaries(
    st.sampled_from(["red", "blue"]),
    st.builds(Claim, st.integers(0, 4).map(lambda gpus: gpus * 1000), st.integers(0, 4).map(lambda gpus: gpus * 1000)),
)


@given(QUEUED, CLAIMS)
def test_positions_are_places_in_the_order_of_turns_but_for_queues_that_tie(
    rows: list[tuple[str, int, str]], claims: dict[str, Claim]
) -> None:
    jobs = [in_queue(queue, number, age_seconds=age, gpu_type=gpu) for number, (queue, age, gpu) in enumerate(rows)]
    waiting = waiting_jobs(jobs)
    waiting.claims = {"MI300X": claims, "MI210": claims}
    for job in jobs:
        ahead = waiting.ahead(job)
        before = waiting.jobs_ahead(job, 99)
        assert len(before) == ahead.position - 1
        assert sum(other.spec.queue == job.spec.queue for other in before) == ahead.in_queue
        assert job not in before


class Always:
    """An ordering that gives one answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def head_start(self, job: JobFacts) -> Any:
        return self.answer


def book_with(ordering: str) -> QueueBook:
    store: Any = None
    book = QueueBook(store)
    book.queues = Queues([QueueSettings(DEFAULT_QUEUE, ordering=ordering)])
    return book


def facts(**changes: Any) -> JobFacts:
    return replace(facts_of(a_queued_job()), **changes)


def head_start_minutes(**changes: Any) -> float:
    return Classic(POINT).head_start(facts(**changes)) / timedelta(minutes=1)


def test_classic_gives_20_for_a_class_10_for_an_hour_and_5_for_each_gpu() -> None:
    a_class, gpus = head_start_minutes(gpus=0, class_value=20), head_start_minutes(gpus=8)
    # An hour of waiting is worth as much as ten points, and ages go on from there at the same pace.
    assert a_class == 2 * 60
    assert gpus == 8 * 5 * 6
    assert head_start_minutes(gpus=0) == 0
    assert head_start_minutes(gpus=0, priority=60) == 1


def test_classic_counts_the_gpus_that_a_job_asks_for_and_parts_of_one() -> None:
    asked = [a_queued_job(resources=Resources(eighths)) for eighths in (64, 8, 2)]
    minutes = [Classic(POINT).head_start(facts_of(job)) / timedelta(minutes=1) for job in asked]
    assert minutes == [8 * 30, 30, 7.5]


def test_in_classic_a_class_of_20_is_ahead_of_jobs_that_came_up_to_two_hours_earlier() -> None:
    values = {"job-001": 20}
    waiting = WaitingJobs(lambda job: rank_of(job, Classic(POINT).head_start(facts_of(job, values.get(job.job_id, 0)))))
    urgent, younger, older = a_queued_job(1), a_queued_job(2, age_seconds=7199), a_queued_job(3, age_seconds=7201)
    for job in (urgent, younger, older):
        waiting.put(job)
    assert waiting.in_turn(3) == [older, urgent, younger]


def test_in_age_a_point_of_class_is_worth_a_point_of_priority() -> None:
    age = Age(POINT)
    assert age.head_start(facts(class_value=7, priority=3)) == 10 * POINT


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (timedelta(days=367), "more than 366 days"),
        (60, "gave int, not a timedelta"),
        (None, "gave NoneType, not a timedelta"),
    ],
)
def test_an_answer_that_cannot_be_used_counts_as_a_failure_and_age_decides(answer: Any, fault: str) -> None:
    choices = Choices(ORDERINGS, "SCHEDULER_ORDERINGS", {"age": Age(POINT), "odd": Always(answer)})
    choices.named("odd").distribution = "theirs 1.0"
    orderings = Orderings(book_with("odd"), choices)
    job = a_queued_job(priority=5)
    assert orderings.rank(job).turn_time == job.create_time - 5 * POINT
    assert (choices.named("odd").failures, fault in choices.named("odd").last_failure) == (1, True)


def test_a_built_in_ordering_never_fails_however_much_a_point_is_worth() -> None:
    choices = Choices(ORDERINGS, "SCHEDULER_ORDERINGS", {"age": Age(timedelta(days=30))})
    orderings = Orderings(book_with(""), choices)
    job = a_queued_job(priority=-100)
    assert orderings.rank(job).turn_time == job.create_time + timedelta(days=3000)
    assert choices.named("age").failures == 0


def test_jobs_with_the_same_turn_go_by_submission_then_by_id() -> None:
    late, early, twin = a_queued_job(1, priority=10), a_queued_job(3, age_seconds=10), a_queued_job(2, age_seconds=10)
    assert in_order([late, early, twin]) == [twin, early, late]


@given(JOBS, st.sets(st.integers(0, 11)), st.randoms())
def test_lanes_stay_sorted_whatever_an_ordering_answers(jobs: list[Job], left: set[int], chance: Random) -> None:
    """An ordering that breaks its promise, and answers differently each time, loses no job and finds each."""
    waiting = WaitingJobs(lambda job: rank_of(job, timedelta(seconds=chance.randint(-99, 99))))
    for job in jobs:
        waiting.put(job)
    for number in left & set(range(len(jobs))):
        waiting.remove(jobs[number].job_id)
    waiting.reorder()
    rest = [job for number, job in enumerate(jobs) if number not in left]
    order = waiting.in_turn(99)
    assert sorted(order, key=lambda job: job.job_id) == rest
    for job in rest:
        waiting.remove(job.job_id)
    assert not waiting.lanes()


@given(JOBS)
def test_the_head_of_a_type_is_the_first_that_wants_it_first(jobs: list[Job]) -> None:
    waiting = waiting_jobs(jobs)
    for gpu_type in ("MI300X", "MI210", "none"):
        wanting = [job for job in waiting.in_turn(99) if job.spec.gpu_type == gpu_type]
        assert waiting.head(gpu_type) == next(iter(wanting), None)


@given(JOBS)
def test_a_new_order_sorts_those_who_wait_as_if_they_came_now(jobs: list[Job]) -> None:
    orderings = [Age(POINT)]
    waiting = WaitingJobs(lambda job: rank_of(job, orderings[-1].head_start(facts_of(job))))
    for job in jobs:
        waiting.put(job)
    orderings.append(Age(-POINT))
    waiting.reorder()
    again = WaitingJobs(ranked_by(Age(-POINT)))
    for job in jobs:
        again.put(job)
    assert waiting.in_turn(99) == again.in_turn(99)
