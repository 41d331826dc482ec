"""Hands jobs out in the order of their queues, and in each queue by priority and age; or backwards, for victims."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from services.scheduler.fairness.kai.cluster import TaskState
from services.scheduler.fairness.kai.queue_order import Contender, contender
from services.scheduler.fairness.queue_tree import NOTHING, Amounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from services.scheduler.fairness.kai.cluster import Job, Task
    from services.scheduler.fairness.kai.cycle_state import CycleState


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


class JobsInOrder:
    """Jobs of many queues. The order of queues is found anew for each job that is taken."""

    def __init__(self, state: CycleState, *, backwards: bool = False) -> None:
        self._state = state
        self._backwards = backwards
        self._leaves: dict[str, _Leaf] = {}
        self._children: defaultdict[str | None, list[str]] = defaultdict(list)

    def push(self, job: Job, tasks: Sequence[Task], *, comes_first: bool = False) -> None:
        """Adds a job with the tasks that count; `comes_first` ranks it as one that lacks tasks that it needs."""
        if job.queue not in self._leaves:
            self._leaves[job.queue] = _Leaf()
            self._link(job.queue)
        order = job_order(job, -1 if comes_first else len(tasks) if self._backwards else self._state.active_tasks(job))
        candidate = Candidate(order, job, tuple(tasks), self._state.required(tasks))
        insort(self._leaves[job.queue].candidates, candidate, key=_order_of)

    def pop(self) -> Candidate | None:
        """The next job, or None if there is no more."""
        leaf = self._best(None)
        if leaf is None:
            return None
        candidates = self._leaves[leaf[0]].candidates
        candidate = candidates.pop(-1 if self._backwards else 0)
        if self._backwards:
            given = self._leaves[leaf[0]].given
            self._leaves[leaf[0]].given = given.plus(candidate.amounts)
        return candidate

    def _link(self, queue: str) -> None:
        parent = self._state.tree.queues[queue].parent
        siblings = self._children[parent]
        if queue not in siblings:
            siblings.append(queue)
            if parent is not None:
                self._link(parent)

    def _best(self, parent: str | None) -> tuple[str, Candidate, Amounts] | None:
        """The leaf below that goes first, with its next job and what it gave already."""
        best: tuple[Contender, tuple[str, Candidate, Amounts]] | None = None
        for name in self._children.get(parent, ()):
            below = self._next_of(name)
            if below is None:
                continue
            found = (self._contender(name, below[1], below[2]), below)
            if best is None or found[0].comes_before(best[0]) is not self._backwards:
                best = found
        return best[1] if best else None

    def _next_of(self, name: str) -> tuple[str, Candidate, Amounts] | None:
        leaf = self._leaves.get(name)
        if leaf is None:
            return self._best(name)
        if not leaf.candidates:
            return None
        return (name, leaf.candidates[-1 if self._backwards else 0], leaf.given)

    def _contender(self, name: str, candidate: Candidate, given: Amounts) -> Contender:
        queue = self._state.tree.queues[name]
        share, total = self._state.share(name), self._state.total
        if self._backwards:
            given = given.plus(candidate.amounts)
            return contender(share, total, queue.priority, queue.create_order, given=given)
        return contender(share, total, queue.priority, queue.create_order, candidate.amounts)


def _order_of(candidate: Candidate) -> tuple[int, int, int, str]:
    return candidate.order
