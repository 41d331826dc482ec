"""Which queue goes first. The same order, read backwards, says which queue gives first."""

from __future__ import annotations

from typing import NamedTuple

from services.scheduler.fairness.kai.reclaim_rule import QueueShare
from services.scheduler.fairness.queue_tree import EVERYTHING, NOTHING, UNLIMITED, Amounts

NO_SHARE_PENALTY = Amounts(gpu_milli=1, cpu_milli=1000, memory_bytes=1000)
"""What a queue without a share has counts this often, so that it comes after queues that have one."""


class QueueRank(NamedTuple):
    """The first rules, in order: smaller comes first."""

    is_over_fair_share: bool
    """In every resource."""
    is_over_quota: bool
    """In any resource, with the job counted in."""
    priority: int
    """Negative, so that higher priorities come first."""
    has_without_share: bool
    """True if it would have something of a resource of which it has no share."""
    share_with_job: float
    """The largest part of its share that it would have in use, over all resources."""
    share_in_use: float


class Contender(NamedTuple):
    """A queue with the job that it would start next."""

    rank: QueueRank
    allocatable: Amounts
    create_order: tuple[int, str]

    def comes_before(self, other: Contender) -> bool:
        """True if this queue goes first; of equals the one with the smaller share, then the earlier one."""
        if self.rank != other.rank:
            return self.rank < other.rank
        if self.allocatable != other.allocatable:
            if self.allocatable.at_most(other.allocatable):
                return True
            if other.allocatable.at_most(self.allocatable):
                return False
        return self.create_order < other.create_order


def contender(
    share: QueueShare,
    total: Amounts,
    priority: int,
    create_order: int,
    required: Amounts = NOTHING,
    given: Amounts = NOTHING,
) -> Contender:
    """How the queue ranks with a job that needs `required`, or as one that gives what `given` says."""
    allocatable, allocated, with_job = share.allocatable, share.allocated, share.allocated.plus(required)
    rank = QueueRank(
        _is_between(share.fair_share, allocated, EVERYTHING),
        not with_job.at_most(share.quota),
        -priority,
        _has_without(allocatable, with_job),
        dominant_share(allocatable, with_job.minus(given), total),
        dominant_share(allocatable, allocated, total),
    )
    return Contender(rank, allocatable, (create_order, share.name))


def _is_between(least: Amounts, amounts: Amounts, most: Amounts) -> bool:
    return least[0] < amounts[0] < most[0] and least[1] < amounts[1] < most[1] and least[2] < amounts[2] < most[2]


def _has_without(may: Amounts, has: Amounts) -> bool:
    return (not may[0] and has[0] > 0) or (not may[1] and has[1] > 0) or (not may[2] and has[2] > 0)


def dominant_share(allocatable: Amounts, allocated: Amounts, total: Amounts) -> float:
    """The largest part of a share that is in use, over all resources. An unlimited share is all that there is."""
    largest = 0.0
    for resource, has in enumerate(allocated):
        if has > 0:
            may = total[resource] if allocatable[resource] >= UNLIMITED else allocatable[resource]
            largest = max(largest, has / may if may else float(has * NO_SHARE_PENALTY[resource]))
    return largest
