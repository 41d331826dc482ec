"""The tree of queues and cohorts: checked as a whole, and with what follows from the quotas alone.

Each node owns quotas. A node's subtree quota is its own quota and what its children lend it. A lending limit keeps a
part of that at home: the local quota, which the parent never sees. What a node uses above its local quota counts as the
parent's usage, and so on up to the root. Usage itself is in `usage.py`, so that one tree serves any number of states.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from services.scheduler.fairness.kueue.queue_spec import (
    Amounts,
    BorrowWithinCohort,
    FlavorResource,
    QueueSpec,
    Quota,
    ReclaimWithinCohort,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from services.scheduler.fairness.kueue.queue_spec import CohortSpec, Preemption


class Fault(NamedTuple):
    """A setting that makes the tree unusable, and what to do about it."""

    field: str
    value: str
    rule: str
    fix: str

    def __str__(self) -> str:
        return f"{self.field} is {self.value}: {self.rule}. {self.fix}"


class QuotaTreeError(Exception):
    """The tree is refused as a whole; `faults` has every fault that was found."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


class FlavorGroup(NamedTuple):
    """Resources that a workload gets of one flavor together, and the flavors in the order in which they are tried."""

    resources: frozenset[str]
    flavors: tuple[str, ...]


@dataclass(eq=False)
class QuotaNode:
    """A queue or a cohort in its place in the tree. Compared by identity."""

    spec: QueueSpec | CohortSpec
    index: int
    """The position of its usage in a `Usage`."""
    parent: QuotaNode | None = field(default=None, repr=False)
    queues: list[QuotaNode] = field(default_factory=list["QuotaNode"], repr=False)
    cohorts: list[QuotaNode] = field(default_factory=list["QuotaNode"], repr=False)

    @property
    def name(self) -> str:
        """The name, which is unique among queues or among cohorts."""
        return self.spec.name

    @property
    def weight(self) -> Fraction:
        """The fair weight: a node of weight 2 may borrow twice as much as one of weight 1."""
        return self.spec.weight

    @property
    def queue(self) -> QueueSpec:
        """The queue's specification. Raises TypeError for a cohort."""
        if not isinstance(self.spec, QueueSpec):
            raise TypeError(f"{self.name} is a cohort")
        return self.spec

    @cached_property
    def ancestors(self) -> tuple[QuotaNode, ...]:
        """The cohorts above it, the nearest first."""
        return (self.parent, *self.parent.ancestors) if self.parent else ()

    def ancestors_below(self, cohort: QuotaNode) -> tuple[QuotaNode, ...]:
        """The cohorts between it and one of its ancestors. Raises ValueError if that is not above it."""
        return self.ancestors[: self.ancestors.index(cohort)]

    @property
    def root(self) -> QuotaNode:
        """The top of its tree, which may be itself."""
        return self.ancestors[-1] if self.ancestors else self

    @cached_property
    def height(self) -> int:
        """The distance to the furthest leaf."""
        return max([0, *(1 for _ in self.queues[:1]), *(1 + cohort.height for cohort in self.cohorts)])

    @cached_property
    def subtree_quota(self) -> Amounts:
        """Its own quota and what its children lend it."""
        total = {fr: quota.nominal for fr, quota in self.spec.quotas.items()}
        for child in (*self.cohorts, *self.queues):
            for fr, amount in child.subtree_quota.items():
                total[fr] = total.get(fr, 0) + amount - child.local_quota(fr)
        return total

    def local_quota(self, fr: FlavorResource) -> int:
        """The part of its subtree quota that it never lends."""
        limit = self._limits(fr).lending_limit
        return 0 if limit is None else max(0, self.subtree_quota.get(fr, 0) - limit)

    def borrowing_limit(self, fr: FlavorResource) -> int | None:
        """The most that it may use above its subtree quota; None is unlimited."""
        return self._limits(fr).borrowing_limit

    def potential(self, fr: FlavorResource) -> int:
        """The most that it could ever use: everything that is lent to it, if nobody used anything."""
        known = self._potential.get(fr)
        if known is None:
            known = self._potential[fr] = self._most(fr)
        return known

    @cached_property
    def lendable(self) -> Mapping[str, int]:
        """By resource, over all flavors: the most that the node could ever use. Its children's shares refer to this."""
        total: dict[str, int] = {}
        for fr in self.root.subtree_quota:
            total[fr.resource] = total.get(fr.resource, 0) + self.potential(fr)
        return total

    @cached_property
    def flavor_groups(self) -> Mapping[str, FlavorGroup]:
        """By resource: flavors and resources that are connected by quotas. Every flavor serves one group."""
        groups: list[tuple[set[str], list[str]]] = []
        for fr in self.spec.quotas:
            joined = [group for group in groups if fr.resource in group[0] or fr.flavor in group[1]]
            resources = {fr.resource}.union(*(group[0] for group in joined))
            flavors = list(dict.fromkeys([*(flavor for group in joined for flavor in group[1]), fr.flavor]))
            groups = [*(group for group in groups if group not in joined), (resources, flavors)]
        made = [FlavorGroup(frozenset(resources), tuple(flavors)) for resources, flavors in groups]
        return {resource: group for group in made for resource in group.resources}

    @cached_property
    def _potential(self) -> Amounts:
        return {}

    def _limits(self, fr: FlavorResource) -> Quota:
        return self.spec.quotas.get(fr, _NO_QUOTA)

    def _most(self, fr: FlavorResource) -> int:
        own = self.subtree_quota.get(fr, 0)
        if self.parent is None:
            return own
        most = self.local_quota(fr) + self.parent.potential(fr)
        limit = self.borrowing_limit(fr)
        return most if limit is None else min(most, own + limit)


