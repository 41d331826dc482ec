"""Victims for a workload that lacks room, by the rules in force: fair sharing, or quota and priority alone."""

from __future__ import annotations

from dataclasses import dataclass

from services.scheduler.fairness.kueue.classical_preemption import classical_victims
from services.scheduler.fairness.kueue.fair_preemption import BOTH_STRATEGIES, FairStrategy, fair_victims
from services.scheduler.fairness.kueue.preemption import Preemptor, Victim
from services.scheduler.fairness.kueue.snapshot import Snapshot


@dataclass(frozen=True)
class FairSharing:
    """Fair sharing is on: shares decide who is admitted first and who gives way."""

    strategies: tuple[FairStrategy, ...] = BOTH_STRATEGIES


def find_victims(snapshot: Snapshot, preemptor: Preemptor, sharing: FairSharing | None) -> tuple[Victim, ...]:
    """The workloads that make room for the preemptor; empty if it would not fit in spite of all that may be taken."""
    if sharing is None:
        return classical_victims(snapshot, preemptor)
    return fair_victims(snapshot, preemptor, sharing.strategies)
