"""What both ways of preemption share: who may be a victim, and how few victims will do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from services.scheduler.fairness.kueue.queue_spec import Amounts, FlavorResource, ReclaimWithinCohort, WithinQueue
from services.scheduler.fairness.kueue.quota_tree import QuotaNode
from services.scheduler.fairness.kueue.snapshot import Admitted, Snapshot, Workload


class VictimReason(StrEnum):
    """The rule by which a workload was chosen as a victim."""

    IN_QUEUE = "InClusterQueue"
    """It is in the preemptor's queue, which puts the preemptor before it."""
    RECLAIMED = "InCohortReclamation"
    """Its queue borrows what the preemptor's side of the tree owns."""
    FAIR_SHARING = "InCohortFairSharing"
    """Its side of the tree has a larger share than the preemptor's will have."""
    RECLAIMED_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
    """Its queue borrows and its priority is low enough for a preemptor whose queue borrows too."""


@dataclass(frozen=True)
class Victim:
    """A workload that makes room."""

    admitted: Admitted
    reason: VictimReason
    detail: str
    """For people: the facts that the rule was applied to."""


@dataclass(frozen=True)
class Preemptor:
    """A workload that needs room, with the flavors that it is to get."""

    workload: Workload
    queue: QuotaNode
    amounts: Amounts
    contested: frozenset[FlavorResource]
    """What it lacks, a part of `amounts`. Only workloads that use some of this can be victims."""


def own_candidates(snapshot: Snapshot, preemptor: Preemptor, running: Sequence[Admitted]) -> Sequence[Admitted]:
    """Of these workloads in the preemptor's queue, those that it may preempt, in victim order.

    With admission fair sharing, those of the local queue that used most go first.
    """
    eligible = list(_eligible(preemptor, preemptor.queue.queue.preemption.within_queue, running))
    usage = snapshot.local_queue_usage
    return sorted(eligible, key=lambda one: -usage.get(one.workload.local_queue, 0)) if usage else eligible


def cohort_candidates(preemptor: Preemptor, running: Sequence[Admitted]) -> Iterable[Admitted]:
    """Of these workloads in another queue, those that it may preempt, in victim order."""
    return _eligible(preemptor, preemptor.queue.queue.preemption.reclaim_within_cohort, running)


def fewest_victims(snapshot: Snapshot, candidates: Iterable[Victim], fits: Callable[[], bool]) -> tuple[Victim, ...]:
    """Takes candidates until the preemptor fits, then spares every one that it fits without; empty if it never fits.

    `fits` looks at the snapshot's usage, from which the victims so far are taken; so may `candidates`, which is read
    step by step. The usage is afterwards as it was.
    """
    usage, taken = snapshot.usage, list[Victim]()

    def put_back(victim: Victim) -> None:
        usage.add(snapshot.queue_of(victim.admitted), victim.admitted.usage)

    def take(victim: Victim) -> None:
        usage.remove(snapshot.queue_of(victim.admitted), victim.admitted.usage)

    try:
        for victim in candidates:
            take(victim)
            taken.append(victim)
            if fits():
                break
        else:
            return ()
        # The last one is needed: without it, the preemptor did not fit.
        for position in range(len(taken) - 2, -1, -1):
            put_back(taken[position])
            if fits():
                del taken[position]
            else:
                take(taken[position])
        return tuple(taken)
    finally:
        for victim in taken:
            put_back(victim)


def _eligible(
    preemptor: Preemptor, policy: WithinQueue | ReclaimWithinCohort, running: Sequence[Admitted]
) -> Iterable[Admitted]:
    if policy in {WithinQueue.NEVER, ReclaimWithinCohort.NEVER}:
        return ()
    ranked: Iterable[Admitted] = running
    if policy is not ReclaimWithinCohort.ANY:
        # They are in the order of priority, so that all after the first too important one are too.
        ranked = takewhile(lambda one: one.workload.priority <= preemptor.workload.priority, running)
    return (
        one
        for one in ranked
        if not one.keeps
        and _may_preempt(preemptor.workload, one.workload, policy)
        and not preemptor.contested.isdisjoint(one.usage)
    )


def _may_preempt(preemptor: Workload, other: Workload, policy: WithinQueue | ReclaimWithinCohort) -> bool:
    if policy is ReclaimWithinCohort.ANY or preemptor.priority > other.priority:
        return True
    is_newer_equal = preemptor.priority == other.priority and preemptor.create_time < other.create_time
    return policy is WithinQueue.LOWER_OR_NEWER_EQUAL_PRIORITY and is_newer_equal
