"""GPU time of reservations by day, and the limits of a user."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st
from wavepool.scheduler.v1 import reservations_pb2

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.reservation_usage import UserLimits, above_limits, usage_of
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.states import JobState
from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, TIMEOUT_SECONDS, scripted_cluster
from tests.services.scheduler.jobs import a_job
from vocabulary.slots import EIGHTHS_PER_GPU

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def reserved(
    begin: datetime, duration: timedelta, *, gpus: int = 1, end: datetime | None = None, cancel: datetime | None = None
) -> Job:
    """A reservation of a user that is active from `begin`, and over by `end` if it is given."""
    return a_job(resources=Resources(EIGHTHS_PER_GPU * gpus)).changed(
        state=JobState.FINISHED if end else JobState.RUNNING,
        user_id="user-1",
        reservation=Reservation("train", (), duration, active_time=begin),
        end_time=end,
        cancel_time=cancel,
    )


def hours(jobs: list[Job], begin: datetime, end: datetime, now: datetime) -> list[tuple[int, float, int]]:
    usage = usage_of(jobs, begin, end, now)
    return [(key.day.day, usage[key].gpu_time / HOUR, usage[key].reservations) for key in sorted(usage)]


def test_the_use_is_cut_at_midnight_and_counts_each_gpu() -> None:
    job = reserved(NOON, 24 * HOUR, gpus=2, end=NOON + DAY)
    assert hours([job], NOON - DAY, NOON + 9 * DAY, NOON + 9 * DAY) == [(26, 24.0, 1), (27, 24.0, 1)]


def test_what_goes_on_counts_until_now_and_what_was_cancelled_until_then() -> None:
    going_on = reserved(NOON, 8 * HOUR)
    cancelled = reserved(NOON, 8 * HOUR, end=NOON + 2 * HOUR, cancel=NOON + HOUR)
    assert hours([going_on, cancelled], NOON - DAY, NOON + DAY, NOON + 3 * HOUR) == [(26, 4.0, 2)]


def test_only_the_period_counts_and_what_was_never_active_does_not() -> None:
    never = a_job().changed(reservation=Reservation("train", (), HOUR))
    assert hours([reserved(NOON, 4 * HOUR), never], NOON + HOUR, NOON + 2 * HOUR, NOON + DAY) == [(26, 1.0, 1)]


@given(st.integers(0, 200), st.integers(1, 48), st.integers(1, 300))
def test_the_days_add_up_to_the_whole(start: int, lasts: int, now: int) -> None:
    begin = NOON + start * HOUR / 3
    job = reserved(begin, lasts * HOUR, gpus=4)
    usage = usage_of([job], NOON, NOON + 30 * DAY, NOON + now * HOUR)
    assert job.reservation
    whole = job.reservation.used(NOON + now * HOUR) * 4
    assert sum((one.gpu_time for one in usage.values()), timedelta(0)) == whole


def test_gpus_at_a_time_are_limited_and_the_refusal_says_how_many_are_possible() -> None:
    asked = reserved(NOON, HOUR, gpus=4)
    limits = UserLimits(8, timedelta(0))
    others = [reserved(NOON - HOUR, 4 * HOUR, gpus=4), reserved(NOON - DAY, HOUR, gpus=8, end=NOON - DAY + HOUR)]
    assert above_limits(asked, others, limits, NOON) == ""
    others.append(reserved(NOON - HOUR, 4 * HOUR, gpus=2))
    assert above_limits(asked, others, limits, NOON) == (
        "you have 6 GPUs reserved, of 8 that each user may have; 2 more are possible"
    )


def test_gpu_hours_in_a_week_count_what_was_used_and_what_is_reserved() -> None:
    limits = UserLimits(0, 20 * HOUR)
    old = reserved(NOON - 8 * DAY, 10 * HOUR, gpus=8, end=NOON - 8 * DAY + 10 * HOUR)
    used = reserved(NOON - DAY, 8 * HOUR, end=NOON - DAY + 6 * HOUR, cancel=NOON - DAY + 6 * HOUR)
    goes_on = reserved(NOON - HOUR, 4 * HOUR, gpus=2)
    assert above_limits(reserved(NOON, 6 * HOUR), [old, used, goes_on], limits, NOON) == ""
    assert above_limits(reserved(NOON, 7 * HOUR), [old, used, goes_on], limits, NOON) == (
        "7 GPU hours are more than are left of the 20 that each user may have in a week: 6, with what is reserved now"
    )


async def test_a_user_who_has_all_that_one_may_have_is_refused_and_the_use_can_be_read(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, most_reserved_gpus=1) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        first = await cluster.reserve("first")
        await cluster.reservation_events(first.reservation_id, "active")
        assert (await cluster.reserve("first")).reservation_id == first.reservation_id
        said = "You have 1 GPUs reserved, of 1 that each user may have; 0 more are possible."
        await refused(cluster.reserve("second"), grpc.StatusCode.RESOURCE_EXHAUSTED, said)
        begin, end = Timestamp(), Timestamp()
        begin.FromDatetime(datetime.now(UTC) - DAY)
        end.FromDatetime(datetime.now(UTC) + DAY)
        request = reservations_pb2.GetReservationUsageRequest(account_ids=[ACCOUNT], begin_time=begin, end_time=end)
        answer = await cluster.reservations.GetReservationUsage(request, timeout=TIMEOUT_SECONDS)
        assert sum(one.reservations for one in answer.usage) >= 1
        assert {one.gpu_type for one in answer.usage} == {"MI300X"}
        wrong = reservations_pb2.GetReservationUsageRequest(begin_time=end, end_time=begin)
        await refused(
            cluster.reservations.GetReservationUsage(wrong, timeout=TIMEOUT_SECONDS), grpc.StatusCode.INVALID_ARGUMENT
        )


async def test_more_time_counts_as_well(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, most_reserved_gpu_time=timedelta(minutes=90)) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        reservation = await cluster.reserve()
        await cluster.reservation_events(reservation.reservation_id, "active")

        async def extend(minutes: int, key: str) -> reservations_pb2.Reservation:
            request = reservations_pb2.ExtendReservationRequest(
                reservation_id=reservation.reservation_id, idempotency_key=key
            )
            request.duration.FromTimedelta(timedelta(minutes=minutes))
            return (await cluster.reservations.ExtendReservation(request, timeout=TIMEOUT_SECONDS)).reservation

        keys = ("half an hour", "another half")
        answers = await asyncio.gather(*(extend(30, key) for key in keys), return_exceptions=True)
        (taken,) = [key for key, one in zip(keys, answers, strict=True) if not isinstance(one, BaseException)]
        assert len((await extend(30, taken)).extensions) == 1, "a repeated call is none"
        await refused(
            extend(1, "a minute"), grpc.StatusCode.RESOURCE_EXHAUSTED, "of the 1.5 that each user may have in a week"
        )
