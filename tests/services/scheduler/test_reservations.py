"""Reservations from the call to the books, with a real scheduler beside scripted machines and a scripted billing."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import disks_pb2, queues_pb2, queues_pb2_grpc, reservations_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.metrics import registry
from services.scheduler.jobs.reservation import GRACE, LONGEST_PREPARING, PART, SILENCE_AFTER_END
from services.scheduler.reservations.attempt import ending
from tests.refused_calls import refused
from tests.services.scheduler.cluster import (
    ACCOUNT,
    KEY,
    TIMEOUT_SECONDS,
    USER,
    Cluster,
    LaterClock,
    scripted_cluster,
    sound_reservation,
    until,
    with_gpus,
)
from tests.services.scheduler.scripted_sessions import HOST_KEY, SOFTWARE
from vocabulary.money import price_of

OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII+adbZKTets2cZk/46cy9OLgbkCDoImwgkTEbZR7+z9"
HOUR = timedelta(hours=1)
PRICE = 1_990_000


def kinds(events: list[reservations_pb2.ReservationEvent]) -> list[str]:
    return [event.session.WhichOneof("event") or event.WhichOneof("event") or "unknown" for event in events]


async def active(cluster: Cluster, key: str = "key", **changes: object) -> reservations_pb2.Reservation:
    reservation = await cluster.reserve(key, **changes)
    await cluster.reservation_events(reservation.reservation_id, "active")
    return await cluster.reservation(reservation.reservation_id)


def metric(name: str, **labels: str) -> float:
    """The value of one of the scheduler's metrics; 0 before it has one."""
    return registry.get_sample_value(f"wavepool_scheduler_{name}", labels) or 0.0


def jobs_that_waited() -> float:
    return sum(
        sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == "wavepool_scheduler_queue_seconds_count"
    )


