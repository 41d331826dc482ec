"""What holds while a cycle decides: where each task is or will be, the room of nodes, and what queues have.

Every change goes through one function that notes what was before, so that a plan that fails is taken back exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from services.scheduler.fairness.kai.cluster import ALIVE, ALLOCATED, TaskState
from services.scheduler.fairness.kai.fair_share import fair_shares
from services.scheduler.fairness.kai.node_room import Holding, NodeRoom
from services.scheduler.fairness.kai.reclaim_rule import QueueShare
from services.scheduler.fairness.queue_tree import NOTHING, Amounts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.scheduler.fairness.kai.cluster import Cluster, Job, Task


class Place(NamedTuple):
    """Where a task is now, and where it will be when stopping tasks are gone. A task that moves has both."""

    held: Holding | None = None
    promised: Holding | None = None


NOWHERE = Place()


class CycleState:
    """The state of one cycle. It starts as the cluster is; the caller starts and stops tasks."""

    def __init__(self, cluster: Cluster, k_ppm: int) -> None:
        self.cluster = cluster
        self.tree = cluster.tree
        self.total = cluster.total
        self._smallest_gpu_memory_mib = cluster.smallest_gpu_memory_mib
        self.jobs = {job.name: job for job in cluster.jobs}
        self.jobs_of_queue: defaultdict[str, list[Job]] = defaultdict(list)
        for job in cluster.jobs:
            self.jobs_of_queue[job.queue].append(job)
        self.job_of = {task.name: job for job in cluster.jobs for task in job.tasks}
        self.tasks = {task.name: task for job in cluster.jobs for task in job.tasks}
        self.rooms = {node.name: NodeRoom(node) for node in cluster.nodes}
        self.places: dict[str, Place] = {}
        self.reasons: dict[str, str] = {}
        """Why each task was last started, moved or stopped, by name."""
        self.winners: dict[str, str] = {}
        """The job that each task was stopped for, by the task's name."""
        self.waiting: dict[str, str] = {}
        """Why each job waits, by name."""
        self._active: Counter[str] = Counter()
        self._allocated: defaultdict[str, Amounts] = defaultdict(Amounts)
        self._non_preemptible: defaultdict[str, Amounts] = defaultdict(Amounts)
        self._shares: dict[str, QueueShare] = {}
        self._log: list[tuple[Task, Place]] = []
        for task in self.tasks.values():
            if task.node in self.rooms and (task.state in ALLOCATED or task.state is TaskState.RELEASING):
                held = Holding(task.node, task.state, task.gpu_groups)
                self._put(task, Place(held) if task.state is not TaskState.PIPELINED else Place(None, held))
        self._fair_shares = fair_shares(self.tree, self.total, self._requests(), cluster.usage_ppm, k_ppm)
        self._shares.clear()
        self._log.clear()

    def state_of(self, task: Task) -> TaskState:
        """The task's state as planned."""
        place = self.places.get(task.name, NOWHERE)
        if place.promised:
            return TaskState.PIPELINED
        if place.held:
            return place.held.state
        return task.state if task.state not in ALIVE else TaskState.PENDING

    def active_tasks(self, job: Job) -> int:
        """How many of the job's tasks have a place, now or promised."""
        return self._active[job.name]

    def is_being_evicted(self, task: Task) -> bool:
        """True if this cycle stops the task, and has promised it no other place."""
        return self.state_of(task) is TaskState.RELEASING and task.state is not TaskState.RELEASING

    def amounts(self, task: Task, node: str | None = None) -> Amounts:
        """What the task counts for in its queue, on that node or on the smallest GPU."""
        memory = self.rooms[node].node.gpu_memory_mib if node else 0
        return task.request.amounts(memory or self._smallest_gpu_memory_mib, self.cluster.partition_milli)

    def required(self, tasks: Iterable[Task]) -> Amounts:
        """What the tasks count for together."""
        total = NOTHING
        for task in tasks:
            total = total.plus(self.amounts(task))
        return total

    def share(self, queue: str) -> QueueShare:
        """What the queue may have, and has as planned."""
        if queue not in self._shares:
            settings = self.tree.queues[queue]
            self._shares[queue] = QueueShare(
                queue,
                settings.parent,
                settings.quota,
                self._fair_shares[queue],
                self._allocated[queue],
                self._non_preemptible[queue],
                settings.limit,
            )
        return self._shares[queue]

    def start(self, task: Task, holding: Holding) -> None:
        """Gives a task a place: at once, or promised if the holding says that it waits."""
        if holding.state is TaskState.PIPELINED:
            self._put(task, Place(self.places.get(task.name, NOWHERE).held, holding))
        else:
            self._put(task, Place(holding))

    def keep(self, task: Task) -> None:
        """Takes the eviction of a running task back."""
        held = self.places[task.name].held
        if held:
            self._put(task, Place(held._replace(state=task.state)))

    def evict(self, task: Task) -> None:
        """Stops a task. One that has not begun to run only loses its promise."""
        held = self.places[task.name].held
        if held is None or held.state is TaskState.BINDING:
            self._put(task, NOWHERE)
        else:
            self._put(task, Place(held._replace(state=TaskState.RELEASING)))

    def postpone(self, job: Job) -> None:
        """Makes the job's tasks that would start now wait for those that cannot yet."""
        for task in job.tasks:
            held = self.places.get(task.name, NOWHERE).held
            if held and held.state is TaskState.BINDING and task.state is TaskState.PENDING:
                self._put(task, Place(None, held._replace(state=TaskState.PIPELINED)))

    def checkpoint(self) -> int:
        """A mark to roll back to."""
        return len(self._log)

    def rollback(self, checkpoint: int) -> None:
        """Takes back everything since the mark."""
        while len(self._log) > checkpoint:
            task, before = self._log.pop()
            self._put(task, before)
            self._log.pop()

    def _put(self, task: Task, place: Place) -> None:
        before = self.places.get(task.name, NOWHERE)
        self._log.append((task, before))
        self._count(task, before, -1)
        self._count(task, place, 1)
        self.places[task.name] = place

    def _count(self, task: Task, place: Place, sign: int) -> None:
        for holding in place:
            if holding:
                self.rooms[holding.node].add(task.request, holding, sign)
        counted = place.promised or place.held
        if counted is None or counted.state not in ALLOCATED:
            return
        job = self.job_of[task.name]
        self._active[job.name] += sign
        amounts = self.amounts(task, counted.node)
        for queue in self.tree.upwards(job.queue):
            add = Amounts.plus if sign > 0 else Amounts.minus
            self._allocated[queue.name] = add(self._allocated[queue.name], amounts)
            if not job.preemptible:
                self._non_preemptible[queue.name] = add(self._non_preemptible[queue.name], amounts)
            if queue.name in self._shares:
                self._shares[queue.name] = replace(
                    self._shares[queue.name],
                    allocated=self._allocated[queue.name],
                    allocated_non_preemptible=self._non_preemptible[queue.name],
                )

    def _requests(self) -> dict[str, Amounts]:
        requests = {name: self._allocated[name] for name in self.tree.queues}
        for job in self.jobs.values():
            pending = self.required(task for task in job.tasks if task.state is TaskState.PENDING)
            for queue in self.tree.upwards(job.queue):
                requests[queue.name] = requests[queue.name].plus(pending)
        for name, amounts in self.cluster.further_requests.items():
            for queue in self.tree.upwards(name):
                requests[queue.name] = requests[queue.name].plus(amounts)
        return requests
