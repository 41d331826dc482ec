"""Reservations that start later, with a real scheduler beside scripted machines and a scripted billing."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc, reservations_pb2, scheduler_pb2

from services.scheduler.jobs.reservation import GRACE
from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, TIMEOUT_SECONDS, Cluster, LaterClock, sound_reservation, until
from tests.services.scheduler.test_disks import create as create_disk
from tests.services.scheduler.test_disks import session_of
from tests.services.scheduler.test_reservations import (
    HOUR,
    PRICE,
    active,
    cancel,
    charged,
    extend,
    kinds,
    update,
)

MINUTE = timedelta(minutes=1)
MONTH = timedelta(days=30)


@pytest.fixture
def clock() -> LaterClock:
    return LaterClock()


@pytest.fixture
async def cluster(stopped_cluster: Cluster, clock: LaterClock) -> Cluster:
    """One warm machine of one GPU, a scheduler that runs, and a clock that a test moves."""
    stopped_cluster.clock = stopped_cluster.sessions.clock = clock
    await stopped_cluster.start()
    await stopped_cluster.knows_machines()
    assert stopped_cluster.scheduler
    dated = stopped_cluster.scheduler.dated
    await until(lambda: dated.is_loaded)
    return stopped_cluster


def start_in(clock: LaterClock, ahead: timedelta) -> Timestamp:
    """A time of whole seconds."""
    start = Timestamp()
    start.FromDatetime((clock.now() + ahead).replace(microsecond=0))
    return start


async def dated(cluster: Cluster, ahead: timedelta, key: str = "dated", **changes: Any) -> reservations_pb2.Reservation:
    assert isinstance(cluster.clock, LaterClock)
    return await cluster.reserve(key, **{"start_time": start_in(cluster.clock, ahead), **changes})


async def fault(cluster: Cluster, ahead: timedelta, **changes: Any) -> tuple[grpc.StatusCode, str]:
    error = await refused(dated(cluster, ahead, key="refused", **changes))
    return error.code, error.message


async def state_is(cluster: Cluster, one: reservations_pb2.Reservation, state: str) -> reservations_pb2.Reservation:
    """Waits for a state."""
    wanted = reservations_pb2.ReservationState.Value(f"RESERVATION_STATE_{state}")
    now = await cluster.reservation(one.reservation_id)
    while now.state != wanted:
        await until(_soon())
        now = await cluster.reservation(one.reservation_id)
    return now


def _soon() -> Callable[[], bool]:
    looks = iter((False, True))
    return lambda: next(looks)


async def test_a_dated_one_waits_for_its_start_with_its_credit_on_hold(cluster: Cluster, clock: LaterClock) -> None:
    start = start_in(clock, 3 * HOUR)
    made = await cluster.reserve("dated", start_time=start)
    assert made.state == reservations_pb2.RESERVATION_STATE_PENDING
    assert made.spec.start_time == start
    assert made.hold_micros == PRICE
    assert len(cluster.billing.open_holds()) == 1
    events = await cluster.reservation_events(made.reservation_id, "pending")
    assert [event.pending.start_time for event in events] == [made.spec.start_time]
    request = reservations_pb2.ListReservationsRequest(states=[reservations_pb2.RESERVATION_STATE_PENDING])
    (listed,) = (await cluster.reservations.ListReservations(request)).reservations
    assert listed == made
    queued = reservations_pb2.ListReservationsRequest(states=[reservations_pb2.RESERVATION_STATE_QUEUED])
    assert not (await cluster.reservations.ListReservations(queued)).reservations
    assert not cluster.pool.granted


async def test_the_list_of_queues_counts_it_before_it_waits(cluster: Cluster) -> None:
    service: queues_pb2_grpc.QueueServiceAsyncStub = queues_pb2_grpc.QueueServiceStub(cluster.channel)  # type: ignore[assignment]
    await dated(cluster, 2 * HOUR)

    [queue] = (await service.ListQueues(queues_pb2.ListQueuesRequest(), timeout=TIMEOUT_SECONDS)).queues

    assert (queue.later_reservations, queue.waiting_jobs, queue.running_jobs) == (1, 0, 0)


async def test_its_session_is_prepared_before_its_start_and_its_time_begins_then(
    cluster: Cluster, clock: LaterClock
) -> None:
    made = await dated(cluster, HOUR)
    clock.later = HOUR - cluster.settings.dated_lead
    events = await cluster.reservation_events(made.reservation_id, "active")
    assert kinds(events) == ["pending", "queued", "provisioning", "step", "ready", "active"]
    reservation = await cluster.reservation(made.reservation_id)
    assert reservation.active_time == made.spec.start_time
    assert reservation.expire_time.ToDatetime() - reservation.active_time.ToDatetime() == HOUR
    (session,) = cluster.sessions.sessions.values()
    assert session.request.end_time == reservation.expire_time
    assert not session.request.lasts.ToTimedelta(), "others count on its end"
    await cancel(cluster, made)
    over = (await cluster.reservation_events(made.reservation_id))[-1].ended
    assert (over.state, over.cost_micros) == (reservations_pb2.RESERVATION_STATE_CANCELLED, 0), "before its start"


async def test_a_late_start_ends_at_the_promised_time_and_pays_only_what_it_had(
    cluster: Cluster, clock: LaterClock
) -> None:
    cluster.sessions.opens = False
    made = await dated(cluster, HOUR)
    clock.later = HOUR + 10 * MINUTE
    await until(lambda: bool(cluster.sessions.sessions))
    (session,) = cluster.sessions.sessions.values()
    await session.add(ready=session_pb2.SessionReady(host_key="ssh-ed25519 AAAA", user="dev"))
    await cluster.reservation_events(made.reservation_id, "active")
    reservation = await cluster.reservation(made.reservation_id)
    start = made.spec.start_time.ToDatetime()
    assert reservation.active_time.ToDatetime() >= start + 10 * MINUTE
    assert reservation.expire_time.ToDatetime() == start + HOUR
    await session.end("EXPIRED", reservation.expire_time.ToDatetime(UTC))
    await cluster.reservation_events(made.reservation_id)
    assert (await cluster.reservation(made.reservation_id)).cost_micros < PRICE


async def test_a_start_that_cannot_be_is_refused_with_the_rule(cluster: Cluster) -> None:
    code, said = await fault(cluster, -MINUTE)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "spec.start_time" in said
    assert "past" in said
    assert "14 days ahead" in (await fault(cluster, MONTH))[1]
    assert "fallback_gpu_types" in (await fault(cluster, HOUR, fallback_gpu_types=["MI250X"]))[1]
    assert "no machine has more than 1 GPU; it needs 2 GPUs of one machine" in (await fault(cluster, HOUR, gpus=2))[1]
    assert "no machine of the type" in (await fault(cluster, HOUR, gpu_type="MI210"))[1]
    assert not cluster.billing.holds


async def test_a_conflict_names_the_field_what_is_in_the_way_and_the_nearest_start(
    cluster: Cluster, clock: LaterClock
) -> None:
    made = await dated(cluster, HOUR, name="lecture")
    error = await refused(dated(cluster, HOUR + 30 * MINUTE, key="second"), grpc.StatusCode.FAILED_PRECONDITION)
    ((field, said),) = error.violations
    assert field == "spec.start_time"
    assert f"{made.reservation_id} (lecture)" in said
    nearest = made.spec.start_time.ToDatetime() + HOUR
    assert f"The nearest start that works is {nearest:%Y-%m-%d %H:%M:%S} UTC" in said
    quote = reservations_pb2.QuoteReservationRequest(
        account_id=ACCOUNT, spec=sound_reservation(start_time=start_in(clock, HOUR + 30 * MINUTE))
    )
    await refused(cluster.reservations.QuoteReservation(quote), grpc.StatusCode.FAILED_PRECONDITION)
    assert len(cluster.billing.holds) == 1


async def test_what_other_accounts_have_is_a_number(cluster: Cluster, clock: LaterClock) -> None:
    made = await dated(cluster, HOUR, name="secret")
    request = reservations_pb2.CreateReservationRequest(
        account_id="account-2",
        user_id="user-2",
        spec=sound_reservation(start_time=start_in(clock, HOUR)),
        idempotency_key="theirs",
    )
    said = (await refused(cluster.reservations.CreateReservation(request))).message
    assert "1 of other accounts" in said
    assert "secret" not in said
    assert made.reservation_id not in said


async def test_reservations_that_start_later_keep_to_the_limit_of_their_queue_with_its_others(cluster: Cluster) -> None:
    for name in ("machine-2", "machine-3"):
        await cluster.pool.tell(name, "WARM")
    red = queues_pb2.Queue(name="red", resources={"gpu": queues_pb2.QueueResource(limit=1)})
    queues: queues_pb2_grpc.QueueServiceAsyncStub = queues_pb2_grpc.QueueServiceStub(cluster.channel)  # type: ignore[assignment]
    await queues.ApplyQueues(queues_pb2.ApplyQueuesRequest(queues=[red]), timeout=TIMEOUT_SECONDS)
    first = await dated(cluster, HOUR, queue="red")
    code, said = await fault(cluster, HOUR + 30 * MINUTE, queue="red")
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "queue red may have 1 of MI300X at a time, and its reservations have 1 then. From " in said
    await dated(cluster, HOUR, key="elsewhere")

    short = await active(cluster, key="short", queue="red", duration={"seconds": 1200})
    assert "its reservations have 1 then" in (await fault(cluster, 10 * MINUTE, queue="red"))[1]
    await cancel(cluster, short)
    long = await cluster.reserve("long", queue="red", duration={"seconds": 5400})
    request = queues_pb2.ExplainJobRequest(job_id=long.reservation_id)
    why = await queues.ExplainJob(request, timeout=TIMEOUT_SECONDS)
    assert why.reason.startswith(
        "Queue red has, with what starts later, as many GPUs of MI300X as its limit allows, 1."
    )
    await cancel(cluster, first)
    await cluster.reservation_events(long.reservation_id, "active")


async def test_back_to_back_is_no_conflict(cluster: Cluster) -> None:
    first = await dated(cluster, HOUR)
    start = Timestamp(seconds=first.spec.start_time.seconds + 3600)
    second = await cluster.reserve("second", start_time=start)
    before = Timestamp(seconds=first.spec.start_time.seconds - 1800)
    third = await cluster.reserve("third", start_time=before, duration={"seconds": 1800})
    assert {one.state for one in (first, second, third)} == {reservations_pb2.RESERVATION_STATE_PENDING}
    late = Timestamp(seconds=before.seconds + 1)
    await refused(cluster.reserve("fourth", start_time=late, duration={"seconds": 1800}))


async def test_one_that_runs_is_counted_until_its_end_and_grace(cluster: Cluster) -> None:
    running = await active(cluster)
    end = running.expire_time.ToDatetime(UTC) + GRACE
    soon = Timestamp()
    soon.FromDatetime(end.replace(microsecond=0))
    await refused(cluster.reserve("early", start_time=soon))
    made = await cluster.reserve("after", start_time=Timestamp(seconds=soon.seconds + 1))
    assert made.state == reservations_pb2.RESERVATION_STATE_PENDING


async def test_machines_that_the_pool_may_still_start_count(cluster: Cluster) -> None:
    await dated(cluster, HOUR)
    await refused(dated(cluster, HOUR, key="second"))
    cluster.pool.max_machines, cluster.pool.gpus_per_machine = 2, 8
    made = await dated(cluster, HOUR, key="third", gpus=8)
    assert made.state == reservations_pb2.RESERVATION_STATE_PENDING


async def test_kernel_jobs_start_in_front_of_it_only_if_their_limit_ends_before(
    cluster: Cluster, clock: LaterClock
) -> None:
    made = await dated(cluster, 10 * MINUTE)
    late = await cluster.submit("late", time_limit={"seconds": 800})
    in_time = await cluster.submit("in time", time_limit={"seconds": 500})
    events = await cluster.events_to_end(in_time.job_id)
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FINISHED
    assert (await cluster.job(late.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED
    await cancel(cluster, made)
    await cluster.reservation_events(made.reservation_id)
    events = await cluster.events_to_end(late.job_id)
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FINISHED


async def test_reservations_that_end_before_it_start_in_front_of_it(cluster: Cluster, clock: LaterClock) -> None:
    made = await dated(cluster, HOUR)
    long = await cluster.reserve("long", duration={"seconds": 3600})
    short = await active(cluster, "short", duration={"seconds": 1800})
    assert (await cluster.reservation(long.reservation_id)).state == reservations_pb2.RESERVATION_STATE_QUEUED
    await cancel(cluster, short)
    await cluster.reservation_events(short.reservation_id)
    clock.later = HOUR - MINUTE
    await cluster.reservation_events(made.reservation_id, "active")
    assert (await cluster.reservation(long.reservation_id)).state == reservations_pb2.RESERVATION_STATE_QUEUED


async def test_an_extension_stops_where_somebody_else_starts_and_the_refusal_says_what_is_possible(
    cluster: Cluster,
) -> None:
    running = await active(cluster, duration={"seconds": 1800})
    await dated(cluster, HOUR)
    error = await refused(extend(cluster, running, HOUR), grpc.StatusCode.FAILED_PRECONDITION)
    ((field, said),) = error.violations
    assert field == "duration"
    assert "is 1 h" in said
    found = re.search(r"longest that is possible is (\d+) minutes", said)
    assert found, said
    longest = int(found[1])
    # An hour without half an hour and the grace, more by what passed between the two, less by a part of a second.
    assert 27 <= longest <= 29
    extended = await extend(cluster, running, longest * MINUTE, "fits")
    assert extended.expire_time.ToDatetime() - running.expire_time.ToDatetime() == longest * MINUTE
    assert "No more time is possible" in (await refused(extend(cluster, running, 3 * MINUTE, "more"))).message


async def test_a_dated_one_can_be_extended_until_the_next_and_not_into_it(cluster: Cluster, clock: LaterClock) -> None:
    first = await dated(cluster, HOUR)
    await cluster.reserve("second", start_time=Timestamp(seconds=first.spec.start_time.seconds + 7200))
    clock.later = HOUR
    await cluster.reservation_events(first.reservation_id, "active")
    extended = await extend(cluster, first, HOUR)
    assert extended.expire_time.seconds == first.spec.start_time.seconds + 7200
    await refused(extend(cluster, first, MINUTE, "more"))


async def test_it_outlives_a_scheduler_that_is_killed_and_one_that_was_away_at_its_start(
    cluster: Cluster, clock: LaterClock
) -> None:
    made = await dated(cluster, HOUR)
    await cluster.stop()
    await cluster.start()
    await refused(dated(cluster, HOUR, key="second"))
    assert (await cluster.reservation(made.reservation_id)).state == reservations_pb2.RESERVATION_STATE_PENDING
    await cluster.stop()
    clock.later = HOUR + 5 * MINUTE
    await cluster.start()
    await cluster.reservation_events(made.reservation_id, "active")


async def test_without_gpus_at_its_start_it_says_so_waits_first_in_line_and_fails_in_the_end(
    cluster: Cluster, clock: LaterClock
) -> None:
    made = await dated(cluster, HOUR)
    await cluster.pool.tell("machine-1", "LOST", reason="it burned")
    clock.later = HOUR + MINUTE
    events = await cluster.reservation_events(made.reservation_id, "queued")
    assert events[-1].queued.position == 1
    await cluster.submit("behind it")
    said = ""
    request = reservations_pb2.WatchReservationRequest(account_ids=[ACCOUNT], reservation_id=made.reservation_id)
    async for answer in cluster.reservations.WatchReservation(request, timeout=TIMEOUT_SECONDS):
        said = answer.event.queued.message
        if "not there yet" in said:
            break
    assert "nothing is charged" in said
    clock.later = HOUR + 31 * MINUTE
    over = (await cluster.reservation_events(made.reservation_id))[-1].ended
    assert over.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert "SCHEDULER_DATED_START_WITHIN" in over.message
    assert over.cost_micros == 0
    assert [settled.amount_micros for settled in cluster.billing.settled.values()] == [0]


async def test_a_machine_that_comes_late_goes_to_it_and_not_to_those_behind(
    cluster: Cluster, clock: LaterClock
) -> None:
    made = await dated(cluster, HOUR)
    await cluster.pool.tell("machine-1", "LOST")
    clock.later = HOUR + MINUTE
    await state_is(cluster, made, "QUEUED")
    behind = await cluster.submit("behind it")
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.reservation_events(made.reservation_id, "active")
    assert (await cluster.job(behind.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED


async def test_one_that_is_cancelled_before_its_start_gives_credit_and_gpus_back(cluster: Cluster) -> None:
    made = await dated(cluster, HOUR)
    await cancel(cluster, made)
    over = (await cluster.reservation_events(made.reservation_id))[-1].ended
    assert (over.state, over.cost_micros) == (reservations_pb2.RESERVATION_STATE_CANCELLED, 0)
    assert not cluster.billing.open_holds()
    assert (await dated(cluster, HOUR, key="again")).state == reservations_pb2.RESERVATION_STATE_PENDING


async def test_a_repeated_call_gives_the_first_one_even_after_its_start(cluster: Cluster, clock: LaterClock) -> None:
    start = start_in(clock, HOUR)
    made = await cluster.reserve("key", start_time=start)
    assert (await cluster.reserve("key", start_time=start)).reservation_id == made.reservation_id
    clock.later = 2 * HOUR
    assert (await cluster.reserve("key", start_time=start)).reservation_id == made.reservation_id


async def test_a_refused_hold_keeps_nothing_free(cluster: Cluster) -> None:
    cluster.billing.refusals["ReserveCredit"] = grpc.StatusCode.FAILED_PRECONDITION
    await refused(dated(cluster, HOUR))
    cluster.billing.refusals.clear()
    assert (await dated(cluster, HOUR, key="second")).state == reservations_pb2.RESERVATION_STATE_PENDING


async def test_one_whose_hold_nobody_answered_keeps_its_gpus_for_the_next_try(
    cluster: Cluster, clock: LaterClock
) -> None:
    start = start_in(clock, HOUR)
    cluster.billing.refusals["ReserveCredit"] = grpc.StatusCode.UNAVAILABLE
    await refused(cluster.reserve("first", start_time=start))
    cluster.billing.refusals.clear()
    await refused(cluster.reserve("second", start_time=start), grpc.StatusCode.FAILED_PRECONDITION)
    made = await cluster.reserve("first", start_time=start)
    assert made.state == reservations_pb2.RESERVATION_STATE_PENDING


async def test_a_user_has_no_more_ahead_than_the_limits_say(stopped_cluster: Cluster, clock: LaterClock) -> None:
    cluster = stopped_cluster
    cluster.clock = clock
    cluster.settings = cluster.settings.model_copy(update={"most_dated_of_user": 2, "most_dated_gpus_of_user": 9})
    cluster.pool.max_machines, cluster.pool.gpus_per_machine = 9, 8
    await cluster.start()
    assert cluster.scheduler
    book = cluster.scheduler.dated
    await until(lambda: book.is_loaded)
    await dated(cluster, HOUR, gpus=8)
    code, said = await fault(cluster, 2 * HOUR, gpus=2)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "1 more are possible" in said
    await dated(cluster, 2 * HOUR, key="second")
    assert "SCHEDULER_MOST_DATED_OF_USER" in (await fault(cluster, 3 * HOUR))[1]


async def test_its_name_can_be_changed_before_its_start(cluster: Cluster, clock: LaterClock) -> None:
    made = await dated(cluster, HOUR)
    assert (await update(cluster, made, name="other")).spec.name == "other"
    clock.later = HOUR
    await cluster.reservation_events(made.reservation_id, "active")
    assert (await cluster.reservation(made.reservation_id)).spec.name == "other"
    await refused(extend(cluster, await dated(cluster, 9 * HOUR, key="next"), HOUR), "pending")


async def test_nobody_who_comes_within_half_an_hour_loses_it_after_a_warning(
    cluster: Cluster, clock: LaterClock
) -> None:
    made = await dated(cluster, HOUR, duration={"seconds": 7200})
    clock.later = HOUR - MINUTE
    await cluster.reservation_events(made.reservation_id, "active")
    await cluster.stop()
    clock.later = HOUR + 21 * MINUTE
    await cluster.start()
    events = await cluster.reservation_events(made.reservation_id, "no_show")
    assert events[-1].no_show.end_time.seconds == made.spec.start_time.seconds + 1800
    await cluster.stop()
    clock.later = HOUR + 31 * MINUTE
    await cluster.start()
    events = await cluster.reservation_events(made.reservation_id)
    assert kinds(events).count("no_show") == 1
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED
    assert "SCHEDULER_DATED_NO_SHOW_AFTER" in events[-1].ended.message


async def test_a_login_before_its_start_counts_and_is_paid_from_then_on(cluster: Cluster, clock: LaterClock) -> None:
    made = await dated(cluster, HOUR, duration={"seconds": 7200})
    clock.later = HOUR - MINUTE
    await cluster.reservation_events(made.reservation_id, "active")
    (session,) = cluster.sessions.sessions.values()
    await session.add(login=session_pb2.SessionLogin(connection=1, user="alice"))
    await cluster.reservation_events(made.reservation_id, "login")
    await cluster.stop()
    clock.later = HOUR + 40 * MINUTE
    await cluster.start()
    await charged(cluster, made, 41 * MINUTE)
    now = await cluster.reservation(made.reservation_id)
    assert now.state == reservations_pb2.RESERVATION_STATE_ACTIVE
    assert now.expire_time.seconds == made.spec.start_time.seconds + 7200, "its end is as it was"


async def test_the_calendar_has_what_runs_and_what_starts_later_and_availability_the_next_start(
    cluster: Cluster,
) -> None:
    running = await active(cluster, name="running", duration={"seconds": 1800})
    later = await dated(cluster, HOUR, name="later")
    found = (await cluster.reservations.GetCalendar(reservations_pb2.GetCalendarRequest(gpu_type="mi300x"))).entries
    assert [(entry.name, entry.gpus, entry.machine_id, entry.late) for entry in found] == [
        ("running", 1, "machine-1", False),
        ("later", 1, "machine-1", False),
    ]
    assert found[0].end_time.ToDatetime() == running.expire_time.ToDatetime() + GRACE
    assert found[1].begin_time == later.spec.start_time
    assert found[1].end_time.seconds == later.spec.start_time.seconds + 3600
    there = await cluster.availability()
    assert (there.next_dated_time, there.next_dated_gpus) == (later.spec.start_time, 1)
    unknown = reservations_pb2.GetCalendarRequest(gpu_type="A100")
    await refused(cluster.reservations.GetCalendar(unknown), grpc.StatusCode.INVALID_ARGUMENT)


async def test_why_says_that_what_is_free_is_kept_for_later(cluster: Cluster) -> None:
    made = await dated(cluster, 10 * MINUTE)
    job = await cluster.submit("late", time_limit={"seconds": 800})
    assert cluster.channel
    queues = queues_pb2_grpc.QueueServiceStub(cluster.channel)
    explained = await queues.ExplainJob(queues_pb2.ExplainJobRequest(account_ids=[ACCOUNT], job_id=job.job_id))
    assert f"kept for {made.reservation_id} from" in explained.reason
    assert f"kept for {made.reservation_id} from" in explained.machines[0].reason
    own = await queues.ExplainJob(queues_pb2.ExplainJobRequest(account_ids=[ACCOUNT], job_id=made.reservation_id))
    assert "of machine-1 are kept for it" in own.reason
    at = datetime.fromtimestamp(made.spec.start_time.seconds, UTC)
    assert f"{at:%Y-%m-%d %H:%M} UTC" in str(explained)


async def test_a_disk_is_kept_for_a_reservation_from_its_making_and_is_free_if_that_is_refused_or_over(
    cluster: Cluster, clock: LaterClock
) -> None:
    await create_disk(cluster, "work")
    first = await dated(cluster, HOUR, disk="work")
    await refused(cluster.reserve("now", disk="work"), grpc.StatusCode.ABORTED, first.reservation_id)
    # A start that does not work takes nothing, neither the disk nor a place in the calendar.
    await create_disk(cluster, "other")
    assert (await fault(cluster, HOUR, disk="other"))[0] is grpc.StatusCode.FAILED_PRECONDITION
    await refused(dated(cluster, 5 * HOUR, key="refused", disk="work"), grpc.StatusCode.ABORTED)
    await dated(cluster, 5 * HOUR, key="second", disk="other")
    clock.later = HOUR
    reservation = await state_is(cluster, first, "ACTIVE")
    assert session_of(cluster, reservation).request.disk.disk_id
    await cancel(cluster, first)
    await cluster.reservation_events(first.reservation_id)
    await dated(cluster, 8 * HOUR, key="third", disk="work")
