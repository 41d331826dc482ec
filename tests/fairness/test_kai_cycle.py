from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from services.scheduler.fairness.kai.cluster import Cluster, Job, Node, Request, Task, TaskState
from services.scheduler.fairness.kai.cycle import run_cycle
from services.scheduler.fairness.kai.cycle_state import NOWHERE, CycleState
from services.scheduler.fairness.kai.decision import CycleResult, DecisionKind
from services.scheduler.fairness.kai.placement import place_job
from services.scheduler.fairness.kai.policy import Action, Policy
from services.scheduler.fairness.kai.usage import UsageRecord
from services.scheduler.fairness.queue_tree import EVERYTHING, Amounts, Queue, QueueTree, ReclaimStrategy
from tests.fairness.kai_cluster import after

ONE_GPU = Request(gpus=1)


def queue(name: str, quota_gpus: float = 0, weight: int = 0, limit_gpus: float = 1000, **settings: int) -> Queue:
    return Queue(
        name,
        quota=EVERYTHING._replace(gpu_milli=round(quota_gpus * 1000)),
        weight=Amounts(weight, 1, 1),
        limit=EVERYTHING._replace(gpu_milli=round(limit_gpus * 1000)),
        **settings,
    )


def pending(name: str, of: str = "a", request: Request = ONE_GPU, tasks: int = 1, **settings: object) -> Job:
    job = Job(name, of, tuple(Task(f"{name}-{number}", request) for number in range(tasks)), min_available=tasks)
    return replace(job, **{"create_order": sum(map(ord, name)), **settings})  # type: ignore[arg-type]


def running(name: str, *nodes: str, of: str = "a", request: Request = ONE_GPU, **settings: object) -> Job:
    job = pending(name, of, request, len(nodes), **settings)
    at = zip(job.tasks, nodes, strict=True)
    return replace(job, tasks=tuple(replace(task, state=TaskState.RUNNING, node=node) for task, node in at))


def cluster(gpus: Iterable[int], queues: Iterable[Queue], *jobs: Job) -> Cluster:
    nodes = (Node(f"node{number}", count, 1000, {}, 8000, 10**9) for number, count in enumerate(gpus))
    return Cluster(tuple(nodes), jobs, QueueTree(queues))


def told(result: CycleResult) -> dict[str, tuple[str, str]]:
    return {decision.task: (str(decision.kind), decision.node) for decision in result.decisions}


def only(action: Action, **settings: object) -> Policy:
    return Policy(actions=(action,), **settings)  # type: ignore[arg-type]


def test_what_others_gave_up_for_a_job_stays_with_it() -> None:
    quotas = [queue("a", 1), queue("b", 1)]
    start = cluster([2], quotas, running("old", "node0"), running("older", "node0"), pending("new", "b"))
    first = run_cycle(start)
    assert told(first) == {"older-0": ("stop", "node0"), "new-0": ("promise", "node0")}
    later = after(start, first, keep_promises=True)
    first_in_line = pending("first", "b", priority=75)
    assert told(run_cycle(replace(later, jobs=(*later.jobs, first_in_line)))) == {"new-0": ("start", "node0")}


def test_a_promised_task_waits_while_those_before_it_stop() -> None:
    leaving = running("old", "node0")
    leaving = replace(leaving, tasks=tuple(replace(task, state=TaskState.RELEASING) for task in leaving.tasks))
    waiting = pending("new")
    waiting = replace(waiting, tasks=tuple(replace(task, promised_node="node0") for task in waiting.tasks))
    assert told(run_cycle(cluster([1], [queue("a", 2)], leaving, waiting))) == {"new-0": ("promise", "node0")}


def test_a_job_that_may_not_move_is_not_moved() -> None:
    jobs = (
        running("one", "node0", movable=True),
        running("two", "node1", movable=True),
        pending("large", request=Request(2)),
    )
    quotas = [queue("a", 4)]
    moves = run_cycle(cluster([2, 2], quotas, *jobs), only(Action.CONSOLIDATE))
    assert [kind for kind, _ in told(moves).values()] == ["move", "promise"]
    quiet = (replace(job, movable=False) for job in jobs)
    result = run_cycle(cluster([2, 2], quotas, *quiet), only(Action.CONSOLIDATE))
    assert result.decisions == ()
    assert "no running job may give its place" in result.waiting["large"]


