"""Preemption by quota and priority: queues take back what is theirs, level by level of the tree.

From the preemptor's queue up to the root, the first subtree whose quota holds the request gives it an advantage:
whatever is borrowed from that subtree by others is taken back. From subtrees that are exhausted even so, only workloads
of low priority are taken, under the queue's `borrow_within_cohort`. Victims of both kinds come before those of the own
queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from typing import NamedTuple

from services.scheduler.fairness.kueue.preemption import (
    Preemptor,
    Victim,
    VictimReason,
    cohort_candidates,
    fewest_victims,
    own_candidates,
)
from services.scheduler.fairness.kueue.queue_spec import BorrowWithinCohort, FlavorResource, ReclaimWithinCohort
from services.scheduler.fairness.kueue.quota_tree import QuotaNode
from services.scheduler.fairness.kueue.snapshot import Admitted, Snapshot, Workload
from services.scheduler.fairness.kueue.usage import Usage


class _Borrower(NamedTuple):
    """A queue that uses more than its quota of something contested."""

    queue: QuotaNode
    common_cohort: QuotaNode
    """The lowest cohort that it shares with the preemptor's queue."""
    has_advantage: bool
    """True if the preemptor fits the quota of the subtree below the common cohort."""


class _Candidate(NamedTuple):
    admitted: Admitted
    reason: VictimReason
    borrower: _Borrower | None
    """None for a workload of the preemptor's own queue."""


def classical_victims(snapshot: Snapshot, preemptor: Preemptor) -> tuple[Victim, ...]:
    """The workloads that make room for the preemptor; empty if it would not fit in spite of all that may be taken."""
    borrowers = list(_borrowers(snapshot.usage, preemptor))
    for may_borrow in _attempts(snapshot, preemptor, borrowers):
        victims = fewest_victims(
            snapshot,
            _candidates(snapshot, preemptor, borrowers, may_borrow=may_borrow),
            lambda may_borrow=may_borrow: snapshot.usage.fits(
                preemptor.queue, preemptor.amounts, may_borrow=may_borrow
            ),
        )
        if victims:
            return victims
    return ()


def _attempts(snapshot: Snapshot, preemptor: Preemptor, borrowers: Sequence[_Borrower]) -> tuple[bool, ...]:
    """Whether the preemptor's queue may borrow after the preemption, attempt by attempt.

    A queue that may not borrow can take more from others; one that may needs less.
    """
    above = [one for one in borrowers if one.has_advantage]
    from_above = _has_any(snapshot, preemptor, above)
    from_others = from_above or _has_any(snapshot, preemptor, borrowers)
    never_borrows = preemptor.queue.queue.preemption.borrow_within_cohort is BorrowWithinCohort.NEVER
    if not from_others or (never_borrows and not _is_under_quota(snapshot.usage, preemptor)):
        return (True,)
    return (False, True) if never_borrows and not from_above else (True, False)


def _has_any(snapshot: Snapshot, preemptor: Preemptor, borrowers: Sequence[_Borrower]) -> bool:
    return any(
        True
        for borrower in borrowers
        for by_queue in (snapshot.evicting, snapshot.running)
        for _ in cohort_candidates(preemptor, by_queue.get(borrower.queue.name, ()))
    )


def _is_under_quota(usage: Usage, preemptor: Preemptor) -> bool:
    # One more than is used would still be within the quota.
    return not any(usage.exceeds_quota(preemptor.queue, fr, 1) for fr in preemptor.contested)


def _borrowers(usage: Usage, preemptor: Preemptor) -> Iterator[_Borrower]:
    if preemptor.queue.queue.preemption.reclaim_within_cohort is ReclaimWithinCohort.NEVER:
        return
    advantages = dict(_advantages(usage, preemptor))
    for queue in usage.borrowing_queues(preemptor.queue.root, preemptor.contested):
        if queue is preemptor.queue:
            continue
        common = next(cohort for cohort in queue.ancestors if cohort in advantages)
        if all(_borrows(usage, cohort, preemptor.contested) for cohort in queue.ancestors_below(common)):
            yield _Borrower(queue, common, advantages[common])


