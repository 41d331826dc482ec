from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from services.scheduler.jobs.states import JobState
from services.scheduler.runs.canceller import Canceller
from services.scheduler.store.job_store import JobStore
from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, USER, Cluster, is_run, kinds, scripted_cluster, until, with_gpus


async def test_waiting_jobs_run_by_priority_and_then_by_age(cluster: Cluster) -> None:
    cluster.billing.administrators = {USER}
    gate = cluster.gate()
    first = await cluster.running("first")
    waiting = [await cluster.submit(f"job {priority} {n}", priority=priority) for n in range(2) for priority in (0, 5)]
    gate.set()
    for job in waiting:
        await cluster.events_to_end(job.job_id)
    ran = [request.run_id.removesuffix("-1") for request in cluster.executor.requests]
    older, older_urgent, younger, younger_urgent = [job.job_id for job in waiting]
    assert ran == [first.job_id, older_urgent, younger_urgent, older, younger]


async def test_job_with_a_definition_waits_for_torch_and_keeps_no_other_machine_from_others(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-2", "WARM", torch_version="2.13.0")
    gate = cluster.gate()
    await cluster.start()
    definition = "class mine(Problem): ..."
    first = await cluster.running("first", problem_definition=definition)
    waiting = await cluster.submit("waiting", problem_definition=definition)
    behind = await cluster.running("behind")
    gate.set()
    await cluster.events_to_end(waiting.job_id)
    ran_on = [(await cluster.job(job.job_id)).machine_id for job in (first, waiting, behind)]
    assert ran_on == ["machine-2", "machine-2", "machine-1"]


@with_gpus(0)
async def test_queued_event_tells_the_position(cluster: Cluster) -> None:
    cluster.billing.administrators = {USER}
    jobs = [await cluster.submit(f"key {n}") for n in range(3)]
    urgent = await cluster.submit("urgent", priority=1)
    positions: list[int] = []
    for job in [*jobs, urgent]:
        event = await cluster.event(job.job_id, lambda event: event.HasField("queued"))
        positions.append(event.queued.position)
    assert positions == [1, 2, 3, 1]


async def test_cold_start_is_reported_stage_by_stage_until_the_machine_is_there(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    cluster.pool.start_kind = vmpool_pb2.START_KIND_COLD_START
    await cluster.pool.tell("machine-1", "REQUESTED", reason="jobs wait for it (MI300X at hotaisle: sold out)")
    await cluster.start()
    job = await cluster.submit()

    async def reported(stage: str) -> scheduler_pb2.Provisioning:
        event = await cluster.event(job.job_id, lambda event: event.provisioning.stage == stage)
        return event.provisioning

    requested = await reported("requested")
    assert requested.start_kind == vmpool_pb2.START_KIND_COLD_START
    assert requested.machine.machine_id == "machine-1"
    assert (requested.estimate.seconds, requested.estimate_p90.seconds) == (40, 90)
    assert requested.start_limit.seconds == 1200
    assert "MI300X at hotaisle: sold out" in requested.message
    assert (await cluster.job(job.job_id)).state == scheduler_pb2.JOB_STATE_PROVISIONING
    await cluster.pool.tell("machine-1", "PROVISIONING", stage="pulling image")
    pulling = await reported("pulling image")
    assert (pulling.elapsed.seconds, pulling.message) == (3, "Starting a machine: pulling image")
    await cluster.pool.tell("machine-1", "STARTING", reason="its executor is starting")
    assert (await reported("starting")).message == "Starting a machine: its executor is starting"
    await cluster.pool.tell("machine-1", "WARM")
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events)[:5] == ["queued", "provisioning", "provisioning", "provisioning", "provisioning"]
    ready = events[4].provisioning
    assert (ready.stage, ready.start_kind) == ("ready", vmpool_pb2.START_KIND_COLD_START)


async def test_job_whose_machine_fails_to_start_is_queued_again_and_says_so(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-1", "STARTING")
    await cluster.start()
    job = await cluster.submit()
    await cluster.event(job.job_id, lambda event: event.HasField("provisioning"))
    await cluster.pool.tell("machine-1", "FAILED", reason="no MI300X is left in this region")
    event = await cluster.event(job.job_id, lambda event: event.HasField("queued"), after_seq=1)
    assert "No machine is being started" in event.queued.message
    assert "no MI300X is left in this region" in event.queued.message
    assert (await cluster.job(job.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED
    await cluster.pool.tell("machine-2", "WARM")
    assert kinds(await cluster.events_to_end(job.job_id))[-1] == "ended"


@with_gpus(0)
async def test_a_job_without_any_machine_hears_once_why_none_is_started_and_when_the_next_try_is(
    cluster: Cluster,
) -> None:
    cluster.pool.blocked_reason = "hotaisle has no MI300X; tried again in 4 s, at 10:00:04 UTC"
    job = await cluster.submit()
    reported = await cluster.event(job.job_id, lambda event: event.HasField("queued"), after_seq=1)
    assert reported.queued.message == f"Waiting for a machine: {cluster.pool.blocked_reason}"
    assert reported.queued.position == 1
    cluster.pool.blocked_reason = "hotaisle has no MI300X; tried again in 2 s, at 10:00:04 UTC"
    other = await cluster.submit("other")
    await cluster.event(other.job_id, lambda event: event.HasField("queued"), after_seq=1)
    cluster.pool.blocked_reason = "hotaisle has no MI300X; tried again in 8 s, at 10:00:13 UTC"
    await cluster.event(job.job_id, lambda event: "10:00:13" in event.queued.message, after_seq=2)
    cluster.pool.blocked_reason = ""
    await cluster.pool.tell("machine-2", "WARM")
    assert kinds(await cluster.events_to_end(job.job_id))[:4] == ["queued", "queued", "queued", "provisioning"]


@with_gpus(0)
async def test_each_job_hears_what_stands_in_the_way_of_its_own_gpu_type(cluster: Cluster) -> None:
    cluster.pool.blocked_by_gpu_type = {"MI210": "no provider offers MI210 now"}
    job = await cluster.submit("of another type")
    reported = await cluster.submit("blocked", gpu_type="mi210")
    event = await cluster.event(reported.job_id, lambda event: event.HasField("queued"), after_seq=1)
    assert event.queued.message == "Waiting for a machine: no provider offers MI210 now"
    await cluster.cancel(job.job_id)
    assert kinds(await cluster.events_to_end(job.job_id)).count("queued") == 1


async def test_a_job_that_waits_for_machines_in_use_does_not_read_of_limits(cluster: Cluster) -> None:
    gate = cluster.gate()
    cluster.pool.blocked_reason = "the limit of 1 machines is reached"
    await cluster.running("running")
    await cluster.pool.tell("machine-1", "BUSY")
    waiting = await cluster.submit("waiting")
    await until(lambda: {"MI300X": 1} in cluster.pool.demands)
    gate.set()
    await cluster.pool.tell("machine-1", "WARM")
    assert kinds(await cluster.events_to_end(waiting.job_id)).count("queued") == 1


@with_gpus(0)
async def test_demand_is_reported_by_gpu_type_and_taken_back(cluster: Cluster) -> None:
    jobs = [await cluster.submit("one"), await cluster.submit("two", gpu_type="mi210")]
    await until(lambda: {"MI300X": 1, "MI210": 1} in cluster.pool.demands)
    for job in jobs:
        await cluster.cancel(job.job_id)
    await until(lambda: cluster.pool.demands[-1] == {})


async def test_job_for_another_gpu_type_does_not_wait_behind_a_blocked_one(cluster: Cluster) -> None:
    cluster.billing.administrators = {USER}
    blocked = await cluster.submit("blocked", gpu_type="MI210", priority=100)
    free = await cluster.submit("free")
    assert kinds(await cluster.events_to_end(free.job_id))[-1] == "ended"
    assert (await cluster.job(blocked.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED


@with_gpus(0)
async def test_demand_tells_the_fallbacks(cluster: Cluster) -> None:
    await cluster.submit("one")
    await cluster.submit("two", fallback_gpu_types=["MI210", "MI250X"])
    await until(lambda: {"MI300X": 1, "MI300X or MI210 or MI250X": 1} in cluster.pool.demands)


async def test_job_takes_a_machine_of_its_wanted_type_before_a_fallback(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-1", "WARM", gpu_type="MI210")
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.start()
    job = await cluster.submit(fallback_gpu_types=["MI210"])
    await cluster.events_to_end(job.job_id)
    assert (await cluster.job(job.job_id)).machine_gpu_type == "MI300X"


async def test_job_that_gets_a_fallback_says_so_from_its_machine_to_its_end(cluster: Cluster) -> None:
    await cluster.pool.swap("machine-2", gpu_type="MI210")
    job = await cluster.submit(fallback_gpu_types=["mi250x", "mi210"])
    assert list(job.spec.fallback_gpu_types) == ["MI250X", "MI210"]
    events = await cluster.events_to_end(job.job_id)
    placed = next(event.provisioning for event in events if event.provisioning.stage == "ready")
    assert placed.message == "Reusing warm machine …hine-2, MI210 in place of MI300X"
    assert events[-1].ended.machine_gpu_type == "MI210"
    assert (await cluster.job(job.job_id)).machine_gpu_type == "MI210"


async def test_a_job_on_the_cpu_device_says_so_whatever_gpu_type_it_asked_for(cluster: Cluster) -> None:
    job = await cluster.submit()
    assert job.hardware == ""
    events = await cluster.events_to_end(job.job_id)
    assert events[-1].ended.machine_gpu_type == "MI300X"
    assert (await cluster.job(job.job_id)).hardware == "cpu"
    await cluster.pool.swap("machine-2", device="rocm")
    other = await cluster.submit("other")
    await cluster.events_to_end(other.job_id)
    assert (await cluster.job(other.job_id)).hardware == "MI300X"
    for hardware, job_id in (("CPU", job.job_id), ("mi300x", other.job_id)):
        request = scheduler_pb2.ListJobsRequest(account_id=ACCOUNT, gpu_type=hardware)
        assert [one.job_id for one in (await cluster.api.ListJobs(request)).jobs] == [job_id]


@with_gpus(0)
async def test_job_that_allows_a_fallback_waits_for_a_starting_machine_of_it(cluster: Cluster) -> None:
    words = "jobs wait for it (MI300X at hotaisle: sold out; trying MI210 at amddevcloud now)"
    cluster.pool.blocked_reason = "MI300X at hotaisle: sold out; trying MI210 at amddevcloud now"
    job = await cluster.submit(fallback_gpu_types=["MI210"])
    reported = await cluster.event(job.job_id, lambda event: event.HasField("queued"), after_seq=1)
    assert reported.queued.message == f"Waiting for a machine: {cluster.pool.blocked_reason}"
    await cluster.pool.tell("machine-2", "REQUESTED", gpu_type="MI210", reason=words)
    event = await cluster.event(job.job_id, lambda event: event.HasField("provisioning"))
    assert event.provisioning.machine.gpu_type == "MI210"
    assert event.provisioning.message == f"Starting a machine: {words}"
    await cluster.pool.tell("machine-2", "WARM", gpu_type="MI210")
    assert kinds(await cluster.events_to_end(job.job_id))[-1] == "ended"


async def test_job_hears_what_its_machine_was_requested_for_however_late_it_looks(cluster: Cluster) -> None:
    words = "jobs wait for it (MI300X at hotaisle: sold out; trying MI210 at amddevcloud now)"
    await cluster.pool.tell("machine-1", "STOPPED")
    await cluster.pool.tell("machine-2", "REQUESTED", gpu_type="MI210", reason=words)
    await cluster.pool.tell("machine-2", "PROVISIONING", gpu_type="MI210", stage="pulling image")
    job = await cluster.submit(gpu_type="MI300X", fallback_gpu_types=["MI210"])
    first = await cluster.event(job.job_id, lambda event: event.HasField("provisioning"))
    assert first.provisioning.message == f"Starting a machine: {words}"
    await cluster.pool.tell("machine-2", "STARTING", gpu_type="MI210", stage="booting")
    later = await cluster.event(job.job_id, lambda event: event.provisioning.stage == "booting")
    assert later.provisioning.message == "Starting a machine: booting"


async def test_job_with_a_fallback_does_not_wait_behind_one_that_has_none(cluster: Cluster) -> None:
    cluster.billing.administrators = {USER}
    await cluster.pool.swap("machine-2", gpu_type="MI210")
    blocked = await cluster.submit("blocked", priority=100)
    free = await cluster.submit("free", fallback_gpu_types=["MI210"])
    assert kinds(await cluster.events_to_end(free.job_id))[-1] == "ended"
    assert (await cluster.job(blocked.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED


async def test_job_that_the_pool_will_never_place_fails_without_a_charge(cluster: Cluster) -> None:
    cluster.pool.refusal = grpc.StatusCode.INVALID_ARGUMENT
    job = await cluster.submit()
    events = await cluster.events_to_end(job.job_id)
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_FAILED
    assert "No machine can run this" in events[-1].ended.result.message
    assert events[-1].ended.cost_micros == 0


@pytest.mark.parametrize(
    "refusal", [grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED]
)
async def test_pool_that_is_out_of_reach_or_knows_another_token_delays_jobs_and_loses_none(
    cluster: Cluster, refusal: grpc.StatusCode
) -> None:
    cluster.pool.refusal = refusal
    job = await cluster.submit()
    await until(lambda: cluster.pool.refused >= 1)
    cluster.pool.refusal = None
    assert kinds(await cluster.events_to_end(job.job_id))[-1] == "ended"


async def test_job_with_a_lease_on_other_terms_holds_up_nobody(cluster: Cluster) -> None:
    cluster.pool.refusal = grpc.StatusCode.ALREADY_EXISTS
    job = await cluster.submit()
    await until(lambda: cluster.pool.refused >= 1)
    cluster.pool.refusal = None
    assert kinds(await cluster.events_to_end(job.job_id))[-1] == "ended"


async def test_jobs_use_all_machines_at_once(cluster: Cluster) -> None:
    await cluster.pool.tell("machine-2", "WARM")
    gate = cluster.gate()
    jobs = [await cluster.submit(f"key {n}") for n in range(2)]
    for job in jobs:
        await cluster.event(job.job_id, is_run("compiling"))
    assert {lease.machine_id for lease in cluster.pool.leases.values()} == {"machine-1", "machine-2"}
    gate.set()
    for job in jobs:
        await cluster.events_to_end(job.job_id)


async def test_wait_is_estimated_once_there_is_history(cluster: Cluster) -> None:
    for number in range(3):
        await cluster.events_to_end((await cluster.submit(f"history {number}")).job_id)
    gate = cluster.gate()
    await cluster.running("running")
    await cluster.pool.tell("machine-1", "BUSY")
    waiting = await cluster.submit("waiting")
    event = await cluster.event(waiting.job_id, lambda event: event.HasField("queued"))
    assert event.queued.HasField("eta_p50")
    assert event.queued.eta_p90.ToMicroseconds() >= event.queued.eta_p50.ToMicroseconds() > 0
    gate.set()
    await cluster.pool.tell("machine-1", "WARM")
    await cluster.events_to_end(waiting.job_id)


async def test_stale_memory_of_a_running_job_does_not_take_its_lease_away(cluster: Cluster) -> None:
    assert cluster.scheduler
    assert cluster.database
    gate = cluster.gate()
    job = await cluster.running()
    row = await JobStore(cluster.database, lambda events: None).get(job.job_id)
    assert row
    waiting = cluster.scheduler.waiting
    waiting.put(replace(row, state=JobState.QUEUED, lease=None))
    await until(lambda: job.job_id not in waiting)
    assert cluster.pool.live == {"lease-1"}
    gate.set()
    assert "retrying" not in kinds(await cluster.events_to_end(job.job_id))


@with_gpus(4)
async def test_a_job_gets_all_its_gpus_at_once_and_its_executor_hears_which(cluster: Cluster) -> None:
    gate = cluster.gate()
    one = await cluster.running("one")
    two = await cluster.running("two", resources=scheduler_pb2.Resources(gpus=2))
    four = await cluster.submit("four", resources=scheduler_pb2.Resources(gpus=4))
    gate.set()
    await cluster.events_to_end(four.job_id)
    slots = {request.run_id: [slot.gpu for slot in request.slots] for request in cluster.executor.requests}
    assert slots == {f"{one.job_id}-1": [0], f"{two.job_id}-1": [2, 3], f"{four.job_id}-1": [0, 1, 2, 3]}
    holds = {asked.subject: (asked.eighths, asked.gpu_count) for asked in cluster.billing.holds.values()}
    assert holds == {one.job_id: (8, 1), two.job_id: (8, 2), four.job_id: (8, 4)}


async def test_nothing_is_impossible_before_every_machine_is_known(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    cluster.pool.has_told_all.clear()
    await cluster.start()
    half = scheduler_pb2.Resources(fraction=0.5)

    assert (await cluster.submit("early", resources=half)).job_id
    cluster.pool.has_told_all.set()
    await cluster.knows_machines()
    await refused(cluster.submit("late", resources=half), grpc.StatusCode.INVALID_ARGUMENT, "cannot be had here")


async def test_parts_of_a_gpu_run_beside_each_other_and_a_whole_one_waits_for_both(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-1", "WARM", runs_per_device=2)
    gate = cluster.gate()
    await cluster.start()
    half = scheduler_pb2.Resources(fraction=0.4, isolation=scheduler_pb2.ISOLATION_TIME_SLICE)
    halves = [await cluster.submit(f"half {number}", resources=half) for number in range(2)]
    for job in halves:
        await cluster.event(job.job_id, is_run("compiling"))
    whole = await cluster.submit("whole")
    gate.set()
    await cluster.events_to_end(whole.job_id)
    slots = [[(slot.first_eighth, slot.eighths) for slot in request.slots] for request in cluster.executor.requests]
    assert slots == [[(0, 4)], [(4, 4)], [(0, 8)]]
    assert (await cluster.job(halves[0].job_id)).spec.resources.fraction == 0.5


HALF = scheduler_pb2.Resources(fraction=0.5)
WAITS = scheduler_pb2.MachineUse(wait_for_operator=True)


@pytest.mark.parametrize(
    ("asked", "field", "reason"),
    [
        (HALF, "spec.resources.fraction", "No machine with MI300X can give 4/8 of a GPU (partition)."),
        (scheduler_pb2.Resources(memory_mib=48000), "spec.resources.memory_mib", "can give 2/8 of a GPU (partition)."),
        (scheduler_pb2.Resources(devices=8), "spec.resources.devices", "can give 1 GPU as 8 devices. Leave `devices`"),
        (
            scheduler_pb2.Resources(fraction=0.5, isolation=scheduler_pb2.ISOLATION_TIME_SLICE),
            "spec.resources.fraction",
            # No mode of a GPU would help, so none is named.
            "the machines here do not share theirs (EXECUTOR_MAX_RUNS). To wait until an operator",
        ),
        (scheduler_pb2.Resources(gpus=4), "spec.resources.gpus", "GPUs is 4; no machine has more than 1, and the pool"),
    ],
)
async def test_what_no_machine_can_ever_give_is_refused_before_anything_is_held(
    stopped_cluster: Cluster, asked: scheduler_pb2.Resources, field: str, reason: str
) -> None:
    cluster = stopped_cluster
    cluster.pool.max_machines = 2
    await cluster.start()
    await cluster.knows_machines()
    await cluster.events_to_end((await cluster.submit("first")).job_id)
    call, invalid = cluster.submit("never", resources=asked), grpc.StatusCode.INVALID_ARGUMENT
    await refused(call, invalid, reason, "`--wait-for-operator`", field=field)
    assert not cluster.billing.open_holds()


async def test_a_machine_that_nothing_pays_for_is_refused_at_the_door_unless_one_is_there(
    stopped_cluster: Cluster,
) -> None:
    """A grant's last machine-hour: the pool does not set it aside."""
    cluster, refusal = stopped_cluster, "$1.00 of the machine budget of $1.00 is left, so $0.99 is missing"
    cluster.pool.never_paid = {"MI300X": refusal}
    await cluster.start()
    await cluster.knows_machines()
    await cluster.events_to_end((await cluster.submit("there")).job_id)
    await cluster.pool.tell("machine-1", "STOPPED")
    for call in (cluster.submit("last"), cluster.reserve("last")):
        await refused(call, grpc.StatusCode.FAILED_PRECONDITION, "No machine with MI300X can be paid for", refusal)
    assert not cluster.billing.open_holds()
    cluster.pool.never_paid = {}
    assert (await cluster.submit("last")).job_id


async def test_a_part_that_waits_for_the_operator_is_told_so_and_asks_for_no_machine(cluster: Cluster) -> None:
    job = await cluster.submit("part", resources=HALF, machine=WAITS)
    told = await cluster.event(
        job.job_id, lambda event: event.HasField("queued") and "partitions" in event.queued.message
    )
    assert "no machine with MI300X can give 4/8 of a GPU (partition)" in told.queued.message
    assert not any(cluster.pool.demands)


async def test_what_is_impossible_stays_so_while_machines_are_not_known(cluster: Cluster) -> None:
    assert cluster.scheduler
    waiting, inventory = cluster.scheduler.waiting, cluster.scheduler.dated._inventory
    await cluster.submit("part", resources=HALF, machine=WAITS)
    await until(lambda: bool(waiting.hopeless))
    inventory.is_complete = False
    canceller = next(loop for loop, _, _ in cluster.scheduler.duties if isinstance(loop, Canceller))

    await canceller.run_once()

    assert waiting.hopeless


async def test_a_gpu_type_that_the_pool_can_never_have_is_refused(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    cluster.pool.start_seconds = {"MI300X": 4}
    await cluster.start()
    await cluster.knows_machines()
    absent = cluster.submit("absent", gpu_type="MI210")
    reason = "There is no machine with MI210, and the pool can start none."
    await refused(absent, grpc.StatusCode.INVALID_ARGUMENT, reason, field="spec.gpu_type")
    assert (await cluster.submit("there")).job_id


async def test_what_cannot_be_paid_for_any_more_ends_unless_it_waits_for_the_operator(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, impossible_after=timedelta(milliseconds=50)) as cluster:
        await cluster.start()
        await cluster.knows_machines()
        waits = await cluster.submit("waits", gpu_type="MI210", machine=WAITS)
        job = await cluster.submit("job", gpu_type="MI210")
        cluster.pool.never_paid = {"MI210": "$0.00 of the machine budget is left"}
        *_, last = await cluster.events_to_end(job.job_id)
        assert last.ended.result.reason == "impossible"
        assert "No machine with MI210 can be paid for: $0.00 of" in last.ended.result.message
        await until(lambda: not any(cluster.pool.demands[-1].values()))
        head = (await cluster.availability("MI210")).queue_head
        assert head.reason == "No machine with MI210 can be paid for: $0.00 of the machine budget is left."
        assert (await cluster.job(waits.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED


@pytest.mark.parametrize("was_known", [False, True], ids=["at once if it was taken in doubt", "after a while"])
async def test_what_becomes_impossible_while_it_waits_ends_uncharged_unless_it_waits_for_the_operator(
    tmp_path: Path, *, was_known: bool
) -> None:
    wait = timedelta(milliseconds=50) if was_known else timedelta(days=1)
    async with scripted_cluster(tmp_path, impossible_after=wait) as cluster:
        await cluster.pool.tell("machine-1", "PROVISIONING")
        await cluster.start()
        part = await cluster.submit("part", resources=HALF)
        assert cluster.scheduler
        if was_known:
            cluster.scheduler.waiting.doubtful.clear()
        waits = await cluster.submit("waits", resources=HALF, machine=WAITS)
        whole = await cluster.submit("whole")
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.events_to_end(whole.job_id)
        *_, last = await cluster.events_to_end(part.job_id)
        assert (last.ended.state, last.ended.cost_micros) == (scheduler_pb2.JOB_STATE_CANCELLED, 0)
        assert last.ended.result.reason == "impossible"
        assert "No machine with MI300X can give 4/8 of a GPU (partition)." in last.ended.result.message
        assert ("as this has lasted for" in last.ended.result.message) is was_known
        assert len(cluster.billing.open_holds()) == 1
        assert (await cluster.job(waits.job_id)).spec.machine.wait_for_operator


@pytest.mark.parametrize(
    "takes", [scheduler_pb2.Resources(gpus=2), scheduler_pb2.Resources(gpus=2, devices=2)], ids=["plain", "of devices"]
)
@with_gpus(2)
async def test_a_large_job_has_its_gpus_kept_and_only_short_ones_start_there_before(
    cluster: Cluster, takes: scheduler_pb2.Resources
) -> None:
    gate = cluster.gate()
    first = await cluster.running("first", time_limit=Duration(seconds=300))
    large = await cluster.submit("large", resources=takes)
    late = await cluster.submit("late", time_limit=Duration(seconds=600))
    short = await cluster.running("short", time_limit=Duration(seconds=30))
    assert (await cluster.job(late.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED
    gate.set()
    await cluster.events_to_end(late.job_id)
    ran = [request.run_id.removesuffix("-1") for request in cluster.executor.requests]
    assert ran == [job.job_id for job in (first, short, large, late)]


@with_gpus(2)
async def test_gpus_kept_for_a_large_job_go_to_no_job_that_takes_their_type_as_a_fallback(
    cluster: Cluster,
) -> None:
    gate = cluster.gate()
    first = await cluster.running("first", time_limit=Duration(seconds=300))
    large = await cluster.submit("large", resources=scheduler_pb2.Resources(gpus=2))
    late = await cluster.submit("late", time_limit=Duration(seconds=600))
    elsewhere = await cluster.submit(
        "elsewhere", gpu_type="MI210", fallback_gpu_types=["MI300X"], time_limit=Duration(seconds=600)
    )
    short = await cluster.running("short", time_limit=Duration(seconds=30))
    assert (await cluster.job(elsewhere.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED
    gate.set()
    await cluster.events_to_end(large.job_id)
    for job in (late, elsewhere):
        await cluster.events_to_end(job.job_id)
    ran = [request.run_id.removesuffix("-1") for request in cluster.executor.requests]
    assert ran[:3] == [job.job_id for job in (first, short, large)]


@with_gpus(2)
async def test_a_gpu_that_comes_free_unheard_goes_to_no_small_job_while_a_large_one_waits(
    cluster: Cluster,
) -> None:
    gate = cluster.gate()
    first = await cluster.running("first", time_limit=Duration(seconds=300))
    await cluster.pool.tell("machine-2", "WARM", gpus=2, free_masks=[0, 0])
    large = await cluster.submit("large", resources=scheduler_pb2.Resources(gpus=2, devices=2))
    late = await cluster.submit("late", time_limit=Duration(seconds=600))
    short = await cluster.submit("short", time_limit=Duration(seconds=30))
    await cluster.pool.tell("machine-2", "WARM", gpus=2)
    await cluster.event(short.job_id, is_run("compiling"))
    gate.set()
    await cluster.events_to_end(late.job_id)
    ran = [request.run_id.removesuffix("-1") for request in cluster.executor.requests]
    assert ran == [job.job_id for job in (first, short, large, late)]


@with_gpus(4)
async def test_a_range_of_gpus_starts_with_what_is_free_and_pays_for_that(cluster: Cluster) -> None:
    gate = cluster.gate()
    takes = scheduler_pb2.Resources(gpus=8, least_gpus=1)
    one = await cluster.running("one")
    several = await cluster.running("several", resources=takes)
    least = await cluster.running("least", resources=takes)
    running = await cluster.job(several.job_id)
    gate.set()
    for job in (one, several, least):
        await cluster.events_to_end(job.job_id)

    slots = {request.run_id: len(request.slots) for request in cluster.executor.requests}
    assert slots == {f"{one.job_id}-1": 1, f"{several.job_id}-1": 2, f"{least.job_id}-1": 1}
    assert (running.got_eighths, running.spec.resources.gpus, running.spec.resources.least_gpus) == (16, 8, 1)
    paid = {request.idempotency_key: request.gpu_count for request in cluster.billing.settled.values()}
    assert paid == {f"job:{one.job_id}:1": 0, f"job:{several.job_id}:1": 2, f"job:{least.job_id}:1": 1}
    held = {asked.subject: asked.gpu_count for asked in cluster.billing.holds.values()}
    assert held[several.job_id] == 8
    over = [await cluster.job(job.job_id) for job in (one, several, least)]
    assert over[1].cost_micros == 2 * over[0].cost_micros > 0
    assert [job.got_eighths for job in over] == [8, 16, 8]


async def test_a_range_for_which_not_even_the_least_is_free_waits_and_asks_for_the_least(cluster: Cluster) -> None:
    job = await cluster.submit("job", resources=scheduler_pb2.Resources(gpus=4, least_gpus=2))
    await until(lambda: any(cluster.pool.demands))
    assert cluster.scheduler
    assert [lane.kind.gpus for lane in cluster.scheduler.waiting.lanes()] == [2]
    await cluster.pool.tell("machine-2", "WARM", gpus=2)
    await cluster.events_to_end(job.job_id)
    assert (await cluster.job(job.job_id)).got_eighths == 16