@pytest.mark.parametrize(("ran_seconds", "stops"), [(59, False), (60, True), (None, True)])
def test_a_job_is_not_preempted_before_its_minimum_runtime(ran_seconds: int | None, *, stops: bool) -> None:
    quotas = [queue("a", 1, preempt_min_runtime_seconds=60)]
    jobs = running("old", "node0", ran_seconds=ran_seconds), pending("new", priority=100, preemptible=False)
    assert bool(run_cycle(cluster([1], quotas, *jobs)).decisions) is stops


def test_an_elastic_job_gives_what_it_can_spare_even_while_it_is_protected() -> None:
    quotas = [queue("a", 3, preempt_min_runtime_seconds=60)]
    old = running("old", "node0", "node0", "node0", min_available=1, ran_seconds=5)
    jobs = old, pending("new", request=Request(2), priority=75)
    assert told(run_cycle(cluster([3], quotas, *jobs))) == {
        "old-1": ("stop", "node0"),
        "old-2": ("stop", "node0"),
        "new-0": ("promise", "node0"),
    }
    larger = old, pending("new", request=Request(3), priority=75)
    result = run_cycle(cluster([3], quotas, *larger))
    assert result.decisions == ()
    assert result.waiting["new"] == "old has run for 5 s, and is protected for 60 s"


@pytest.mark.parametrize(("strategy", "stops"), [(ReclaimStrategy.CONSERVATIVE, 0), (ReclaimStrategy.AGGRESSIVE, 1)])
def test_within_its_quota_a_queue_reclaims_from_those_over_theirs_if_aggressive(
    strategy: ReclaimStrategy, stops: int
) -> None:
    """The quotas are above what there is, and the heavy queue has its fair share of 3."""
    quotas = [queue("heavy", 1, weight=1), queue("light", 2), queue("other", 0)]
    jobs = running("one", "node0", of="heavy"), running("two", "node0", of="heavy"), pending("new", "light")
    unfree = running("three", "node0", of="other", preemptible=False)
    result = run_cycle(cluster([3], quotas, *jobs, unfree), only(Action.RECLAIM, strategy=strategy))
    assert sum(decision.kind is DecisionKind.STOP for decision in result.decisions) == stops


@pytest.mark.parametrize("guarded", [True, False])
def test_the_guard_keeps_a_queue_at_its_quota(*, guarded: bool) -> None:
    """A job of two GPUs is over a quota of one by one: without it, the queue has nothing."""
    quotas = [queue("a", 1), queue("b", 1)]
    jobs = running("old", "node0", request=Request(2)), pending("new", "b")
    result = run_cycle(cluster([2], quotas, *jobs), only(Action.RECLAIM, never_below_quota=guarded))
    assert bool(result.decisions) is not guarded
    if guarded:
        assert result.waiting["new"] == "the victim's queue would fall below its quota (a)"


@pytest.mark.parametrize(("stale_seconds", "stops"), [(59, 0), (60, 1)])
def test_what_is_left_of_a_gang_stops_after_the_grace_time(stale_seconds: int, stops: int) -> None:
    gang = running("gang", "node0", min_available=2, stale_seconds=stale_seconds)
    result = run_cycle(cluster([1], [queue("a", 1)], gang))
    assert [decision.kind for decision in result.decisions] == [DecisionKind.STOP] * stops
    assert all("has 1 of the 2 tasks that it needs for 60 s" in decision.reason for decision in result.decisions)


@pytest.mark.parametrize(("spread", "node"), [(False, "node1"), (True, "node0")])
def test_tasks_go_to_the_fullest_node_or_to_the_emptiest(*, spread: bool, node: str) -> None:
    found = run_cycle(cluster([4, 2], [queue("a", 6)], pending("new")), Policy(spread=spread))
    assert told(found) == {"new-0": ("start", node)}


