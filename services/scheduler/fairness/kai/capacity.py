"""What a queue and those above it allow a job: nothing above a limit, and what cannot be preempted within quotas."""

from __future__ import annotations

from functools import lru_cache

from services.scheduler.fairness.kai.cluster import Job
from services.scheduler.fairness.kai.cycle_state import CycleState
from services.scheduler.fairness.queue_tree import RESOURCES, WHOLE_GPU_MILLI, Amounts

_UNITS = Amounts(gpu_milli=WHOLE_GPU_MILLI, cpu_milli=1000, memory_bytes=10**9)
_NAMES = (("GPU", "GPUs"), ("CPU", "CPUs"), ("GB of memory", "GB of memory"))


def in_words(resource: int, amount: int) -> str:
    """An amount of the resource with this position, as people say it."""
    one, several = _NAMES[resource]
    return f"{amount / _UNITS[resource]:g} {one if amount == _UNITS[resource] else several}"


@lru_cache(maxsize=1_000)
def amounts_in_words(amounts: Amounts) -> str:
    """All amounts that are not zero."""
    return ", ".join(in_words(resource, amount) for resource, amount in enumerate(amounts) if amount) or "nothing"


def over_limit(state: CycleState, job: Job, required: Amounts) -> str | None:
    """Why the job would bring a queue above a limit; None if it would not."""
    for queue in state.tree.upwards(job.queue):
        after = state.allocated(queue.name).plus(required)
        if after.at_most(queue.limit):
            continue
        for resource in range(len(RESOURCES)):
            if required[resource] and after[resource] > queue.limit[resource]:
                has, limit = in_words(resource, after[resource]), in_words(resource, queue.limit[resource])
                return f"queue {queue.name} would have {has}, above its limit of {limit}"
    return None


def non_preemptible_over_quota(state: CycleState, job: Job, required: Amounts) -> str | None:
    """Why a job that cannot be preempted would be beyond a quota; None if it would not, or can be preempted."""
    if job.preemptible:
        return None
    for queue in state.tree.upwards(job.queue):
        after = state.share(queue.name).allocated_non_preemptible.plus(required)
        for resource in range(len(RESOURCES)):
            if required[resource] and after[resource] > queue.quota[resource]:
                has, quota = in_words(resource, after[resource]), in_words(resource, queue.quota[resource])
                return (
                    f"jobs that cannot be preempted would have {has} of queue {queue.name}, above its quota of {quota}"
                )
    return None