async def charged(cluster: Cluster, reservation: reservations_pb2.Reservation, used: timedelta) -> None:
    """Waits until so much time is charged; charges are no events."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while (await cluster.reservation(reservation.reservation_id)).cost_micros != price_of(used, PRICE):
            await asyncio.sleep(0.005)


def named(reservation: reservations_pb2.Reservation, **asker: object) -> dict[str, Any]:
    """Names the reservation as a manager of its team does, with other fields of who asks replaced."""
    team = [ACCOUNT]
    return {"account_ids": team, "managed_account_ids": team, "reservation_id": reservation.reservation_id, **asker}


async def cancel(
    cluster: Cluster, reservation: reservations_pb2.Reservation, reason: str = "", user_id: str = USER
) -> None:
    request = reservations_pb2.CancelReservationRequest(
        account_ids=[ACCOUNT], reservation_id=reservation.reservation_id, reason=reason, user_id=user_id
    )
    await cluster.reservations.CancelReservation(request, timeout=TIMEOUT_SECONDS)


async def extend(
    cluster: Cluster,
    reservation: reservations_pb2.Reservation,
    more: timedelta,
    key: str = "more",
    user_id: str = USER,
) -> reservations_pb2.Reservation:
    duration = Duration()
    duration.FromTimedelta(more)
    request = reservations_pb2.ExtendReservationRequest(
        # An operator oversees all accounts.
        account_ids=[ACCOUNT] if user_id == USER else [],
        reservation_id=reservation.reservation_id,
        duration=duration,
        user_id=user_id,
        idempotency_key=key,
    )
    return (await cluster.reservations.ExtendReservation(request, timeout=TIMEOUT_SECONDS)).reservation


async def update(
    cluster: Cluster, reservation: reservations_pb2.Reservation, **changes: object
) -> reservations_pb2.Reservation:
    request = reservations_pb2.UpdateReservationRequest(**named(reservation, **changes))
    return (await cluster.reservations.UpdateReservation(request, timeout=TIMEOUT_SECONDS)).reservation


async def tunnel_target(
    cluster: Cluster, reservation: reservations_pb2.Reservation
) -> reservations_pb2.GetTunnelTargetResponse:
    request = reservations_pb2.GetTunnelTargetRequest(account_ids=[ACCOUNT], reservation_id=reservation.reservation_id)
    return await cluster.reservations.GetTunnelTarget(request, timeout=TIMEOUT_SECONDS)


async def test_a_reservation_waits_gets_its_gpus_and_is_active_when_its_session_is_ready(cluster: Cluster) -> None:
    queued = await cluster.reserve(name="train")
    assert (queued.reservation_id[:4], queued.spec.name, queued.user_id) == ("res_", "train", USER)
    events = await cluster.reservation_events(queued.reservation_id, "active")
    assert kinds(events) == ["queued", "provisioning", "step", "ready", "active"]
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    reservation = await cluster.reservation(queued.reservation_id)
    assert reservation.state == reservations_pb2.RESERVATION_STATE_ACTIVE
    assert (reservation.host_key, reservation.login_user, list(reservation.gaps)) == (HOST_KEY, "dev", ["a gap"])
    assert dict(reservation.software) == SOFTWARE
    assert [step.name for step in reservation.steps] == ["queue", "sandbox"]
    assert list(reservation.machine_gpus) == [0]
    lasts = reservation.expire_time.ToDatetime() - reservation.active_time.ToDatetime()
    assert lasts == HOUR
    assert (reservation.hold_micros, reservation.attempts) == (PRICE, 1)


async def test_the_machine_is_given_the_keys_and_the_end_that_counts_from_ready(cluster: Cluster) -> None:
    reservation = await active(cluster)
    (session,) = cluster.sessions.sessions.values()
    assert session.request.session_id == f"{reservation.reservation_id}-1"
    assert [(key.user, key.public_key) for key in session.request.keys] == [("alice", KEY)]
    assert session.request.lasts.ToTimedelta() == HOUR, "however long it takes until it is ready"
    await until(lambda: bool(cluster.sessions.updates))
    assert cluster.sessions.updates[0].end_time == reservation.expire_time


async def test_a_reservation_has_a_lease_of_its_own_kind_that_outlives_it(cluster: Cluster) -> None:
    await active(cluster, gpus=1)
    (granted,) = cluster.pool.granted
    assert granted.holder == vmpool_pb2.LEASE_HOLDER_RESERVATION
    assert granted.longest_time.ToTimedelta() >= HOUR + GRACE + HOUR, "its preparation may take an hour"
    assert granted.duration.ToTimedelta() == cluster.settings.lease_duration, "nobody may know of it"
    assert granted.longest_time.ToTimedelta() - timedelta(minutes=2) <= cluster.pool.renewals[0]
    # A machine that lasts just long enough for the request must do for the renewal, too, which comes a moment later.
    assert cluster.pool.renewals[0] <= granted.longest_time.ToTimedelta() - timedelta(seconds=30)


async def test_nothing_is_opened_on_a_machine_before_its_lease_is_as_long_as_the_reservation(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    cluster.pool.renewal_refusal = grpc.StatusCode.UNAVAILABLE
    await cluster.start()
    reservation = await cluster.reserve()
    await until(lambda: len(cluster.pool.renewals) > 2)
    assert not cluster.sessions.sessions
    cluster.pool.renewal_refusal = None
    await cluster.reservation_events(reservation.reservation_id, "active")
    assert len(cluster.pool.granted) == 1


async def test_a_lease_that_expired_before_it_was_made_longer_is_given_up_for_another(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    cluster.pool.renewal_refusal = grpc.StatusCode.FAILED_PRECONDITION
    await cluster.start()
    reservation = await cluster.reserve()
    await until(lambda: bool(cluster.pool.renewals))
    cluster.pool.renewal_refusal = None
    await cluster.reservation_events(reservation.reservation_id, "active")
    assert [granted.attempt for granted in cluster.pool.granted] == [1, 2]


@with_gpus(0)
async def test_the_pool_hears_for_how_long_a_machine_must_live_and_the_owner_why_there_is_none(
    cluster: Cluster,
) -> None:
    cluster.pool.blocked_reason = "no machine may live so long"
    reservation = await cluster.reserve()
    await until(lambda: bool(cluster.pool.longest_demands))
    assert cluster.pool.longest_demands[0] == [HOUR + GRACE + SILENCE_AFTER_END + LONGEST_PREPARING]
    request = reservations_pb2.WatchReservationRequest(reservation_id=reservation.reservation_id)
    async for answer in cluster.reservations.WatchReservation(request, timeout=TIMEOUT_SECONDS):
        if answer.event.queued.message == "Waiting for a machine: no machine may live so long":
            break


@with_gpus(8)
async def test_several_gpus_are_held_and_priced_together(cluster: Cluster) -> None:
    reservation = await active(cluster, gpus=4)
    assert list(reservation.machine_gpus) == [0, 1, 2, 3]
    assert reservation.hold_micros == 4 * PRICE
    (hold,) = cluster.billing.holds.values()
    assert (hold.gpu_count, hold.longest_time.ToTimedelta(), hold.subject) == (4, HOUR, reservation.reservation_id)


async def test_a_session_whose_time_is_up_ends_the_reservation_with_the_whole_charge(cluster: Cluster) -> None:
    reservation = await active(cluster)
    session = cluster.sessions.sessions[f"{reservation.reservation_id}-1"]
    end = reservation.expire_time.ToDatetime(UTC)
    await session.add(end, warning=session_pb2.SessionWarning(minutes_left=0))
    await cluster.reservation_events(reservation.reservation_id, "warning")
    expiring = await cluster.reservation(reservation.reservation_id)
    assert expiring.state == reservations_pb2.RESERVATION_STATE_EXPIRING
    await session.end("EXPIRED", end + GRACE)
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_EXPIRED
    assert events[-1].ended.cost_micros == PRICE, "the grace is free"
    over = await cluster.reservation(reservation.reservation_id)
    assert (over.cost_micros, over.message) == (PRICE, "Its time was up.")
    assert not cluster.pool.live
    assert not cluster.billing.open_holds()


async def test_a_reservation_that_is_cancelled_pays_for_the_time_that_it_was_used(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await cancel(cluster, reservation)
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED
    (settled,) = cluster.billing.settled.values()
    used = settled.total_time.ToTimedelta()
    assert timedelta(0) < used < timedelta(minutes=1)
    assert events[-1].ended.cost_micros == price_of(used, PRICE)
    assert not cluster.pool.live


@with_gpus(0)
async def test_a_reservation_in_the_queue_is_cancelled_without_a_charge(cluster: Cluster) -> None:
    reservation = await cluster.reserve()
    assert (reservation.state, reservation.position) == (reservations_pb2.RESERVATION_STATE_QUEUED, 1)
    await cancel(cluster, reservation, "The room is too hot.")
    events = await cluster.reservation_events(reservation.reservation_id)
    assert kinds(events) == ["queued", "ending", "ended"]
    assert (events[-1].ended.message, events[-1].ended.cost_micros) == ("The room is too hot.", 0)
    assert not cluster.billing.open_holds()


async def test_the_owner_reads_why_somebody_ended_an_active_reservation(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await cancel(cluster, reservation, "Ended by the operator: maintenance.")
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.message == "Ended by the operator: maintenance."
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED


async def test_each_minute_is_charged_once_and_the_end_charges_the_rest(stopped_cluster: Cluster) -> None:
    cluster, clock = stopped_cluster, LaterClock()
    cluster.clock = clock
    await cluster.start()
    reservation = await active(cluster)
    await cluster.stop()
    cluster.sessions.sessions[f"{reservation.reservation_id}-1"].clock = clock
    clock.later = 3 * PART + PART / 2
    cluster.billing.lost_answers.add("SettleCharge")
    await cluster.start()
    await until(lambda: len(cluster.billing.parts) == 1)
    cluster.billing.lost_answers.clear()
    await charged(cluster, reservation, 3 * PART)
    assert [part.total_time.ToTimedelta() for part in cluster.billing.parts.values()] == [3 * PART]
    await cancel(cluster, reservation)
    events = await cluster.reservation_events(reservation.reservation_id)
    (settled,) = cluster.billing.settled.values()
    used = settled.total_time.ToTimedelta()
    assert 3 * PART + PART / 2 <= used < 4 * PART
    assert events[-1].ended.cost_micros == price_of(used, PRICE)


async def test_a_session_outlives_the_scheduler_and_is_found_again(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await cluster.stop()
    session = cluster.sessions.sessions[f"{reservation.reservation_id}-1"]
    await session.add(login=session_pb2.SessionLogin(connection=1, user="alice", fingerprint="SHA256:x"))
    await cluster.start()
    await cluster.reservation_events(reservation.reservation_id, "login")
    again = await cluster.reservation(reservation.reservation_id)
    assert (again.state, again.connections) == (reservations_pb2.RESERVATION_STATE_ACTIVE, 1)
    assert again.expire_time == reservation.expire_time
    assert len(cluster.sessions.sessions) == 1


async def test_a_machine_that_is_silent_keeps_its_reservation(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await cluster.sessions.fall_silent()
    await refused(extend(cluster, reservation, HOUR), grpc.StatusCode.UNAVAILABLE, "does not answer")
    assert (await cluster.reservation(reservation.reservation_id)).state == reservations_pb2.RESERVATION_STATE_ACTIVE
    cluster.sessions.silent.clear()
    session = cluster.sessions.sessions[f"{reservation.reservation_id}-1"]
    await session.add(login=session_pb2.SessionLogin(connection=1, user="alice"))
    await cluster.reservation_events(reservation.reservation_id, "login")
    assert not cluster.pool.releases


async def test_a_lost_machine_ends_the_reservation_and_all_that_was_charged_is_given_back(
    stopped_cluster: Cluster,
) -> None:
    cluster, clock = stopped_cluster, LaterClock()
    cluster.clock = clock
    await cluster.start()
    reservation = await active(cluster)
    await cluster.stop()
    clock.later = 2 * PART
    await cluster.start()
    await until(lambda: bool(cluster.billing.parts))
    await cluster.pool.tell("machine-1", "LOST", reason="the cloud took it")
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert "the cloud took it" in events[-1].ended.message
    assert "refunded" in events[-1].ended.message
    assert events[-1].ended.cost_micros == 0
    assert [refund.amount_micros for refund in cluster.billing.refunds.values()] == [price_of(2 * PART, PRICE)]
    offered = re.findall(r"(\d+) minutes that were left, you are the first of your queue", events[-1].ended.message)
    minutes = int(offered[0])

    async def position(key: str, minutes: int) -> int:
        made = await cluster.reserve(key, duration=Duration(seconds=60 * minutes))
        return (await cluster.reservation(made.reservation_id)).position

    await cluster.submit("that came before")
    assert await position("longer", minutes + 2) == 2
    assert await position("the rest", minutes) == 1
    assert await position("the rest again", minutes) == 4


async def test_a_machine_that_is_lost_before_anybody_could_log_in_is_replaced(cluster: Cluster) -> None:
    reservation = await cluster.opening()
    preparing = await cluster.reservation(reservation.reservation_id)
    assert preparing.state == reservations_pb2.RESERVATION_STATE_PREPARING
    cluster.sessions.opens = True
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.pool.tell("machine-1", "LOST")
    events = await cluster.reservation_events(reservation.reservation_id, "active")
    assert kinds(events) == ["queued", "provisioning", "retrying", "provisioning", "step", "ready", "active"]
    assert (await cluster.reservation(reservation.reservation_id)).machine_id == "machine-2"


async def test_a_session_that_its_users_end_from_inside_is_charged_until_then(cluster: Cluster) -> None:
    reservation = await active(cluster)
    session = cluster.sessions.sessions[f"{reservation.reservation_id}-1"]
    begin = reservation.active_time.ToDatetime(UTC)
    await session.end("SANDBOX_ENDED", begin + timedelta(seconds=36))
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_EXPIRED
    assert events[-1].ended.cost_micros == PRICE // 100
    assert "from inside" in events[-1].ended.message


async def test_a_session_that_fills_the_disk_is_charged_and_its_owner_reads_why(cluster: Cluster) -> None:
    reservation = await active(cluster)
    session = cluster.sessions.sessions[f"{reservation.reservation_id}-1"]
    await session.end("DISK_FULL", reservation.active_time.ToDatetime(UTC) + timedelta(seconds=36))
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_EXPIRED
    assert events[-1].ended.cost_micros == PRICE // 100
    assert "beyond its share" in events[-1].ended.message


async def test_an_executor_that_is_stopped_is_our_fault(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "POOL_SAYS_WHY", timedelta(0))
    reservation = await active(cluster)
    await cluster.sessions.sessions[f"{reservation.reservation_id}-1"].end("EXECUTOR_STOPPED")
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert events[-1].ended.cost_micros == 0


async def test_more_time_is_paid_for_first_and_told_to_the_machine_once(cluster: Cluster) -> None:
    reservation = await active(cluster)
    longer = await extend(cluster, reservation, HOUR)
    lasts = longer.expire_time.ToDatetime() - longer.active_time.ToDatetime()
    assert lasts == 2 * HOUR
    assert [one.user_id for one in longer.extensions] == [USER]
    assert longer.hold_micros == 2 * PRICE
    assert cluster.sessions.updates[-1].end_time == longer.expire_time
    again = await extend(cluster, reservation, HOUR)
    assert again.expire_time == longer.expire_time
    assert [one.longest_time.ToTimedelta() for one in cluster.billing.extensions.values()] == [2 * HOUR]
    events = await cluster.reservation_events(reservation.reservation_id, "extended")
    assert events[-1].extended.expire_time == longer.expire_time


async def test_what_cannot_be_paid_for_is_not_added(cluster: Cluster) -> None:
    reservation = await active(cluster)
    cluster.billing.refusals["ExtendHold"] = grpc.StatusCode.FAILED_PRECONDITION
    await refused(extend(cluster, reservation, HOUR), grpc.StatusCode.FAILED_PRECONDITION)
    assert (await cluster.reservation(reservation.reservation_id)).expire_time == reservation.expire_time


async def test_time_that_its_machine_does_not_have_is_not_added_and_costs_nothing(cluster: Cluster) -> None:
    reservation = await active(cluster)
    cluster.pool.longest_lease = 2 * HOUR
    await refused(
        extend(cluster, reservation, 2 * HOUR), grpc.StatusCode.FAILED_PRECONDITION, "the machine ends before"
    )
    assert not cluster.billing.extensions
    assert (await cluster.reservation(reservation.reservation_id)).expire_time == reservation.expire_time


async def test_all_time_together_has_a_limit_and_the_refusal_says_what_is_possible(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await refused(
        extend(cluster, reservation, 48 * HOUR),
        grpc.StatusCode.INVALID_ARGUMENT,
        "duration: is 48 h; the most is 47 h, as 48 h in all is the most",
    )


@with_gpus(0)
async def test_a_reservation_that_waits_cannot_be_extended(cluster: Cluster) -> None:
    reservation = await cluster.reserve()
    await refused(extend(cluster, reservation, HOUR), grpc.StatusCode.FAILED_PRECONDITION, "is queued")


async def test_others_are_let_in_and_out_of_an_active_reservation(cluster: Cluster) -> None:
    reservation = await active(cluster)
    bob = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
    with_bob = await update(cluster, reservation, add_keys=[bob])
    assert [key.user for key in with_bob.spec.keys] == ["alice", "bob"]
    assert [key.user for key in cluster.sessions.updates[-1].keys.keys] == ["alice", "bob"]
    without = await update(cluster, reservation, remove_users=["alice"])
    assert [key.user for key in without.spec.keys] == ["bob"]
    await refused(update(cluster, reservation, remove_users=["bob"]), "would leave no user")
    await refused(
        update(cluster, reservation, remove_users=["carol"]), "'carol' has no key here; those who have are bob"
    )
    events = await cluster.reservation_events(reservation.reservation_id, "users_changed")
    assert list(events[-1].users_changed.users) == ["alice", "bob"]


@with_gpus(0)
async def test_a_text_reaches_the_terminals_of_an_active_reservation_alone(cluster: Cluster) -> None:
    reservation = await cluster.reserve()

    async def notify(text: str) -> int:
        request = reservations_pb2.NotifyReservationRequest(reservation_id=reservation.reservation_id, text=text)
        return (await cluster.reservations.NotifyReservation(request, timeout=TIMEOUT_SECONDS)).terminals

    await refused(notify("hello"), grpc.StatusCode.FAILED_PRECONDITION)
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.reservation_events(reservation.reservation_id, "active")
    assert await notify("Maintenance\nat noon.") == 2
    assert cluster.sessions.texts == ["Maintenance\nat noon."]
    for wrong in ("", "x" * 2001, "a\x1b[2Jb"):
        await refused(notify(wrong), grpc.StatusCode.INVALID_ARGUMENT)


async def test_whoever_changes_writes_to_or_ends_a_reservation_is_in_its_events_and_its_history(
    cluster: Cluster,
) -> None:
    reservation = await active(cluster)
    bob = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
    await update(cluster, reservation, add_keys=[bob], user_id="user_ada")
    await extend(cluster, reservation, HOUR)
    text = reservations_pb2.NotifyReservationRequest(**named(reservation), text="Save.", user_id="user_op")
    await cluster.reservations.NotifyReservation(text, timeout=TIMEOUT_SECONDS)
    await update(cluster, reservation, remove_users=["bob"], user_id="user_ada")
    await update(cluster, reservation, name="other", user_id="user_ada")
    await cancel(cluster, reservation, "Maintenance.", user_id="user_eve")
    await cancel(cluster, reservation, "Again.")
    events = await cluster.reservation_events(reservation.reservation_id, "ended")

    acts = list((await cluster.reservation(reservation.reservation_id)).acts)
    assert kinds(acts) == ["users_changed", "extended", "notified", "users_changed", "ending"]
    assert [event for event in events if event.seq in {act.seq for act in acts}] == acts
    (key,) = acts[0].users_changed.added_keys
    assert acts[0].users_changed == reservations_pb2.ReservationUsersChanged(
        users=["alice", "bob"], user_id="user_ada", added=["bob"], added_keys=[key]
    )
    assert (key.user, key.public_key.split()[0]) == ("bob", "ssh-ed25519")
    assert acts[1].extended.user_id == USER
    assert acts[2].notified == reservations_pb2.ReservationNotified(text="Save.", terminals=2, user_id="user_op")
    assert acts[3].users_changed == reservations_pb2.ReservationUsersChanged(
        users=["alice"], user_id="user_ada", removed=["bob"]
    )
    assert acts[4].ending == reservations_pb2.ReservationEnding(user_id="user_eve", reason="Maintenance.")


MEMBER = {"account_ids": [ACCOUNT], "managed_account_ids": ["account-of-another-team"], "user_id": "user_bob"}
MANAGER = {"account_ids": [ACCOUNT], "managed_account_ids": [ACCOUNT], "user_id": "user_max"}
OPERATOR = {"account_ids": [], "managed_account_ids": [], "user_id": "user_op"}


@pytest.mark.parametrize(
    ("asker", "disk", "refusal"),
    [
        (MEMBER, "", "is another user's. Only its owner"),
        (MEMBER | {"user_id": ""}, "", "is another user's. Only its owner"),
        (MEMBER | {"account_ids": ["account-2"]}, "", "There is no reservation"),
        (MANAGER, "work", "owner's disk 'work'"),
        (MANAGER, "", ""),
        (MEMBER | {"user_id": USER}, "work", ""),
        (OPERATOR, "work", ""),
    ],
)
async def test_who_logs_in_its_name_and_its_time_are_not_for_every_member_of_the_team(
    cluster: Cluster, asker: dict[str, Any], disk: str, refusal: str, caplog: pytest.LogCaptureFixture
) -> None:
    if disk:
        await cluster.disks.CreateDisk(disks_pb2.CreateDiskRequest(user_id=USER, name=disk))
    reservation = await active(cluster, disk=disk)
    as_asker = named(reservation, **asker)
    bob = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
    editor = reservations_pb2.ReservationEditor(user="bob", user_id="user_bob")
    stub, hour = cluster.reservations, Duration(seconds=3600)
    acts = [
        (stub.UpdateReservation, reservations_pb2.UpdateReservationRequest(**as_asker, add_keys=[bob])),
        (stub.UpdateReservation, reservations_pb2.UpdateReservationRequest(**as_asker, add_editors=[editor])),
        (stub.UpdateReservation, reservations_pb2.UpdateReservationRequest(**as_asker, name="mine")),
        (stub.UpdateReservation, reservations_pb2.UpdateReservationRequest(**as_asker, remove_users=["alice"])),
        (
            stub.ExtendReservation,
            reservations_pb2.ExtendReservationRequest(**as_asker, duration=hour, idempotency_key="k"),
        ),
        (stub.NotifyReservation, reservations_pb2.NotifyReservationRequest(**as_asker, text="hello")),
    ]
    with caplog.at_level("INFO"):
        for call, request in acts:
            if refusal:
                await refused(call(request, timeout=TIMEOUT_SECONDS), refusal)
            else:
                await call(request, timeout=TIMEOUT_SECONDS)
    audit = {(vars(one)["by"], vars(one)["owner"]) for one in caplog.records if one.msg.startswith("audit:")}
    assert audit == (set() if refusal or asker["user_id"] == USER else {(asker["user_id"], USER)})
    now = await cluster.reservation(reservation.reservation_id)
    assert now.spec.name == (reservation.spec.name if refusal else "mine")
    if refusal:
        assert (list(now.spec.keys), list(now.editors)) == (list(reservation.spec.keys), [])


async def test_a_member_whom_the_owner_lets_change_it_may_until_the_keys_are_taken_away(cluster: Cluster) -> None:
    reservation = await active(cluster)
    bob = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
    editor = reservations_pb2.ReservationEditor(user="bob", user_id="user_bob")
    outsider = reservations_pb2.ReservationEditor(user="eve", user_id="user_eve")
    call = update(cluster, reservation, add_keys=[bob], add_editors=[outsider], user_id=USER)
    await refused(call, "add_editors: 'eve' is no user with a key here")
    changed = await update(cluster, reservation, add_keys=[bob], add_editors=[editor], user_id=USER)
    assert list(changed.editors) == [editor]
    assert (await update(cluster, reservation, name="bobs", **MEMBER)).spec.name == "bobs"

    assert not (await update(cluster, reservation, remove_users=["bob"], user_id=USER)).editors
    await refused(update(cluster, reservation, name="again", **MEMBER), grpc.StatusCode.PERMISSION_DENIED)
    # To see and to end is every member's.
    await cluster.reservations.CancelReservation(
        reservations_pb2.CancelReservationRequest(
            account_ids=[ACCOUNT], reservation_id=reservation.reservation_id, user_id="user_bob"
        ),
        timeout=TIMEOUT_SECONDS,
    )


@with_gpus(0)
async def test_whoever_ends_a_reservation_without_a_word_or_in_the_queue_is_in_its_events(
    cluster: Cluster,
) -> None:
    bob = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
    waiting, used = await cluster.reserve("waiting"), await cluster.reserve("used")
    await update(cluster, waiting, add_keys=[bob], user_id="user_ada")
    await cancel(cluster, waiting, user_id="user_eve")
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.reservation_events(used.reservation_id, "active")
    await cancel(cluster, used, user_id="user_eve")
    await cancel(cluster, used, user_id="user_eve")
    for one, expected, reason in (
        (waiting, ["users_changed", "ending"], ""),
        (used, ["ending"], "Another user ended it."),
    ):
        await cluster.reservation_events(one.reservation_id, "ended")
        acts = (await cluster.reservation(one.reservation_id)).acts
        assert kinds(list(acts)) == expected
        assert acts[-1].ending == reservations_pb2.ReservationEnding(user_id="user_eve", reason=reason)


async def test_an_id_of_who_asks_that_cannot_be_kept_is_refused_before_anything_is_done(cluster: Cluster) -> None:
    reservation = await active(cluster)
    for wrong in ("x" * 101, "a\0b"):
        await refused(
            update(cluster, reservation, name="other", user_id=wrong), grpc.StatusCode.INVALID_ARGUMENT, "user_id: has"
        )
    assert (await cluster.reservation(reservation.reservation_id)).spec.name == reservation.spec.name


@with_gpus(0)
async def test_keys_that_change_while_it_waits_count_when_it_starts(cluster: Cluster) -> None:
    reservation = await cluster.reserve()
    bob = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
    await update(cluster, reservation, add_keys=[bob], name="other")
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.reservation_events(reservation.reservation_id, "active")
    (session,) = cluster.sessions.sessions.values()
    assert [key.user for key in session.request.keys] == ["alice", "bob"]
    assert (await cluster.reservation(reservation.reservation_id)).spec.name == "other"


@with_gpus(0)
async def test_a_tunnel_has_a_target_while_people_can_log_in_and_not_before_or_after(cluster: Cluster) -> None:
    reservation = await cluster.reserve()
    await refused(tunnel_target(cluster, reservation), grpc.StatusCode.FAILED_PRECONDITION, "waits for its GPUs")
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.reservation_events(reservation.reservation_id, "active")
    target = await tunnel_target(cluster, reservation)
    assert (target.lease_id, target.session_id) == ("lease-1", f"{reservation.reservation_id}-1")
    await cancel(cluster, reservation)
    await cluster.reservation_events(reservation.reservation_id)
    await refused(tunnel_target(cluster, reservation), "is cancelled")


async def test_a_key_finds_the_reservations_that_it_opens_by_an_id_or_a_part_of_it(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.start()

    async def find(key: str, host: str = "") -> reservations_pb2.FindTunnelTargetResponse:
        request = reservations_pb2.FindTunnelTargetRequest(public_key=key, host=host)
        return await cluster.reservations.FindTunnelTarget(request, timeout=TIMEOUT_SECONDS)

    await refused(find(KEY), grpc.StatusCode.NOT_FOUND)
    first, second = [await active(cluster, name, name=name) for name in ("train", "serve")]
    assert (await find(f"{KEY} a comment")).user == "alice"
    tail = f"wp-{first.reservation_id.lower()[-10:]}"
    for host in (tail, first.reservation_id, tail.upper().replace("WP", "wp")):
        found = await find(KEY, host)
        assert (found.reservation_id, found.session_id) == (first.reservation_id, f"{first.reservation_id}-1")
    # Anybody can give their reservation a name, and another person's public key.
    for host in ("train", "other", "wp-", "wp-0", f"wp-{first.reservation_id.lower()[-7:]}", "train.example"):
        await refused(find(KEY, host), grpc.StatusCode.NOT_FOUND, host)
    await refused(find(OTHER_KEY, tail), grpc.StatusCode.NOT_FOUND)
    await refused(find("ssh-ed25519 damaged"), grpc.StatusCode.INVALID_ARGUMENT)
    await cancel(cluster, second)
    await cluster.reservation_events(second.reservation_id)
    await refused(find(KEY, second.reservation_id), grpc.StatusCode.NOT_FOUND)
    # Its connections live until its session has ended.
    await cluster.sessions.fall_silent()
    await cancel(cluster, first)
    await refused(find(KEY, first.reservation_id), grpc.StatusCode.FAILED_PRECONDITION, "is being ended")
    await refused(find(OTHER_KEY, first.reservation_id), grpc.StatusCode.NOT_FOUND)


async def test_others_do_not_find_it_and_it_is_no_job(cluster: Cluster) -> None:
    reservation = await active(cluster)
    other = reservations_pb2.GetReservationRequest(account_ids=["account-2"], reservation_id=reservation.reservation_id)
    await refused(cluster.reservations.GetReservation(other), grpc.StatusCode.NOT_FOUND)
    await refused(cluster.job(reservation.reservation_id), grpc.StatusCode.NOT_FOUND)
    job = await cluster.submit("a job")
    as_reservation = reservations_pb2.GetReservationRequest(reservation_id=job.job_id)
    await refused(cluster.reservations.GetReservation(as_reservation), grpc.StatusCode.NOT_FOUND)


async def test_a_list_has_those_of_the_wanted_states_by_pages(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.start()
    made = [await active(cluster, "0")]
    made += [await cluster.reserve(str(number)) for number in range(1, 4)]
    states = [reservations_pb2.RESERVATION_STATE_ACTIVE, reservations_pb2.RESERVATION_STATE_QUEUED]
    found: list[str] = []
    request = reservations_pb2.ListReservationsRequest(account_ids=[ACCOUNT], page_size=3, states=states)
    while True:
        page = await cluster.reservations.ListReservations(request, timeout=TIMEOUT_SECONDS)
        found += [one.reservation_id for one in page.reservations]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert found == [one.reservation_id for one in reversed(made)]
    only = reservations_pb2.ListReservationsRequest(states=[reservations_pb2.RESERVATION_STATE_PREPARING])
    assert not (await cluster.reservations.ListReservations(only, timeout=TIMEOUT_SECONDS)).reservations


async def test_a_repeated_key_gives_the_first_reservation_and_another_content_is_refused(cluster: Cluster) -> None:
    first = await cluster.reserve("same", name="train")
    again = await cluster.reserve("same", name="train")
    assert (again.reservation_id, again.spec.name) == (first.reservation_id, "train")
    bob = session_pb2.SessionKey(user="bob", public_key=OTHER_KEY)
    with_other_keys = await cluster.reserve("same", name="train", keys=[bob])
    assert with_other_keys.reservation_id == first.reservation_id, "keys are looked up, and may differ in a repeat"
    await refused(cluster.reserve("same", name="other"), grpc.StatusCode.ALREADY_EXISTS)


async def test_a_name_that_is_taken_gets_a_number(cluster: Cluster) -> None:
    names = [(await cluster.reserve(str(number), name="train")).spec.name for number in range(3)]
    assert names == ["train", "train-2", "train-3"]
    assert (await cluster.reserve("unnamed")).spec.name == "mi300x"


async def test_a_name_that_is_left_out_is_made_of_any_gpu_type(stopped_cluster: Cluster) -> None:
    stopped_cluster.billing.gpu_types = ("7900 XTX",)
    await stopped_cluster.start()
    assert (await stopped_cluster.reserve()).spec.name == "gpu7900xtx"


async def test_credit_that_does_not_do_is_refused_in_the_words_of_billing(cluster: Cluster) -> None:
    cluster.billing.refusals["ReserveCredit"] = grpc.StatusCode.FAILED_PRECONDITION
    error = await refused(
        cluster.reserve(gpus=8, duration=Duration(seconds=24 * 3600)), grpc.StatusCode.FAILED_PRECONDITION
    )
    assert error.message == "scripted refusal of ReserveCredit"
    assert not cluster.billing.holds


async def test_a_quote_has_price_and_hold_and_stores_nothing(cluster: Cluster) -> None:
    request = reservations_pb2.QuoteReservationRequest(account_id=ACCOUNT, spec=sound_reservation(keys=[], gpus=2))
    quote = await cluster.reservations.QuoteReservation(request, timeout=TIMEOUT_SECONDS)
    assert (quote.gpu_type, quote.gpus, quote.price_micros_per_hour) == ("MI300X", 2, PRICE)
    assert quote.hold_micros == 2 * PRICE
    assert not cluster.billing.holds
    everything = reservations_pb2.ListReservationsRequest()
    assert not (await cluster.reservations.ListReservations(everything)).reservations


async def test_all_faults_of_a_request_are_told_at_once(cluster: Cluster) -> None:
    error = await refused(
        cluster.reserve(
            "",
            gpu_type="A100",
            gpus=3,
            duration=Duration(seconds=36),
            name="My Name",
            keys=[session_pb2.SessionKey(user="alice", public_key="ssh-dss AAAA")],
        ),
        grpc.StatusCode.INVALID_ARGUMENT,
    )
    said = error.message
    for text in (
        "idempotency_key: give 1 to 128 characters",
        "spec.gpu_type: must be one of",
        "spec.gpus: is 3; it must be one of 1, 2, 4, 8",
        "spec.duration: is 36 s; the least is 5 minutes",
        "spec.name: is 'My Name'; it must have",
        "spec.keys[0].public_key: is a DSA key",
    ):
        assert text in said
    assert not cluster.billing.holds


@pytest.mark.parametrize(("user", "stays"), [(USER, True), ("user_operator", False)])
async def test_its_owner_who_extends_it_is_there(tmp_path: Path, user: str, stays: bool) -> None:
    async with scripted_cluster(tmp_path) as cluster:
        cluster.clock = clock = LaterClock()
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        reservation = await active(cluster, duration={"seconds": 7200})
        await extend(cluster, reservation, timedelta(minutes=30), user_id=user)
        await cluster.stop()
        clock.later = timedelta(minutes=61)
        await cluster.start()
        if stays:
            await extend(cluster, reservation, timedelta(minutes=30), "again")
            found = await cluster.reservation(reservation.reservation_id)
            assert found.state == reservations_pb2.RESERVATION_STATE_ACTIVE
        else:
            events = await cluster.reservation_events(reservation.reservation_id)
            assert "nor did its owner extend it" in events[-1].ended.message


@pytest.mark.parametrize("grace", [GRACE, timedelta(0)])
async def test_its_session_lives_on_after_its_end_for_as_long_as_the_operator_says(
    tmp_path: Path, grace: timedelta
) -> None:
    async with scripted_cluster(tmp_path, reservation_grace=grace) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        await active(cluster)
        (session,) = cluster.sessions.sessions.values()
        assert session.request.grace.ToTimedelta() == grace


async def test_nobody_who_logs_in_ends_it_after_a_warning_and_the_owner_reads_why(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, no_show_after=timedelta(milliseconds=500)) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        before = metric("reservations_ended_total", state="cancelled", why="no_show")
        reservation = await cluster.reserve()
        events = await cluster.reservation_events(reservation.reservation_id)
        assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED
        assert "no user logged in" in events[-1].ended.message
        (warned,) = [event for event in events if event.HasField("no_show")]
        assert warned.seq < events[-1].seq
        assert metric("reservations_ended_total", state="cancelled", why="no_show") == before + 1


async def test_metrics_have_the_waits_and_the_states_of_reservations_apart_from_those_of_jobs(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    cluster.settings = cluster.settings.model_copy(update={"metrics_interval": timedelta(milliseconds=20)})
    await cluster.start()
    waits, jobs = metric("reservation_wait_seconds_count", gpu_type="MI300X"), jobs_that_waited()
    await active(cluster)
    await cluster.reserve("waits")
    assert metric("reservation_wait_seconds_count", gpu_type="MI300X") == waits + 1
    assert jobs_that_waited() == jobs
    # Together: a look at the queue from before the first was active has one that is queued, too.
    await until(
        lambda: [metric("reservations", gpu_type="MI300X", state=state) for state in ("queued", "active")] == [1, 1]
    )


async def test_one_that_waits_too_long_is_cancelled_with_the_reason(stopped_cluster: Cluster) -> None:
    cluster, clock = stopped_cluster, LaterClock()
    cluster.clock = clock
    await cluster.pool.tell("machine-1", "STOPPED")
    await cluster.start()
    reservation = await cluster.reserve()
    clock.later = timedelta(hours=48, seconds=1)
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_CANCELLED
    assert "SCHEDULER_LONGEST_RESERVATION_WAIT" in events[-1].ended.message


async def test_a_machine_that_cannot_hold_sessions_fails_it_with_its_own_words(cluster: Cluster) -> None:
    cluster.sessions.refusal = grpc.StatusCode.UNIMPLEMENTED
    reservation = await cluster.reserve()
    events = await cluster.reservation_events(reservation.reservation_id)
    assert events[-1].ended.state == reservations_pb2.RESERVATION_STATE_FAILED
    assert "scripted refusal" in events[-1].ended.message
    assert events[-1].ended.cost_micros == 0


@with_gpus(8)
async def test_availability_counts_what_is_free_and_reserved(cluster: Cluster) -> None:
    await active(cluster, gpus=2)
    found = await cluster.availability("mi300x")
    assert (found.total_gpus, found.reserved_gpus, found.queue_length) == (8, 2, 0)
    assert [wait.gpus for wait in found.waits] == [1, 2, 4, 8]
    assert found.waits[0].eta_p50.ToTimedelta() == timedelta(0)
    assert found.waits[3].eta_p50.ToTimedelta() > timedelta(minutes=50), "it ends with the reservation of two"
    unknown = reservations_pb2.GetAvailabilityRequest(gpu_type="A100")
    await refused(cluster.reservations.GetAvailability(unknown), grpc.StatusCode.INVALID_ARGUMENT)


@with_gpus(0)
async def test_availability_counts_what_the_pool_may_start_and_leaves_types_out_that_it_cannot_have(
    cluster: Cluster,
) -> None:
    cluster.pool.max_machines, cluster.pool.start_seconds = 3, {"MI300X": 4}
    request = reservations_pb2.GetAvailabilityRequest()
    (found,) = (await cluster.reservations.GetAvailability(request, timeout=TIMEOUT_SECONDS)).gpu_types
    assert (found.gpu_type, found.total_gpus, found.startable_gpus) == ("MI300X", 0, 3)
    assert [(wait.gpus, wait.eta_p50.seconds, wait.eta_p90.seconds) for wait in found.waits] == [(1, 4, 4)]
    absent = reservations_pb2.GetAvailabilityRequest(gpu_type="MI210")
    await refused(cluster.reservations.GetAvailability(absent), grpc.StatusCode.INVALID_ARGUMENT)
    assert (await cluster.reserve()).eta_p50.seconds == 4


@with_gpus(8)
async def test_the_first_in_line_is_shown_with_the_reason_and_without_any_name(cluster: Cluster) -> None:
    running = await active(cluster, gpus=4)
    found = await cluster.availability()
    assert not found.HasField("queue_head"), "nothing waits"
    first = await cluster.reserve("first", gpus=8)
    await cluster.reserve("second", gpus=8)
    found = await cluster.availability()
    assert (found.queue_head.gpus, found.queue_head.create_time) == (8, first.create_time)
    reason = found.queue_head.reason
    assert reason.startswith("It needs 8 GPUs, and no machine has more than 4 free; it has room by ")
    for name in (running.reservation_id, first.reservation_id, "machine-2"):
        assert name not in reason


@with_gpus(0)
async def test_the_first_in_line_says_that_no_machine_has_its_type(cluster: Cluster) -> None:
    await cluster.reserve()
    request = reservations_pb2.GetAvailabilityRequest()
    found = (await cluster.reservations.GetAvailability(request, timeout=TIMEOUT_SECONDS)).gpu_types
    reasons = {one.gpu_type: one.queue_head.reason for one in found if one.HasField("queue_head")}
    assert reasons == {"MI300X": "There is no machine with MI300X."}


async def test_a_reservation_is_never_stopped_for_a_job(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.start()
    reservation = await active(cluster)
    job = await cluster.submit("waits", priority=0)
    stub = queues_pb2_grpc.QueueServiceStub(cluster.channel)  # pyright: ignore[reportArgumentType]
    why = await stub.ExplainJob(queues_pb2.ExplainJobRequest(job_id=job.job_id), timeout=TIMEOUT_SECONDS)
    assert why
    assert (await cluster.reservation(reservation.reservation_id)).state == reservations_pb2.RESERVATION_STATE_ACTIVE
    assert datetime.now(UTC) < reservation.expire_time.ToDatetime(UTC)
