"""Reservations above the quotas of their queues: they get no more time while an owner waits, and everybody is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc, reservations_pb2, scheduler_pb2

from servicekit.loops import Loop
from services.scheduler.fairness.settings import Queues, QueueSettings, Share
from services.scheduler.queue.borrowing import InUse, lends
from tests.refused_calls import refused
from tests.services.scheduler.cluster import (
    ACCOUNT,
    TIMEOUT_SECONDS,
    USER,
    Cluster,
    LaterClock,
    scripted_cluster,
    sound_reservation,
    until,
)

HOUR = timedelta(hours=1)
LIMIT = "the limit of machines is reached"
NOTICE = Duration(seconds=1800)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """A machine of two GPUs, the only one that there may be, and two teams with a quota of one each."""
    async with scripted_cluster(tmp_path) as found:
        await found.pool.tell("machine-1", "STOPPED")
        await found.pool.tell("machine-2", "WARM", gpus=2)
        found.pool.blocked_reason = LIMIT
        await found.start()
        await found.knows_machines()
        await apply(found, team("red", 1), team("blue", 1))
        yield found


@pytest.fixture
def clock() -> LaterClock:
    return LaterClock()


@pytest.fixture
async def recalling(tmp_path: Path, clock: LaterClock) -> AsyncIterator[Cluster]:
    """A machine of two GPUs and two teams, of which red has no quota, and gives way to others in half an hour."""
    async with scripted_cluster(tmp_path) as found:
        found.clock = found.sessions.clock = clock
        await found.pool.tell("machine-2", "WARM", gpus=2)
        found.pool.blocked_reason = LIMIT
        await found.start()
        await found.knows_machines()
        await apply(found, team("red", 0, recall_notice=NOTICE), team("blue", 2))
        yield found


def team(name: str, quota: float, **more: Any) -> queues_pb2.Queue:
    return queues_pb2.Queue(name=name, resources={"gpu": queues_pb2.QueueResource(quota=quota)}, **more)


async def apply(cluster: Cluster, *queues: queues_pb2.Queue) -> None:
    service: queues_pb2_grpc.QueueServiceAsyncStub = queues_pb2_grpc.QueueServiceStub(cluster.channel)  # type: ignore[assignment]
    await service.ApplyQueues(queues_pb2.ApplyQueuesRequest(queues=queues), timeout=TIMEOUT_SECONDS)


async def reserved(cluster: Cluster, key: str, **spec: Any) -> reservations_pb2.Reservation:
    made = await cluster.reserve(key, **spec)
    await cluster.reservation_events(made.reservation_id, "active")
    return await cluster.reservation(made.reservation_id)


async def extend(
    cluster: Cluster, reservation: reservations_pb2.Reservation, hours: int = 1
) -> reservations_pb2.Reservation:
    request = reservations_pb2.ExtendReservationRequest(
        account_ids=[ACCOUNT],
        managed_account_ids=[ACCOUNT],
        reservation_id=reservation.reservation_id,
        duration=Duration(seconds=hours * 3600),
        user_id=USER,
        idempotency_key=f"{hours} more",
    )
    answer = await cluster.reservations.ExtendReservation(request, timeout=TIMEOUT_SECONDS)
    return answer.reservation


async def cancel(cluster: Cluster, reservation: reservations_pb2.Reservation) -> None:
    request = reservations_pb2.CancelReservationRequest(
        account_ids=[ACCOUNT], reservation_id=reservation.reservation_id, user_id=USER
    )
    await cluster.reservations.CancelReservation(request, timeout=TIMEOUT_SECONDS)


async def why(cluster: Cluster, job_id: str) -> str:
    return (await explained(cluster, job_id)).reason


async def explained(cluster: Cluster, job_id: str) -> queues_pb2.ExplainJobResponse:
    service: queues_pb2_grpc.QueueServiceAsyncStub = queues_pb2_grpc.QueueServiceStub(cluster.channel)  # type: ignore[assignment]
    request = queues_pb2.ExplainJobRequest(account_ids=[ACCOUNT], job_id=job_id)
    return await service.ExplainJob(request, timeout=TIMEOUT_SECONDS)


async def is_blocked(cluster: Cluster, job_id: str) -> None:
    """Waits until the pool has said that no machine is started for the job."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while LIMIT not in (await explained(cluster, job_id)).remedy:
            await asyncio.sleep(0.005)


