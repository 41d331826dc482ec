"""What must hold of reservations when calls cross, answers are lost, machines are silent, or the scheduler is away."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import reservations_pb2

from services.scheduler.jobs.reservation import PART
from services.scheduler.runs.session_attempt import SessionAttempt
from tests.services.scheduler.cluster import LaterClock, until
from tests.services.scheduler.test_reservations import PRICE, active, cancel, charged
from vocabulary.money import price_of

if TYPE_CHECKING:
    import pytest

    from tests.services.scheduler.cluster import Cluster
    from tests.services.scheduler.scripted_sessions import ScriptedSession


def session_of(cluster: Cluster, reservation: reservations_pb2.Reservation) -> ScriptedSession:
    return cluster.sessions.sessions[f"{reservation.reservation_id}-1"]


async def active_for(cluster: Cluster, time: timedelta) -> reservations_pb2.Reservation:
    """A reservation that has been active for so long, all of which is charged; its scheduler was away meanwhile."""
    cluster.clock = clock = LaterClock()
    await cluster.start()
    reservation = await active(cluster)
    await cluster.stop()
    clock.later = time
    cluster.sessions.clock = session_of(cluster, reservation).clock = clock
    await cluster.start()
    await charged(cluster, reservation, time)
    return reservation


async def test_a_reservation_is_no_no_show_if_somebody_logged_in_while_the_scheduler_was_away(
    stopped_cluster: Cluster,
) -> None:
    cluster, clock = stopped_cluster, LaterClock()
    cluster.clock = clock
    await cluster.start()
    reservation = await active(cluster, duration={"seconds": 7200})
    await cluster.stop()
    await session_of(cluster, reservation).add(login=session_pb2.SessionLogin(connection=1, user="alice"))
    clock.later = timedelta(minutes=61)

    await cluster.start()

    await cluster.reservation_events(reservation.reservation_id, "login")
    await charged(cluster, reservation, 61 * PART)
    assert (await cluster.reservation(reservation.reservation_id)).state == reservations_pb2.RESERVATION_STATE_ACTIVE


async def test_a_no_show_is_not_ended_before_its_silent_machine_says_that_nobody_logged_in(
    stopped_cluster: Cluster,
) -> None:
    cluster, clock = stopped_cluster, LaterClock()
    cluster.clock = clock
    await cluster.start()
    reservation = await active(cluster, duration={"seconds": 7200})
    await cluster.stop()
    await cluster.sessions.fall_silent()
    clock.later = timedelta(minutes=61)
    await cluster.start()
    await charged(cluster, reservation, 61 * PART)
    await session_of(cluster, reservation).add(login=session_pb2.SessionLogin(connection=1, user="alice"))

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
    charge_minutes = SessionAttempt._charge_minutes

    async def counted(attempt: SessionAttempt) -> None:
        nonlocal looks
        looks += 1
        await charge_minutes(attempt)

    monkeypatch.setattr(SessionAttempt, "_charge_minutes", counted)
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
