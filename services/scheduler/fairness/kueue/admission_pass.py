"""A pass over all that waits: admission cycles until nothing more can be admitted.

A workload that gets nothing is put aside for the rest of the pass, so that one behind it may have what is left. Whoever
preempts has a claim on what it is to get, in later cycles and passes, until its victims have stopped and it starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from services.scheduler.fairness.kueue.admission_cycle import Claim, Decision, Outcome, admission_cycle
from services.scheduler.fairness.kueue.snapshot import Admitted
from services.scheduler.fairness.kueue.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from services.scheduler.fairness.kueue.local_queues import LocalQueue, UsageDecay
    from services.scheduler.fairness.kueue.snapshot import Snapshot, Workload
    from services.scheduler.fairness.kueue.victims import FairSharing


@dataclass(frozen=True)
class AdmissionFairSharing:
    """Admission fair sharing is on, with the local queues as they are now."""

    decay: UsageDecay
    local_queues: Mapping[str, LocalQueue] = field(default_factory=dict[str, "LocalQueue"])
    """By name. The workloads of others count as those of a local queue that used nothing, and stay so."""

    def usage(self) -> dict[str, float]:
        """The weighted usage by local queue."""
        return {name: one.weighted_usage(self.decay) for name, one in self.local_queues.items()}

    def entered(self, workload: Workload) -> AdmissionFairSharing:
        """The state after the workload was admitted."""
        local_queue = self.local_queues.get(workload.local_queue)
        if local_queue is None:
            return self
        entered = local_queue.entered(workload.request, self.decay)
        return replace(self, local_queues={**self.local_queues, entered.name: entered})


@dataclass(frozen=True)
class PassResult:
    """What a pass decided: one decision on each workload."""

    decisions: tuple[Decision, ...]
    """In the order in which they were made."""
    claims: tuple[Claim, ...]
    """Those that are left of the earlier ones, and one for each new preemptor."""
    admission_sharing: AdmissionFairSharing | None
    """With the penalties of those that were admitted."""


def admission_pass(
    snapshot: Snapshot,
    waiting: Iterable[Workload],
    now: datetime,
    *,
    sharing: FairSharing | None,
    admission_sharing: AdmissionFairSharing | None = None,
    claims: Iterable[Claim] = (),
) -> PassResult:
    """Decides on every waiting workload. The snapshot is left as it was; KeyError if a workload's queue is unknown.

    Claims are those of the last pass. Their workloads are not among the waiting ones, and the snapshot has those of
    their victims that still hold quota.
    """
    state = _Pass(snapshot.copy(), now, admission_sharing)
    state.look_at_local_queues()
    queues = _queues(snapshot, [*waiting, *state.redeem(claims)])
    while queues:
        usage = state.snapshot.local_queue_usage
        heads = [queue.head(usage) for queue in queues.values()]
        decisions = admission_cycle(state.snapshot, heads, sharing, state.claims)
        final = [one for one in decisions if one.outcome is not Outcome.OVERTAKEN]
        # If all were overtaken, then by claims, and another cycle would not change that.
        for decision in final or decisions:
            state.settle(decision)
            queue = queues[decision.workload.queue]
            queue.remove(decision.workload)
            if not queue:
                del queues[decision.workload.queue]
    return PassResult(tuple(state.decisions), tuple(state.claims), state.admission_sharing)


def _queues(snapshot: Snapshot, waiting: Iterable[Workload]) -> dict[str, Waiting]:
    by_queue: dict[str, list[Workload]] = {}
    for workload in waiting:
        by_queue.setdefault(snapshot.tree.queues[workload.queue].name, []).append(workload)
    # In an order of their own, so that the order of the waiting ones makes no difference.
    return {name: Waiting(by_queue[name]) for name in sorted(by_queue)}


@dataclass
class _Pass:
    snapshot: Snapshot
    now: datetime
    admission_sharing: AdmissionFairSharing | None
    claims: list[Claim] = field(default_factory=list["Claim"])
    decisions: list[Decision] = field(default_factory=list["Decision"])

    def redeem(self, claims: Iterable[Claim]) -> Iterator[Workload]:
        """Admits those whose victims have all stopped; yields those that do not fit even so, as quotas have shrunk."""
        for claim in claims:
            workload = claim.workload
            victims = tuple(one for one in claim.victims if self.snapshot.holds_quota(one.workload))
            if victims:
                self.claims.append(replace(claim, victims=victims))
            elif self.snapshot.usage.fits(self.snapshot.tree.queues[workload.queue], claim.amounts):
                reason = "The workloads that it preempted have stopped."
                self.settle(Decision(workload, Outcome.ADMITTED, reason, claim.amounts))
            else:
                yield workload

    def settle(self, decision: Decision) -> None:
        """Makes a decision part of the state that the next cycle sees."""
        self.decisions.append(decision)
        if decision.outcome is Outcome.ADMITTED:
            self.snapshot.admit(Admitted(decision.workload, decision.amounts, self.now))
            if self.admission_sharing is not None:
                self.admission_sharing = self.admission_sharing.entered(decision.workload)
                self.look_at_local_queues()
        elif decision.outcome is Outcome.PREEMPTING:
            victims = tuple(victim.admitted for victim in decision.victims)
            self.claims.append(Claim(decision.workload, decision.amounts, victims))
            for victim in victims:
                self.snapshot.evict(victim)

    def look_at_local_queues(self) -> None:
        """Has the snapshot say what local queues used, if admission fair sharing is on."""
        if self.admission_sharing is not None:
            self.snapshot = replace(self.snapshot, local_queue_usage=self.admission_sharing.usage())
