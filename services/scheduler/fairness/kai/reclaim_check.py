"""Judges plans of a reclaim: by the shares of queues as they were before the plan, and by minimum runtimes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.scheduler.fairness.kai.cluster import Job
from services.scheduler.fairness.kai.cycle_state import CycleState
from services.scheduler.fairness.kai.job_order import tasks_to_place
from services.scheduler.fairness.kai.min_runtime import reclaim_min_runtime_seconds
from services.scheduler.fairness.kai.policy import Policy
from services.scheduler.fairness.kai.protection import may_give, protected_victim
from services.scheduler.fairness.kai.reclaim_rule import (
    Reclaimer,
    ReclaimRule,
    may_reclaim_at_all,
    reclaim_verdict,
    within_quota,
)
from services.scheduler.fairness.kai.victim_search import Plan, victims_by_job
from services.scheduler.fairness.queue_tree import Amounts, ReclaimStrategy

_NEVER = frozenset({ReclaimRule.WITHIN_FAIR_SHARE, ReclaimRule.BELOW_QUOTA})
"""Rules that forbid a first victim of a queue; each further one leaves the queue with less, so they go on to."""


class ReclaimCheck:
    """The check for one pending job. It remembers the shares that queues had when it was made."""

    def __init__(self, state: CycleState, job: Job, policy: Policy) -> None:
        self._state = state
        self._job = job
        self._policy = policy
        self._strategy = policy.strategies.get(job.queue, policy.strategy)
        self._shares = state.shares()
        self._required = state.required(tasks_to_place(state, job))
        self._rule = ReclaimRule.OVER_FAIR_SHARE

    @property
    def queue(self) -> str:
        """The pending job's queue."""
        return self._job.queue

    @property
    def kind(self) -> object:
        """Equal for checks that agree on each queue, beside their own, whose jobs may be victims.

        Queues without children that lie side by side part from any other queue at the same place.
        """
        queue, tree = self._shares[self._job.queue], self._state.tree
        where = (queue.parent, queue.name if tree.children(queue.name) else None)
        return where, self._strategy, self._required, within_quota(queue, self._required)

    def refusal_of_any(self) -> str | None:
        """Why no choice of victims would be allowed; None if some may be."""
        verdict = may_reclaim_at_all(self._shares[self._job.queue], self._reclaimer(self._required))
        return None if verdict.allowed else f"{verdict.rule} ({verdict.queue})"

    def versions(self, victims_queue: str) -> object:
        """Equal as long as checks of this kind find the same victims in a queue beside their own."""
        tree, version = self._state.tree, self._state.queue_version
        ours = [queue.name for queue in tree.upwards(self._job.queue)]
        theirs = [queue.name for queue in tree.upwards(victims_queue)]
        side = [name for name in theirs if name not in ours] or theirs
        # Of our own side only what lies above our queue is not in `kind`.
        return tuple(map(version, side)), tuple(version(name) for name in ours[1:] if name not in theirs)

    def victims_of(self, others: Sequence[Job]) -> list[Job]:
        """Those of the jobs of another queue that can be preempted, and are not protected as a whole."""
        minimum = self._minimum_seconds(others[0])
        known: dict[Amounts, bool] = {}
        return [
            other
            for other in others
            if other.preemptible and may_give(other, minimum) and self._queue_may_give(other, known)
        ]

    def _queue_may_give(self, other: Job, known: dict[Amounts, bool]) -> bool:
        """False if no plan with this job can be allowed: its queue could not even give one task as the first."""
        if self._policy.may_move or len(other.tasks) > 1:
            # Who gets another place loses nothing; and tasks of other sizes may be given first.
            return True
        task = next(iter(other.tasks))
        amounts = self._state.amounts(task, task.node)
        if amounts not in known:
            verdict = reclaim_verdict(
                self._shares,
                self._reclaimer(self._required),
                {other.queue: [amounts]},
                self._strategy,
                never_below_quota=self._policy.never_below_quota,
            )
            known[amounts] = verdict.rule not in _NEVER
        return known[amounts]

    def refusal(self, plan: Plan) -> str | None:
        """Why the plan is not allowed; None if it is."""
        if plan.moved and not self._policy.may_move:
            return f"task {plan.moved[0].name} would have to move"
        protected = protected_victim(self._state, plan, self._minimum_seconds)
        if protected:
            return protected
        verdict = reclaim_verdict(
            self._shares,
            self._reclaimer(self._state.required(plan.tasks)),
            self._victims(plan),
            self._strategy,
            never_below_quota=self._policy.never_below_quota,
        )
        self._rule = verdict.rule
        return None if verdict.allowed else f"{verdict.rule} ({verdict.queue})"

    def why(self, victim: Job) -> str:
        """The rule that allowed the plan, for a job that gives its place."""
        return f"{self._rule} ({victim.queue})"

    def _reclaimer(self, required: Amounts) -> Reclaimer:
        return Reclaimer(self._job.queue, required, self._job.preemptible)

    def _minimum_seconds(self, victim: Job) -> int:
        aggressive = self._strategy is ReclaimStrategy.AGGRESSIVE
        if aggressive and within_quota(self._shares[self._job.queue], self._required):
            return 0
        return reclaim_min_runtime_seconds(
            self._state.tree,
            self._job.queue,
            victim.queue,
            self._policy.min_runtime_method,
            self._policy.reclaim_min_runtime_seconds,
        )

    def _victims(self, plan: Plan) -> dict[str, list[Amounts]]:
        """What each queue gives: spare tasks one by one, then the tasks that a job needs as one amount."""
        given: dict[str, list[Amounts]] = {}
        for name, tasks in victims_by_job(self._state, plan.stopped + plan.moved).items():
            job = self._state.jobs[name]
            stopped = {task.name for task in plan.stopped}
            spare = [task for task in tasks[job.min_available :] if task.name in stopped]
            needed = [task for task in tasks[: job.min_available] if task.name in stopped]
            amounts = given.setdefault(job.queue, [])
            amounts.extend(self._state.amounts(task, task.node) for task in spare)
            if needed:
                total = self._state.amounts(needed[0], needed[0].node)
                for task in needed[1:]:
                    total = total.plus(self._state.amounts(task, task.node))
                amounts.append(total)
        return {queue: amounts for queue, amounts in given.items() if amounts}


class PossibleVictims:
    """The jobs that may be victims of each check, found once for checks of one kind, until their queues change."""

    def __init__(self, state: CycleState) -> None:
        self._state = state
        self._found: dict[object, _Found] = {}

    def of(self, check: ReclaimCheck) -> list[Job]:
        """The jobs of other queues that may be victims."""
        found, holders = self._found.setdefault(check.kind, _Found()), self._state.holders()
        if found.version != self._state.version:
            found.version = self._state.version
            for queue in [queue for queue, seen in found.seen.items() if seen != check.versions(queue)]:
                del found.seen[queue]
                found.victims.pop(queue, None)
        for queue in holders.keys() - found.seen.keys() - {check.queue}:
            found.seen[queue] = check.versions(queue)
            victims = check.victims_of(holders[queue])
            if victims:
                found.victims[queue] = victims
        return [victim for queue in sorted(found.victims) if queue != check.queue for victim in found.victims[queue]]


@dataclass(slots=True)
class _Found:
    version: int = -1
    seen: dict[str, object] = field(default_factory=dict[str, object])
    """By queue that was looked at: what its victims depend on."""
    victims: dict[str, list[Job]] = field(default_factory=dict[str, "list[Job]"])
