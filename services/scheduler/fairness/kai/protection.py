"""Which jobs have run long enough to give their places."""

from __future__ import annotations

from collections.abc import Callable

from services.scheduler.fairness.kai.cluster import ALLOCATED, Job
from services.scheduler.fairness.kai.cycle_state import CycleState
from services.scheduler.fairness.kai.min_runtime import may_evict
from services.scheduler.fairness.kai.victim_search import Plan, victims_by_job


def may_give(job: Job, minimum_seconds: int) -> bool:
    """False if the job is protected as a whole; an elastic job may give the tasks that it can spare."""
    is_protected = job.ran_seconds is not None and job.ran_seconds < minimum_seconds
    return not is_protected or len(job.tasks) > job.min_available


def protected_victim(state: CycleState, plan: Plan, minimum_seconds: Callable[[Job], int]) -> str | None:
    """Which job of the plan has not run long enough to lose these tasks; None if all have."""
    for name, tasks in victims_by_job(state, plan.stopped + plan.moved).items():
        job = state.jobs[name]
        minimum = minimum_seconds(job)
        running = sum(task.state in ALLOCATED for task in job.tasks)
        if not may_evict(job.ran_seconds, minimum, running, len(tasks), job.min_available):
            return f"{name} has run for {job.ran_seconds} s, and is protected for {minimum} s"
    return None
