"""Preemption by fair sharing: the queue that has borrowed the largest share gives way first.

The search goes from the root to the child with the largest share, again and again, and compares the shares of the two
nodes below the lowest common cohort: the preemptor's with the request added, and the other one's before and after it
loses a workload. A preemptor that stays within its queue's quota needs no comparison. If the first strategy does not
yield enough, the second is tried on what the first passed over, once a queue.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING

from services.scheduler.fairness.kueue.preemption import (
    Victim,
    VictimReason,
    cohort_candidates,
    fewest_victims,
    own_candidates,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from services.scheduler.fairness.kueue.preemption import Preemptor
    from services.scheduler.fairness.kueue.quota_tree import QuotaNode
    from services.scheduler.fairness.kueue.snapshot import Admitted, Snapshot

_Order = tuple[bool, "Fraction"]


class FairStrategy(StrEnum):
    """When a workload may be taken from the node with the larger share."""

    LESS_THAN_OR_EQUAL_TO_FINAL_SHARE = "LessThanOrEqualToFinalShare"
    """The preemptor's new share is at most what the other one keeps."""
    LESS_THAN_INITIAL_SHARE = "LessThanInitialShare"
    """The preemptor's new share is less than what the other one had."""


BOTH_STRATEGIES = (FairStrategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, FairStrategy.LESS_THAN_INITIAL_SHARE)


def fair_victims(
    snapshot: Snapshot, preemptor: Preemptor, strategies: Sequence[FairStrategy] = BOTH_STRATEGIES
) -> tuple[Victim, ...]:
    """The workloads that make room for the preemptor; empty if it would not fit in spite of all that may be taken."""
    usage = snapshot.usage

    def fits() -> bool:
        with usage.removing(preemptor.queue, preemptor.amounts):
            return usage.fits(preemptor.queue, preemptor.amounts)

    candidates = _candidate_queues(snapshot, preemptor)
    # Shares are compared as if the preemptor ran already.
    with usage.adding(preemptor.queue, preemptor.amounts):
        return fewest_victims(snapshot, _victims(snapshot, preemptor, strategies, candidates), fits)


class _Candidates:
    """The workloads of a queue that may be taken, read one at a time: there may be thousands."""

    def __init__(self, admitted: Iterable[Admitted]) -> None:
        self._rest = iter(admitted)
        self.head = next(self._rest, None)

    def pop(self) -> Iterator[Admitted]:
        """Yields the rest; whatever is not taken stays."""
        while self.head is not None:
            taken, self.head = self.head, next(self._rest, None)
            yield taken

    def leave(self) -> Iterable[Admitted]:
        """Gives away all the rest, which stays unread."""
        left = chain(() if self.head is None else (self.head,), self._rest)
        self.head, self._rest = None, iter(())
        return left


def _candidate_queues(snapshot: Snapshot, preemptor: Preemptor) -> dict[QuotaNode, _Candidates]:
    own, usage = preemptor.queue, snapshot.usage
    queues: dict[QuotaNode, _Candidates] = {own: _Candidates(_own(snapshot, preemptor))}
    for queue in usage.borrowing_queues(own.root, preemptor.contested):
        if queue is not own:
            queues[queue] = _Candidates(_of_cohort(snapshot, preemptor, queue))
    return queues


def _own(snapshot: Snapshot, preemptor: Preemptor) -> Iterator[Admitted]:
    for by_queue in (snapshot.evicting, snapshot.running):
        yield from own_candidates(snapshot, preemptor, by_queue.get(preemptor.queue.name, ()))


def _of_cohort(snapshot: Snapshot, preemptor: Preemptor, queue: QuotaNode) -> Iterator[Admitted]:
    for by_queue in (snapshot.evicting, snapshot.running):
        yield from cohort_candidates(preemptor, by_queue.get(queue.name, ()))


def _victims(
    snapshot: Snapshot,
    preemptor: Preemptor,
    strategies: Sequence[FairStrategy],
    candidates: dict[QuotaNode, _Candidates],
) -> Iterator[Victim]:
    """Yields victims one by one; each is to be taken from the usage before the next one is asked for."""
    usage, own = snapshot.usage, preemptor.queue
    is_within_quota = not any(usage.exceeds_quota(own, fr) for fr in preemptor.contested)
    passed_over: dict[QuotaNode, list[Iterable[Admitted]]] = {}
    for queue in _TargetOrder(snapshot, preemptor, candidates).targets():
        if queue is own or is_within_quota:
            reason = VictimReason.IN_QUEUE if queue is own else VictimReason.RECLAIMED
            admitted = next(candidates[queue].pop())
            yield Victim(admitted, reason, _plain_detail(admitted, own, reason))
        else:
            passed = passed_over.setdefault(queue, [])
            yield from _first_allowed(snapshot, own, queue, strategies[0], candidates[queue], passed)
    if len(strategies) > 1:
        again = {queue: _Candidates(chain.from_iterable(passed)) for queue, passed in passed_over.items()}
        order = _TargetOrder(snapshot, preemptor, again)
        for queue in order.targets():
            # Its rule asks nothing about the workload, so the first one stands for all.
            yield from _first_allowed(snapshot, own, queue, strategies[1], again[queue], [])
            order.drop(queue)


