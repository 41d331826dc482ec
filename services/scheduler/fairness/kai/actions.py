"""The actions of a cycle: each goes through the jobs that wait, in order, and changes the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.scheduler.fairness.kai.capacity import non_preemptible_over_quota, over_limit
from services.scheduler.fairness.kai.cluster import TaskState
from services.scheduler.fairness.kai.job_order import JobsInOrder, ready_tasks, tasks_to_place
from services.scheduler.fairness.kai.min_runtime import preempt_min_runtime_seconds
from services.scheduler.fairness.kai.placement import NoRoom, kind_of, no_room_in_words, place_job
from services.scheduler.fairness.kai.protection import may_give, protected_victim
from services.scheduler.fairness.kai.reclaim_check import PossibleVictims, ReclaimCheck
from services.scheduler.fairness.kai.victim_search import VictimSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from services.scheduler.fairness.kai.cluster import Job
    from services.scheduler.fairness.kai.cycle_state import CycleState
    from services.scheduler.fairness.kai.job_order import Candidate
    from services.scheduler.fairness.kai.policy import Policy
    from services.scheduler.fairness.kai.victim_search import Outcome, Plan


def allocate(state: CycleState, policy: Policy) -> None:
    """Starts jobs in order, those first that were promised a place.

    An elastic job comes again, with one more task, until it has all.
    """
    _allocate(state, policy, [job for job in state.jobs.values() if _is_promised(job)])
    _allocate(state, policy, state.jobs.values())


def _allocate(state: CycleState, policy: Policy, jobs: Iterable[Job]) -> None:
    order = _waiting_jobs(state, jobs)
    no_room: NoRoom = set()
    while candidate := order.pop():
        job, full = candidate.job, len(no_room)
        refusal = place_job(state, job, candidate.tasks, no_room, spread=policy.spread)
        if refusal:
            state.waiting[job.name] = refusal
            if len(no_room) > full and all(kind_of(other.tasks[0]) in no_room for other in order.rest()):
                _refuse(state, order.rest())
                return
            continue
        for task in candidate.tasks:
            waits = state.state_of(task) is TaskState.PIPELINED
            state.reasons[task.name] = (
                "fits when the tasks that stop there are gone" if waits else "fits on what is free"
            )
        more = tasks_to_place(state, job)
        if more:
            order.push(job, more)


def _refuse(state: CycleState, candidates: Iterable[Candidate]) -> None:
    """Notes why jobs wait if there is no room for any of them, in whatever order."""
    forbidden: dict[object, str | None] = {}
    for _, job, tasks, amounts in candidates:
        alike = (job.queue, job.preemptible, amounts)
        if alike not in forbidden:
            forbidden[alike] = over_limit(state, job, amounts) or non_preemptible_over_quota(state, job, amounts)
        state.waiting[job.name] = forbidden[alike] or no_room_in_words(state, tasks)


def _is_promised(job: Job) -> bool:
    return any(task.promised_node and task.state is TaskState.PENDING for task in job.tasks)


def consolidate(state: CycleState, policy: Policy) -> None:
    """Moves tasks that may be moved, if every one of them has another place."""

    def refusal(plan: Plan) -> str | None:
        if plan.stopped:
            return f"task {plan.stopped[0].name} would have to move, and has no other place"
        return None

    for job in _jobs_in_turn(state):
        if job.preemptible and _is_room_enough(state, job):
            victims = [
                other for other in state.jobs.values() if other.preemptible and other.movable and other is not job
            ]
            found = VictimSearch(state, job, victims, refusal, spread=policy.spread).run()
            _note(state, job, found, lambda _: "no task has to stop for good")


def reclaim(state: CycleState, policy: Policy) -> None:
    """Takes places back from jobs of other queues, as far as the rules of reclaiming allow."""
    possible = PossibleVictims(state)
    for job in _jobs_in_turn(state):
        check = ReclaimCheck(state, job, policy)
        refusal = check.refusal_of_any()
        if refusal:
            state.waiting[job.name] = refusal
            continue
        found = VictimSearch(state, job, possible.of(check), check.refusal, spread=policy.spread).run()
        _note(state, job, found, check.why)


def preempt(state: CycleState, policy: Policy) -> None:
    """Takes places from jobs of lower priority in the same queue."""

    def minimum_seconds(victim: Job) -> int:
        return preempt_min_runtime_seconds(state.tree, victim.queue, policy.preempt_min_runtime_seconds)

    for job in _jobs_in_turn(state):
        refusal = non_preemptible_over_quota(state, job, state.required(tasks_to_place(state, job)))
        if refusal:
            state.waiting[job.name] = refusal
            continue
        victims = [
            other
            for other in state.jobs_of_queue[job.queue]
            if other.preemptible and other.priority < job.priority and may_give(other, minimum_seconds(other))
        ]
        found = VictimSearch(
            state, job, victims, lambda plan: protected_victim(state, plan, minimum_seconds), spread=policy.spread
        ).run()
        _note(
            state,
            job,
            found,
            lambda victim, job=job: f"{job.name} has priority {job.priority}, and {victim.name} has {victim.priority}",
        )


def evict_stale_gangs(state: CycleState, policy: Policy) -> None:
    """Stops what is left of jobs that lack tasks that they need for longer than the grace time."""
    for job in state.jobs.values():
        active = state.active_tasks(job)
        is_over = any(task.state is TaskState.SUCCEEDED for task in job.tasks)
        if is_over or not 0 < active < job.min_available or job.stale_seconds < policy.stale_grace_seconds:
            continue
        for task in job.tasks:
            if state.state_of(task) in (TaskState.RUNNING, TaskState.BINDING, TaskState.PIPELINED):
                state.evict(task)
                state.reasons[task.name] = (
                    f"{job.name} has {active} of the {job.min_available} tasks that it needs for {job.stale_seconds} s"
                )


def _waiting_jobs(state: CycleState, jobs: Iterable[Job]) -> JobsInOrder:
    order = JobsInOrder(state)
    for job in jobs:
        order.push_ready(job)
    return order


def _jobs_in_turn(state: CycleState) -> Iterator[Job]:
    """The jobs that wait, each once. After one got nothing, its equals are left out until something changes."""
    order = _waiting_jobs(state, state.jobs.values())
    refused: dict[object, str] = {}
    while candidate := order.pop():
        job = candidate.job
        if not ready_tasks(state, job):  # It gave its place to one that came before.
            continue
        alike = _likeness(candidate)
        if alike not in refused:
            checkpoint = state.checkpoint()
            yield job
            if state.checkpoint() != checkpoint:
                refused.clear()
                order.rank_again(state.queues_changed_since(checkpoint))
                continue
            refused[alike] = job.name
        else:
            _wait_as(state, job, refused[alike])
        for other in order.pop_alike(job.queue, lambda other, alike=alike: _likeness(other) == alike):
            if ready_tasks(state, other.job):
                _wait_as(state, other.job, refused[alike])


def _likeness(candidate: Candidate) -> object:
    job = candidate.job
    return job.queue, job.priority, job.preemptible, tuple(kind_of(task) for task in candidate.tasks)


def _wait_as(state: CycleState, job: Job, other: str) -> None:
    if other in state.waiting:
        state.waiting[job.name] = f"as {other}, which needs the same: {state.waiting[other]}"


def _is_room_enough(state: CycleState, job: Job) -> bool:
    """False if the free GPUs of all nodes together are too few."""
    needs = sum(state.amounts(task).gpu_milli for task in tasks_to_place(state, job) if not task.request.partitions)
    return needs <= sum(room.gpu_milli_later for room in state.rooms.values())


def _note(state: CycleState, job: Job, found: Outcome, why: Callable[[Job], str]) -> None:
    if found.plan is None:
        state.waiting[job.name] = found.reason
        return
    for task in found.plan.tasks:
        state.reasons[task.name] = (
            "gets places that other tasks give" if found.plan.stopped or found.plan.moved else "fits"
        )
    for task in found.plan.stopped:
        victim = state.job_of[task.name]
        reason = f"gives its place to {job.name}: {why(victim)}"
        state.reasons[task.name] = state.waiting[victim.name] = reason
        state.winners[task.name] = job.name
    for task in found.plan.moved:
        what = "moves" if state.places[task.name].held else "waits for another place"
        state.winners[task.name] = job.name
        state.reasons[task.name] = f"{what} so that {job.name} fits"