async def test_what_borrows_is_not_extended_while_its_owner_waits_and_why_says_until_when(cluster: Cluster) -> None:
    red = await reserved(cluster, "red", gpus=2, queue="red")
    assert red.borrowed_gpus == 1

    blue = await cluster.submit("blue", queue="blue")
    await is_blocked(cluster, blue.job_id)
    await refused(extend(cluster, red), grpc.StatusCode.FAILED_PRECONDITION, "queue blue waits")
    end = red.expire_time.ToDatetime()
    said = await why(cluster, blue.job_id)
    assert "Queue red has 2 reserved with a quota of 1; these keep their GPUs to their ends" in said
    assert f"2 by {end:%Y-%m-%d %H:%M} UTC" in said

    await cluster.cancel(blue.job_id)
    assert len((await extend(cluster, red)).extensions) == 1


async def test_within_its_quota_a_reservation_is_extended_whoever_waits(cluster: Cluster) -> None:
    red = await reserved(cluster, "red", queue="red")
    other = await reserved(cluster, "other", queue="blue")
    assert (red.borrowed_gpus, other.borrowed_gpus) == (0, 0)
    blue = await cluster.submit("blue", queue="blue")
    await is_blocked(cluster, blue.job_id)

    assert len((await extend(cluster, red)).extensions) == 1
    assert "keep their GPUs" not in await why(cluster, blue.job_id)


async def test_the_first_of_a_queues_reservations_has_its_quota(cluster: Cluster) -> None:
    red = await reserved(cluster, "red", queue="red")
    await reserved(cluster, "more", queue="red")
    both = await cluster.reservations.ListReservations(reservations_pb2.ListReservationsRequest())
    assert {one.reservation_id == red.reservation_id: one.borrowed_gpus for one in both.reservations} == {
        True: 0,
        False: 1,
    }


async def test_submissions_of_its_queue_take_no_quota_from_a_reservation(cluster: Cluster) -> None:
    await apply(cluster, team("red", 1, longest_borrowing=Duration()), team("blue", 1))
    gate = cluster.gate()
    work = await cluster.running("work", queue="red")

    red = await reserved(cluster, "red", queue="red")

    assert red.borrowed_gpus == 0
    assert len((await extend(cluster, red)).extensions) == 1
    gate.set()
    await cluster.events_to_end(work.job_id)


async def test_of_several_that_wait_at_once_only_so_many_start_as_fit_within_the_quota(cluster: Cluster) -> None:
    await apply(cluster, team("red", 1, longest_borrowing=Duration()), team("blue", 2))
    whole = await reserved(cluster, "blue", gpus=2, queue="blue")
    first, second = [await cluster.reserve(key, queue="red") for key in ("first", "second")]

    await cancel(cluster, whole)

    await cluster.reservation_events(first.reservation_id, "active")
    assert "allows for reservations" in await why(cluster, second.reservation_id)


async def test_nobody_is_refused_more_time_for_one_that_gets_a_new_machine(cluster: Cluster) -> None:
    red = await reserved(cluster, "red", gpus=2, queue="red")
    cluster.pool.blocked_reason = ""
    await cluster.submit("blue", queue="blue")

    assert len((await extend(cluster, red)).extensions) == 1


async def test_a_quote_says_how_much_would_be_borrowed(cluster: Cluster) -> None:
    request = reservations_pb2.QuoteReservationRequest(
        spec=sound_reservation(gpus=2, queue="red"), account_id=ACCOUNT, user_id=USER
    )
    quote = await cluster.reservations.QuoteReservation(request, timeout=TIMEOUT_SECONDS)
    assert quote.borrowed_gpus == 1


async def test_a_queue_says_how_long_reservations_may_borrow(cluster: Cluster) -> None:
    longest = Duration(seconds=7200)
    await apply(cluster, team("red", 1, longest_borrowing=longest), team("blue", 1))
    long = {"queue": "red", "duration": Duration(seconds=3 * 3600)}

    red = await reserved(cluster, "short", gpus=2, queue="red")
    await refused(
        cluster.reserve("long", gpus=2, **long),
        grpc.StatusCode.INVALID_ARGUMENT,
        "Queue red may have 1 of MI300X at a time in reservations that last more than 2 h, and this takes 2",
    )
    assert len((await extend(cluster, red)).extensions) == 1
    await refused(
        extend(cluster, red, hours=2), grpc.StatusCode.FAILED_PRECONDITION, "which lets such reservations last 2 h"
    )


async def test_one_that_is_too_long_to_borrow_waits_until_it_fits_within_the_quota(cluster: Cluster) -> None:
    await apply(cluster, team("red", 1, longest_borrowing=Duration()), team("blue", 1))
    first = await reserved(cluster, "first", queue="red")
    second = await cluster.reserve("second", queue="red")
    assert "Queue red has as many GPUs of MI300X as its quota, 1, allows for reservations" in await why(
        cluster, second.reservation_id
    )
    assert not (await cluster.reservation(second.reservation_id)).HasField("eta_p50")
    # A submission may still borrow what is free.
    await cluster.events_to_end((await cluster.submit("work", queue="red")).job_id)

    await cancel(cluster, first)
    await cluster.reservation_events(second.reservation_id, "active")


