"""What holds while a cycle decides: where each task is or will be, the room of nodes, and what queues have.

Every change goes through one function that notes what was before, so that a plan that fails is taken back exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from services.scheduler.fairness.kai.cluster import ALIVE, ALLOCATED, Cluster, Job, Task, TaskState
from services.scheduler.fairness.kai.fair_share import fair_shares
from services.scheduler.fairness.kai.node_room import Holding, NodeRoom
from services.scheduler.fairness.kai.reclaim_rule import QueueShare
from services.scheduler.fairness.queue_tree import NOTHING, Amounts


class Place(NamedTuple):
    """Where a task is now, and where it will be when stopping tasks are gone. A task that moves has both."""

    held: Holding | None = None
    promised: Holding | None = None


NOWHERE = Place()


class CycleState:
    """The state of one cycle. It starts as the cluster is; the caller starts and stops tasks."""

    def __init__(self, cluster: Cluster, k_ppm: int) -> None:
        self.cluster, self.tree, self.total = cluster, cluster.tree, cluster.total
        self._smallest_gpu_memory_mib = cluster.smallest_gpu_memory_mib
        self._unplaced: dict[int, Amounts] = {}
        """What requests count for on the smallest GPU, by the id of the request, which lives as long as the cluster."""
        self.jobs = {job.name: job for job in cluster.jobs}
        self.jobs_of_queue = _by_queue(cluster.jobs)
        self.job_of = {task.name: job for job in cluster.jobs for task in job.tasks}
        self.tasks = {task.name: task for job in cluster.jobs for task in job.tasks}
        self.rooms = {node.name: NodeRoom(node) for node in cluster.nodes}
        self.places: dict[str, Place] = {}
        self.reasons: dict[str, str] = {}
        """Why each task was last started, moved or stopped, by name."""
        self.winners: dict[str, str] = {}
        """The job that each task was stopped or moved for, by the task's name."""
        self.waiting: dict[str, str] = {}
        """Why each job waits, by name."""
        self.remembered: dict[str, Any] = {}
        """What others found out about each job, by name, until a task of the job changes."""
        self._active: Counter[str] = Counter()
        self._allocated: defaultdict[str, Amounts] = defaultdict(Amounts)
        self._non_preemptible: defaultdict[str, Amounts] = defaultdict(Amounts)
        self._shares: dict[str, QueueShare] = {}
        self._version = self._last_version = 0
        self._queue_versions: Counter[str] = Counter()
        self._log: list[tuple[Task, Place, int]] = []
        self._all_shares: tuple[int, Mapping[str, QueueShare]] = (-1, {})
        self._all_holders: tuple[int, Mapping[str, Sequence[Job]]] = (-1, {})
        self._put_all()
        self._fair_shares = fair_shares(self.tree, self.total, self._requests(), cluster.usage_ppm, k_ppm)

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
        if memory:
            return task.request.amounts(memory, self.cluster.partition_milli)
        amounts = self._unplaced.get(id(task.request))
        if amounts is None:
            amounts = task.request.amounts(self._smallest_gpu_memory_mib, self.cluster.partition_milli)
            self._unplaced[id(task.request)] = amounts
        return amounts

    def required(self, tasks: Sequence[Task]) -> Amounts:
        """What the tasks count for together."""
        if len(tasks) == 1:
            return self.amounts(tasks[0])
        total = NOTHING
        for task in tasks:
            total = total.plus(self.amounts(task))
        return total

    @property
    def version(self) -> int:
        """The same number if nothing changed in between, or all that changed was taken back."""
        return self._version

    def queue_version(self, queue: str) -> int:
        """The same number if nothing changed in between for the queue and those below it."""
        return self._queue_versions[queue]

    def allocated(self, queue: str) -> Amounts:
        """What the queue has as planned."""
        return self._allocated[queue]

    def share(self, queue: str) -> QueueShare:
        """What the queue may have, and has as planned."""
        share = self._shares.get(queue)
        if share is None:
            settings = self.tree.queues[queue]
            share = self._shares[queue] = QueueShare(
                queue,
                settings.parent,
                settings.quota,
                self._fair_shares[queue],
                self._allocated[queue],
                self._non_preemptible[queue],
                settings.limit,
            )
        return share

    def shares(self) -> Mapping[str, QueueShare]:
        """The shares of all queues as they are now, whatever changes later."""
        if self._all_shares[0] != self._version:
            self._all_shares = (self._version, {queue: self.share(queue) for queue in self.tree.queues})
        return self._all_shares[1]

    def holders(self) -> Mapping[str, Sequence[Job]]:
        """The jobs that have a place now, by queue: most jobs wait, and have nothing to give."""
        if self._all_holders[0] != self._version:
            holders = (self.jobs[name] for name, active in self._active.items() if active)
            self._all_holders = (self._version, _by_queue(holders))
        return self._all_holders[1]

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

    def queues_changed_since(self, checkpoint: int) -> set[str]:
        """The queues whose own tasks changed since the mark."""
        return {self.job_of[task.name].queue for task, _, _ in self._log[checkpoint:]}

    def rollback(self, checkpoint: int) -> None:
        """Takes back everything since the mark."""
        while len(self._log) > checkpoint:
            task, before, version = self._log.pop()
            self._put(task, before)
            self._log.pop()
            self._version = version

    def _put_all(self) -> None:
        for task in self.tasks.values():
            if task.node in self.rooms and (task.state in ALLOCATED or task.state is TaskState.RELEASING):
                held = Holding(task.node, task.state, task.gpu_groups)
                self._put(task, Place(held) if task.state is not TaskState.PIPELINED else Place(None, held))
        self._log.clear()

    def _put(self, task: Task, place: Place) -> None:
        before = self.places.get(task.name, NOWHERE)
        self._log.append((task, before, self._version))
        self._last_version += 1
        self._version = self._last_version
        self.remembered.pop(self.job_of[task.name].name, None)
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
        add = Amounts.plus if sign > 0 else Amounts.minus
        for queue in self.tree.upwards(job.queue):
            self._allocated[queue.name] = add(self._allocated[queue.name], amounts)
            if not job.preemptible:
                self._non_preemptible[queue.name] = add(self._non_preemptible[queue.name], amounts)
            self._queue_versions[queue.name] = self._version
            self._shares.pop(queue.name, None)

    def _requests(self) -> dict[str, Amounts]:
        pending: defaultdict[str, Amounts] = defaultdict(Amounts, self.cluster.further_requests)
        for job in self.jobs.values():
            for task in job.tasks:
                if task.state is TaskState.PENDING:
                    pending[job.queue] = pending[job.queue].plus(self.amounts(task))
        requests = {name: self._allocated[name] for name in self.tree.queues}
        for name, amounts in pending.items():
            for queue in self.tree.upwards(name):
                requests[queue.name] = requests[queue.name].plus(amounts)
        return requests


def _by_queue(jobs: Iterable[Job]) -> Mapping[str, Sequence[Job]]:
    by_queue: defaultdict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        by_queue[job.queue].append(job)
    return by_queue