def _advantages(usage: Usage, preemptor: Preemptor) -> Iterator[tuple[QuotaNode, bool]]:
    """For each cohort above the preemptor's queue: whether the request fits the quota of a subtree below it."""
    has_advantage, rest = False, preemptor.amounts
    below = preemptor.queue
    for cohort in preemptor.queue.ancestors:
        has_advantage = has_advantage or not any(usage.exceeds_quota(below, fr, rest[fr]) for fr in rest)
        rest = {fr: max(0, amount - usage.local_available(below, fr)) for fr, amount in rest.items()}
        yield cohort, has_advantage
        below = cohort


def _borrows(usage: Usage, node: QuotaNode, contested: frozenset[FlavorResource]) -> bool:
    return any(usage.exceeds_quota(node, fr) for fr in contested)


def _candidates(
    snapshot: Snapshot, preemptor: Preemptor, borrowers: Sequence[_Borrower], *, may_borrow: bool
) -> Iterator[Victim]:
    for by_queue in (snapshot.evicting, snapshot.running):
        for has_advantage in (True, False):
            group = [one for one in borrowers if one.has_advantage is has_advantage]
            for candidate in _in_victim_order(preemptor, group, by_queue, may_borrow=may_borrow):
                # Earlier victims may have brought the queue, or a cohort above it, back within its quota.
                if _still_borrows(snapshot.usage, candidate.borrower, preemptor.contested):
                    yield _victim(candidate)
        for own in own_candidates(snapshot, preemptor, by_queue.get(preemptor.queue.name, ())):
            yield _victim(_Candidate(own, VictimReason.IN_QUEUE, None))


def _in_victim_order(
    preemptor: Preemptor,
    borrowers: Sequence[_Borrower],
    by_queue: Mapping[str, Sequence[Admitted]],
    *,
    may_borrow: bool,
) -> Iterator[_Candidate]:
    def of(borrower: _Borrower) -> Iterator[_Candidate]:
        for admitted in cohort_candidates(preemptor, by_queue.get(borrower.queue.name, ())):
            reason = _reason(preemptor, admitted.workload, has_advantage=borrower.has_advantage)
            # Without an advantage, a plain reclamation is for quota of its own only.
            if borrower.has_advantage or not may_borrow or reason is VictimReason.RECLAIMED_WHILE_BORROWING:
                yield _Candidate(admitted, reason, borrower)

    return merge(*(of(borrower) for borrower in borrowers), key=lambda candidate: candidate.admitted.victim_order)


def _reason(preemptor: Preemptor, other: Workload, *, has_advantage: bool) -> VictimReason:
    policy = preemptor.queue.queue.preemption
    if has_advantage or policy.borrow_within_cohort is BorrowWithinCohort.NEVER:
        return VictimReason.RECLAIMED
    is_too_important = policy.max_priority is not None and other.priority > policy.max_priority
    if is_too_important or other.priority >= preemptor.workload.priority:
        return VictimReason.RECLAIMED
    return VictimReason.RECLAIMED_WHILE_BORROWING


def _still_borrows(usage: Usage, borrower: _Borrower | None, contested: frozenset[FlavorResource]) -> bool:
    if borrower is None:
        return True
    below_common = borrower.queue.ancestors_below(borrower.common_cohort)
    return all(_borrows(usage, node, contested) for node in (borrower.queue, *below_common))


def _victim(candidate: _Candidate) -> Victim:
    workload, borrower = candidate.admitted.workload, candidate.borrower
    if borrower is None:
        detail = f"in the same queue, with priority {workload.priority}"
    else:
        detail = (
            f"queue {workload.queue} uses more than its quota in cohort {borrower.common_cohort.name}; "
            f"priority {workload.priority}"
        )
    return Victim(candidate.admitted, candidate.reason, detail)
