from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2

from tests.services.scheduler.cluster import Cluster, kinds, scripted_cluster, until
from tests.services.scheduler.scripted_executor import PASSING, checking, compiling, finished, output, passed_test

PASSED = ["queued", "provisioning", "compiling", "checking", "test_result", "test_result", "ended"]


async def test_broken_stream_is_attached_to_again_without_loss_or_repetition(cluster: Cluster) -> None:
    cluster.executor.breaks = [1, 2, 4]
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == PASSED
    assert [request.after_seq for request in cluster.executor.requests] == [0, 1, 2, 4]
    assert events[-1].attempt == 1


async def test_events_that_an_executor_repeats_are_not_logged_twice(cluster: Cluster) -> None:
    cluster.executor.replays_all = True
    cluster.executor.breaks = [2]
    job = await cluster.submit()
    assert kinds(await cluster.events_to_end(job.job_id)) == PASSED


async def test_run_that_nobody_here_cancelled_is_tried_again(cluster: Cluster) -> None:
    gate = asyncio.Event()
    cluster.executor.script = (compiling(), gate, finished("CANCELLED"))
    job = await cluster.running()
    cluster.executor.script = PASSING
    gate.set()
    events = await cluster.events_to_end(job.job_id)
    assert "retrying" in kinds(events)
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FINISHED


async def test_run_that_a_restarted_executor_has_lost_is_tried_again_from_the_start(cluster: Cluster) -> None:
    gate = cluster.gate()
    job = await cluster.running()
    cluster.executor.script = PASSING
    run = cluster.executor.runs.pop(f"{job.job_id}-1")
    cluster.executor.breaks = [2]
    gate.set()
    events = await cluster.events_to_end(job.job_id)
    assert run.request.run_id == f"{job.job_id}-1"
    assert kinds(events) == [*PASSED[:3], "checking", "retrying", "provisioning", *PASSED[2:]]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (events[3].attempt, events[-1].attempt) == (1, 2)


async def test_infrastructure_error_is_retried_and_only_the_good_attempt_is_charged(cluster: Cluster) -> None:
    gate = asyncio.Event()
    cluster.executor.script = (compiling(), gate, finished("INFRA_ERROR", billable_seconds=99, message="disk full"))
    job = await cluster.running()
    cluster.executor.script = PASSING
    gate.set()
    events = await cluster.events_to_end(job.job_id)
    [retrying] = [event.retrying for event in events if event.HasField("retrying")]
    assert "disk full" in retrying.reason
    assert any(release.machine_suspect for release in cluster.pool.releases)
    [settlement] = cluster.billing.settled.values()
    assert settlement.idempotency_key == f"job:{job.job_id}:2"
    assert settlement.amount_micros == events[-1].ended.cost_micros == 1_106


async def test_lease_of_a_job_that_ends_while_the_pool_is_down_is_given_back_when_the_pool_returns(
    cluster: Cluster,
) -> None:
    cluster.pool.release_refusal = grpc.StatusCode.UNAVAILABLE
    job = await cluster.submit()
    assert kinds(await cluster.events_to_end(job.job_id))[-1] == "ended"
    assert cluster.pool.live
    cluster.pool.release_refusal = None
    await until(lambda: not cluster.pool.live)


async def test_third_lost_attempt_fails_the_job_and_charges_nothing(cluster: Cluster) -> None:
    cluster.executor.script = (compiling(), finished("INFRA_ERROR", message="disk full"))
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events).count("retrying") == 2
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FAILED
    assert events[-1].ended.result.verdict == run_event_pb2.VERDICT_INFRA_ERROR
    assert events[-1].ended.cost_micros == 0
    [settlement] = cluster.billing.settled.values()
    assert settlement.amount_micros == 0
    assert not cluster.pool.live


async def test_what_a_submission_may_have_forged_is_tried_three_times_and_makes_no_machine_suspect(
    cluster: Cluster,
) -> None:
    cluster.executor.script = (compiling(), finished("INFRA_ERROR", billable_seconds=0, reason="device_fault"))
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events).count("retrying") == 2
    assert (events[-1].ended.state, events[-1].ended.cost_micros) == (scheduler_pb2.JOB_STATE_FAILED, 0)
    assert {release.lease_id for release in cluster.pool.releases} == {"lease-1", "lease-2", "lease-3"}
    assert not any(release.machine_suspect for release in cluster.pool.releases)


NO_TORCH = finished("INFRA_ERROR", billable_seconds=0, message="This machine has no torch", reason="missing_torch")


async def test_definition_that_no_machine_can_evaluate_ends_at_once_and_condemns_no_machine(cluster: Cluster) -> None:
    cluster.executor.script = (NO_TORCH,)
    job = await cluster.submit(problem_definition="class mine(Problem): ...")
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == ["queued", "provisioning", "ended"]
    ended = events[-1].ended
    assert (ended.state, ended.cost_micros) == (scheduler_pb2.JOB_STATE_CANCELLED, 0)
    assert "make setup-torch" in ended.result.message
    assert not any(release.machine_suspect for release in cluster.pool.releases)


