from __future__ import annotations

from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.metrics import registry
from tests.services.scheduler.cluster import Cluster, kinds

TWO_SECONDS_MICROS = 1_106


def first_stages() -> float:
    """How many submissions the time to the first stage was measured of."""
    return registry.get_sample_value("wavepool_scheduler_first_stage_seconds_count") or 0.0


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


async def test_job_that_ran_on_a_fallback_is_charged_at_the_price_of_that(cluster: Cluster) -> None:
    cluster.billing.prices = {"MI250X": 9_000_000, "MI210": 1_800_000}
    await cluster.pool.swap("machine-2", gpu_type="MI210")
    job = await cluster.submit(fallback_gpu_types=["MI250X", "MI210"])
    events = await cluster.events_to_end(job.job_id)
    [settlement] = cluster.billing.settled.values()
    assert settlement.amount_micros == events[-1].ended.cost_micros == 1_000
    assert settlement.description.endswith("on MI210 in place of MI300X")
    [hold] = cluster.billing.holds.values()
    assert hold.description.endswith("on MI300X or MI250X or MI210")


async def test_retried_job_starts_once_and_is_charged_at_the_price_of_its_last_machine(cluster: Cluster) -> None:
    cluster.billing.prices = {"MI210": 1_800_000}
    gate, starts = cluster.gate(), first_stages()
    await cluster.pool.tell("machine-2", "WARM", gpu_type="MI210")
    job = await cluster.running(fallback_gpu_types=["MI210"])
    assert (await cluster.job(job.job_id)).machine_gpu_type == "MI300X"
    await cluster.pool.tell("machine-1", "LOST")
    await cluster.event(job.job_id, lambda event: event.HasField("retrying"))
    gate.set()
    assert (await cluster.events_to_end(job.job_id))[-1].ended.cost_micros == 1_000
    assert (await cluster.job(job.job_id)).machine_gpu_type == "MI210"
    assert first_stages() == starts + 1
