from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.estimate import percentile
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.queue_state import (
    EndCounts,
    Place,
    QueueState,
    Waiters,
    queue_readings,
    queue_states,
    reservation_counts,
    reservation_readings,
)
from services.scheduler.jobs.reservation import Extension, Reservation
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.states import JobState
from tests.services.scheduler.jobs import a_job
from vocabulary import readings

PLACE, OTHER = ("default", "MI300X"), ("urgent", "MI210")
PLACES = st.sampled_from([PLACE, OTHER, ("default", "MI210")])
NOW = datetime(2026, 1, 1, tzinfo=UTC)
WAITS = st.lists(st.floats(-5, 1e6), min_size=1)
STUCK = "no machine can be had"


def waiters(*seconds: float, stuck: int = 0) -> Waiters:
    """Jobs that have waited for so long."""
    since = sorted(NOW - timedelta(seconds=one) for one in seconds)
    return Waiters(since, stuck, STUCK if stuck else "")


@st.composite
def end_counts(draw: st.DrawFn) -> list[EndCounts]:
    found: list[EndCounts] = []
    for place in draw(st.sets(PLACES)):
        jobs = draw(st.integers(0, 50))
        found.append(EndCounts(place, jobs, draw(st.integers(0, jobs)), draw(st.integers(0, 50))))
    return found


def values(states: list[QueueState], name: str) -> dict[tuple[str, str], float]:
    return {
        (one.labels["queue"], one.labels["gpu_type"]): one.value
        for one in queue_readings(states, {})
        if one.name == name
    }


def test_each_queue_and_gpu_type_has_its_own_figures() -> None:
    waiting = {PLACE: waiters(*range(1, 11)), OTHER: waiters(70, stuck=1)}
    ended = [EndCounts(PLACE, jobs=10, failed=4, lost_attempts=9)]
    urgent = ("urgent", "MI210")
    states = queue_states(waiting, [PLACE, PLACE], ended, NOW)
    assert [(one.queue, one.waiting, one.running, one.ended) for one in states] == [
        ("default", 10, 2, 10),
        ("urgent", 1, 0, 0),
    ]
    assert values(states, readings.OLDEST_WAIT) == {PLACE: 10.0, urgent: 70.0}
    assert values(states, readings.P90_WAIT) == {PLACE: 9.0, urgent: 70.0}
    assert values(states, readings.FAILED_JOBS) == {PLACE: 0.4, urgent: 0.0}
    assert values(states, readings.LOST_ATTEMPTS) == {PLACE: 9, urgent: 0}
    assert values(states, readings.STUCK_JOBS) == {PLACE: 0, urgent: 1}
    details = queue_readings(states, {})[-1].details
    assert (details["reason"], details["minutes"]) == (STUCK, "1")


def test_one_failed_job_of_one_is_a_small_share() -> None:
    [state] = queue_states({}, [], [EndCounts(PLACE, 1, 1, 1)], NOW)
    assert state.failed_share == 0.2


def test_reservations_that_end_within_the_hour_are_told_with_their_account_until_they_expire() -> None:
    def ending(minutes: float, **more: Any) -> Job:
        reserved = Reservation("train", (), timedelta(minutes=minutes), active_time=NOW, **more)
        return a_job(job_id=f"res_{minutes:g}").changed(reservation=reserved)

    waiting = a_job().changed(reservation=Reservation("later", (), timedelta(minutes=5)))
    jobs = [a_job(), waiting, ending(60.5), ending(60), ending(29), ending(0), ending(5, is_expiring=True)]
    found = reservation_readings(jobs, NOW)
    all_left = [one for one in found if one.name == readings.RESERVATION_WARNINGS[5]]
    assert [(one.labels["reservation"], one.value, one.details["minutes"]) for one in all_left] == [
        ("res_60", 60.0, "60"),
        ("res_29", 29.0, "29"),
    ]
    assert {one.labels["account"] for one in found} == {a_job().account_id}


@pytest.mark.parametrize(("minutes", "crossed"), [(3, []), (5, []), (6, [5]), (30, [15, 5]), (45, [30, 15, 5])])
def test_a_reservation_has_readings_of_the_warnings_that_it_crosses_while_it_runs(
    minutes: int, crossed: list[int]
) -> None:
    reserved = Reservation("train", (), timedelta(minutes=minutes), active_time=NOW)
    found = reservation_readings([a_job().changed(reservation=reserved)], NOW + timedelta(minutes=1))
    assert [one.name for one in found] == [readings.RESERVATION_WARNINGS[least] for least in crossed]