async def test_a_definition_that_needs_what_no_machine_has_beside_torch_is_tried_once(cluster: Cluster) -> None:
    missing = "This machine has no torchao, which the problem definition needs"
    cluster.executor.script = (finished("INFRA_ERROR", billable_seconds=0, message=missing, reason="missing_torch"),)
    await cluster.pool.tell("machine-1", "WARM", torch_version="2.13.0")
    await cluster.knows_machines()
    job = await cluster.submit(problem_definition="class mine(Problem): ...")
    ended = (await cluster.events_to_end(job.job_id))[-1].ended
    assert (ended.state, ended.cost_micros) == (scheduler_pb2.JOB_STATE_CANCELLED, 0)
    assert missing in ended.result.message
    assert len(cluster.executor.requests) == 1


async def test_definition_is_tried_again_on_a_machine_that_has_torch(cluster: Cluster) -> None:
    gate = asyncio.Event()
    cluster.executor.script = (compiling(), gate, NO_TORCH)
    job = await cluster.running(problem_definition="class mine(Problem): ...")
    await cluster.pool.tell("machine-2", "WARM", torch_version="2.13.0")
    cluster.executor.script = PASSING
    # After another run there, the scheduler knows the machine.
    other = await cluster.submit("other", problem_definition="class mine(Problem): ...")
    await cluster.events_to_end(other.job_id)
    gate.set()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events).count("retrying") == 1
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FINISHED
    assert (await cluster.job(job.job_id)).machine_id == "machine-2"


@pytest.mark.parametrize(
    "refusal",
    [
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.ALREADY_EXISTS,
    ],
)
async def test_refused_run_goes_back_to_the_queue(cluster: Cluster, refusal: grpc.StatusCode) -> None:
    cluster.executor.refusals = [refusal]
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == ["queued", "provisioning", "retrying", *PASSED[1:]]


async def test_run_that_an_unfit_machine_does_not_take_is_tried_elsewhere_at_once_and_the_pool_hears_why(
    cluster: Cluster,
) -> None:
    cluster.executor.refusals = [grpc.StatusCode.ABORTED]
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == ["queued", "provisioning", "retrying", *PASSED[1:]]
    assert events[2].retrying.reason == "the machine took no run: scripted refusal"
    [unfit] = [release for release in cluster.pool.releases if release.unfit_reason]
    assert (unfit.lease_id, unfit.unfit_reason) == ("lease-1", "scripted refusal")
    assert len(cluster.executor.requests) == 2, "it is not asked again before the attempt is given up"
    [settlement] = cluster.billing.settled.values()
    assert settlement.amount_micros == events[-1].ended.cost_micros == 1_106


async def test_job_that_only_unfit_machines_were_there_for_fails_with_their_reason_and_charges_nothing(
    cluster: Cluster,
) -> None:
    cluster.executor.refusals = [grpc.StatusCode.ABORTED] * 3
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FAILED
    assert events[-1].ended.result.verdict == run_event_pb2.VERDICT_INFRA_ERROR
    assert events[-1].ended.result.message == (
        "We failed to run this 3 times, the last time because the machine took no run: scripted refusal. That is not "
        "your submission's fault; nothing is charged. Submit it again later."
    )
    assert [settlement.amount_micros for settlement in cluster.billing.settled.values()] == [0]


async def test_full_executor_is_asked_again_under_the_same_lease(cluster: Cluster) -> None:
    cluster.executor.refusals = [grpc.StatusCode.RESOURCE_EXHAUSTED] * 2
    job = await cluster.submit()
    assert kinds(await cluster.events_to_end(job.job_id)) == PASSED
    assert len(cluster.pool.leases) == 1


async def test_executor_that_stays_out_of_reach_loses_the_attempt(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, reattach_window=timedelta(milliseconds=50)) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        good = cluster.pool.executor_endpoint
        cluster.pool.executor_endpoint = "127.0.0.1:1"
        await cluster.start()
        job = await cluster.submit()
        await until(lambda: bool(cluster.pool.leases))
        cluster.pool.executor_endpoint = good
        events = await cluster.events_to_end(job.job_id)
        assert kinds(events) == ["queued", "provisioning", "retrying", *PASSED[1:]]
        assert "cannot be reached" in events[2].retrying.reason


