"""Looks for the fewest running tasks whose places let a job in.

Candidates come one by one, in the order in which they give. After each, a plan stops all candidates on its node, and
places the pending job and them again, in the order of queues. A plan counts if the pending job got its place and the
caller's check agrees. The tasks of a gang are tried one more at a time, so that what the first needs is known when the
next is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from services.scheduler.fairness.kai.cluster import ALLOCATED, HOLDING, Job, Task, TaskState
from services.scheduler.fairness.kai.cycle_state import CycleState
from services.scheduler.fairness.kai.job_order import JobsInOrder, in_task_order, tasks_to_place
from services.scheduler.fairness.kai.placement import place_job


class Plan(NamedTuple):
    """What a plan does, beside giving the pending job its place."""

    job: Job
    tasks: tuple[Task, ...]
    """The tasks that get a place."""
    stopped: tuple[Task, ...]
    """Tasks that lose their place."""
    moved: tuple[Task, ...]
    """Tasks that get another place."""


class Outcome(NamedTuple):
    """The plan that the state now has; or None and the reason."""

    plan: Plan | None
    reason: str


class _Victims(NamedTuple):
    """Tasks of one job that can be stopped together."""

    job: Job
    tasks: tuple[Task, ...]
    nodes: frozenset[str]
    is_whole: bool
    """True if the job is over without them, and spare tasks that it still has have to stop as well."""


class VictimSearch:
    """The search for one pending job."""

    def __init__(
        self,
        state: CycleState,
        job: Job,
        candidates: Iterable[Job],
        refusal: Callable[[Plan], str | None],
        *,
        spread: bool = False,
    ) -> None:
        self._state = state
        self._job = job
        self._candidates = list(candidates)
        self._refusal = refusal
        self._spread = spread
        self._reason = "no running job may give its place"

    def run(self) -> Outcome:
        """Leaves the state with the plan that was found, or as it was."""
        if not self._candidates:
            return Outcome(None, self._reason)
        checkpoint = self._state.checkpoint()
        tasks = tasks_to_place(self._state, self._job)
        taken: tuple[Task, ...] = ()
        plan: Plan | None = None
        for number in range(1, len(tasks) + 1):
            self._state.rollback(checkpoint)
            plan = self._plan(tuple(tasks[:number]), taken)
            if plan is None:
                return Outcome(None, self._reason)
            taken = plan.stopped + plan.moved
        return Outcome(plan, self._reason)

    def _plan(self, tasks: tuple[Task, ...], taken: tuple[Task, ...]) -> Plan | None:
        if taken:
            plan = self._tried(tasks, taken)
            if plan:
                return plan
        considered: list[_Victims] = []
        for victims in self._victims(taken):
            considered.append(victims)
            for node in sorted(victims.nodes):
                whole = {group.job.name for group in considered if node in group.nodes and group.is_whole}
                groups = [group for group in considered if node in group.nodes or group.job.name in whole]
                on_node = [task for group in groups for task in group.tasks]
                plan = self._tried(tasks, (*taken, *on_node))
                if plan:
                    return plan
        return None

    def _tried(self, tasks: tuple[Task, ...], evicted: tuple[Task, ...]) -> Plan | None:
        checkpoint = self._state.checkpoint()
        before = {task.name: self._state.places.get(task.name) for task in evicted}
        for task in evicted:
            self._state.evict(task)
        if self._place_all(tasks, evicted):
            stopped = tuple(task for task in evicted if self._state.state_of(task) not in ALLOCATED)
            moved = tuple(
                task
                for task in evicted
                if self._state.state_of(task) in ALLOCATED and self._state.places[task.name] != before[task.name]
            )
            plan = Plan(self._job, tasks, stopped, moved)
            refusal = self._too_few_left(evicted) or self._refusal(plan)
            if refusal is None:
                return plan
            self._reason = refusal
        self._state.rollback(checkpoint)
        return None

    def _too_few_left(self, evicted: Sequence[Task]) -> str | None:
        """Which job would have some of the tasks that it needs, but not all."""
        for job in (self._state.job_of[task.name] for task in evicted):
            if 0 < self._state.active_tasks(job) < job.min_available:
                return f"{job.name} would have fewer tasks than it needs"
        return None

    def _place_all(self, tasks: tuple[Task, ...], evicted: Sequence[Task]) -> bool:
        """True if the pending job gets its place when it and the evicted tasks are placed again, each in its turn."""
        state = self._state
        unplaced = {state.job_of[task.name].name for task in evicted}
        order = self._order(tasks, unplaced)
        is_placed = False
        while (unplaced or not is_placed) and (candidate := order.pop()):
            if candidate.job is self._job:
                refusal = self._place(candidate.job, tasks)
                if refusal:
                    self._reason = refusal
                    return False
                is_placed = True
            elif candidate.job.name in unplaced:
                unplaced.discard(candidate.job.name)
                self._place(candidate.job, candidate.tasks)
        return is_placed

    def _order(self, tasks: tuple[Task, ...], victims: Collection[str]) -> JobsInOrder:
        state = self._state
        order = JobsInOrder(state)
        order.push(self._job, tasks, comes_first=True)
        jobs = {name: state.jobs[name] for name in sorted(victims)}
        matter = self._jobs_that_matter({self._job.queue, *(job.queue for job in jobs.values())})
        jobs |= {job.name: job for job in matter}
        for job in jobs.values():
            waiting = tasks_to_place(state, job, with_evicted=True)
            if waiting:
                order.push(job, waiting)
        return order

    def _place(self, job: Job, tasks: Sequence[Task]) -> str | None:
        return place_job(self._state, job, tasks, spread=self._spread, promise_only=True)

    def _jobs_that_matter(self, queues: Collection[str]) -> Iterator[Job]:
        """Other pending jobs that may decide which of the queues goes first: those below where these queues part."""
        if len(queues) < 2:  # noqa: PLR2004 - the order within one queue needs no others
            return
        tree = self._state.tree
        paths = [[queue.name for queue in tree.upwards(name)][::-1] for name in queues]
        shared = next(depth for depth in count() if len({path[depth] for path in paths}) > 1)
        apart = sorted({path[shared] for path in paths})
        below = (queue.name for name in apart for queue in tree.below(name))
        for job in (job for name in below for job in self._state.jobs_of_queue.get(name, ())):
            if job is not self._job and self._is_pending(job):
                yield job

    def _is_pending(self, job: Job) -> bool:
        return any(self._state.state_of(task) is TaskState.PENDING for task in job.tasks)

    def _victims(self, taken: Sequence[Task]) -> Iterator[_Victims]:
        """The next tasks that give: one that its job can spare, or all that are left of a job.

        A job that starts in this cycle gives none: the next cycle would only start it again.
        """
        names = {task.name for task in taken}
        order = JobsInOrder(self._state, backwards=True)
        for job in self._candidates:
            states = {task.name: self._state.state_of(task) for task in job.tasks}
            active = [task for task in job.tasks if states[task.name] in ALLOCATED]
            if active and TaskState.BINDING not in states.values():
                order.push(job, active)
        while candidate := order.pop():
            job = candidate.job
            in_order = in_task_order(job, candidate.tasks)[::-1]
            gives = in_order[:1] if len(in_order) > job.min_available else in_order
            if any(task.name in names for task in gives):
                rest = [task for task in candidate.tasks if task.name not in names]
            else:
                rest = [task for task in candidate.tasks if task not in gives]
                yield _Victims(job, tuple(gives), frozenset(self._nodes_of(gives)), not rest)
            if rest:
                order.push(job, rest)

    def _nodes_of(self, tasks: Iterable[Task]) -> Iterator[str]:
        for task in tasks:
            place = self._state.places[task.name]
            for holding in place:
                if holding and holding.state in HOLDING:
                    yield holding.node


def victims_by_job(state: CycleState, tasks: Iterable[Task]) -> Mapping[str, list[Task]]:
    """The tasks by the name of their job, in the order given."""
    by_job: dict[str, list[Task]] = {}
    for task in tasks:
        by_job.setdefault(state.job_of[task.name].name, []).append(task)
    return by_job