@dataclass(frozen=True)
class QuotaTree:
    """All queues and cohorts, by name."""

    queues: Mapping[str, QuotaNode]
    cohorts: Mapping[str, QuotaNode]

    def __len__(self) -> int:
        return len(self.queues) + len(self.cohorts)


_NO_QUOTA = Quota(0)


def quota_tree(queues: Sequence[QueueSpec], cohorts: Sequence[CohortSpec]) -> QuotaTree:
    """The tree of these queues and cohorts. Raises QuotaTreeError with every fault in them."""
    faults = [*_name_faults(queues, cohorts), *_link_faults(queues, cohorts), *_setting_faults(queues, cohorts)]
    if faults:
        raise QuotaTreeError(faults)
    cohort_nodes = {spec.name: QuotaNode(spec, index) for index, spec in enumerate(cohorts)}
    queue_nodes = {spec.name: QuotaNode(spec, index) for index, spec in enumerate(queues, len(cohorts))}
    for spec in cohorts:
        if spec.parent is not None:
            cohort_nodes[spec.name].parent = parent = cohort_nodes[spec.parent]
            parent.cohorts.append(cohort_nodes[spec.name])
    for spec in queues:
        if spec.cohort is not None:
            queue_nodes[spec.name].parent = parent = cohort_nodes[spec.cohort]
            parent.queues.append(queue_nodes[spec.name])
    return QuotaTree(queue_nodes, cohort_nodes)


def _name_faults(queues: Sequence[QueueSpec], cohorts: Sequence[CohortSpec]) -> Iterator[Fault]:
    for kind, specs in (("queues", queues), ("cohorts", cohorts)):
        for name, count in Counter(spec.name for spec in specs).items():
            if not name:
                yield Fault(f"{kind}.name", "empty", "every name has at least one character", "Give a name.")
            elif count > 1:
                yield Fault(f"{kind}[{name}]", f"given {count} times", "names are unique", "Rename all but one.")


