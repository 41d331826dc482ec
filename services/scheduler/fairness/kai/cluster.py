"""The state that a cycle decides on: machines, jobs with their tasks, and queues. All of it is immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from services.scheduler.fairness.queue_tree import NOTHING, WHOLE_GPU_MILLI, Amounts, QueueTree


class TaskState(StrEnum):
    """A task's state. Between cycles, tasks are pending, running, releasing or over."""

    PENDING = "Pending"
    PIPELINED = "Pipelined"
    """It has a place on resources that are not free yet, for the rest of the cycle."""
    BINDING = "Binding"
    """It starts now."""
    RUNNING = "Running"
    RELEASING = "Releasing"
    """It is being stopped, and still holds its resources."""
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


ALLOCATED = frozenset({TaskState.PIPELINED, TaskState.BINDING, TaskState.RUNNING})
"""States in which a task counts as what its queue has."""
HOLDING = ALLOCATED | {TaskState.RELEASING}
ALIVE = ALLOCATED | {TaskState.PENDING}


@dataclass(frozen=True, slots=True)
class Request:
    """What one task needs: whole GPUs, or a part of each of `devices` GPUs, or partitions, or none of them."""

    gpus: int = 0
    part_milli: int = 0
    """A part of a GPU, in thousandths."""
    gpu_memory_mib: int = 0
    """A part of a GPU, as memory."""
    devices: int = 1
    """The number of GPUs that the part is needed of, all in one machine."""
    partitions: tuple[tuple[str, int], ...] = ()
    """Partitions of GPUs: how many of each profile."""
    cpu_milli: int = 0
    memory_bytes: int = 0

    @property
    def is_shared(self) -> bool:
        """True if it needs a part of a GPU."""
        return self.part_milli > 0 or self.gpu_memory_mib > 0

    @property
    def needs_gpu(self) -> bool:
        """True if it needs GPUs of any kind."""
        return self.gpus > 0 or self.is_shared or bool(self.partitions)

    def gpu_memory_on(self, gpu_memory_mib: int) -> int:
        """The memory that it takes on each GPU of this size, in MiB."""
        return self.gpu_memory_mib or self.part_milli * gpu_memory_mib // WHOLE_GPU_MILLI

    def amounts(self, gpu_memory_mib: int, partition_milli: Mapping[str, int]) -> Amounts:
        """What it counts for in its queue, on GPUs of this size.

        A memory request counts as the hundredths of a GPU that hold it. `partition_milli` says what a partition counts.
        """
        if not (self.is_shared or self.partitions):
            return Amounts(self.gpus * WHOLE_GPU_MILLI, self.cpu_milli, self.memory_bytes)
        part = self.part_milli
        if self.gpu_memory_mib:
            part = -(-self.gpu_memory_mib * 100 // gpu_memory_mib) * (WHOLE_GPU_MILLI // 100)
        partitions = sum(partition_milli[profile] * count for profile, count in self.partitions)
        return Amounts(
            self.gpus * WHOLE_GPU_MILLI + part * self.devices + partitions, self.cpu_milli, self.memory_bytes
        )


NodeScores: TypeAlias = "Callable[[Sequence[tuple[str, int]]], Sequence[float]]"
"""Scores nodes, each given by name with its free GPUs; a higher score is better."""


@dataclass(frozen=True, slots=True)
class Task:
    """One process of a job, on one machine."""

    name: str
    request: Request
    state: TaskState = TaskState.PENDING
    node: str | None = None
    gpu_groups: tuple[str, ...] = ()
    """Names of the GPUs that it has parts of. Tasks with the same name on a node are on the same GPU."""
    priority: int | None = None
    """Within its job: higher ones start first and are evicted last; None is below all."""
    nodes_allowed: frozenset[str] | None = None
    """Names of the nodes that it may run on; None for all."""
    promised_node: str | None = None
    """Where an earlier cycle promised it a place. What others gave up for it stays with it."""
    promised_groups: tuple[str, ...] = ()
    """Names of the GPUs that it was promised parts of."""
    scores: NodeScores | None = None
    """Chooses among nodes that have room; None takes the fullest, or the emptiest if the policy spreads."""


@dataclass(frozen=True, slots=True)
class Job:
    """Tasks that are started together: at least `min_available` of them, or none."""

    name: str
    queue: str
    tasks: tuple[Task, ...]
    priority: int = 50
    preemptible: bool = True
    min_available: int = 1
    """A job with more tasks than this is elastic."""
    create_order: int = 0
    ran_seconds: int | None = None
    """Since its last start; None if it has not started."""
    stale_seconds: int = 0
    """Since it lost a task that it needs."""
    movable: bool = False
    """True if its tasks may be stopped and started elsewhere to make room. A quiet job is never movable."""
    is_being_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """A machine and what it offers."""

    name: str
    gpus: int = 0
    gpu_memory_mib: int = 0
    """Of each GPU."""
    partitions: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many partitions of each profile it has, besides its whole GPUs."""
    cpu_milli: int = 0
    memory_bytes: int = 0


@dataclass(frozen=True)
class Cluster:
    """All that a cycle knows."""

    nodes: tuple[Node, ...]
    jobs: tuple[Job, ...]
    tree: QueueTree
    partition_milli: Mapping[str, int] = field(default_factory=dict[str, int])
    """What a partition of each profile counts for in queues, in thousandths of a GPU."""
    further_requests: Mapping[str, Amounts] = field(default_factory=dict[str, Amounts])
    """What jobs that are not listed want besides, by queue. They count when the surplus is divided."""
    usage_ppm: Mapping[str, Amounts] = field(default_factory=dict[str, Amounts])
    """Past usage of queues, as millionths of the cluster's capacity."""

    @property
    def total(self) -> Amounts:
        """What all nodes have."""
        total = NOTHING
        for node in self.nodes:
            partitions = sum(self.partition_milli[profile] * count for profile, count in node.partitions.items())
            gpu_milli = node.gpus * WHOLE_GPU_MILLI + partitions
            total = total.plus(Amounts(gpu_milli, node.cpu_milli, node.memory_bytes))
        return total

    @property
    def smallest_gpu_memory_mib(self) -> int:
        """Requests for memory that are not placed yet count as if on this GPU; 1 if there is none."""
        return min((node.gpu_memory_mib for node in self.nodes if node.gpus and node.gpu_memory_mib), default=1)
