"""What a cycle does and in which order, and how far it may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from services.scheduler.fairness.kai.min_runtime import ReclaimMethod
from services.scheduler.fairness.queue_tree import ReclaimStrategy


class Action(StrEnum):
    """One step of a cycle."""

    ALLOCATE = "allocate"
    """Starts jobs on what is free."""
    CONSOLIDATE = "consolidation"
    """Moves running tasks so that a job fits; nobody loses a place."""
    RECLAIM = "reclaim"
    """Takes back what other queues have beyond their part."""
    PREEMPT = "preempt"
    """Gives the places of a queue's jobs to jobs of higher priority in the same queue."""
    EVICT_STALE_GANGS = "stalegangeviction"
    """Stops jobs that lost tasks that they need, and did not get them back."""


FULL_CYCLE = tuple(Action)


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of the engine. The values here are those that Wavepool runs with."""

    actions: tuple[Action, ...] = FULL_CYCLE
    k_ppm: int = 1_000_000
    """How much past usage counts when the surplus is divided, in millionths."""
    strategy: ReclaimStrategy = ReclaimStrategy.AGGRESSIVE
    strategies: Mapping[str, ReclaimStrategy] = field(default_factory=dict[str, ReclaimStrategy])
    """By the queue that reclaims, if it has one of its own."""
    never_below_quota: bool = True
    """True if a reclaim leaves every queue its quota."""
    min_runtime_method: ReclaimMethod = ReclaimMethod.LOWEST_COMMON_ANCESTOR
    preempt_min_runtime_seconds: int = 0
    """For queues that say nothing, and whose parents say nothing."""
    reclaim_min_runtime_seconds: int = 0
    stale_grace_seconds: int = 60
    """How long a job may lack tasks that it needs."""
    may_move: bool = True
    """False if a reclaim only stops tasks, and gives none of them another place."""
    spread: bool = False
    """True to prefer the emptiest node and whole GPUs; otherwise the fullest that fit, so that large jobs find room."""
