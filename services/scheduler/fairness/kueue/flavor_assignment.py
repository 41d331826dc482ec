"""Flavors for a workload's request: which of the queue's flavors serve it, and what each would take.

Resources that share flavors get the same one. Flavors are tried in the order of the queue's quotas, until one is good
enough for the queue's fungibility, and else the best one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from services.scheduler.fairness.kueue.preemption import Preemptor
from services.scheduler.fairness.kueue.queue_spec import (
    Amounts,
    BorrowWithinCohort,
    FlavorFungibility,
    FlavorPreference,
    FlavorResource,
    Fungibility,
    ReclaimWithinCohort,
    WithinQueue,
)
from services.scheduler.fairness.kueue.quota_tree import FlavorGroup, QuotaNode
from services.scheduler.fairness.kueue.snapshot import Snapshot, Workload
from services.scheduler.fairness.kueue.victims import FairSharing, find_victims


class Mode(IntEnum):
    """What it takes to serve a request, from worst to best."""

    NO_FIT = 0
    """The queue may not have so much, or may not preempt for it."""
    NO_VICTIMS = 1
    """It takes a preemption, but nothing that runs may be preempted for it now."""
    PREEMPT = 2
    """Workloads of the own queue would have to stop, perhaps others too."""
    RECLAIM = 3
    """Only workloads of other queues would have to stop."""
    FREE = 4
    """Nothing: there is quota for it."""


@dataclass(frozen=True)
class Assignment:
    """The flavors that a workload is to get, as a whole: its mode is that of the resource in the worst case."""

    mode: Mode
    amounts: Amounts
    contested: frozenset[FlavorResource]
    """What is not free, a part of `amounts`."""
    borrowing_level: int
    """The height of the lowest subtree that has it all, after a preemption if one is needed; 0 is the queue's own."""
    obstacles: tuple[str, ...]
    """For people: why flavors that were tried are not free."""


class _Offer(NamedTuple):
    """What a flavor would take for one resource, or for all resources of a group."""

    mode: Mode
    borrowing_level: int


class _Trial(NamedTuple):
    flavor: str
    worst: _Offer
    offers: dict[FlavorResource, _Offer]


def assign_flavors(snapshot: Snapshot, workload: Workload, sharing: FairSharing | None) -> Assignment:
    """The best flavors for the workload in its queue, as things are."""
    queue = snapshot.tree.queues[workload.queue]
    amounts: Amounts = {}
    offers: dict[FlavorResource, _Offer] = {}
    obstacles: list[str] = []
    search = _Search(snapshot, workload, queue, sharing, obstacles)
    for resource in workload.request:
        group = queue.flavor_groups.get(resource)
        if group is None:
            return _nothing([f"queue {queue.name} has no quota of {resource}"])
        if any(fr.resource == resource for fr in offers):
            continue
        requested = {name: amount for name, amount in workload.request.items() if name in group.resources}
        best = search.best(group, requested)
        if best is None:
            return _nothing(obstacles)
        offers |= best.offers
        amounts |= {FlavorResource(best.flavor, name): amount for name, amount in requested.items()}
    return Assignment(
        mode=min((offer.mode for offer in offers.values()), default=Mode.FREE),
        amounts=amounts,
        contested=frozenset(fr for fr, offer in offers.items() if offer.mode is not Mode.FREE),
        borrowing_level=max((offer.borrowing_level for offer in offers.values()), default=0),
        obstacles=tuple(obstacles),
    )


def _nothing(obstacles: list[str]) -> Assignment:
    return Assignment(Mode.NO_FIT, {}, frozenset(), 0, tuple(obstacles))