@pytest.mark.parametrize(
    ("job", "quota", "reason"),
    [
        (pending("j", tasks=3), queue("a", 1, limit_gpus=2), "queue a would have 3 GPUs, above its limit of 2 GPUs"),
        (
            pending("j", tasks=2, preemptible=False),
            queue("a", 1),
            "jobs that cannot be preempted would have 2 GPUs of queue a, above its quota of 1 GPU",
        ),
        (
            pending("j", tasks=3),
            queue("a", 9),
            "no node has room for task j-2 (1 GPU); there is room for 2 of 3 tasks",
        ),
        (
            pending("j", request=Request(3, cpu_milli=500)),
            queue("a", 9),
            "no node has room for task j-0 (3 GPUs, 0.5 CPUs)",
        ),
    ],
)
def test_a_job_that_waits_says_why(job: Job, quota: Queue, reason: str) -> None:
    assert run_cycle(cluster([2], [quota], job), only(Action.ALLOCATE)).waiting == {"j": reason}


def test_past_usage_counts_against_a_queue_when_the_surplus_is_divided() -> None:
    jobs = pending("one", "a", Request(4)), pending("two", "b", Request(4))
    even = cluster([4], [queue("a", weight=1), queue("b", weight=1)], *jobs)
    assert [share.fair_share.gpu_milli for share in run_cycle(even).shares.values()] == [2000, 2000]
    half_of_the_cluster = UsageRecord(0, used=1, capacity=2).share_ppm
    used = replace(even, usage_ppm={"a": Amounts(gpu_milli=half_of_the_cluster)})
    assert [share.fair_share.gpu_milli for share in run_cycle(used).shares.values()] == [1000, 3000]


def test_usage_and_capacity_fade_alike() -> None:
    record = UsageRecord(0).after(3600, used=4, capacity=8, half_life_seconds=3600)
    assert record.share_ppm == 500_000
    idle = record.after(7200, used=0, capacity=8, half_life_seconds=3600)
    assert idle.share_ppm == 166_666


def test_a_task_does_not_keep_a_gpu_whose_room_a_plan_gave_to_another() -> None:
    def part(name: str, milli: int) -> Job:
        job = running(name, "node0", request=Request(part_milli=milli))
        return replace(job, tasks=tuple(replace(task, gpu_groups=("0",)) for task in job.tasks))

    large, new = part("large", 700), pending("new", request=Request(part_milli=500))
    state = CycleState(cluster([2], [queue("a", 2)], large, part("small", 300), new), k_ppm=0)
    state.evict(large.tasks[0])
    assert place_job(state, new, new.tasks, promise_only=True) is None
    assert place_job(state, large, large.tasks, promise_only=True) is None
    assert state.state_of(large.tasks[0]) is TaskState.PIPELINED
    assert not state.rooms["node0"].is_overcommitted()


def test_what_a_plan_did_is_taken_back_exactly() -> None:
    old, new = running("old", "node0"), pending("new")
    state = CycleState(cluster([1], [queue("a", 1)], old, new), k_ppm=0)
    before = (dict(state.places), state.share("a"), state.rooms["node0"].gpus_later)
    checkpoint = state.checkpoint()
    state.evict(old.tasks[0])
    assert place_job(state, new, new.tasks, promise_only=True) is None
    state.rollback(checkpoint)
    places = {name: place for name, place in state.places.items() if place != NOWHERE}
    assert (places, state.share("a"), state.rooms["node0"].gpus_later) == before


def test_a_gang_that_gave_its_place_does_not_start_again_in_part() -> None:
    """A third task waits while two run; after both stopped, it alone is too few."""
    gang = running("gang", "node0", "node1", of="c", create_order=5)
    gang = replace(gang, tasks=(*gang.tasks, Task("gang-2", ONE_GPU)))
    queues = [queue("a", create_order=0), queue("c", weight=1, create_order=1), queue("d", weight=1, create_order=2)]
    others = (pending(f"other{number}", create_order=number) for number in range(4))
    start = cluster([1, 1], queues, *others, pending("new", "d", create_order=4), gang)
    result = run_cycle(start)
    assert told(result)["gang-0"][0] == told(result)["gang-1"][0] == "stop"
    assert "gang-2" not in told(result)
