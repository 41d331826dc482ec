"""What an operator states about a queue or a cohort: quotas, weight, preemption, and the choice of flavors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple


class FlavorResource(NamedTuple):
    """A resource of one flavor, such as GPUs of MI300X machines. Quotas and usage are kept for each."""

    flavor: str
    resource: str


Amounts = dict[FlavorResource, int]
"""Amounts in the resource's own integer unit, such as eighths of a GPU or MiB."""


@dataclass(frozen=True)
class Quota:
    """What a queue or cohort owns of one resource of one flavor."""

    nominal: int
    borrowing_limit: int | None = None
    """The most that it may use above its own; None is unlimited."""
    lending_limit: int | None = None
    """The most that others may borrow of its own; None is all of it."""


class WithinQueue(StrEnum):
    """Which workloads of its own queue a waiting workload may preempt."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    LOWER_OR_NEWER_EQUAL_PRIORITY = "LowerOrNewerEqualPriority"


class ReclaimWithinCohort(StrEnum):
    """Which workloads of borrowing queues of its cohort a waiting workload may preempt."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    ANY = "Any"


class BorrowWithinCohort(StrEnum):
    """Whether a workload may preempt in its cohort although its queue then borrows. Fair sharing ignores this."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"


@dataclass(frozen=True)
class Preemption:
    """How the workloads of a queue preempt others."""

    within_queue: WithinQueue = WithinQueue.NEVER
    reclaim_within_cohort: ReclaimWithinCohort = ReclaimWithinCohort.NEVER
    borrow_within_cohort: BorrowWithinCohort = BorrowWithinCohort.NEVER
    max_priority: int | None = None
    """With `borrow_within_cohort`: the highest priority of a victim while the queue borrows; None has no limit."""


class Fungibility(StrEnum):
    """Whether a flavor that would do ends the search for one."""

    MAY_STOP_SEARCH = "MayStopSearch"
    TRY_NEXT_FLAVOR = "TryNextFlavor"


class FlavorPreference(StrEnum):
    """Which of two evils is the smaller one when flavors are compared."""

    BORROWING_OVER_PREEMPTION = "BorrowingOverPreemption"
    PREEMPTION_OVER_BORROWING = "PreemptionOverBorrowing"


@dataclass(frozen=True)
class FlavorFungibility:
    """How a queue chooses among its flavors."""

    when_can_borrow: Fungibility = Fungibility.MAY_STOP_SEARCH
    when_can_preempt: Fungibility = Fungibility.TRY_NEXT_FLAVOR
    preference: FlavorPreference = FlavorPreference.BORROWING_OVER_PREEMPTION


@dataclass(frozen=True)
class QueueSpec:
    """A queue that workloads are admitted by. The order of its quotas is the order in which flavors are tried."""

    name: str
    cohort: str | None = None
    quotas: Mapping[FlavorResource, Quota] = field(default_factory=dict[FlavorResource, Quota])
    weight: Fraction = Fraction(1)
    preemption: Preemption = Preemption()
    fungibility: FlavorFungibility = FlavorFungibility()


@dataclass(frozen=True)
class CohortSpec:
    """A group of queues and cohorts that lend to each other. It may own quotas, which all of them may borrow."""

    name: str
    parent: str | None = None
    quotas: Mapping[FlavorResource, Quota] = field(default_factory=dict[FlavorResource, Quota])
    weight: Fraction = Fraction(1)