@dataclass
class _Search:
    """Tries the flavors of groups for a workload, and notes down why they are not free."""

    snapshot: Snapshot
    workload: Workload
    queue: QuotaNode
    sharing: FairSharing | None
    obstacles: list[str]

    def best(self, group: FlavorGroup, requested: dict[str, int]) -> _Trial | None:
        """The flavor to take; None if none would do even with a preemption."""
        fungibility = self.queue.queue.fungibility
        best: _Trial | None = None
        for flavor in group.flavors:
            offers = {
                FlavorResource(flavor, name): self._offer(FlavorResource(flavor, name), amount)
                for name, amount in requested.items()
            }
            # The worst is the one that all others are preferred to.
            worst = min(offers.values(), key=lambda offer: _preference(offer, fungibility))
            trial = _Trial(flavor, worst, offers)
            if _ends_search(worst, fungibility):
                return trial
            is_better = best is None or _preference(worst, fungibility) > _preference(best.worst, fungibility)
            if worst.mode is not Mode.NO_FIT and is_better:
                best = trial
        return best

    def _offer(self, fr: FlavorResource, amount: int) -> _Offer:
        queue, usage = self.queue, self.snapshot.usage
        if fr not in queue.queue.quotas:
            self.obstacles.append(f"{fr.flavor} has no quota of {fr.resource}")
            return _Offer(Mode.NO_FIT, 0)
        most = queue.potential(fr)
        if amount > most:
            self.obstacles.append(f"{fr.flavor} has at most {most} {fr.resource} for queue {queue.name}, not {amount}")
            return _Offer(Mode.NO_FIT, 0)
        level, has_more_above = usage.borrowing_level(queue, fr, amount)
        lacking = amount - usage.available(queue, fr)
        if lacking <= 0:
            return _Offer(Mode.FREE, level)
        self.obstacles.append(f"{fr.flavor} lacks {lacking} {fr.resource}")
        # A subtree that has it all takes it back from what is above.
        is_owned = has_more_above or amount <= queue.queue.quotas[fr].nominal
        if is_owned or self._may_preempt_beyond_quota():
            return self._preemption_offer(fr, amount, level)
        return _Offer(Mode.NO_FIT, level)

    def _may_preempt_beyond_quota(self) -> bool:
        policy = self.queue.queue.preemption
        return (
            policy.within_queue is not WithinQueue.NEVER
            or policy.borrow_within_cohort is not BorrowWithinCohort.NEVER
            or (self.sharing is not None and policy.reclaim_within_cohort is not ReclaimWithinCohort.NEVER)
        )

    def _preemption_offer(self, fr: FlavorResource, amount: int, level: int) -> _Offer:
        preemptor = Preemptor(self.workload, self.queue, {fr: amount}, frozenset({fr}))
        victims = [victim.admitted for victim in find_victims(self.snapshot, preemptor, self.sharing)]
        if not victims:
            return _Offer(Mode.NO_VICTIMS, level)
        with self.snapshot.without(victims):
            level, _ = self.snapshot.usage.borrowing_level(self.queue, fr, amount)
        has_own = any(victim.workload.queue == self.queue.name for victim in victims)
        return _Offer(Mode.PREEMPT if has_own else Mode.RECLAIM, level)


def _preference(offer: _Offer, fungibility: FlavorFungibility) -> tuple[Mode | int, ...]:
    """Compares offers: the largest is the best. One that cannot be had now is worse than any that can."""
    chance = min(offer.mode, Mode.PREEMPT)
    if fungibility.preference is FlavorPreference.PREEMPTION_OVER_BORROWING:
        return (chance, -offer.borrowing_level, offer.mode)
    return (chance, offer.mode, -offer.borrowing_level)


def _ends_search(offer: _Offer, fungibility: FlavorFungibility) -> bool:
    may_borrow = not offer.borrowing_level or fungibility.when_can_borrow is Fungibility.MAY_STOP_SEARCH
    if offer.mode is Mode.FREE:
        return may_borrow
    is_preemption = offer.mode in {Mode.PREEMPT, Mode.RECLAIM}
    return is_preemption and may_borrow and fungibility.when_can_preempt is Fungibility.MAY_STOP_SEARCH
