"""Hands jobs out in the order of their queues, and in each queue by priority and age; or backwards, for victims."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from services.scheduler.fairness.kai.cluster import TaskState
from services.scheduler.fairness.kai.queue_order import Contender, contender
from services.scheduler.fairness.queue_tree import NOTHING, Amounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from services.scheduler.fairness.kai.cluster import Job, Task
    from services.scheduler.fairness.kai.cycle_state import CycleState
    from services.scheduler.fairness.queue_tree import Queue


class Candidate(NamedTuple):
    """A job, or a part of one, in its queue."""

    order: tuple[int, int, int, str]
    job: Job
    tasks: tuple[Task, ...]
    """The tasks that it would start, or that could be stopped."""
    amounts: Amounts
    """What they count for."""


def job_order(job: Job, active: int) -> tuple[int, int, int, str]:
    """The job's place in its queue: priority, then jobs that lack tasks that they need, then the earlier one."""
    elastic_rank = 0 if active < job.min_available else 1 if active == job.min_available else 2
    return (-job.priority, elastic_rank, job.create_order, job.name)


def in_task_order(job: Job, tasks: Iterable[Task]) -> list[Task]:
    """Tasks by priority, then as the job lists them."""
    index = {task.name: position for position, task in enumerate(job.tasks)}
    return sorted(tasks, key=lambda task: (task.priority is None, -(task.priority or 0), index[task.name]))


def tasks_to_place(state: CycleState, job: Job, *, with_evicted: bool = False) -> list[Task]:
    """The tasks that the job starts next: all that it lacks, or one more if it has enough.

    `with_evicted` includes tasks that this cycle stops: a plan may give them another place.
    """
    waiting = [
        task
        for task in job.tasks
        if state.state_of(task) is TaskState.PENDING or (with_evicted and state.is_being_evicted(task))
    ]
    return in_task_order(job, waiting)[: max(job.min_available - state.active_tasks(job), 1)]


def is_ready(state: CycleState, job: Job) -> bool:
    """True if the job waits for a place, and has tasks enough to run."""
    waiting = sum(state.state_of(task) is TaskState.PENDING for task in job.tasks)
    return waiting > 0 and waiting + state.active_tasks(job) >= job.min_available


@dataclass(slots=True)
class _Leaf:
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    given: Amounts = NOTHING


class _Entry:
    """A queue in the heap of its parent, as it ranked when it was last looked at."""

    def __init__(self, name: str, contender: Contender, *, backwards: bool) -> None:
        self.name = name
        self.contender = contender
        self.backwards = backwards

    def __lt__(self, other: _Entry) -> bool:
        return self.contender.comes_before(other.contender) is not self.backwards


class JobsInOrder:
    """Jobs of many queues. After a job is taken, its queue and those above it rank anew.

    A caller that changes the shares of others says so.
    """

    def __init__(self, state: CycleState, *, backwards: bool = False) -> None:
        self._state = state
        self._backwards = backwards
        self._leaves: dict[str, _Leaf] = {}
        self._heaps: defaultdict[str | None, list[_Entry]] = defaultdict(list)
        self._entries: dict[str, _Entry] = {}
        self._unranked: dict[str, None] = {}

    def push(self, job: Job, tasks: Sequence[Task], *, comes_first: bool = False) -> None:
        """Adds a job with the tasks that count; `comes_first` ranks it as one that lacks tasks that it needs."""
        active = len(tasks) if self._backwards else self._state.active_tasks(job)
        candidate = Candidate(
            job_order(job, -1 if comes_first else active), job, tuple(tasks), self._state.required(tasks)
        )
        leaf = self._leaves.setdefault(job.queue, _Leaf())
        insort(leaf.candidates, candidate, key=_order_of)
        self._unranked[job.queue] = None

    def pop(self) -> Candidate | None:
        """The next job, or None if there is no more."""
        for name in self._unranked:
            self._rank(name)
        self._unranked.clear()
        name = self._first(None)
        if name is None:
            return None
        leaf = self._leaves[name]
        candidate = leaf.candidates.pop(-1 if self._backwards else 0)
        leaf.given = leaf.given.plus(candidate.amounts)
        self._unranked[name] = None
        return candidate

    def rank_all_again(self) -> None:
        """Looks at all queues anew, after more than those of the last job changed."""
        self._unranked |= dict.fromkeys(self._leaves)

    def _first(self, parent: str | None) -> str | None:
        """The leaf below that goes first."""
        heap = self._heaps[parent]
        while heap:
            name = heap[0].name
            if self._entries.get(name) is heap[0]:
                return name if name in self._leaves else self._first(name)
            heappop(heap)
        return None

    def _rank(self, leaf: str) -> None:
        for queue in self._state.tree.upwards(leaf):
            self._entries.pop(queue.name, None)
            first = queue.name if queue.name in self._leaves else self._first(queue.name)
            if first is None or not self._leaves[first].candidates:
                continue
            entry = _Entry(queue.name, self._contender(queue, self._leaves[first]), backwards=self._backwards)
            self._entries[queue.name] = entry
            heappush(self._heaps[queue.parent], entry)

    def _contender(self, queue: Queue, leaf: _Leaf) -> Contender:
        share, total = self._state.share(queue.name), self._state.total
        if self._backwards:
            given = leaf.given.plus(leaf.candidates[-1].amounts)
            return contender(share, total, queue.priority, queue.create_order, given=given)
        return contender(share, total, queue.priority, queue.create_order, leaf.candidates[0].amounts)


def _order_of(candidate: Candidate) -> tuple[int, int, int, str]:
    return candidate.order