async def test_what_borrows_is_ended_for_its_owner_with_notice_if_its_queue_says_so(
    recalling: Cluster, clock: LaterClock
) -> None:
    red = await reserved(recalling, "red", gpus=2, queue="red")
    blue = await recalling.submit("blue", queue="blue", resources=scheduler_pb2.Resources(gpus=2))
    before = clock.now()

    [*_, event] = await recalling.reservation_events(red.reservation_id, "recalled")
    end = event.recalled.end_time.ToDatetime(UTC)
    assert event.recalled.queue == "blue"
    assert timedelta(0) <= end - before - timedelta(minutes=30) < timedelta(seconds=TIMEOUT_SECONDS)
    shown = await recalling.reservation(red.reservation_id)
    assert (shown.recall_time, shown.recall_queue) == (event.recalled.end_time, "blue")
    await until(lambda: any("Queue blue needs these GPUs" in text for text in recalling.sessions.texts))
    assert f"2 by {end:%Y-%m-%d %H:%M} UTC" in await why(recalling, blue.job_id)

    clock.later = timedelta(minutes=31)
    [*_, ended] = await recalling.reservation_events(red.reservation_id)
    assert ended.ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED
    assert "Queue blue waited for GPUs of its own quota" in ended.ended.message
    await recalling.events_to_end(blue.job_id)


async def test_the_notice_is_taken_back_if_nobody_waits_any_more(recalling: Cluster, clock: LaterClock) -> None:
    red = await reserved(recalling, "red", gpus=2, queue="red")
    blue = await recalling.submit("blue", queue="blue", resources=scheduler_pb2.Resources(gpus=2))
    await recalling.reservation_events(red.reservation_id, "recalled")

    await recalling.cancel(blue.job_id)

    request = reservations_pb2.WatchReservationRequest(account_ids=[ACCOUNT], reservation_id=red.reservation_id)
    answers = recalling.reservations.WatchReservation(request, timeout=TIMEOUT_SECONDS)
    said = (answer.event.recalled async for answer in answers if answer.event.HasField("recalled"))
    assert [(await anext(said)).HasField("end_time"), (await anext(said)).HasField("end_time")] == [True, False]
    clock.later = timedelta(minutes=31)
    await recalls(recalling).run_once()
    assert not (await recalling.reservation(red.reservation_id)).recall_queue
    assert (await recalling.reservation(red.reservation_id)).state == reservations_pb2.RESERVATION_STATE_ACTIVE


async def test_no_more_are_ended_than_make_room(recalling: Cluster) -> None:
    large = await reserved(recalling, "large", gpus=2, queue="red")
    await recalling.pool.tell("machine-3", "WARM")
    small = await reserved(recalling, "small", queue="red")
    await recalling.submit("blue", queue="blue", resources=scheduler_pb2.Resources(gpus=2))

    await recalling.reservation_events(large.reservation_id, "recalled")
    await recalls(recalling).run_once()

    # Though it began last: its GPU is on another machine.
    assert not (await recalling.reservation(small.reservation_id)).recall_queue


async def test_a_notice_outlives_a_moment_in_which_the_machines_are_not_known(recalling: Cluster) -> None:
    red = await reserved(recalling, "red", gpus=2, queue="red")
    await recalling.submit("blue", queue="blue", resources=scheduler_pb2.Resources(gpus=2))
    await recalling.reservation_events(red.reservation_id, "recalled")
    said = (await recalling.reservation(red.reservation_id)).recall_time

    for is_complete in (False, True):
        loop: Any = recalls(recalling)
        loop._borrowing._inventory.clear()
        loop._borrowing._inventory.is_complete = is_complete
        await loop.run_once()
        assert (await recalling.reservation(red.reservation_id)).recall_time == said


async def test_another_queue_that_waits_takes_the_notice_over_with_its_end(
    recalling: Cluster, clock: LaterClock
) -> None:
    await apply(recalling, team("green", 2))
    red = await reserved(recalling, "red", gpus=2, queue="red")
    blue = await recalling.submit("blue", queue="blue", resources=scheduler_pb2.Resources(gpus=2))
    [*_, first] = await recalling.reservation_events(red.reservation_id, "recalled")
    green = await recalling.submit("green", queue="green", resources=scheduler_pb2.Resources(gpus=2))
    await is_blocked(recalling, green.job_id)

    await recalling.cancel(blue.job_id)

    async with asyncio.timeout(TIMEOUT_SECONDS):
        while (shown := await recalling.reservation(red.reservation_id)).recall_queue != "green":
            await asyncio.sleep(0.005)
    assert shown.recall_time == first.recalled.end_time
    clock.later = timedelta(minutes=31)
    [*_, ended] = await recalling.reservation_events(red.reservation_id)
    assert "Queue green waited" in ended.ended.message
    over = await recalling.reservation(red.reservation_id)
    assert (over.HasField("recall_time"), over.recall_queue) == (False, "")


