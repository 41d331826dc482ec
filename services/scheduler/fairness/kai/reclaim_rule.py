"""Whether a job of one queue may take resources back from jobs of others.

A victim's queue, compared where it and the reclaimer's queue part, must be over its fair share; or, in the aggressive
strategy, over its quota while the reclaimer stays within its own. Afterwards, no queue of the reclaimer may be more
saturated than the queues beside it that gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from services.scheduler.fairness.queue_tree import EVERYTHING, NOTHING, RESOURCES, UNLIMITED, Amounts, ReclaimStrategy


class ReclaimRule(StrEnum):
    """What allows or forbids a reclaim."""

    OVER_FAIR_SHARE = "the victim's queue is over its fair share"
    QUOTA_GUARANTEED = "it stays within its quota, and the victim's queue is over its own"
    WITHIN_FAIR_SHARE = "the victim's queue is within its fair share"
    BELOW_QUOTA = "the victim's queue would fall below its quota"
    RECLAIMER_OVER_FAIR_SHARE = "its queue would be over its fair share"
    MORE_SATURATED = "its queue would be fuller than the queue beside it"
    NON_PREEMPTIBLE_OVER_QUOTA = "jobs that cannot be preempted would be over the quota"


@dataclass(frozen=True, slots=True)
class QueueShare:
    """What a queue may have, and has."""

    name: str
    parent: str | None
    quota: Amounts
    fair_share: Amounts
    allocated: Amounts
    allocated_non_preemptible: Amounts = NOTHING
    limit: Amounts = EVERYTHING

    @property
    def allocatable(self) -> Amounts:
        """The larger of quota and fair share, up to the limit."""
        limit, quota, share = self.limit, self.quota, self.fair_share
        return Amounts(
            min(limit[0], max(quota[0], share[0])),
            min(limit[1], max(quota[1], share[1])),
            min(limit[2], max(quota[2], share[2])),
        )


class Reclaimer(NamedTuple):
    """The pending job: its queue, what it needs, and whether it could be preempted later."""

    queue: str
    required: Amounts
    preemptible: bool


class ReclaimVerdict(NamedTuple):
    """Whether the reclaim is allowed, by which rule, and the queue that the rule is about."""

    allowed: bool
    rule: ReclaimRule
    queue: str


def may_reclaim_at_all(queue: QueueShare, reclaimer: Reclaimer) -> ReclaimVerdict:
    """False if no choice of victims could make the reclaim fair."""
    if not queue.allocated.plus(reclaimer.required).at_most(queue.fair_share):
        return ReclaimVerdict(False, ReclaimRule.RECLAIMER_OVER_FAIR_SHARE, queue.name)
    if not reclaimer.preemptible and _non_preemptible_over_quota(queue, reclaimer):
        return ReclaimVerdict(False, ReclaimRule.NON_PREEMPTIBLE_OVER_QUOTA, queue.name)
    return ReclaimVerdict(True, ReclaimRule.OVER_FAIR_SHARE, queue.name)


def reclaim_verdict(
    queues: Mapping[str, QueueShare],
    reclaimer: Reclaimer,
    victims: Mapping[str, Sequence[Amounts]],
    strategy: ReclaimStrategy = ReclaimStrategy.AGGRESSIVE,
    *,
    never_below_quota: bool = True,
) -> ReclaimVerdict:
    """Whether the reclaimer may evict these amounts; `victims` lists them by queue, in the order of eviction.

    With `never_below_quota` no victim's queue may fall below its quota in a resource that it gives, nor one above it up
    to where the two sides part. Without, a victim is judged by what its queue has before that victim goes, as KAI does.
    """
    remaining: dict[str, Amounts] = {}
    given: dict[str, set[int]] = {}
    rules: list[tuple[ReclaimRule, str]] = []
    for name, evicted in victims.items():
        ours, theirs = _where_they_part(queues, reclaimer.queue, name)
        for amounts in evicted:
            rule = _victim_rule(ours, theirs, remaining.get(theirs.name, theirs.allocated), reclaimer, strategy)
            if not rule:
                return ReclaimVerdict(False, ReclaimRule.WITHIN_FAIR_SHARE, theirs.name)
            rules.append((rule, theirs.name))
            for queue in upwards(queues, name):
                remaining[queue.name] = remaining.get(queue.name, queue.allocated).minus(amounts)
                given.setdefault(queue.name, set()).update(_involved(amounts))
        too_poor = _first_below_quota(queues, name, theirs.name, remaining, given) if never_below_quota else None
        if too_poor:
            return ReclaimVerdict(False, ReclaimRule.BELOW_QUOTA, too_poor)
    blocked = _reclaimer_blocked(queues, reclaimer, remaining, given)
    return blocked or ReclaimVerdict(True, *(rules[0] if rules else (ReclaimRule.OVER_FAIR_SHARE, reclaimer.queue)))


def within_quota(queue: QueueShare, required: Amounts) -> bool:
    """True if the queue stays within its quota with what is required."""
    return queue.allocated.plus(required).at_most(queue.quota)


def upwards(queues: Mapping[str, QueueShare], name: str | None) -> Iterator[QueueShare]:
    """The queue, its parent, and so on to the top."""
    while name is not None and (queue := queues.get(name)):
        yield queue
        name = queue.parent


def _victim_rule(
    ours: QueueShare, theirs: QueueShare, remaining: Amounts, reclaimer: Reclaimer, strategy: ReclaimStrategy
) -> ReclaimRule | None:
    if not remaining.at_most(theirs.allocatable):
        return ReclaimRule.OVER_FAIR_SHARE
    if strategy is ReclaimStrategy.CONSERVATIVE:
        return None
    if within_quota(ours, reclaimer.required) and not remaining.at_most(theirs.quota):
        return ReclaimRule.QUOTA_GUARANTEED
    return None


def _first_below_quota(
    queues: Mapping[str, QueueShare],
    name: str,
    top: str,
    remaining: Mapping[str, Amounts],
    given: Mapping[str, set[int]],
) -> str | None:
    for queue in upwards(queues, name):
        if _below_quota(queue, remaining.get(queue.name), given.get(queue.name, ())):
            return queue.name
        if queue.name == top:
            return None
    return None


def _below_quota(queue: QueueShare, remaining: Amounts | None, resources: Iterable[int]) -> bool:
    if remaining is None:
        return False
    return any(
        queue.quota[resource] < UNLIMITED and remaining[resource] < queue.quota[resource] for resource in resources
    )


def _reclaimer_blocked(
    queues: Mapping[str, QueueShare],
    reclaimer: Reclaimer,
    remaining: Mapping[str, Amounts],
    given: Mapping[str, set[int]],
) -> ReclaimVerdict | None:
    involved = set(_involved(reclaimer.required))
    for queue in upwards(queues, reclaimer.queue):
        ours = remaining.get(queue.name, queue.allocated).plus(reclaimer.required)
        for name, theirs in remaining.items():
            beside = queues[name]
            if beside.parent == queue.parent and beside.name != queue.name:
                for resource in involved | given[name]:
                    if _fuller(
                        ours[resource], queue.fair_share[resource], theirs[resource], beside.fair_share[resource]
                    ):
                        return ReclaimVerdict(False, ReclaimRule.MORE_SATURATED, queue.name)
        if not reclaimer.preemptible and _non_preemptible_over_quota(queue, reclaimer):
            return ReclaimVerdict(False, ReclaimRule.NON_PREEMPTIBLE_OVER_QUOTA, queue.name)
    return None


def _fuller(ours: int, our_share: int, theirs: int, their_share: int) -> bool:
    """True if ours is over its fair share and at least as saturated as theirs."""
    return ours > our_share and their_share > 0 and ours * their_share >= theirs * our_share


def _non_preemptible_over_quota(queue: QueueShare, reclaimer: Reclaimer) -> bool:
    return not queue.allocated_non_preemptible.plus(reclaimer.required).at_most(queue.quota)


def _where_they_part(queues: Mapping[str, QueueShare], ours: str, theirs: str) -> tuple[QueueShare, QueueShare]:
    ours_down = list(upwards(queues, ours))[::-1]
    theirs_down = list(upwards(queues, theirs))[::-1]
    pairs = list(zip(ours_down, theirs_down, strict=False))
    return next((pair for pair in pairs if pair[0].name != pair[1].name), pairs[-1])


def _involved(amounts: Amounts) -> Iterator[int]:
    return (resource for resource in range(len(RESOURCES)) if amounts[resource] > 0)