def _link_faults(queues: Sequence[QueueSpec], cohorts: Sequence[CohortSpec]) -> Iterator[Fault]:
    parents = {spec.name: spec.parent for spec in cohorts}
    rule, fix = "there is no such cohort", "Add the cohort, or name one that exists."
    for spec in queues:
        if spec.cohort is not None and spec.cohort not in parents:
            yield Fault(f"queues[{spec.name}].cohort", spec.cohort, rule, fix)
    for name, parent in parents.items():
        if parent is not None and parent not in parents:
            yield Fault(f"cohorts[{name}].parent", parent, rule, fix)
    for name, *others in _cycles(parents):
        way = " -> ".join([name, *others, name])
        yield Fault(
            f"cohorts[{name}].parent",
            parents[name] or "",
            f"cohorts form a cycle, {way}",
            "Take one of them out of it.",
        )


def _cycles(parents: Mapping[str, str | None]) -> Iterator[list[str]]:
    done: set[str] = set()
    for start in parents:
        way: list[str] = []
        name: str | None = start
        while name is not None and name in parents and name not in done:
            done.add(name)
            way.append(name)
            name = parents[name]
        if name in way:
            yield way[way.index(name) :]


def _setting_faults(queues: Sequence[QueueSpec], cohorts: Sequence[CohortSpec]) -> Iterator[Fault]:
    for spec in queues:
        where = f"queues[{spec.name}]"
        yield from _weight_faults(where, spec.weight)
        yield from _preemption_faults(where, spec.preemption)
        for fr, quota in spec.quotas.items():
            yield from _quota_faults(f"{where}.quotas[{fr.flavor}/{fr.resource}]", quota, has_parent=bool(spec.cohort))
            # A cohort may well lend more than it owns: what its children lend it.
            if quota.lending_limit is not None and quota.lending_limit > quota.nominal >= 0:
                yield Fault(
                    f"{where}.quotas[{fr.flavor}/{fr.resource}].lending_limit",
                    str(quota.lending_limit),
                    f"a queue lends no more than its nominal quota of {quota.nominal}",
                    "Lower the limit, or leave it out to lend all.",
                )
    for spec in cohorts:
        where = f"cohorts[{spec.name}]"
        yield from _weight_faults(where, spec.weight)
        for fr, quota in spec.quotas.items():
            yield from _quota_faults(f"{where}.quotas[{fr.flavor}/{fr.resource}]", quota, has_parent=bool(spec.parent))


def _weight_faults(where: str, weight: Fraction) -> Iterator[Fault]:
    if weight < 0:
        fix = "Give 0 to let it borrow only what no other queue wants, or more."
        yield Fault(f"{where}.weight", str(weight), "weights are 0 or more", fix)


def _preemption_faults(where: str, preemption: Preemption) -> Iterator[Fault]:
    borrow, limit = preemption.borrow_within_cohort, preemption.max_priority
    never = preemption.reclaim_within_cohort is ReclaimWithinCohort.NEVER
    if borrow is not BorrowWithinCohort.NEVER and never:
        rule = "a queue that never reclaims cannot do so while it borrows"
        fix = "Set reclaim_within_cohort, or leave borrow_within_cohort out."
        yield Fault(f"{where}.preemption.borrow_within_cohort", borrow, rule, fix)
    if borrow is BorrowWithinCohort.NEVER and limit is not None:
        rule = "it limits borrow_within_cohort, which is off"
        yield Fault(f"{where}.preemption.max_priority", str(limit), rule, "Set borrow_within_cohort, or leave it out.")


def _quota_faults(where: str, quota: Quota, *, has_parent: bool) -> Iterator[Fault]:
    if quota.nominal < 0:
        yield Fault(f"{where}.nominal", str(quota.nominal), "quotas are 0 or more", "Give 0 to own nothing.")
    for name, limit in (("borrowing_limit", quota.borrowing_limit), ("lending_limit", quota.lending_limit)):
        if limit is None:
            continue
        if limit < 0:
            yield Fault(f"{where}.{name}", str(limit), "limits are 0 or more", "Leave it out for no limit.")
        if not has_parent:
            rule = "without a cohort above there is no queue to borrow from or lend to"
            yield Fault(f"{where}.{name}", str(limit), rule, "Leave the limit out, or put it into a cohort.")