@pytest.mark.parametrize(
    ("minutes", "extended", "crossed"),
    [
        (6, [(3, 10)], [5]),
        (6, [(3, 10), (4, 10)], [15, 5]),
        (20, [(18, 2)], [15, 5]),
        (20, [(18, 40)], [30, 15, 5]),
        (14, [(-1, 2)], [15, 5]),
    ],
)
def test_an_extension_crosses_no_warning_that_it_does_not_reach_beyond(
    minutes: int, extended: list[tuple[int, int]], crossed: list[int]
) -> None:
    added = [Extension(timedelta(minutes=more), NOW + timedelta(minutes=at), "usr_1", f"{at}") for at, more in extended]
    reserved = Reservation("train", (), timedelta(minutes=minutes), tuple(added), active_time=NOW)
    found = reservation_readings([a_job().changed(reservation=reserved)], NOW + timedelta(minutes=19))
    assert [one.name for one in found] == [readings.RESERVATION_WARNINGS[least] for least in crossed]


def test_a_dated_reservation_that_begins_late_crosses_only_what_is_left_of_its_time() -> None:
    reserved = Reservation("train", (), timedelta(minutes=20), start_time=NOW, active_time=NOW + timedelta(minutes=8))
    [found] = reservation_readings([a_job().changed(reservation=reserved)], NOW + timedelta(minutes=9))
    assert found.name == readings.RESERVATION_WARNINGS[5]


def test_reservations_are_counted_by_type_and_state_without_those_that_are_over() -> None:
    def reserved(job_id: str, state: JobState = JobState.QUEUED, gpu_type: str = "", **more: Any) -> Job:
        made = Reservation("train", (), timedelta(hours=1), **more)
        return a_job(job_id=job_id, state=state, machine_gpu_type=gpu_type).changed(reservation=made)

    active = reserved("res_1", JobState.RUNNING, "MI300A", active_time=NOW)
    pending = reserved("res_2", start_time=NOW)
    ended = reserved("res_3", JobState.FINISHED)
    jobs = [a_job(), reserved("res_4"), reserved("res_5"), active, active, pending, ended]
    assert reservation_counts(jobs) == {
        ("MI300X", ReservationState.QUEUED): 2,
        ("MI300X", ReservationState.PENDING): 1,
        ("MI300A", ReservationState.ACTIVE): 1,
    }


def test_a_slowdown_is_of_a_gpu_type() -> None:
    [reading] = queue_readings([], {"MI300X": 2.04})
    assert (reading.name, reading.value, reading.labels) == (readings.RUN_SLOWDOWN, 2.04, {"gpu_type": "MI300X"})
    assert reading.details["times"] == "2.0"


@given(st.dictionaries(PLACES, WAITS), st.data(), st.lists(PLACES), end_counts())
def test_no_job_is_lost_or_counted_twice_and_no_reading_is_out_of_range(
    waits: dict[Place, list[float]], data: st.DataObject, running: list[Place], ended: list[EndCounts]
) -> None:
    waiting = {
        place: waiters(*seconds, stuck=data.draw(st.integers(0, len(seconds)))) for place, seconds in waits.items()
    }
    states = queue_states(waiting, running, ended, NOW)
    assert sum(one.waiting for one in states) == sum(map(len, waits.values()))
    assert sum(one.stuck for one in states) == sum(one.stuck for one in waiting.values())
    assert sum(one.running for one in states) == len(running)
    assert sum(one.lost_attempts for one in states) == sum(one.lost_attempts for one in ended)
    for state in states:
        assert 0 <= state.failed_share <= 1
        assert 0 <= state.p90_wait_seconds <= state.oldest_wait_seconds
        assert bool(state.stuck_because) == bool(state.stuck)
        own = waits.get((state.queue, state.gpu_type))
        assert state.p90_wait_seconds == pytest.approx(max(0, percentile(own, 90)) if own else 0, abs=1e-5)
    labels = [(one.name, tuple(one.labels.items())) for one in queue_readings(states, {})]
    assert len(set(labels)) == len(labels)
