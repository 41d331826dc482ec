"""A pass over all that waits: admission cycles until nothing more can be admitted.

A workload that gets nothing is put aside for the rest of the pass, so that one behind it may use the rest. One that
preempts has a claim on what it is to get, in later cycles and passes, until its victims have stopped and it starts. A
victim that was admitted in the same pass has not started yet: it goes back to its queue, and nothing has to stop.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from services.scheduler.fairness.kueue.admission_cycle import Claim, Decision, Outcome, admission_cycle
from services.scheduler.fairness.kueue.snapshot import Admitted
from services.scheduler.fairness.kueue.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from services.scheduler.fairness.kueue.local_queues import AdmissionFairSharing
    from services.scheduler.fairness.kueue.snapshot import Snapshot, Workload
    from services.scheduler.fairness.kueue.victims import FairSharing

_Key = tuple[str, str]
"""A workload's queue and name."""
_Shape = tuple[str, int, frozenset[tuple[str, int]]]
"""A workload's queue, priority and request."""


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
    for workload in (*waiting, *state.redeem(claims)):
        state.wait(workload)
    while heads := state.heads():
        decisions = admission_cycle(state.snapshot, heads, sharing, state.claims)
        final = [one for one in decisions if one.outcome is not Outcome.OVERTAKEN]
        # If all were overtaken, then by claims, and another cycle would not change that.
        state.take_out(final or decisions)
        for decision in final or decisions:
            state.settle(decision)
    return PassResult(tuple(state.decisions.values()), tuple(state.claims), state.admission_sharing)


