"""What must hold of reservations when calls cross, answers are lost, machines are silent, or the scheduler is away."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from pydantic import ValidationError
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc, reservations_pb2

from servicekit.rpc.proto_time import instant_to_proto
from services.scheduler.config import SchedulerSettings
from services.scheduler.jobs.reservation import GRACE, LONGEST_PREPARING, PART, SILENCE_AFTER_END
from services.scheduler.jobs.reservation_checks import Maintenance
from services.scheduler.jobs.states import JobState
from services.scheduler.reservations.attempt import ending
from services.scheduler.reservations.attempt.charging import Charging
from services.scheduler.runs import settler
from services.scheduler.store.job_store import JobStore
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
    with_gpus,
)
from tests.services.scheduler.scripted_sessions import ScriptedSession
from tests.services.scheduler.test_reservations import (
    HOUR,
    PRICE,
    active,
    cancel,
    charged,
    extend,
    update,
)
from vocabulary.money import price_of

EVERYTHING = reservations_pb2.ListReservationsRequest()


def session_of(cluster: Cluster, reservation: reservations_pb2.Reservation) -> ScriptedSession:
    return cluster.sessions.sessions[f"{reservation.reservation_id}-1"]


def key_of(number: int) -> str:
    """Different public keys."""
    blob = b"".join(len(part).to_bytes(4) + part for part in (b"ssh-ed25519", bytes([number]) * 32))
    return f"ssh-ed25519 {base64.b64encode(blob).decode()}"


async def active_for(
    cluster: Cluster,
    time: timedelta,
    meanwhile: Callable[[reservations_pb2.Reservation], Awaitable[None]] | None = None,
    **changes: Any,
) -> reservations_pb2.Reservation:
    """A reservation that has been active for so long, all of which is charged; its scheduler was away meanwhile."""
    cluster.clock = clock = LaterClock()
    await cluster.start()
    reservation = await active(cluster, **changes)
    await cluster.stop()
    if meanwhile is not None:
        await meanwhile(reservation)
    clock.later = time
    cluster.sessions.clock = session_of(cluster, reservation).clock = clock
    await cluster.start()
    await charged(cluster, reservation, time)
    return reservation


@pytest.mark.parametrize("is_silent", [False, True])
async def test_a_reservation_is_no_no_show_before_its_machine_says_that_nobody_logged_in_while_the_scheduler_was_away(
    stopped_cluster: Cluster, is_silent: bool
) -> None:
    cluster = stopped_cluster

    async def login(reservation: reservations_pb2.Reservation) -> None:
        if is_silent:
            await cluster.sessions.fall_silent()
        await session_of(cluster, reservation).add(login=session_pb2.SessionLogin(connection=1, user="alice"))

    reservation = await active_for(cluster, 61 * PART, login, duration={"seconds": 7200})
    cluster.sessions.silent.clear()

    await cluster.reservation_events(reservation.reservation_id, "login")
    await until(lambda: bool(cluster.sessions.updates))
    assert (await cluster.reservation(reservation.reservation_id)).state == reservations_pb2.RESERVATION_STATE_ACTIVE


async def test_the_scheduler_rests_while_a_silent_machine_does_not_end_a_cancelled_session(
    stopped_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = stopped_cluster
    reservation = await active_for(cluster, 2 * PART)
    await cluster.sessions.fall_silent()
    await cancel(cluster, reservation)
    looks = 0
    charge_minutes = Charging._charge_minutes

    async def counted(charging: Charging) -> None:
        nonlocal looks
        looks += 1
        await charge_minutes(charging)

    monkeypatch.setattr(Charging, "_charge_minutes", counted)
    await cluster.stop()
    assert isinstance(cluster.clock, LaterClock)
    cluster.clock.later = 4 * PART
    await cluster.start()
    await until(lambda: looks > 0)

    for _ in range(20):
        await cluster.reservation(reservation.reservation_id)

    assert looks == 1


async def test_an_end_for_a_reason_that_is_not_known_here_ends_the_reservation(cluster: Cluster) -> None:
    reservation = await active(cluster)

    await session_of(cluster, reservation).add(ended=session_pb2.SessionEnded(reason=99, details="new"))  # pyright: ignore[reportArgumentType]

    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert "99" in events[-1].ended.message


async def test_minutes_that_were_charged_after_the_end_of_a_session_are_given_back(stopped_cluster: Cluster) -> None:
    reservation = await active_for(stopped_cluster, 30 * PART)
    begin = reservation.active_time.ToDatetime(UTC)

    await session_of(stopped_cluster, reservation).end("SANDBOX_ENDED", begin + 10 * PART)

    events = await stopped_cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.cost_micros == price_of(10 * PART, PRICE)
    given_back = [refund.amount_micros for refund in stopped_cluster.billing.refunds.values()]
    assert given_back == [price_of(30 * PART, PRICE) - price_of(10 * PART, PRICE)]


async def test_a_machine_that_is_lost_after_the_cancellation_changes_nothing_about_what_is_paid(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    reservation = await active_for(cluster, 30 * PART)
    await cluster.sessions.fall_silent()
    await cancel(cluster, reservation)

    await cluster.pool.tell("machine-1", "LOST", reason="the cloud took it")

    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED
    assert events[-1].ended.message == "Cancelled."
    (settled,) = cluster.billing.settled.values()
    assert 30 * PART <= settled.total_time.ToTimedelta() < 31 * PART
    assert events[-1].ended.cost_micros == price_of(settled.total_time.ToTimedelta(), PRICE)
    assert not cluster.billing.refunds


async def test_the_lease_of_a_reservation_that_is_over_is_given_back_though_pool_and_scheduler_die(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settler, "RELEASE_SECONDS", 0.0)
    await active(cluster)
    (lease_id,) = cluster.pool.live
    cluster.pool.release_refusal = grpc.StatusCode.UNAVAILABLE
    await cancel(cluster, (await cluster.reservations.ListReservations(EVERYTHING)).reservations[0])
    await until(lambda: cluster.pool.releases_refused >= 3)
    await cluster.stop()
    cluster.pool.release_refusal = None

    await cluster.start()

    await until(lambda: not cluster.pool.live)
    assert [release.lease_id for release in cluster.pool.releases] == [lease_id]


async def test_the_lease_of_a_lost_attempt_is_given_back_though_pool_and_scheduler_die(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settler, "RELEASE_SECONDS", 0.0)
    reservation = await cluster.opening()
    cluster.pool.release_refusal = grpc.StatusCode.UNAVAILABLE
    await session_of(cluster, reservation).end("FAILED")
    await until(lambda: cluster.pool.releases_refused >= 3)
    await cluster.stop()
    cluster.pool.release_refusal = None

    await cluster.start()

    await until(lambda: any(release.lease_id == "lease-1" for release in cluster.pool.releases))


async def test_a_machine_that_took_a_change_without_an_answer_hears_again_what_is_stored(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await until(lambda: bool(cluster.sessions.updates))
    cluster.sessions.loses_answers = True
    said = await refused(extend(cluster, reservation, 10 * HOUR), grpc.StatusCode.UNAVAILABLE, "does not answer")
    assert said.retry_after, "or gateways say that nothing was changed"
    stored = await cluster.reservation(reservation.reservation_id)
    assert stored.expire_time == reservation.expire_time
    taken = len(cluster.sessions.updates)
    cluster.sessions.loses_answers = False

    await until(lambda: len(cluster.sessions.updates) > taken)

    assert cluster.sessions.updates[-1].end_time == reservation.expire_time


async def test_an_extension_that_its_caller_does_not_wait_for_is_stored_as_the_machine_has_it(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await until(lambda: bool(cluster.sessions.updates))
    told = len(cluster.sessions.updates)
    cluster.sessions.answers.clear()
    extending = asyncio.create_task(extend(cluster, reservation, HOUR))
    await until(lambda: len(cluster.sessions.updates) > told)
    extending.cancel()
    await asyncio.gather(extending, return_exceptions=True)
    # On the same connection: the scheduler has heard by then that nobody waits.
    await cluster.reservation(reservation.reservation_id)
    cluster.sessions.answers.set()

    await cluster.reservation_events(reservation.reservation_id, "extended")

    stored = await cluster.reservation(reservation.reservation_id)
    assert stored.expire_time == cluster.sessions.updates[-1].end_time
    assert stored.expire_time.ToDatetime() == reservation.expire_time.ToDatetime() + HOUR


async def test_who_is_removed_while_the_machine_is_silent_stays_removed(cluster: Cluster) -> None:
    reservation = await active(cluster)
    key = session_pb2.SessionKey(user="bob", public_key=key_of(1))
    await update(cluster, reservation, add_keys=[key])
    cluster.sessions.loses_answers = True

    await refused(
        update(cluster, reservation, remove_users=["bob"]),
        grpc.StatusCode.FAILED_PRECONDITION,
        "may stay connected until it answers",
    )
    stored = await cluster.reservation(reservation.reservation_id)
    assert [key.user for key in stored.spec.keys] == ["alice"]
    told = len(cluster.sessions.updates)
    cluster.sessions.loses_answers = False
    await until(lambda: len(cluster.sessions.updates) > told)
    assert [key.user for key in cluster.sessions.updates[-1].keys.keys] == ["alice"]


async def test_who_is_added_while_the_machine_is_silent_is_not(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await until(lambda: bool(cluster.sessions.updates))
    cluster.sessions.loses_answers = True
    key = session_pb2.SessionKey(user="bob", public_key=key_of(1))
    await refused(update(cluster, reservation, add_keys=[key]))
    stored = await cluster.reservation(reservation.reservation_id)
    assert [key.user for key in stored.spec.keys] == ["alice"]


async def test_time_that_is_added_before_anybody_can_log_in_is_leased_first(cluster: Cluster) -> None:
    reservation = await cluster.opening()
    cluster.pool.longest_lease = 2 * HOUR + GRACE + SILENCE_AFTER_END + LONGEST_PREPARING

    await refused(extend(cluster, reservation, 2 * HOUR, "too long"), "the machine ends before")
    assert not cluster.billing.extensions
    longer = await extend(cluster, reservation, HOUR)

    assert [one.duration.ToTimedelta() for one in longer.extensions] == [HOUR]


@with_gpus(0)
async def test_users_that_are_let_in_at_the_same_time_while_it_waits_all_get_in(cluster: Cluster) -> None:
    reservation = await cluster.reserve()
    people = [f"user{number}" for number in range(10)]

    await asyncio.gather(
        *(
            update(cluster, reservation, add_keys=[session_pb2.SessionKey(user=user, public_key=key_of(number))])
            for number, user in enumerate(people)
        )
    )

    users = [key.user for key in (await cluster.reservation(reservation.reservation_id)).spec.keys]
    assert sorted(users) == sorted(["alice", *people])


@pytest.mark.parametrize("is_ready", [True, False])
async def test_the_forecast_knows_of_time_that_is_added(cluster: Cluster, is_ready: bool) -> None:
    reservation = await (active(cluster) if is_ready else cluster.opening())
    await extend(cluster, reservation, 10 * HOUR)

    assert (await cluster.availability()).waits[0].eta_p50.ToTimedelta() > 10 * HOUR


async def test_what_no_machine_can_give_is_refused_at_once_unless_a_larger_one_stands(cluster: Cluster) -> None:
    cluster.pool.max_machines, cluster.pool.gpus_per_machine = 2, 2

    await refused(
        cluster.reserve(gpus=4), grpc.StatusCode.INVALID_ARGUMENT, "spec.gpus: is 4; no machine has more than 2"
    )
    quote = reservations_pb2.QuoteReservationRequest(account_id=ACCOUNT, user_id=USER, spec=sound_reservation(gpus=4))
    assert "spec.gpus: is 4" in (await refused(cluster.reservations.QuoteReservation(quote))).message

    await cluster.pool.tell("large", "WARM", gpus=4)
    scheduler = cluster.scheduler
    assert scheduler
    await until(lambda: scheduler.dated.largest("MI300X") == 4)
    assert (await cluster.reserve(gpus=4)).spec.gpus == 4


async def test_what_would_outlive_every_machine_is_refused_at_once_unless_one_that_stands_lasts(
    tmp_path: Path,
) -> None:
    ten, twelve = Duration(seconds=10 * 3600), Duration(seconds=12 * 3600)
    async with scripted_cluster(tmp_path) as cluster:
        cluster.pool.longest_time = 11.5 * HOUR
        await cluster.start()

        await refused(
            cluster.reserve(duration=twelve),
            grpc.StatusCode.INVALID_ARGUMENT,
            "spec.duration: is 12 h; the most is 10.3 h",
            "(VMPOOL_LIFE)",
        )
        spec = sound_reservation(duration=twelve)
        quote = reservations_pb2.QuoteReservationRequest(account_id=ACCOUNT, user_id=USER, spec=spec)
        assert "VMPOOL_LIFE" in (await refused(cluster.reservations.QuoteReservation(quote))).message
        assert (await cluster.reserve("shorter", duration=ten)).reservation_id

        await cluster.pool.tell("lasting", "WARM")
        scheduler = cluster.scheduler
        assert scheduler
        await until(lambda: scheduler.dated.lasts(["MI300X"], datetime.now(UTC) + 99 * HOUR))
        assert (await cluster.reserve("longer", duration=twelve)).reservation_id


async def test_a_type_in_maintenance_is_for_those_whom_the_operator_names(tmp_path: Path) -> None:
    closed = {"mi300x": {"reason": "new firmware until 15:00", "users": ["user-of-the-operator"]}}
    async with scripted_cluster(tmp_path, maintenance=closed) as cluster:
        await cluster.start()
        request = reservations_pb2.CreateReservationRequest(
            account_id=ACCOUNT, user_id=USER, spec=sound_reservation(), idempotency_key="key"
        )

        error = await refused(cluster.reservations.CreateReservation(request), grpc.StatusCode.FAILED_PRECONDITION)
        assert error.message == (
            "spec.gpu_type: MI300X is in maintenance: new firmware until 15:00; "
            "reserve another type, or ask the operator."
        )
        other = sound_reservation(gpu_type="MI300A", fallback_gpu_types=["MI300X"])
        quote = reservations_pb2.QuoteReservationRequest(account_id=ACCOUNT, user_id=USER, spec=other)
        assert "spec.fallback_gpu_types: MI300X is in" in (
            (await refused(cluster.reservations.QuoteReservation(quote))).message
        )
        found = await cluster.availability()
        assert found.maintenance == "new firmware until 15:00"
        request.user_id = "user-of-the-operator"
        assert (await cluster.reservations.CreateReservation(request)).reservation.reservation_id


async def test_sizes_that_no_machine_has_yet_have_waits_if_the_pool_may_start_one(cluster: Cluster) -> None:
    cluster.pool.max_machines, cluster.pool.gpus_per_machine = 2, 4

    found = await cluster.availability()

    assert [wait.gpus for wait in found.waits] == [1, 2, 4]


async def test_a_key_of_an_extension_is_checked_and_may_be_as_long_as_any(cluster: Cluster) -> None:
    reservation = await active(cluster)
    for wrong in ("", "k" * 129):
        await refused(extend(cluster, reservation, HOUR, wrong), grpc.StatusCode.INVALID_ARGUMENT, "idempotency_key")

    longer = await extend(cluster, reservation, HOUR, "k" * 127 + "\0")

    assert len(longer.extensions) == 1
    (key,) = cluster.billing.extensions
    assert len(key) <= 200
    assert key.isprintable()


async def test_a_cancellation_that_an_attempt_did_not_hear_of_is_found_in_the_row(cluster: Cluster) -> None:
    reservation = await active(cluster)
    assert cluster.database
    store = JobStore(cluster.database, lambda _: None)
    row = await store.get(reservation.reservation_id)
    assert row
    await store.move(row, row.request_cancel(cluster.clock.now()), [], cluster.clock.now())

    await session_of(cluster, reservation).add(login=session_pb2.SessionLogin(connection=1, user="alice"))

    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED


async def test_a_reservation_that_is_lost_while_it_is_extended_refuses_the_extension(cluster: Cluster) -> None:
    reservation = await active(cluster)

    async def lose() -> None:
        await cluster.pool.tell("machine-1", "LOST")
        await cluster.reservation_events(reservation.reservation_id)

    cluster.billing.meanwhile["ExtendHold"] = lose
    await refused(extend(cluster, reservation, HOUR), grpc.StatusCode.FAILED_PRECONDITION)
    assert not (await cluster.reservation(reservation.reservation_id)).extensions


async def test_who_ends_a_reservation_that_has_just_ended_changes_nothing(cluster: Cluster) -> None:
    reservation = await active(cluster)
    assert cluster.scheduler
    attempt = cluster.scheduler.runner.session(reservation.reservation_id)
    assert attempt
    await session_of(cluster, reservation).end("SANDBOX_ENDED")
    events = await cluster.reservation_events(reservation.reservation_id)

    ended = await attempt.end_early("The room is too hot.")

    assert ended.state is JobState.SETTLING
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_EXPIRED


async def test_extensions_at_the_same_time_keep_to_the_limit_of_all_time_together(cluster: Cluster) -> None:
    reservation = await active(cluster)

    calls = [extend(cluster, reservation, 24 * HOUR, str(number)) for number in range(3)]
    answers = await asyncio.gather(*calls, return_exceptions=True)

    assert sum(isinstance(answer, BaseException) for answer in answers) == 2
    longer = await cluster.reservation(reservation.reservation_id)
    assert longer.expire_time.ToDatetime() - longer.active_time.ToDatetime() == 25 * HOUR


async def test_a_reservation_that_is_being_given_up_is_not_extended(cluster: Cluster) -> None:
    reservation = await active(cluster)
    cluster.pool.release_refusal = grpc.StatusCode.UNAVAILABLE
    await session_of(cluster, reservation).end("FAILED")
    await until(lambda: cluster.pool.releases_refused >= 1)

    await refused(extend(cluster, reservation, HOUR), grpc.StatusCode.FAILED_PRECONDITION)
    assert not cluster.billing.extensions


async def test_an_extension_with_a_part_of_a_second_is_repeated_with_its_key(cluster: Cluster) -> None:
    reservation = await active(cluster)
    more = HOUR + timedelta(seconds=0.5)

    first = await extend(cluster, reservation, more)
    again = await extend(cluster, reservation, more)

    assert again.expire_time == first.expire_time


async def test_characters_that_a_database_does_not_take_end_no_reservation_late(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "POOL_SAYS_WHY", timedelta(0))
    async with scripted_cluster(tmp_path, database_url=database_url) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        reservation = await active(cluster)
        await refused(cancel(cluster, reservation, "too\0hot"), grpc.StatusCode.INVALID_ARGUMENT, "reason")
        stopped = session_pb2.SESSION_END_REASON_EXECUTOR_STOPPED

        await session_of(cluster, reservation).add(ended=session_pb2.SessionEnded(reason=stopped, details="a\0b" * 999))

        events = await cluster.reservation_events(reservation.reservation_id)
        assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_FAILED
        assert "abab" in events[-1].ended.message
        assert len(events[-1].ended.message) < 1000
        assert all("\0" not in release.reason for release in cluster.pool.releases)


async def test_an_operator_takes_a_type_into_maintenance_and_out_of_it_without_a_restart(cluster: Cluster) -> None:
    await cluster.reserve()

    async def set_it(**fields: Any) -> None:
        request = queues_pb2.SetMaintenanceRequest(gpu_type="mi300x", user_id="user-of-the-operator", **fields)
        assert cluster.channel
        await queues_pb2_grpc.QueueServiceStub(cluster.channel).SetMaintenance(request, timeout=TIMEOUT_SECONDS)

    await set_it(reason="new cables.", until=instant_to_proto(datetime(2126, 1, 15, 15, tzinfo=UTC)))
    await cluster.stop()
    await cluster.start()

    words = "MI300X is in maintenance: new cables (until 2126-01-15 15:00 UTC)"
    request = reservations_pb2.CreateReservationRequest(
        account_id=ACCOUNT, user_id=USER, spec=sound_reservation(), idempotency_key="another"
    )
    error = await refused(cluster.reservations.CreateReservation(request), grpc.StatusCode.FAILED_PRECONDITION)
    assert error.message.startswith(f"spec.gpu_type: {words}; ")
    assert words.endswith((await cluster.availability()).maintenance)
    request.user_id = "user-of-the-operator"
    waiting = (await cluster.reservations.CreateReservation(request)).reservation
    assert cluster.channel
    explained = await queues_pb2_grpc.QueueServiceStub(cluster.channel).ExplainJob(
        queues_pb2.ExplainJobRequest(account_ids=[ACCOUNT], job_id=waiting.reservation_id)
    )
    assert f"{words}." in explained.reason
    for field, fields in (
        ("reason", {"reason": " "}),
        ("until", {"reason": "x", "until": instant_to_proto(datetime(2020, 1, 1, tzinfo=UTC))}),
    ):
        await refused(set_it(**fields), grpc.StatusCode.INVALID_ARGUMENT, field)
    await set_it(ended=True)
    await refused(set_it(ended=True), grpc.StatusCode.INVALID_ARGUMENT, "gpu_type")
    request.user_id, request.idempotency_key = USER, "third"
    assert (await cluster.reservations.CreateReservation(request)).reservation.reservation_id


def test_maintenance_without_a_reason_is_no_setting() -> None:
    with pytest.raises(ValidationError, match="MI300X: give a reason of 1 to 300 characters; its users read it"):
        SchedulerSettings(maintenance={"MI300X": Maintenance(" ")})
