"""Makes clusters of rows, and plays cycles on them.

Where rows say nothing, the defaults are those of KAI's tests. The CPUs of nodes and tasks are whole CPUs, though the
names of their fields end in `milli`; those of queues are millicores.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from services.scheduler.fairness.kai.cluster import Cluster, Job, Node, Request, Task, TaskState
from services.scheduler.fairness.kai.decision import CycleResult, DecisionKind
from services.scheduler.fairness.kai.policy import Action, Policy
from services.scheduler.fairness.kai.usage import PPM, decayed
from services.scheduler.fairness.queue_tree import EVERYTHING, UNLIMITED, Amounts, Queue, QueueTree
from tests.fairness.case_rows import Row

GPU_MEMORY_MIB = 100
NODE_CPUS = 20_000
CPU_MILLI = 1000
NODE_MEMORY_BYTES = 20 * 10**9
MEGABYTE = 10**6
DEFAULT_PARENT = "default"
RESOURCE_NAMES = ("gpu", "cpu", "memory")


def policy_of(row: Row) -> Policy:
    """The policy that rows are played with: that of KAI's tests, with no guard of the quota.

    Those of stale gangs alone have its 60 s of grace, and all others none.
    """
    actions = tuple(Action(name) for name in row["actions"])
    grace = 60 if actions == (Action.EVICT_STALE_GANGS,) else 0
    return Policy(
        actions=actions,
        k_ppm=round(row.get("k_value", 1) * PPM),
        never_below_quota=False,
        stale_grace_seconds=row.get("stale_grace_seconds", row.get("stale_grace_s", grace)),
    )


def usage_ppm(row: Row, queue: Row, resource: str) -> int:
    """The share of the cluster that a queue had `age_s` ago, as it counts now. It is one number, or one by resource."""
    usage = queue.get(resource, {}).get("usage", queue.get("usage", 0))
    share = usage.get(resource, 0) if isinstance(usage, dict) else usage
    return decayed(round(share * PPM), queue.get("age_s", row.get("age_s", 0)), row.get("half_life_s", 0))


def cluster_of(row: Row) -> Cluster:
    """The cluster at the start of the row."""
    profiles = {profile for owner in [*row["nodes"].values(), *_tasks(row)] for profile in (owner.get("mig") or {})}
    return Cluster(
        tuple(_node(name, node) for name, node in row["nodes"].items()),
        _without_overflow(row, [_job(position, job) for position, job in enumerate(row["jobs"])]),
        QueueTree(_queues(row)),
        {profile: _partition_milli(profile) for profile in profiles},
        usage_ppm={
            queue["name"]: Amounts(*(usage_ppm(row, queue, resource) for resource in RESOURCE_NAMES))
            for queue in [*row.get("parent_queues", []), *row["queues"]]
        },
    )


def after(cluster: Cluster, result: CycleResult, *, keep_promises: bool = False) -> Cluster:
    """The cluster at the next round: what starts runs; what stops, is gone or waits is pending, unless it is deleted.

    KAI's tests forget what was promised to waiting tasks, and so do rows.
    """
    decisions = {decision.task: decision for decision in result.decisions}

    def next_task(job: Job, task: Task) -> Task:
        decision = decisions.get(task.name)
        waiting = replace(task, state=TaskState.PENDING, node=None, gpu_groups=(), promised_node=None)
        if decision is None:
            is_gone = task.state is TaskState.RELEASING and not job.is_being_deleted
            return waiting if is_gone else task
        if decision.kind is DecisionKind.START:
            return replace(
                task,
                state=TaskState.RUNNING,
                node=decision.node,
                gpu_groups=decision.gpu_groups,
                promised_node=None,
            )
        if decision.kind is DecisionKind.STOP and job.is_being_deleted:
            return replace(task, state=TaskState.RELEASING)
        if decision.kind is DecisionKind.STOP or not keep_promises:
            return waiting
        return replace(waiting, promised_node=decision.node, promised_groups=decision.gpu_groups)

    jobs = (replace(job, tasks=tuple(next_task(job, task) for task in job.tasks)) for job in cluster.jobs)
    return replace(cluster, jobs=tuple(jobs))


def _without_overflow(row: Row, jobs: list[Job]) -> tuple[Job, ...]:
    """Parts of GPUs that name no GPU have one of their own each; if a node has too few, they are on one together."""
    gpus: defaultdict[str | None, int] = defaultdict(int)
    groups: defaultdict[str | None, set[str]] = defaultdict(set)
    for task in (task for job in jobs for task in job.tasks):
        gpus[task.node] += task.request.gpus
        groups[task.node].update(task.gpu_groups)
    full = {name for name, node in row["nodes"].items() if gpus[name] + len(groups[name]) > node["gpus"]}

    def moved(task: Task) -> Task:
        return replace(task, gpu_groups=("0",)) if task.node in full and task.gpu_groups == (task.name,) else task

    return tuple(replace(job, tasks=tuple(map(moved, job.tasks))) for job in jobs)


def _tasks(row: Row) -> list[Row]:
    return [task for job in row["jobs"] for task in job["tasks"]]


def _node(name: str, node: Row) -> Node:
    return Node(
        name,
        node["gpus"],
        GPU_MEMORY_MIB,
        dict(node.get("mig") or {}),
        round(node.get("cpu_milli", NODE_CPUS) * CPU_MILLI),
        int(node.get("mem", NODE_MEMORY_BYTES)),
    )


def _partition_milli(profile: str) -> int:
    """`nvidia.com/mig-2g.10gb` counts as two GPUs, as KAI counts it."""
    return 1000 * int(profile.rpartition("mig-")[2].partition("g.")[0])


def _job(position: int, job: Row) -> Job:
    return Job(
        job["name"],
        job["queue"],
        tuple(_task(f"{job['name']}-{index}", job, task) for index, task in enumerate(job["tasks"])),
        job["priority"],
        job["preemptible"],
        job.get("min_available", len(job["tasks"])),
        position,
        stale_seconds=job.get("stale_s", 0),
        movable=True,
        is_being_deleted=job.get("being_deleted", False),
    )


def _task(name: str, job: Row, task: Row) -> Task:
    gpus = task.get("gpus", job.get("gpus_per_task", 0))
    part_milli = round(gpus * 1000) if 0 < gpus < 1 else 0
    memory_mib = job.get("gpu_memory_mib_per_task", 0)
    request = Request(
        0 if part_milli else int(gpus),
        part_milli,
        memory_mib,
        partitions=tuple((task.get("mig") or {}).items()),
        cpu_milli=round(job.get("cpus_per_task_milli", 0) * CPU_MILLI),
        memory_bytes=int(job.get("mem_per_task", 0)),
    )
    state = TaskState(task["state"])
    has_place = state is not TaskState.PENDING
    groups = tuple(task.get("gpu_groups", [name])) if has_place and request.is_shared else ()
    return Task(
        name,
        request,
        state,
        task.get("node") if has_place else None,
        groups,
        task.get("task_priority"),
        frozenset(task["node_affinity"]) if "node_affinity" in task else None,
    )


def _queues(row: Row) -> list[Queue]:
    parents = row.get("parent_queues", [])
    named = {queue["name"] for queue in [*parents, *row["queues"]]}
    return [
        *([] if DEFAULT_PARENT in named else [Queue(DEFAULT_PARENT)]),
        *(_queue(position, queue, None) for position, queue in enumerate(parents)),
        *(_queue(position, queue, queue.get("parent", DEFAULT_PARENT)) for position, queue in enumerate(row["queues"])),
    ]


def _queue(position: int, queue: Row, parent: str | None) -> Queue:
    def amount(key: str, unit: int) -> int:
        value = queue.get(key, -1)
        return UNLIMITED if value < 0 else round(value * unit)

    return Queue(
        queue["name"],
        parent,
        position,
        queue.get("priority", 100),
        Amounts(amount("quota_gpu", 1000), amount("quota_cpu_milli", 1), amount("quota_mem", MEGABYTE)),
        Amounts(max(0, round(queue.get("over_quota_weight", 0) * 1000)), 1000, 1000),
        EVERYTHING._replace(
            gpu_milli=amount("limit_gpu", 1000),
            cpu_milli=amount("limit_cpu_milli", 1),
            memory_bytes=amount("limit_mem", MEGABYTE),
        ),
    )