@dataclass
class _Pass:
    snapshot: Snapshot
    now: datetime
    admission_sharing: AdmissionFairSharing | None
    queues: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    """By name: those in which something still waits for a decision."""
    claims: list[Claim] = field(default_factory=list["Claim"])
    decisions: dict[_Key, Decision] = field(default_factory=dict["_Key", Decision])
    dismissed: set[_Key] = field(default_factory=set["_Key"])
    """Those that were admitted in this pass, and had to give way before they started."""
    redeemed: set[_Key] = field(default_factory=set["_Key"])
    """Those that were admitted because others had stopped for them: what was freed for them stays with them."""
    in_vain: dict[_Shape, Decision] = field(default_factory=dict["_Shape", Decision])
    """Requests that got nothing since usage last changed: the same ones in the same queue need not be tried again."""

    def wait(self, workload: Workload) -> None:
        """Puts the workload into its queue."""
        name = self.snapshot.tree.queues[workload.queue].name
        self.queues.setdefault(name, Waiting(())).add(workload)

    def heads(self) -> list[Workload]:
        """The next workload of each queue; empty if all are decided on."""
        heads: list[Workload] = []
        # In an order of their own, so that the order of the waiting ones makes no difference.
        for name in sorted(self.queues):
            while queue := self.queues.get(name):
                head = queue.head(self.snapshot.local_queue_usage)
                shape = _shape(head)
                alike = self.in_vain.get(shape)
                if alike is None or head.create_time < alike.workload.create_time:
                    heads.append(head)
                    break
                # Most of what waits ends here, so this takes no detour over `take_out` and `settle`.
                decision = Decision(head, alike.outcome, alike.reason, alike.amounts, alike.victims)
                self._leave(queue, head)
                self.in_vain[shape] = decision
                self._record(decision)
        return heads

    def redeem(self, claims: Iterable[Claim]) -> Iterator[Workload]:
        """Admits those whose victims have all stopped; yields those that do not fit even so, as quotas have shrunk."""
        for claim in claims:
            workload = claim.workload
            victims = tuple(one for one in claim.victims if self.snapshot.holds_quota(one.workload))
            if victims:
                self.claims.append(replace(claim, victims=victims))
            elif self.snapshot.usage.fits(self.snapshot.tree.queues[workload.queue], claim.amounts):
                reason = "The workloads that it preempted have stopped."
                self._admit(Decision(workload, Outcome.ADMITTED, reason, claim.amounts))
                self.redeemed.add(_key(workload))
            else:
                yield workload

    def take_out(self, decisions: Iterable[Decision]) -> None:
        """Takes the workloads, which are the heads of their queues, out of there."""
        for decision in decisions:
            self._leave(self.queues[decision.workload.queue], decision.workload)
            if decision.outcome is Outcome.WAITING:
                self.in_vain[_shape(decision.workload)] = decision

    def settle(self, decision: Decision) -> None:
        """Makes a decision part of the state that the next cycle sees."""
        if decision.outcome is Outcome.PREEMPTING:
            self._preempt(decision)
        elif decision.outcome is Outcome.ADMITTED:
            self._admit(decision)
        else:
            self._record(decision)

    def look_at_local_queues(self) -> None:
        """Has the snapshot say what local queues used, if admission fair sharing is on."""
        if self.admission_sharing is not None:
            self.snapshot = replace(self.snapshot, local_queue_usage=self.admission_sharing.usage())

    def _leave(self, queue: Waiting, workload: Workload) -> None:
        queue.remove(workload)
        if not queue:
            del self.queues[workload.queue]

    def _record(self, decision: Decision) -> None:
        self.decisions[_key(decision.workload)] = decision

    def _admit(self, decision: Decision) -> None:
        self._record(decision)
        self.snapshot.admit(Admitted(decision.workload, decision.amounts, self.now))
        self.in_vain.clear()
        if self.admission_sharing is not None:
            self.admission_sharing = self.admission_sharing.entered(decision.workload)
            self.look_at_local_queues()

    def _preempt(self, decision: Decision) -> None:
        running = tuple(one for one in decision.victims if _key(one.admitted.workload) not in self.decisions)
        not_started = [one.admitted for one in decision.victims if one not in running]
        queue = self.snapshot.tree.queues[decision.workload.queue]
        with self.snapshot.without(not_started):
            fits_now = self.snapshot.usage.fits(queue, decision.amounts)
        for_them = self.redeemed.intersection(_key(one.workload) for one in not_started)
        if for_them or (not running and not fits_now):
            reason = "Workloads before it in this pass took what it needs."
            self._record(replace(decision, outcome=Outcome.OVERTAKEN, reason=reason, victims=()))
            return
        for one in not_started:
            self._dismiss(one)
        names = " and ".join(one.workload.name for one in not_started)
        if running:
            reason = f"{decision.reason} Of these, {names} had not started yet." if names else decision.reason
            self._record(replace(decision, reason=reason, victims=running))
            self.claims.append(Claim(decision.workload, decision.amounts, tuple(one.admitted for one in running)))
            for one in running:
                self.snapshot.evict(one.admitted)
        else:
            reason = f"It goes before {names}, which had not started yet."
            self._admit(replace(decision, outcome=Outcome.ADMITTED, reason=reason, victims=()))
        for one in not_started:
            self._wait_again(one, decision.workload)

    def _dismiss(self, one: Admitted) -> None:
        self.snapshot.dismiss(one)
        self.in_vain.clear()
        del self.decisions[_key(one.workload)]
        if self.admission_sharing is not None:
            self.admission_sharing = self.admission_sharing.left(one.workload)
            self.look_at_local_queues()

    def _wait_again(self, one: Admitted, preemptor: Workload) -> None:
        key = _key(one.workload)
        # Once only: two workloads that preempt each other would never end.
        if key in self.dismissed:
            reason = f"It has to give way to {preemptor.name}."
            self._record(Decision(one.workload, Outcome.WAITING, reason, one.usage))
        else:
            self.dismissed.add(key)
            self.wait(one.workload)


def _key(workload: Workload) -> _Key:
    return (workload.queue, workload.name)


def _shape(workload: Workload) -> _Shape:
    return (workload.queue, workload.priority, frozenset(workload.request.items()))
