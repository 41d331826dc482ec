"""One cycle: looks at the cluster once, and decides what starts, moves and stops."""

from __future__ import annotations

from services.scheduler.fairness.kai import actions
from services.scheduler.fairness.kai.cluster import Cluster
from services.scheduler.fairness.kai.cycle_state import CycleState
from services.scheduler.fairness.kai.decision import CycleResult, result_of
from services.scheduler.fairness.kai.policy import Action, Policy

_STEPS = {
    Action.ALLOCATE: actions.allocate,
    Action.CONSOLIDATE: actions.consolidate,
    Action.RECLAIM: actions.reclaim,
    Action.PREEMPT: actions.preempt,
    Action.EVICT_STALE_GANGS: actions.evict_stale_gangs,
}


def run_cycle(cluster: Cluster, policy: Policy | None = None) -> CycleResult:
    """What the policy decides for the cluster. The same cluster always gives the same decisions."""
    policy = policy or Policy()
    state = CycleState(cluster, policy.k_ppm)
    for action in policy.actions:
        _STEPS[action](state, policy)
    return result_of(state)
