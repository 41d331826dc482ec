"""One admission cycle: of the workloads at the heads of the queues, which start now, and which preempt others to start.

All are nominated on the same state. Then each is decided on in turn, and whatever an earlier one takes is gone for the
later ones. Two of them never count on the same victim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from services.scheduler.fairness.kueue.flavor_assignment import Mode
from services.scheduler.fairness.kueue.nomination import Nominee, nominate
from services.scheduler.fairness.kueue.nominee_order import classical_order, fair_order
from services.scheduler.fairness.kueue.preemption import Victim
from services.scheduler.fairness.kueue.queue_spec import Amounts, FlavorResource, ReclaimWithinCohort
from services.scheduler.fairness.kueue.quota_tree import QuotaNode
from services.scheduler.fairness.kueue.snapshot import Admitted, Snapshot, Workload
from services.scheduler.fairness.kueue.victims import FairSharing


class Outcome(StrEnum):
    """What became of a workload in a cycle."""

    ADMITTED = "admitted"
    """It has quota and may start."""
    PREEMPTING = "preempting"
    """It may start as soon as its victims have stopped."""
    OVERTAKEN = "overtaken"
    """It could have started, but a workload before it took what it needs. It is worth another cycle."""
    WAITING = "waiting"
    """There is no quota for it until something else ends."""


@dataclass(frozen=True)
class Decision:
    """What was decided about a workload, and why."""

    workload: Workload
    outcome: Outcome
    reason: str
    """For people: one sentence."""
    amounts: Amounts
    """What it gets or would get; empty if nothing suits it."""
    victims: tuple[Victim, ...] = ()


@dataclass(frozen=True)
class Claim:
    """What a preemptor of an earlier cycle waits for: nobody else may count on it."""

    workload: Workload
    amounts: Amounts
    victims: tuple[Admitted, ...]
    """Those that still hold quota."""


def admission_cycle(
    snapshot: Snapshot, heads: Iterable[Workload], sharing: FairSharing | None, claims: Iterable[Claim] = ()
) -> tuple[Decision, ...]:
    """Decides on at most one workload of each queue; None for `sharing` leaves quota and priority alone.

    Decisions come in the order in which they were made, after those on workloads that nothing suits. Raises KeyError if
    a workload's queue is unknown.
    """
    nominees = [nominate(snapshot, head, sharing) for head in heads]
    return tuple(_decisions(snapshot, nominees, sharing, claims))


def _decisions(
    snapshot: Snapshot, nominees: list[Nominee], sharing: FairSharing | None, claims: Iterable[Claim]
) -> Iterator[Decision]:
    contenders: list[Nominee] = []
    for nominee in nominees:
        if nominee.assignment.mode is Mode.NO_FIT:
            yield _decision(nominee, Outcome.WAITING, f"No flavor suits it: {_obstacles(nominee)}.")
        else:
            contenders.append(nominee)
    plan = _Plan(snapshot, claims)
    for nominee in fair_order(plan.crowded, contenders) if sharing else classical_order(contenders):
        yield plan.decide(nominee)


class _Plan:
    """What earlier decisions of the cycle leave for later ones."""

    def __init__(self, snapshot: Snapshot, claims: Iterable[Claim]) -> None:
        self._tree = snapshot.tree
        self.crowded = snapshot.usage.copy()
        """With all that was given away, while the victims still run."""
        self._settled = snapshot.usage.copy()
        """The same, after the victims have stopped."""
        self._now = snapshot.usage.copy()
        """With those that start now, while the victims still run."""
        self._victims: set[str] = set()
        for claim in claims:
            self._stop(claim.victims)
            self._give(self._tree.queues[claim.workload.queue], claim.amounts)

    def decide(self, nominee: Nominee) -> Decision:
        assignment, victims = nominee.assignment, [victim.admitted for victim in nominee.victims]
        if assignment.mode is not Mode.FREE and not victims:
            return self._wait(nominee)
        for victim in victims:
            if victim.workload.name in self._victims:
                return _decision(
                    nominee, Outcome.OVERTAKEN, f"Another workload before it preempts {victim.workload.name}."
                )
        self._stop(victims)
        # What others stop for is free only when they have stopped.
        fits_now = bool(victims) or self._now.fits(nominee.queue, assignment.amounts)
        if not fits_now or not self._settled.fits(nominee.queue, assignment.amounts):
            self._resume(victims)
            return _decision(nominee, Outcome.OVERTAKEN, "Workloads before it in this cycle took what it needs.")
        self._give(nominee.queue, assignment.amounts)
        if victims:
            return _decision(nominee, Outcome.PREEMPTING, _preemption_reason(nominee))
        self._now.add(nominee.queue, assignment.amounts)
        return _decision(nominee, Outcome.ADMITTED, f"{_source(nominee)}.")

    def _wait(self, nominee: Nominee) -> Decision:
        # What a queue can take back at any time may be lent for the time being; the rest is kept for it.
        if nominee.queue.queue.preemption.reclaim_within_cohort is not ReclaimWithinCohort.ANY:
            self._give(nominee.queue, self._kept(nominee))
        reason = f"Nothing that it may preempt makes enough room: {_obstacles(nominee)}."
        return _decision(nominee, Outcome.WAITING, reason)

    def _kept(self, nominee: Nominee) -> Amounts:
        """As much of what the nominee asks for as its queue may still use by its own limit."""
        queue, kept = nominee.queue, dict[FlavorResource, int]()
        for fr, amount in nominee.assignment.amounts.items():
            quota = queue.queue.quotas[fr]
            kept[fr] = amount
            if quota.borrowing_limit is not None:
                left = quota.nominal + quota.borrowing_limit - self.crowded.used(queue, fr)
                kept[fr] = max(0, min(amount, left))
        return kept

    def _give(self, queue: QuotaNode, amounts: Amounts) -> None:
        self.crowded.add(queue, amounts)
        self._settled.add(queue, amounts)

    def _stop(self, victims: Iterable[Admitted]) -> None:
        for victim in victims:
            self._victims.add(victim.workload.name)
            self._settled.remove(self._tree.queues[victim.workload.queue], victim.usage)

    def _resume(self, victims: Iterable[Admitted]) -> None:
        for victim in victims:
            self._victims.discard(victim.workload.name)
            self._settled.add(self._tree.queues[victim.workload.queue], victim.usage)


def _decision(nominee: Nominee, outcome: Outcome, reason: str) -> Decision:
    victims = nominee.victims if outcome is Outcome.PREEMPTING else ()
    return Decision(nominee.workload, outcome, reason, nominee.assignment.amounts, victims)


def _obstacles(nominee: Nominee) -> str:
    return "; ".join(nominee.assignment.obstacles)


def _preemption_reason(nominee: Nominee) -> str:
    details = "; ".join(f"{victim.admitted.workload.name} ({victim.detail})" for victim in nominee.victims)
    return f"{_source(nominee)}, once these have stopped: {details}."


def _source(nominee: Nominee) -> str:
    level = nominee.assignment.borrowing_level
    flavors = " and ".join(dict.fromkeys(fr.flavor for fr in nominee.assignment.amounts))
    if not level:
        return f"Queue {nominee.queue.name} has it in its own quota of {flavors}"
    cohort = next((one for one in nominee.queue.ancestors if one.height >= level), nominee.queue.root)
    return f"Queue {nominee.queue.name} borrows it in cohort {cohort.name} from the quota of {flavors}"