@pytest.mark.parametrize("state", ["LOST", "DRAINING"])
async def test_machine_that_the_pool_gives_up_or_stops_loses_its_attempt_at_once(cluster: Cluster, state: str) -> None:
    cluster.executor.script = (compiling(), asyncio.Event())
    job = await cluster.running()
    cluster.executor.script = PASSING
    await cluster.pool.tell("machine-1", state, reason="it burns")
    event = await cluster.event(job.job_id, lambda event: event.HasField("retrying"))
    assert event.retrying.reason == "its machine is gone (it burns)"
    await cluster.pool.tell("machine-2", "WARM")
    events = await cluster.events_to_end(job.job_id)
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FINISHED
    assert (await cluster.job(job.job_id)).machine_id == "machine-2"


@pytest.mark.parametrize(("state", "ending"), [("LOST", "FAILED"), ("DRAINING", "FINISHED")])
async def test_machines_that_somebody_stops_use_up_none_of_a_jobs_attempts(
    tmp_path: Path, state: str, ending: str
) -> None:
    async with scripted_cluster(tmp_path, max_attempts=1) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        cluster.executor.script = (compiling(), asyncio.Event())
        job = await cluster.running()
        cluster.executor.script = PASSING
        await cluster.pool.tell("machine-1", state, reason="it burns")
        await cluster.pool.tell("machine-2", "WARM")
        events = await cluster.events_to_end(job.job_id)
        assert events[-1].ended.state == scheduler_pb2.JobState.Value(f"JOB_STATE_{ending}")


async def test_expired_lease_requeues_the_job(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, lease_duration=timedelta(milliseconds=300)) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        cluster.executor.script = (compiling(), asyncio.Event())
        job = await cluster.running()
        cluster.executor.script = PASSING
        cluster.pool.live.clear()
        events = await cluster.events_to_end(job.job_id)
        [retrying] = [event.retrying for event in events if event.HasField("retrying")]
        assert "lease is gone" in retrying.reason
        # The old run is told to stop, so that two attempts do not run side by side.
        assert cluster.executor.cancels == [f"{job.job_id}-1"]


async def test_lease_is_renewed_at_the_pool_and_at_the_executor_while_the_job_runs(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, lease_duration=timedelta(milliseconds=300)) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        gate = cluster.gate()
        job = await cluster.submit()
        async with asyncio.timeout(60):
            await cluster.executor.renewed.wait()
        gate.set()
        await cluster.events_to_end(job.job_id)
        [first, *_] = cluster.executor.renewals
        assert first.run_id == f"{job.job_id}-1"
        assert first.fencing_token == 1
        original = cluster.executor.requests[0].lease_expire_time.ToDatetime()
        assert first.lease_expire_time.ToDatetime() > original


async def test_run_that_never_ends_is_given_up(tmp_path: Path) -> None:
    limits = {"longest_run": timedelta(milliseconds=200), "overrun_grace": timedelta(milliseconds=100)}
    async with scripted_cluster(tmp_path, max_attempts=1, **limits) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        cluster.executor.script = (compiling(), asyncio.Event())
        job = await cluster.submit()
        events = await cluster.events_to_end(job.job_id)
        assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FAILED
        assert "did not end the run" in events[-1].ended.result.details


async def test_gap_in_a_runs_events_is_a_fault_of_ours(cluster: Cluster) -> None:
    gate = asyncio.Event()
    cluster.executor.script = (compiling(), gate, checking(), passed_test(1), finished())
    job = await cluster.running()
    run = cluster.executor.runs[f"{job.job_id}-1"]
    cluster.executor.script = PASSING
    run.skip = 1
    gate.set()
    events = await cluster.events_to_end(job.job_id)
    [retrying] = [event.retrying for event in events if event.HasField("retrying")]
    assert "event 3 where 2 was due" in retrying.reason


async def test_flood_of_output_is_committed_in_batches(cluster: Cluster) -> None:
    cluster.executor.script = (*[output(f"line {n}") for n in range(2000)], finished())
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert [event.run.program_output.line for event in events[2:-1]] == [f"line {n}" for n in range(2000)]
    assert len({event.time.ToMicroseconds() for event in events}) < 1000


async def test_a_definition_is_refused_while_no_machine_that_stands_can_evaluate_it(cluster: Cluster) -> None:
    mine = "class mine(Problem): ..."
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.events_to_end((await cluster.submit("learns of the machine")).job_id)
    refused = cluster.submit("mine", problem="mine-alone", problem_definition=mine)
    with pytest.raises(grpc.aio.AioRpcError, match="make setup-torch") as error:
        await refused
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    # The catalogue's problem is used in place of a definition of it.
    await cluster.submit("ours", problem_definition=mine)
    await cluster.submit("ours by another name", problem="leakyrelu", problem_definition=mine)
    await cluster.pool.tell("machine-3", "WARM", torch_version="2.13.0")
    # After another run there, the scheduler knows the machine.
    await cluster.events_to_end((await cluster.submit("there", problem_definition=mine)).job_id)
    await cluster.submit("mine, later", problem="mine-alone", problem_definition=mine)
