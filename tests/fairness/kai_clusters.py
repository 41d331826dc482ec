"""Random clusters for property tests: what runs has room, and queues may be over or under their quotas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from services.scheduler.fairness.kai.cluster import Cluster, Job, Node, Request, Task, TaskState
from services.scheduler.fairness.kai.decision import CycleResult, DecisionKind
from services.scheduler.fairness.kai.node_room import Holding, NodeRoom
from services.scheduler.fairness.queue_tree import EVERYTHING, UNLIMITED, WHOLE_GPU_MILLI, Amounts, Queue, QueueTree

GPU_MEMORY_MIB = 1000
LEAVES = ("a", "b", "c", "d")


@st.composite
def trees(draw: st.DrawFn) -> QueueTree:
    """Two departments with two queues each, or four queues side by side."""
    parents = ["east", "west"] if draw(st.booleans()) else []
    quotas = st.sampled_from([0, 1, 2, 3, UNLIMITED // WHOLE_GPU_MILLI])
    limits = st.sampled_from([2, 4, UNLIMITED // WHOLE_GPU_MILLI, UNLIMITED // WHOLE_GPU_MILLI])

    def queue(position: int, name: str, parent: str | None) -> Queue:
        limit = draw(limits) * WHOLE_GPU_MILLI
        quota = min(draw(quotas) * WHOLE_GPU_MILLI, limit)
        return Queue(
            name,
            parent,
            position,
            draw(st.sampled_from([100, 100, 101])),
            EVERYTHING._replace(gpu_milli=quota),
            Amounts(draw(st.integers(0, 3)), 1, 1),
            EVERYTHING._replace(gpu_milli=limit),
        )

    return QueueTree(
        [
            *(queue(position, name, None) for position, name in enumerate(parents)),
            *(
                queue(position, name, parents[position // 2] if parents else None)
                for position, name in enumerate(LEAVES)
            ),
        ]
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Up to three nodes and seven jobs."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    nodes = tuple(
        Node(f"node{number}", gpus, GPU_MEMORY_MIB, cpu_milli=16_000, memory_bytes=10**9)
        for number, gpus in enumerate(sizes)
    )
    rooms = [NodeRoom(node) for node in nodes]
    jobs = [draw(_jobs(position)) for position in range(draw(st.integers(1, 7)))]
    placed = [_running(job, rooms) if draw(st.booleans()) else job for job in jobs]
    return Cluster(nodes, tuple(placed), draw(trees()))


@st.composite
def _jobs(draw: st.DrawFn, position: int) -> Job:
    request = draw(
        st.sampled_from(
            [
                Request(1),
                Request(1),
                Request(2),
                Request(3),
                Request(part_milli=500),
                Request(part_milli=300),
                Request(part_milli=500, devices=2),
                Request(gpu_memory_mib=700),
                Request(cpu_milli=4000),
            ]
        )
    )
    name = f"job{position}"
    count = draw(st.integers(1, 3))
    priority = draw(st.sampled_from([50, 50, 75, 100]))
    tasks = tuple(Task(f"{name}-{number}", request) for number in range(count))
    return Job(
        name,
        draw(st.sampled_from(LEAVES)),
        tasks,
        priority,
        priority < 100,
        draw(st.integers(1, count)),
        position,
        movable=True,
    )


def _running(job: Job, rooms: Sequence[NodeRoom]) -> Job:
    """The job with as many of its tasks running as there is room for, or pending if that is too few."""
    tasks: list[Task] = []
    taken: list[tuple[NodeRoom, Request, Holding]] = []
    for task in job.tasks:
        room = next((room for room in rooms if room.fits_now(task.request)), None)
        if room is None:
            tasks.append(task)
            continue
        groups = room.choose_groups(task.request).gpu_groups if task.request.is_shared else ()
        holding = Holding(room.node.name, TaskState.RUNNING, groups)
        room.add(task.request, holding)
        taken.append((room, task.request, holding))
        tasks.append(replace(task, state=TaskState.RUNNING, node=room.node.name, gpu_groups=groups))
    if len(taken) < job.min_available:
        for room, request, holding in taken:
            room.add(request, holding, -1)
        return job
    return replace(job, tasks=tuple(tasks))


def rooms_after(cluster: Cluster, result: CycleResult) -> list[NodeRoom]:
    """The room of nodes with what was decided, counted from nothing."""
    rooms = {node.name: NodeRoom(node) for node in cluster.nodes}
    decisions = {decision.task: decision for decision in result.decisions}
    for task in (task for job in cluster.jobs for task in job.tasks):
        at = decisions.get(task.name)
        if task.node:
            leaves = at is not None and at.kind in (DecisionKind.STOP, DecisionKind.MOVE)
            state = TaskState.RELEASING if leaves else TaskState.RUNNING
            rooms[task.node].add(task.request, Holding(task.node, state, task.gpu_groups))
        if at and at.kind is not DecisionKind.STOP:
            state = TaskState.BINDING if at.kind is DecisionKind.START else TaskState.PIPELINED
            rooms[at.node].add(task.request, Holding(at.node, state, at.gpu_groups))
    return list(rooms.values())
