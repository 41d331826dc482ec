"""Hands jobs out in the order of their queues, and in each queue by priority and age; or backwards, for victims."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from services.scheduler.fairness.kai.cluster import TaskState
from services.scheduler.fairness.kai.queue_order import Contender, contender
from services.scheduler.fairness.queue_tree import NOTHING, Amounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
    if len(waiting) < 2:  # noqa: PLR2004 - one has no order
        return waiting
    return in_task_order(job, waiting)[: max(job.min_available - state.active_tasks(job), 1)]


def ready_tasks(state: CycleState, job: Job) -> Sequence[Task]:
    """The tasks that the job starts next; none if no task waits, or too few do for the job to run."""
    waiting = sum([state.state_of(task) is TaskState.PENDING for task in job.tasks])
    if not waiting or waiting + state.active_tasks(job) < job.min_available:
        return ()
    return job.tasks if len(job.tasks) == 1 else tasks_to_place(state, job)


_ORDER = attrgetter("order")


@dataclass(slots=True)
class _Leaf:
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    is_sorted: bool = True
    given: Amounts = NOTHING


class _Entry:
    """A queue in the heap of its parent, as it ranked when it was last looked at."""

    def __init__(self, name: str, contender: Contender, seen: tuple[Amounts, Amounts], *, backwards: bool) -> None:
        self.name = name
        self.contender = contender
        self.seen = seen
        self.backwards = backwards

    def __lt__(self, other: _Entry) -> bool:
        return self.contender.comes_before(other.contender) is not self.backwards


class JobsInOrder:
    """Jobs of many queues. After a job is taken, its queue and those above it rank again.

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
        order = job_order(job, -1 if comes_first else active)
        self._add(Candidate(order, job, tuple(tasks), self._state.required(tasks)))

    def push_ready(self, job: Job) -> None:
        """Adds a job with the tasks that it starts next, if there are any."""
        remembered, name = self._state.remembered, job.name
        if name not in remembered:
            tasks = ready_tasks(self._state, job)
            order = job_order(job, self._state.active_tasks(job))
            remembered[name] = Candidate(order, job, tuple(tasks), self._state.required(tasks)) if tasks else None
        candidate: Candidate | None = remembered[name]
        if candidate is not None:
            self._add(candidate)

    def pop(self) -> Candidate | None:
        """The next job, or None if there is no more."""
        self._rank_anew()
        name = self._first(None)
        if name is None:
            return None
        leaf = self._leaves[name]
        candidate = leaf.candidates.pop(-1 if self._backwards else 0)
        leaf.given = leaf.given.plus(candidate.amounts)
        self._unranked[name] = None
        return candidate

    def rest(self) -> Iterator[Candidate]:
        """All that are left, queue by queue: for a caller for whom their order does not count."""
        return (candidate for leaf in self._leaves.values() for candidate in leaf.candidates)

    def pop_alike(self, queue: str, is_alike: Callable[[Candidate], bool]) -> Iterator[Candidate]:
        """The next jobs of the queue, for as long as they need the same as the last one, which changed nothing."""
        candidates = self._leaves[queue].candidates
        while candidates and is_alike(candidates[0]):
            yield candidates.pop(0)

    def rank_again(self, queues: Iterable[str]) -> None:
        """Ranks queues again, after more than those of the last job changed."""
        self._unranked |= dict.fromkeys(queues)

    def _first(self, parent: str | None) -> str | None:
        """The leaf below that goes first."""
        heap = self._heaps[parent]
        while heap:
            name = heap[0].name
            if self._entries.get(name) is heap[0]:
                return name if name in self._leaves else self._first(name)
            heappop(heap)
        return None

    def _add(self, candidate: Candidate) -> None:
        queue = candidate.job.queue
        leaf = self._leaves.get(queue)
        if leaf is None:
            leaf = self._leaves[queue] = _Leaf()
        leaf.candidates.append(candidate)
        leaf.is_sorted = False
        self._unranked[queue] = None

    def _rank_anew(self) -> None:
        """Ranks the queues that may have changed, and those above them once, when all below are ranked."""
        upwards = self._state.tree.upwards
        queues = {queue.name: queue for name in self._unranked for queue in upwards(name)}.values()
        if len(self._unranked) > 1:
            queues = sorted(queues, key=lambda queue: -len(upwards(queue.name)))
        for queue in queues:
            self._rank(queue)
        self._unranked.clear()

    def _rank(self, queue: Queue) -> None:
        first = queue.name if queue.name in self._leaves else self._first(queue.name)
        leaf = self._leaves[first] if first is not None else None
        if leaf is None or not leaf.candidates:
            self._entries.pop(queue.name, None)
            return
        if not leaf.is_sorted:
            leaf.candidates.sort(key=_ORDER)
            leaf.is_sorted = True
        counts = leaf.given.plus(leaf.candidates[-1].amounts) if self._backwards else leaf.candidates[0].amounts
        seen = (self._state.allocated(queue.name), counts)
        entry = self._entries.get(queue.name)
        if entry is None or entry.seen != seen:
            entry = _Entry(queue.name, self._contender(queue, counts), seen, backwards=self._backwards)
            self._entries[queue.name] = entry
            heappush(self._heaps[queue.parent], entry)

    def _contender(self, queue: Queue, counts: Amounts) -> Contender:
        share, total = self._state.share(queue.name), self._state.total
        if self._backwards:
            return contender(share, total, queue.priority, queue.create_order, given=counts)
        return contender(share, total, queue.priority, queue.create_order, counts)
