"""How each end of a submission or reservation reaches billing, which mails its user: with the settlement."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from wavepool.billing.v1.billing_pb2 import EndNotice
from wavepool.executor.v1.run_event_pb2 import RunEvent

from tests.services.scheduler.cluster import Cluster, scripted_cluster, with_gpus
from tests.services.scheduler.scripted_executor import compiling, finished
from tests.services.scheduler.test_dispatcher import HALF
from tests.services.scheduler.test_reservation_faults import active_for, session_of
from tests.services.scheduler.test_reservations import active, cancel
from tests.services.scheduler.test_resumption import Rows, gone, rows

__all__ = ["rows"]
PASSED = "All 5 cases are right."
QUOTE = "The compiler rejected line 3: use of undeclared identifier 'secret_trick'."


def notice(cluster: Cluster) -> EndNotice:
    """That of the only settlement."""
    (settled,) = cluster.billing.settled.values()
    assert settled.HasField("notice")
    return settled.notice


async def after(cluster: Cluster, *script: RunEvent) -> EndNotice:
    """The notice of a submission that runs so."""
    cluster.executor.script = script
    job = await cluster.submit(name="my relu")
    await cluster.events_to_end(job.job_id)
    return notice(cluster)


async def test_an_accepted_submission_ends_well_with_the_word_of_its_mode(cluster: Cluster) -> None:
    found = await after(cluster, compiling(), finished(message=PASSED))
    assert found == EndNotice(kind="submission", name="my relu", status="CHECKED", well=True, message=PASSED)


@pytest.mark.parametrize("verdict", ["COMPILE_ERROR", "RUNTIME_ERROR", "WRONG_ANSWER"])
async def test_what_is_said_of_a_program_that_failed_stays_here_as_it_may_quote_it(
    cluster: Cluster, verdict: str
) -> None:
    found = await after(cluster, compiling(), finished(verdict, message=QUOTE))
    assert found == EndNotice(kind="submission", name="my relu", status=verdict)


async def test_a_submission_that_we_failed_to_run_has_a_notice_that_says_so(cluster: Cluster) -> None:
    found = await after(cluster, compiling(), finished("INFRA_ERROR", message="disk full"))
    assert (found.status, found.well, found.message) == ("ERROR", False, "")


async def test_a_submission_that_the_pool_refuses_for_good_has_a_notice(cluster: Cluster) -> None:
    cluster.pool.refusal = grpc.StatusCode.INVALID_ARGUMENT
    found = await after(cluster)
    assert (found.status, found.well, found.message) == ("ERROR", False, "")


@with_gpus(0)
async def test_a_submission_that_is_cancelled_before_it_ran_has_a_notice(cluster: Cluster) -> None:
    job = await cluster.submit()
    await cluster.cancel(job.job_id)
    await cluster.events_to_end(job.job_id)
    assert notice(cluster) == EndNotice(
        kind="submission", status="CANCELLED", message="Cancelled before it ran; nothing is charged."
    )


async def test_a_submission_that_becomes_impossible_has_a_notice(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, impossible_after=timedelta(milliseconds=50)) as cluster:
        await cluster.pool.tell("machine-1", "PROVISIONING")
        await cluster.start()
        part = await cluster.submit("part", resources=HALF)
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.events_to_end(part.job_id)
        found = notice(cluster)
    assert (found.status, found.well, "No machine with MI300X" in found.message) == ("CANCELLED", False, True)


async def test_a_reservation_that_its_user_gives_back_ends_well(cluster: Cluster) -> None:
    reservation = await active(cluster, name="training")
    await cancel(cluster, reservation)
    await cluster.reservation_events(reservation.reservation_id)
    found, cost_micros = notice(cluster), (await cluster.reservation(reservation.reservation_id)).cost_micros
    assert found == EndNotice(
        kind="reservation",
        name="training",
        status="CANCELLED",
        well=True,
        message="Cancelled.",
        most_micros=cost_micros,
    )


async def test_a_reservation_that_another_user_ends_did_not_end_well(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await cancel(cluster, reservation, user_id="user_eve")
    await cluster.reservation_events(reservation.reservation_id)
    found = notice(cluster)
    assert (found.well, found.message) == (False, "Another user ended it.")


async def test_ids_of_others_jobs_are_not_mailed(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await cancel(cluster, reservation, "It makes way for job_01JABC.")
    await cluster.reservation_events(reservation.reservation_id)
    assert (notice(cluster).well, notice(cluster).message) == (False, "")


async def test_a_reservation_that_is_ended_for_a_reason_did_not_end_well(cluster: Cluster) -> None:
    reservation = await active(cluster)
    await cancel(cluster, reservation, "Ended by the operator: maintenance.")
    await cluster.reservation_events(reservation.reservation_id)
    found = notice(cluster)
    assert (found.well, found.message) == (False, "Ended by the operator: maintenance.")


@with_gpus(0)
async def test_a_reservation_that_is_cancelled_in_the_queue_did_not_end_well(cluster: Cluster) -> None:
    reservation = await cluster.reserve()
    await cancel(cluster, reservation, "The room is too hot.")
    await cluster.reservation_events(reservation.reservation_id)
    found = notice(cluster)
    assert (found.status, found.well, found.message) == ("CANCELLED", False, "The room is too hot.")
    assert (found.HasField("most_micros"), found.most_micros) == (True, 0)


async def test_a_reservation_whose_time_is_up_ends_well(stopped_cluster: Cluster) -> None:
    reservation = await active_for(stopped_cluster, timedelta(minutes=30))
    await session_of(stopped_cluster, reservation).end("EXPIRED", reservation.expire_time.ToDatetime())
    await stopped_cluster.reservation_events(reservation.reservation_id)
    found = notice(stopped_cluster)
    assert (found.status, found.well, found.message) == ("EXPIRED", True, "Its time was up.")


async def test_a_lost_reservation_did_not_end_well_and_costs_at_most_what_is_not_given_back(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    reservation = await active_for(cluster, timedelta(minutes=30))
    await cluster.sessions.fall_silent()
    await cluster.pool.tell("machine-1", "LOST", reason="the cloud took it")
    await cluster.reservation_events(reservation.reservation_id)
    found = notice(cluster)
    assert (found.status, found.well, found.most_micros) == ("FAILED", False, 0)


async def test_the_hold_of_a_submission_that_died_is_given_back_without_a_notice(
    stopped_cluster: Cluster, rows: Rows
) -> None:
    stopped_cluster.settings.submission_timeout *= 0
    await rows.reserving()
    await stopped_cluster.start()
    await gone(rows)
    assert not any(settled.HasField("notice") for settled in stopped_cluster.billing.settled.values())