async def test_nothing_is_ended_for_a_job_that_wants_a_new_machine(recalling: Cluster) -> None:
    red = await reserved(recalling, "red", gpus=2, queue="red")
    use = scheduler_pb2.MachineUse(reuse=scheduler_pb2.MACHINE_REUSE_CREATE)
    blue = await recalling.submit("blue", queue="blue", machine=use)
    await is_blocked(recalling, blue.job_id)

    await recalls(recalling).run_once()

    assert not (await recalling.reservation(red.reservation_id)).recall_queue


async def test_none_is_ended_while_another_one_that_makes_room_is_ending(recalling: Cluster) -> None:
    await apply(recalling, team("blue", 1))
    leaves = await reserved(recalling, "leaves", queue="red")
    stays = await reserved(recalling, "stays", queue="red")
    await recalling.sessions.fall_silent()
    await cancel(recalling, leaves)
    blue = await recalling.submit("blue", queue="blue")
    await is_blocked(recalling, blue.job_id)

    await recalls(recalling).run_once()

    assert not (await recalling.reservation(stays.reservation_id)).recall_queue


async def test_without_the_rule_nothing_is_ended(cluster: Cluster) -> None:
    red = await reserved(cluster, "red", gpus=2, queue="red")
    blue = await cluster.submit("blue", queue="blue")
    await is_blocked(cluster, blue.job_id)

    await recalls(cluster).run_once()

    assert not (await cluster.reservation(red.reservation_id)).recall_queue


async def test_one_that_ends_before_the_notice_would_be_over_gets_none(recalling: Cluster, clock: LaterClock) -> None:
    red = await reserved(recalling, "red", gpus=2, queue="red", duration=Duration(seconds=3600))
    clock.later = timedelta(minutes=31)
    blue = await recalling.submit("blue", queue="blue", resources=scheduler_pb2.Resources(gpus=2))
    await is_blocked(recalling, blue.job_id)

    await recalls(recalling).run_once()

    assert not (await recalling.reservation(red.reservation_id)).recall_queue


async def test_a_notice_is_no_shorter_than_a_minute(cluster: Cluster) -> None:
    await refused(
        apply(cluster, team("red", 1, recall_notice=Duration(seconds=30))),
        grpc.StatusCode.INVALID_ARGUMENT,
        "Give 60 s or more, or 0 s",
    )


def recalls(cluster: Cluster) -> Loop:
    assert cluster.scheduler
    [found] = [loop for loop, *_ in cluster.scheduler.duties if loop.name == "recalls"]
    return found


TREE = Queues(
    [
        QueueSettings("lab", resources={"gpu": Share(quota=2000)}),
        QueueSettings("ada", parent="lab", resources={"gpu": Share(quota=1000)}),
        QueueSettings("bob", parent="lab", resources={"gpu": Share(quota=1000)}),
        QueueSettings("shop", resources={"gpu": Share(quota=1000)}),
    ]
)


@pytest.mark.parametrize(
    ("used", "owner", "borrower", "lent"),
    [
        ({"ada": 2000, "lab": 2000}, "bob", "ada", True),
        ({"ada": 2000, "lab": 2000}, "shop", "ada", False),
        ({"ada": 3000, "lab": 3000}, "shop", "ada", True),
        ({"ada": 2000, "bob": 1000, "lab": 3000}, "bob", "ada", False),
        ({"shop": 2000}, "ada", "shop", True),
        ({"shop": 2000, "bob": 2000, "lab": 2000}, "ada", "shop", False),
        ({"ada": 2000, "lab": 2000}, "ada", "ada", False),
        ({"default": 125}, "ada", "default", True),
        ({"shop": 2000}, "default", "shop", False),
    ],
    ids=[
        "from a sibling",
        "the lab is within its quota",
        "the lab is above its quota",
        "bob has his own already",
        "from another lab",
        "the lab has its own already",
        "the same queue",
        "a queue without quota",
        "an owner without quota",
    ],
)
def test_quotas_count_below_the_queue_that_both_are_under(
    used: dict[str, int], owner: str, borrower: str, lent: bool
) -> None:
    assert lends(TREE, "MI300X", InUse(used, used), owner, 1000, borrower) is lent


def test_submissions_lend_to_nobody_as_they_give_way() -> None:
    assert not lends(TREE, "MI300X", InUse({"ada": 2000, "lab": 2000}, {"ada": 1000}), "bob", 1000, "ada")
