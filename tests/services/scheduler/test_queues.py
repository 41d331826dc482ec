"""Queues through the running scheduler: described, shared, taken back, explained."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc, scheduler_pb2
from wavepool.scheduler.v1.queues_pb2 import (
    FAIRNESS_POLICY_KUEUE,
    QUEUE_CHANGE_KIND_ADDED,
    QUEUE_CHANGE_KIND_CHANGED,
    QUEUE_CHANGE_KIND_REMOVED,
    ApplyQueuesRequest,
    ExplainJobRequest,
    JobClass,
    ListQueuesRequest,
    Queue,
    QueueResource,
)

from services.scheduler.fairness.settings import JobClass as JobClassSettings
from services.scheduler.fairness.settings import Queues, QueueSettings
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.situations import MOVE_COOL_DOWN
from tests.refused_calls import refused
from tests.services.scheduler.cluster import USER, Cluster, LaterClock, is_run, kinds, until, with_gpus
from tests.services.scheduler.scripted_executor import PASSING, compiling

NO_TIME = Duration()


def stub(cluster: Cluster) -> queues_pb2_grpc.QueueServiceAsyncStub:
    assert cluster.channel
    return queues_pb2_grpc.QueueServiceStub(cluster.channel)


def team(name: str, quota: float | None = None, **more: Any) -> Queue:
    resources = {} if quota is None else {"gpu": QueueResource(quota=quota)}
    return Queue(name=name, resources=resources, **more)


async def apply(cluster: Cluster, *queues: Queue, **more: Any) -> queues_pb2.ApplyQueuesResponse:
    return await stub(cluster).ApplyQueues(ApplyQueuesRequest(queues=queues, **more))


async def listed(cluster: Cluster) -> dict[str, queues_pb2.QueueStatus]:
    answer = await stub(cluster).ListQueues(ListQueuesRequest())
    return {status.queue.name: status for status in answer.queues}


async def test_a_tree_is_shown_before_it_is_made_and_outlives_the_process(cluster: Cluster) -> None:
    lab, red = team("lab", 8, display_name="The lab"), team("red", 4, parent="lab")

    shown = await apply(cluster, lab, red, dry_run=True)
    made = await apply(cluster, lab, red)
    again = await apply(cluster, lab, red)

    assert {change.name: change.kind for change in shown.changes} == dict.fromkeys(
        ("lab", "red"), QUEUE_CHANGE_KIND_ADDED
    )
    assert list(shown.changes) == list(made.changes)
    assert (shown.generation, made.generation, again.generation) == (1, 2, 2)
    assert not again.changes
    await cluster.stop()
    await cluster.start()
    assert list(await listed(cluster)) == ["default", "lab", "red"]
    assert (await listed(cluster))["lab"].queue.display_name == "The lab"


async def test_a_change_says_each_field_before_and_after(cluster: Cluster) -> None:
    await apply(cluster, team("red", 4), team("blue", 2))

    [changed] = (await apply(cluster, team("red", 6, closed=True))).changes
    gone = await apply(cluster, team("red", 6, closed=True), prune=True)

    assert changed.kind == QUEUE_CHANGE_KIND_CHANGED
    assert {(one.field, one.before, one.after) for one in changed.fields} == {
        ("closed", "", "true"),
        ("resources.gpu.quota", "4", "6"),
    }
    assert [(one.name, one.kind) for one in gone.changes] == [("blue", QUEUE_CHANGE_KIND_REMOVED)]
    assert list(await listed(cluster)) == ["default", "red"]


@pytest.mark.parametrize(
    ("queues", "field", "words"),
    [
        ([team("a", parent="b"), team("b", parent="a")], "queues[a].parent", "cycle"),
        ([team("a", parent="nowhere")], "queues[a].parent", "no queue of this tree"),
        (
            [Queue(name="a", resources={"gpu": QueueResource(quota=5, limit=4)})],
            "queues[a].resources.gpu.quota",
            "its own limit, 4",
        ),
        ([Queue(name="a", resources={"gpu": QueueResource(quota=0.3)})], "queues[a].resources.gpu.quota", "0.125"),
        (
            [Queue(name="a", resources={"gpu": QueueResource(quota=float("nan"))})],
            "queues[a].resources.gpu.quota",
            "-1",
        ),
        ([Queue(name="a", resources={"H9": QueueResource(quota=1)})], "queues[a].resources", "MI300X"),
        ([team("A team")], "queues[A team].name", "lower-case"),
        ([team("a"), team("a")], "queues[a].name", "twice"),
        ([team("a", parent="default")], "queues[a].parent", "default"),
        ([team("a", policy=99)], "queues[a].policy", "99"),
        ([team("a", policy=1), team("b", policy=2)], "queues.policy", "different"),
        ([team("a", ordering="classi")], "queues[a].ordering", "classic"),
        ([team("a", placement="sprad")], "queues[a].placement", "spread"),
        ([team("a", classes={"Big": JobClass()})], "queues[a].classes", "lower-case"),
        ([team("a", classes={"big": JobClass(value=1001)})], "queues[a].classes.big.value", "-1000 to 1000"),
        ([team("a", default_class="big")], "queues[a].default_class", "Describe the classes"),
        ([team("a", classes={"big": JobClass()}, default_class="bgi")], "queues[a].default_class", "big"),
        (
            [team("a", classes={"big": JobClass(administrators_only=True)}, default_class="big")],
            "queues[a].default_class",
            "administrators only",
        ),
        ([team("a", max_priority=101)], "queues[a].max_priority", "0 to 100"),
        ([team("a", max_priority=-1)], "queues[a].max_priority", "0 to 100"),
        ([team("a", max_priority_by_account={"x": 101})], "queues[a].max_priority_by_account.x", "0 to 100"),
        ([team("a", max_priority_by_account={" ": 1})], "queues[a].max_priority_by_account", "no id of an account"),
        ([team("a", max_priority_by_account={"a\0": 1})], "queues[a].max_priority_by_account", "no id of an account"),
        (
            [team("a", max_priority_by_account={f"{number}": 1 for number in range(1001)})],
            "queues[a].max_priority_by_account",
            "more than 1000",
        ),
        ([team("a", max_jobs_per_user=-1)], "queues[a].max_jobs_per_user", "0 for no limit"),
    ],
)
async def test_a_tree_with_a_fault_is_refused_whole(
    cluster: Cluster, queues: list[Queue], field: str, words: str
) -> None:
    await refused(apply(cluster, team("sound"), *queues), grpc.StatusCode.INVALID_ARGUMENT, field, words)
    assert list(await listed(cluster)) == ["default"]


async def test_a_change_of_a_tree_that_has_changed_meanwhile_is_refused(cluster: Cluster) -> None:
    await apply(cluster, team("red"), expected_generation=1)

    await refused(apply(cluster, team("blue"), expected_generation=1), grpc.StatusCode.ABORTED)


async def test_jobs_go_to_queues_that_exist_are_open_and_have_no_queues_below(cluster: Cluster) -> None:
    await apply(cluster, team("lab"), team("red", parent="lab"), team("shut", closed=True))

    for name, code in [
        ("lab", grpc.StatusCode.NOT_FOUND),
        ("ret", grpc.StatusCode.NOT_FOUND),
        ("shut", grpc.StatusCode.FAILED_PRECONDITION),
    ]:
        await refused(cluster.submit(f"key {name}", queue=name), code, name)
    job = await cluster.submit("sound", queue="red")
    assert job.spec.queue == "red"
    assert [hold.queue for hold in cluster.billing.holds.values()] == ["red"]


async def test_a_closed_queue_finishes_its_jobs_and_then_may_go(cluster: Cluster) -> None:
    gate = cluster.gate()
    await apply(cluster, team("red"))
    job = await cluster.running("job", queue="red")

    for change in (apply(cluster, removed=["red"]), apply(cluster, team("below", parent="red"))):
        await refused(change, grpc.StatusCode.FAILED_PRECONDITION, "wavepool queues close red")
    await apply(cluster, team("red", closed=True))
    gate.set()
    events = await cluster.events_to_end(job.job_id)
    await apply(cluster, removed=["red"])

    assert kinds(events)[-1] == "ended"
    assert list(await listed(cluster)) == ["default"]


@pytest.mark.parametrize("policy", [0, FAIRNESS_POLICY_KUEUE])
async def test_a_queue_gets_its_quota_back_and_the_job_that_gave_way_runs_again(cluster: Cluster, policy: int) -> None:
    gate = cluster.gate()
    lab = team("lab", 1, policy=policy, reclaim_min_runtime=NO_TIME)
    await apply(
        cluster, lab, team("owner", 1, parent="lab"), team("guest", 0, parent="lab", reclaim_min_runtime=NO_TIME)
    )
    guest = await cluster.running("guest", queue="guest")

    owner = await cluster.running("owner", queue="owner")
    waits = await cluster.job(guest.job_id)
    gate.set()
    owner_events, guest_events = [await cluster.events_to_end(job.job_id) for job in (owner, guest)]

    assert waits.attempt == 2
    [lost] = [event.retrying for event in guest_events if event.HasField("retrying")]
    assert "queue owner takes back its share" in lost.reason
    assert owner.job_id not in lost.reason
    assert [(await cluster.job(job.job_id)).verdict for job in (owner, guest)] == [
        owner_events[-1].ended.result.verdict
    ] * 2
    assert len(cluster.billing.settled) == 2


async def test_a_movable_run_makes_room_for_a_larger_one_and_pays_for_its_last_attempt_only(
    stopped_cluster: Cluster,
) -> None:
    cluster, gate, clock = stopped_cluster, asyncio.Event(), LaterClock()
    cluster.clock = clock
    await cluster.pool.tell("machine-1", "STOPPED")
    for name in ("machine-2", "machine-3"):
        await cluster.pool.tell(name, "WARM", gpus=2)
    cluster.executor.script = (compiling(), gate, *PASSING[1:])
    await cluster.start()
    small = [await cluster.running(f"small {number}", movable=True, placement="spread") for number in range(2)]
    before = [(await cluster.job(job.job_id)).machine_id for job in small]
    large = await cluster.submit("large", resources=scheduler_pb2.Resources(gpus=2))
    await cluster.event(large.job_id, lambda event: event.HasField("queued"))
    assert [(await cluster.job(job.job_id)).attempt for job in small] == [1, 1], "they have just started"

    clock.later = MOVE_COOL_DOWN
    await cluster.event(large.job_id, is_run("compiling"))
    gate.set()
    events = [await cluster.events_to_end(job.job_id) for job in (*small, large)]
    after = [await cluster.job(job.job_id) for job in small]

    assert sorted(before) == ["machine-2", "machine-3"]
    [moved] = [number for number in range(2) if after[number].attempt == 2]
    stayed = after[1 - moved]
    assert stayed.attempt == 1
    assert after[moved].machine_id == stayed.machine_id == before[1 - moved]
    assert (await cluster.job(large.job_id)).machine_id == before[moved]
    [told] = [event.retrying.reason for event in events[moved] if event.HasField("retrying")]
    assert "so that a larger job can start" in told
    assert large.job_id not in told
    charged = {one.idempotency_key for one in cluster.billing.settled.values()}
    assert f"job:{after[moved].job_id}:2" in charged
    assert len(charged) == 3
    assert after[moved].cost_micros == stayed.cost_micros


async def test_the_place_of_a_run_that_is_cancelled_while_it_moves_is_free_at_once(stopped_cluster: Cluster) -> None:
    cluster, gate, clock = stopped_cluster, asyncio.Event(), LaterClock()
    cluster.clock = clock
    await cluster.pool.tell("machine-1", "STOPPED")
    for name in ("machine-2", "machine-3"):
        await cluster.pool.tell(name, "WARM", gpus=2)
    cluster.executor.script = (compiling(), gate, *PASSING[1:])
    cluster.executor.deaf_to_cancel = True
    await cluster.start()
    moving = await cluster.running("moving", movable=True, placement="spread")
    staying = await cluster.running("staying", placement="spread")
    await cluster.cancel(moving.job_id)
    clock.later = MOVE_COOL_DOWN
    large = await cluster.running("large", resources=scheduler_pb2.Resources(gpus=2))
    ended = (await cluster.events_to_end(moving.job_id))[-1].ended
    assert ended.state == scheduler_pb2.JOB_STATE_CANCELLED

    await cluster.running("small")

    gate.set()
    for job in (staying, large):
        await cluster.events_to_end(job.job_id)


@with_gpus(4)
async def test_a_range_starts_again_with_fewer_gpus_when_another_queue_takes_back_its_share(
    cluster: Cluster,
) -> None:
    gate = cluster.gate()
    red, blue = (team(name, 2, parent="lab", reclaim_min_runtime=NO_TIME) for name in ("red", "blue"))
    await apply(cluster, team("lab", 4, reclaim_min_runtime=NO_TIME), red, blue)
    wide = await cluster.running("wide", queue="red", resources=scheduler_pb2.Resources(gpus=4, least_gpus=1))
    before = await cluster.job(wide.job_id)

    small = await cluster.running("small", queue="blue")
    await cluster.event(wide.job_id, lambda event: event.attempt == 2 and event.run.HasField("compiling"))
    gate.set()
    wide_events = await cluster.events_to_end(wide.job_id)
    await cluster.events_to_end(small.job_id)
    after = await cluster.job(wide.job_id)

    [told] = [event.retrying.reason for event in wide_events if event.HasField("retrying")]
    assert "with fewer GPUs (2 in place of 4): queue blue takes back its share" in told
    assert (before.got_eighths, after.got_eighths, before.attempt, after.attempt) == (32, 16, 1, 2)
    paid = {one.idempotency_key: one.gpu_count for one in cluster.billing.settled.values()}
    assert paid == {f"job:{wide.job_id}:2": 2, f"job:{small.job_id}:1": 0}


async def test_a_queue_at_its_limit_waits_though_a_gpu_is_free(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-2", "WARM")
    gate = cluster.gate()
    await cluster.start()
    await apply(cluster, Queue(name="small", resources={"gpu": QueueResource(limit=1)}))
    first = await cluster.running("first", queue="small")
    second = await cluster.submit("second", queue="small")
    third = await cluster.running("third")
    takes = {"resources": scheduler_pb2.Resources(gpus=2), "queue": "small"}
    said = "Queue small may have 1 of MI300X at a time, and this takes 2. Ask for less"
    await refused(cluster.submit("never", **takes), said, field="spec.resources.gpus")
    await refused(cluster.reserve("never", gpus=2, queue="small"), said, field="spec.gpus")

    why = await stub(cluster).ExplainJob(ExplainJobRequest(job_id=second.job_id))
    shares = {share.gpu_type: share for share in (await listed(cluster))["small"].shares}
    gate.set()
    for job in (first, second, third):
        await cluster.events_to_end(job.job_id)
    [idle] = (await listed(cluster))["small"].shares

    assert idle.used == 0
    assert (await cluster.job(third.job_id)).machine_id != (await cluster.job(first.job_id)).machine_id
    assert why.reason == "Queue small has as many GPUs of MI300X as its limit allows, 1."
    assert (why.position, why.queue) == (1, "small")
    assert (shares["MI300X"].limit, shares["MI300X"].used) == (1, 1)


async def test_a_job_is_explained_wherever_it_is(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    gate = cluster.gate()
    await cluster.start()
    first = await cluster.running("first")
    waiting = [await cluster.submit(f"waiting {number}") for number in range(2)]

    async def why(job: scheduler_pb2.Job) -> queues_pb2.ExplainJobResponse:
        return await stub(cluster).ExplainJob(ExplainJobRequest(job_id=job.job_id))

    runs, following, last = await why(first), await why(waiting[0]), await why(waiting[1])
    gate.set()
    for job in waiting:
        await cluster.events_to_end(job.job_id)
    over = await why(first)

    assert "runs on machine-1" in runs.reason
    assert (last.position, last.ahead_in_queue, last.ahead_in_others) == (2, 1, 0)
    assert "1 job is ahead" in last.reason
    assert re.search(r"Runs on machine-1 end by \d\d:\d\d:\d\d UTC", following.remedy)
    assert [(one.machine_id, first.job_id in one.reason) for one in last.machines] == [("machine-1", True)]
    assert "over" in over.reason
    await refused(
        stub(cluster).ExplainJob(ExplainJobRequest(account_ids=["another"], job_id=first.job_id)),
        grpc.StatusCode.NOT_FOUND,
    )


async def test_a_job_whose_part_no_gpu_gives_hears_which_mode_would_suit_and_that_an_operator_sets_it(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-2", "WARM", gpus=2, free_masks=[0, 255])
    await cluster.pool.tell("machine-1", "STOPPED")
    await cluster.start()
    asked, waits = (
        scheduler_pb2.Resources(memory_mib=40_000, devices=1),
        scheduler_pb2.MachineUse(wait_for_operator=True),
    )
    quarter = await cluster.submit("quarter", resources=asked, machine=waits)
    await cluster.event(quarter.job_id, lambda event: event.HasField("queued") and "partitions" in event.queued.message)

    with_machine = await stub(cluster).ExplainJob(ExplainJobRequest(job_id=quarter.job_id))
    await cluster.pool.tell("machine-2", "BUSY", gpus=2, free_masks=[0, 0])
    await until(lambda: not any(any(offer.free_masks) for offer in inventory_of(cluster).offers()))
    busy = await stub(cluster).ExplainJob(ExplainJobRequest(job_id=quarter.job_id))
    await cluster.pool.tell("machine-2", "STOPPED")
    await until(lambda: not inventory_of(cluster).offers())
    without = await stub(cluster).ExplainJob(ExplainJobRequest(job_id=quarter.job_id))

    advice = "An operator would have to set an idle GPU to another mode: MI300X in QPX (1 device of 48 GB)."
    assert with_machine.remedy.endswith(f"{advice} GPU 1 of machine-2 is idle.")
    assert busy.remedy.endswith(f"{advice} None is idle now.")
    assert without.reason == "There is no machine with MI300X."
    assert advice in without.remedy
    assert with_machine.machines[0].reason.endswith("they are in SPX mode")


def inventory_of(cluster: Cluster) -> Inventory:
    assert cluster.scheduler
    return cluster.scheduler.forecast._inventory


async def test_a_user_has_only_so_many_jobs_in_flight_in_a_queue_and_those_above_it(cluster: Cluster) -> None:
    gate = cluster.gate()
    await apply(cluster, team("lab", max_jobs_per_user=1), team("red", parent="lab", max_jobs_per_user=5))
    first = await cluster.submit("first", queue="red")

    said = "'red' has a job of yours in flight"
    await refused(cluster.submit("second", queue="red"), grpc.StatusCode.RESOURCE_EXHAUSTED, said)
    again = await cluster.submit("first", queue="red")
    gate.set()
    await cluster.events_to_end(first.job_id)
    second = await cluster.submit("second", queue="red")

    assert again.job_id == first.job_id
    assert second.spec.queue == "red"


async def test_a_run_may_take_as_long_as_it_was_asked_for_or_its_queue_allows_and_credit_is_held_for_that(
    cluster: Cluster,
) -> None:
    await apply(cluster, team("lab", time_limit=Duration(seconds=300)), team("red", parent="lab"))
    asked = await cluster.submit("asked", queue="red", time_limit=Duration(seconds=60))
    unasked = await cluster.submit("unasked", queue="red")
    elsewhere = await cluster.submit("elsewhere")
    for job in (asked, unasked, elsewhere):
        await cluster.events_to_end(job.job_id)

    longest = {request.run_id.removesuffix("-1"): request.longest_run.seconds for request in cluster.executor.requests}
    held = [hold.longest_time.seconds for hold in cluster.billing.holds.values()]
    assert [longest[job.job_id] for job in (asked, unasked, elsewhere)] == held == [60, 300, 900]
    assert (await cluster.job(unasked.job_id)).spec.time_limit.seconds == 300
    for wrong in (Duration(seconds=301), Duration(seconds=-1), Duration(), Duration(seconds=1, nanos=5)):
        await refused(
            cluster.submit("wrong", queue="red", time_limit=wrong), grpc.StatusCode.INVALID_ARGUMENT, "from 1 to 300"
        )
    await refused(apply(cluster, team("blue", time_limit=Duration(nanos=1))), "queues[blue].time_limit")


CLASSES = {"batch": JobClass(), "soon": JobClass(value=20), "boss": JobClass(value=90, administrators_only=True)}


async def test_classes_of_a_queue_or_of_one_above_order_its_jobs(cluster: Cluster) -> None:
    gate = cluster.gate()
    lab = team("lab", classes=CLASSES, default_class="batch", ordering="classic")
    await apply(cluster, lab, team("red", parent="lab"), team("plain"))
    first = await cluster.running("first", queue="red")
    batch = await cluster.submit("batch", queue="red")
    soon = await cluster.submit("soon", queue="red", job_class="soon")
    plain = await cluster.submit("plain", queue="plain")

    why = await stub(cluster).ExplainJob(ExplainJobRequest(job_id=soon.job_id))
    shown = (await listed(cluster))["red"]
    gate.set()
    for job in (first, batch, soon, plain):
        await cluster.events_to_end(job.job_id)
    ran = [request.run_id.removesuffix("-1") for request in cluster.executor.requests]

    assert [job.spec.job_class for job in (first, batch, soon, plain)] == ["batch", "batch", "soon", ""]
    assert ran.index(soon.job_id) < ran.index(batch.job_id)
    assert (why.ahead_in_queue, why.ordering, why.job_class, why.class_value, why.placement) == (
        0,
        "classic",
        "soon",
        20,
        "pack",
    )
    assert (shown.ordering, shown.placement, shown.default_class) == ("classic", "pack", "batch")
    assert shown.classes["boss"] == CLASSES["boss"]
    assert shown.queue.default_class == ""


async def test_a_class_that_the_queue_lacks_or_that_needs_a_right_is_refused_with_the_field(cluster: Cluster) -> None:
    await apply(cluster, team("red", classes=CLASSES), team("plain"))

    for name, queue, code, words in [
        ("sooon", "red", grpc.StatusCode.INVALID_ARGUMENT, "soon"),
        ("soon", "plain", grpc.StatusCode.INVALID_ARGUMENT, "'plain' has no classes"),
        ("boss", "red", grpc.StatusCode.PERMISSION_DENIED, "token of an administrator"),
    ]:
        await refused(cluster.submit(f"key {name} {queue}", queue=queue, job_class=name), code, "spec.job_class", words)
    await refused(cluster.submit("key spread", placement="sprea"), "spec.placement: ")
    cluster.billing.administrators.add(USER)
    assert (await cluster.submit("by an administrator", queue="red", job_class="boss")).spec.job_class == "boss"


async def test_a_key_is_used_up_by_the_class_and_the_placement_that_were_asked_for(cluster: Cluster) -> None:
    await apply(cluster, team("red", classes=CLASSES, default_class="batch"))
    job = await cluster.submit("key", queue="red")
    # What the queue fills in is not asked for: a queue may change between two tries.
    await apply(cluster, team("red", classes=CLASSES, default_class="soon"))

    assert (await cluster.submit("key", queue="red")).job_id == job.job_id
    for other in ({"job_class": "soon"}, {"placement": "spread"}):
        await refused(cluster.submit("key", queue="red", **other), grpc.StatusCode.ALREADY_EXISTS)


def test_only_a_change_of_orderings_or_classes_changes_the_order() -> None:
    lab = QueueSettings("lab", classes={"soon": JobClassSettings(20)})
    before = Queues([lab, QueueSettings("red", parent="lab")])
    same = [
        [lab, QueueSettings("red", parent="lab", priority=7, placement="spread")],
        [lab, QueueSettings("red", parent="lab"), QueueSettings("blue")],
    ]
    other = [
        [replace(lab, ordering="classic"), QueueSettings("red", parent="lab")],
        [replace(lab, classes={"soon": JobClassSettings(21)}), QueueSettings("red", parent="lab")],
        [lab, QueueSettings("red")],
    ]
    assert all(before.orders_as(Queues(queues)) for queues in same)
    assert not any(before.orders_as(Queues(queues)) for queues in other)
