from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from tests.services.scheduler.cluster import kinds

if TYPE_CHECKING:
    from tests.services.scheduler.cluster import Cluster

TWO_SECONDS_MICROS = 2 * 1_990_000 // 3600


async def test_job_on_a_warm_machine_runs_and_ends_with_its_verdict(cluster: Cluster) -> None:
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == [
        "queued",
        "provisioning",
        "compiling",
        "checking",
        "test_result",
        "test_result",
        "ended",
    ]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[1].provisioning.start_kind == vmpool_pb2.START_KIND_WARM_REUSE
    assert events[1].provisioning.machine.machine_id == "machine-1"
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FINISHED
    assert events[-1].ended.result.verdict == run_event_pb2.VERDICT_ACCEPTED


async def test_ended_job_is_charged_for_its_billable_time_and_gives_its_lease_back(cluster: Cluster) -> None:
    job = await cluster.submit()
    await cluster.events_to_end(job.job_id)
    job = await cluster.job(job.job_id)
    assert job.state == scheduler_pb2.JOB_STATE_FINISHED
    assert job.cost_micros == TWO_SECONDS_MICROS
    [settlement] = cluster.billing.settled.values()
    assert settlement.amount_micros == TWO_SECONDS_MICROS
    assert settlement.idempotency_key == f"job:{job.job_id}:1"
    assert not cluster.billing.open_holds()
    assert not cluster.pool.live
