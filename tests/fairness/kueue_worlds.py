"""Random trees of queues with workloads that run and wait in them, for property tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from services.scheduler.fairness.kueue.admission_cycle import Outcome
from services.scheduler.fairness.kueue.admission_pass import admission_pass
from services.scheduler.fairness.kueue.queue_spec import (
    Amounts,
    BorrowWithinCohort,
    CohortSpec,
    FlavorFungibility,
    FlavorPreference,
    FlavorResource,
    Fungibility,
    Preemption,
    QueueSpec,
    Quota,
    ReclaimWithinCohort,
    WithinQueue,
)
from services.scheduler.fairness.kueue.quota_tree import QuotaNode, QuotaTree, quota_tree
from services.scheduler.fairness.kueue.snapshot import Admitted, Snapshot, Workload, snapshot_of
from services.scheduler.fairness.kueue.victims import FairSharing

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FLAVORS = ("mi210", "mi300x")
RESOURCES = ("gpu", "memory")
SHARINGS = st.sampled_from([None, FairSharing()])
_WEIGHTS = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])


@dataclass(frozen=True)
class World:
    """Queues, what runs in them, and what waits."""

    tree: QuotaTree
    running: tuple[Admitted, ...]
    waiting: tuple[Workload, ...]

    @property
    def snapshot(self) -> Snapshot:
        return snapshot_of(self.tree, self.running)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """How hypothesis prints it: all that counts, in few words."""
        lines = [f"{one.name} in {one.parent and one.parent.name}: {_settings(one)}" for one in self.nodes()]
        lines += [f"{_asks(one.workload)} has {_amounts(one.usage)}" for one in self.running]
        printer.text("\n  ".join(["World", *lines, *map(_asks, self.waiting)]))

    def nodes(self) -> list[QuotaNode]:
        return [*self.tree.cohorts.values(), *self.tree.queues.values()]

    def flavor_resources(self) -> set[FlavorResource]:
        return {fr for node in self.nodes() for fr in node.spec.quotas}


def _settings(node: QuotaNode) -> str:
    quotas = ", ".join(
        f"{fr.flavor}/{fr.resource}={one.nominal}+{one.borrowing_limit}-{one.lending_limit}"
        for fr, one in node.spec.quotas.items()
    )
    others = ""
    if isinstance(node.spec, QueueSpec):
        preemption, fungibility = node.spec.preemption, node.spec.fungibility
        others = " ".join(
            [
                preemption.within_queue,
                preemption.reclaim_within_cohort,
                preemption.borrow_within_cohort,
                str(preemption.max_priority),
                fungibility.when_can_borrow,
                fungibility.when_can_preempt,
                fungibility.preference,
            ]
        )
    return f"weight {node.weight} {quotas} {others}"


def _asks(one: Workload) -> str:
    age = (NOW - one.create_time).total_seconds()
    return f"{one.name} in {one.queue}/{one.local_queue} p{one.priority} age {age} {dict(one.request)}"


def _amounts(amounts: Amounts) -> str:
    return ", ".join(f"{fr.flavor}/{fr.resource}={amount}" for fr, amount in amounts.items())


@st.composite
def worlds(draw: st.DrawFn, *, max_flavors: int = 2) -> World:
    """Worlds whose running workloads were admitted into an empty tree, so that they keep all limits."""
    tree = draw(_trees(max_flavors))
    first = _workloads(draw, tree, "running", 10)
    decisions = admission_pass(snapshot_of(tree, []), first, NOW, sharing=draw(SHARINGS)).decisions
    running = [
        Admitted(one.workload, one.amounts, NOW + timedelta(seconds=draw(st.integers(0, 3))))
        for one in decisions
        if one.outcome is Outcome.ADMITTED
    ]
    return World(tree, tuple(running), tuple(_workloads(draw, tree, "waiting", 6)))


@st.composite
def _trees(draw: st.DrawFn, max_flavors: int) -> QuotaTree:
    flavors = FLAVORS[: draw(st.integers(1, max_flavors))]
    resources = RESOURCES[: draw(st.integers(1, 2))]
    cohorts: list[CohortSpec] = []
    for number in range(draw(st.integers(1, 3))):
        parent = draw(st.sampled_from([None, *(one.name for one in cohorts)]))
        quotas = _quotas(draw, flavors, resources, has_parent=parent is not None) if draw(st.booleans()) else {}
        cohorts.append(CohortSpec(f"cohort-{number}", parent, quotas, draw(_WEIGHTS)))
    queues: list[QueueSpec] = []
    for number in range(draw(st.integers(2, 4))):
        cohort = draw(st.sampled_from([*(one.name for one in cohorts), cohorts[0].name, None]))
        quotas = _quotas(draw, flavors, resources, has_parent=cohort is not None)
        queues.append(
            QueueSpec(f"queue-{number}", cohort, quotas, draw(_WEIGHTS), draw(_preemptions()), draw(_FUNGIBILITIES))
        )
    return quota_tree(queues, cohorts)


def _quotas(
    draw: st.DrawFn, flavors: Iterable[str], resources: Iterable[str], *, has_parent: bool
) -> dict[FlavorResource, Quota]:
    quotas: dict[FlavorResource, Quota] = {}
    for fr in [FlavorResource(flavor, resource) for flavor in flavors for resource in resources]:
        nominal = draw(st.sampled_from([2, 0, 3, 6]))
        borrowing = draw(st.sampled_from([None, None, 0, 4])) if has_parent else None
        lending = draw(st.sampled_from([None, None, 0, nominal // 2])) if has_parent else None
        quotas[fr] = Quota(nominal, borrowing, lending)
    return quotas


@st.composite
def _preemptions(draw: st.DrawFn) -> Preemption:
    # What is drawn most easily preempts.
    reclaim = draw(st.sampled_from(list(ReclaimWithinCohort)[::-1]))
    borrow = BorrowWithinCohort.NEVER
    if reclaim is not ReclaimWithinCohort.NEVER:
        borrow = draw(st.sampled_from(BorrowWithinCohort))
    highest = draw(st.none() | st.integers(0, 2)) if borrow is not BorrowWithinCohort.NEVER else None
    return Preemption(draw(st.sampled_from(list(WithinQueue)[::-1])), reclaim, borrow, highest)


_FUNGIBILITIES = st.builds(
    FlavorFungibility,
    st.sampled_from(Fungibility),
    st.sampled_from(Fungibility),
    st.sampled_from(FlavorPreference),
)


def _workloads(draw: st.DrawFn, tree: QuotaTree, prefix: str, most: int) -> list[Workload]:
    resources = sorted({fr.resource for node in tree.queues.values() for fr in node.spec.quotas})
    return [
        Workload(
            name=f"{prefix}-{number}",
            queue=draw(st.sampled_from(sorted(tree.queues))),
            priority=draw(st.integers(0, 2)),
            request={resource: draw(st.integers(1, 4)) for resource in resources},
            create_time=NOW + timedelta(seconds=draw(st.integers(0, 3))),
            local_queue=draw(st.sampled_from(["", "ann", "bob"])),
        )
        for number in range(draw(st.integers(most // 2, most)))
    ]