def _first_allowed(
    snapshot: Snapshot,
    own: QuotaNode,
    queue: QuotaNode,
    strategy: FairStrategy,
    candidates: _Candidates,
    passed_over: list[Iterable[Admitted]],
) -> Iterator[Victim]:
    """The first workload of the queue that the strategy allows to take, if there is one."""
    usage = snapshot.usage
    own_side, other_side = _sides(own, queue)
    ours, theirs = usage.share_order(own_side), usage.share_order(other_side)
    if ours > theirs:
        # What they keep is never more than what they had: neither strategy allows any.
        passed_over.append(candidates.leave())
        return
    for admitted in candidates.pop():
        with usage.removing(queue, admitted.usage):
            kept = usage.share_order(other_side)
        if ours < theirs if strategy is FairStrategy.LESS_THAN_INITIAL_SHARE else ours <= kept:
            detail = (
                f"{other_side.name} has a share of {_share_text(theirs)} and keeps {_share_text(kept)}; "
                f"{own_side.name} gets {_share_text(ours)} ({strategy})"
            )
            yield Victim(admitted, VictimReason.FAIR_SHARING, detail)
            return
        passed_over.append([admitted])


class _TargetOrder:
    """The queues to take workloads from, by descending share at each level of the tree.

    A queue or cohort that no longer borrows is left alone. The preemptor's own queue is not: its workloads may be taken
    for their priority. Nor are the cohorts around it.
    """

    def __init__(self, snapshot: Snapshot, preemptor: Preemptor, candidates: Mapping[QuotaNode, _Candidates]) -> None:
        self._usage, self._own, self._candidates = snapshot.usage, preemptor.queue, candidates
        self._around = set(preemptor.queue.ancestors)
        self._done: set[QuotaNode] = set()
        # The children that have candidates, in or below them.
        self._queues: dict[QuotaNode, list[QuotaNode]] = {}
        self._cohorts: dict[QuotaNode, set[QuotaNode]] = {}
        for queue in candidates:
            for cohort, child in zip(queue.ancestors, (queue, *queue.ancestors), strict=False):
                if child is queue:
                    self._queues.setdefault(cohort, []).append(queue)
                else:
                    self._cohorts.setdefault(cohort, set()).add(child)

    def targets(self) -> Iterator[QuotaNode]:
        """Yields queues with candidates; a queue comes again while it has some and its share is the largest."""
        root = self._own.root
        while self._has_candidates(root) if root is self._own else root not in self._done:
            target = root if root is self._own else self._largest_below(root)
            if target is not None:
                yield target

    def drop(self, queue: QuotaNode) -> None:
        """Leaves the queue out from now on."""
        self._done.add(queue)

    def _largest_below(self, cohort: QuotaNode) -> QuotaNode | None:
        """The queue with the largest share; None if this round only found out that something is done."""
        queue = self._largest_queue(cohort)
        child = self._largest_cohort(cohort)
        if queue is None and child is None:
            self._done.add(cohort)
            return None
        # In a tie, the cohort: it leads to the one who has most of its share.
        if child and (queue is None or self._usage.share_order(child) >= self._usage.share_order(queue)):
            return self._largest_below(child)
        return queue

    def _largest_queue(self, cohort: QuotaNode) -> QuotaNode | None:
        largest: QuotaNode | None = None
        for queue in self._queues.get(cohort, ()):
            if queue in self._done:
                continue
            if not self._has_candidates(queue) or self._is_content(queue):
                self._done.add(queue)
            elif largest is None or self._goes_before(queue, largest):
                largest = queue
        return largest

    def _has_candidates(self, queue: QuotaNode) -> bool:
        return queue in self._candidates and self._candidates[queue].head is not None

    def _is_content(self, queue: QuotaNode) -> bool:
        return queue is not self._own and not self._usage.share_order(queue)[1]

    def _goes_before(self, queue: QuotaNode, other: QuotaNode) -> bool:
        mine, theirs = self._usage.share_order(queue), self._usage.share_order(other)
        return mine > theirs or (mine == theirs and self._head_order(queue) < self._head_order(other))

    def _head_order(self, queue: QuotaNode) -> tuple[bool, bool, tuple[object, ...]]:
        head = self._candidates[queue].head
        return (not (head and head.is_evicting), queue is self._own, head.victim_order if head else ())

    def _largest_cohort(self, cohort: QuotaNode) -> QuotaNode | None:
        children = self._cohorts.get(cohort, set())
        for child in children:
            if child not in self._around and not self._usage.share_order(child)[1]:
                self._done.add(child)
        left = [child for child in children if child not in self._done]
        return max(left, key=lambda child: (self._usage.share_order(child), child.name), default=None)


def _sides(own: QuotaNode, other: QuotaNode) -> tuple[QuotaNode, QuotaNode]:
    """The nodes right below the lowest common cohort: the one that has `own` in it, and the one that has `other`."""
    common = next(cohort for cohort in other.ancestors if cohort in own.ancestors)
    return _below(common, own), _below(common, other)


def _below(cohort: QuotaNode, queue: QuotaNode) -> QuotaNode:
    return (queue, *queue.ancestors)[queue.ancestors.index(cohort)]


def _plain_detail(admitted: Admitted, own: QuotaNode, reason: VictimReason) -> str:
    workload = admitted.workload
    if reason is VictimReason.IN_QUEUE:
        return f"in the same queue, with priority {workload.priority}"
    return f"queue {workload.queue} borrows, and queue {own.name} stays within its quota"


def _share_text(share: _Order) -> str:
    return "unbounded" if share[0] else f"{ceil(share[1])}/1000"
