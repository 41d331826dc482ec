"""How long a job has run before it may be evicted, as queues say."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from services.scheduler.fairness.queue_tree import Queue, QueueTree


class ReclaimMethod(StrEnum):
    """Where the search for the minimum runtime against reclaim begins."""

    LOWEST_COMMON_ANCESTOR = "lca"
    """At the victim's side of where the two queues part: all that the pending job's side sees is one queue."""
    QUEUE = "queue"
    """At the victim's own queue."""


def preempt_min_runtime_seconds(tree: QueueTree, victim: str, default: int = 0) -> int:
    """The minimum runtime against jobs of the same queue: that of the queue, or of the nearest above that has one."""
    return _first((queue.preempt_min_runtime_seconds for queue in tree.upwards(victim)), default)


def reclaim_min_runtime_seconds(
    tree: QueueTree,
    pending: str,
    victim: str,
    method: ReclaimMethod = ReclaimMethod.LOWEST_COMMON_ANCESTOR,
    default: int = 0,
) -> int:
    """The minimum runtime of the victim's queue against a pending job of the other queue."""
    queues = list(tree.upwards(victim))
    if method is ReclaimMethod.LOWEST_COMMON_ANCESTOR:
        queues = _from_where_they_part(tree, pending, queues)
    return _first((queue.reclaim_min_runtime_seconds for queue in queues), default)


def may_evict(
    ran_seconds: int | None, min_runtime_seconds: int, running: int, evicted: int, min_available: int
) -> bool:
    """True if a job with `running` tasks may lose `evicted` of them.

    A job that has run for less than the minimum keeps the tasks that it needs, and may lose others. A job with no start
    time is not protected.
    """
    if ran_seconds is None or ran_seconds >= min_runtime_seconds:
        return True
    return running > min_available and running - evicted >= min_available


def _from_where_they_part(tree: QueueTree, pending: str, victim_upwards: list[Queue]) -> list[Queue]:
    shared = {queue.name for queue in tree.upwards(pending)}
    below = [queue for queue in victim_upwards if queue.name not in shared]
    return victim_upwards[max(0, len(below) - 1) :]


def _first(values: Iterable[int | None], default: int) -> int:
    return next((value for value in values if value is not None), default)
