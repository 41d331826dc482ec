"""What is used of a quota tree, what is left of it, and the share that each node has borrowed."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from services.scheduler.fairness.kueue.queue_spec import Amounts, FlavorResource, QueueSpec
from services.scheduler.fairness.kueue.quota_tree import QuotaNode, QuotaTree

UNBOUNDED_SHARE = 2**63 - 1
"""The rounded share of a node of weight 0 that borrows."""
_PER_THOUSAND = 1000


@dataclass(frozen=True)
class Share:
    """The dominant resource share: how much a node has borrowed of what its parent could lend it.

    The ratio is in thousandths and belongs to the resource with the largest one; the order divides it by the weight.
    """

    ratio: Fraction
    weight: Fraction
    resource: str
    """The dominant resource; empty if the ratio is 0."""
    borrowed: frozenset[FlavorResource]

    @property
    def is_borrowing(self) -> bool:
        """True if the node uses more than its quota of anything, even if the ratio is 0 as nothing is lendable."""
        return bool(self.borrowed)

    @property
    def order(self) -> tuple[bool, Fraction]:
        """Compares shares: a borrower of weight 0 is above all others, and such borrowers go by their ratios."""
        if self.is_borrowing and not self.weight:
            return (True, self.ratio)
        return (False, self.ratio / self.weight if self.ratio else self.ratio)

    @property
    def rounded(self) -> int:
        """The weighted share in thousandths, rounded up; UNBOUNDED_SHARE for a borrower of weight 0."""
        is_unbounded, share = self.order
        return UNBOUNDED_SHARE if is_unbounded else ceil(share)


class Usage:
    """Usage of every node of a tree. Adding and removing the same amounts leaves it as it was."""

    def __init__(self, tree: QuotaTree) -> None:
        self._used: list[Amounts] = [{} for _ in range(len(tree))]
        self._shares: list[tuple[bool, Fraction] | None] = [None] * len(tree)
        self._over_quota: dict[FlavorResource, dict[int, QuotaNode]] = {}

    def copy(self) -> Usage:
        """A state of its own, of the same tree."""
        other = object.__new__(Usage)
        other._used, other._shares = [dict(used) for used in self._used], list(self._shares)
        other._over_quota = {fr: dict(nodes) for fr, nodes in self._over_quota.items()}
        return other

    def used(self, node: QuotaNode, fr: FlavorResource) -> int:
        """What counts against the node: a queue's usage, or what a cohort's children use beyond their local quota."""
        return self._used[node.index].get(fr, 0)

    def add(self, node: QuotaNode, amounts: Amounts) -> None:
        """Counts the amounts as used by the queue."""
        for fr, amount in amounts.items():
            self._change(node, fr, amount)

    def remove(self, node: QuotaNode, amounts: Amounts) -> None:
        """Takes back what `add` did."""
        for fr, amount in amounts.items():
            self._change(node, fr, -amount)

    @contextmanager
    def adding(self, node: QuotaNode, amounts: Amounts) -> Generator[None]:
        """Counts the amounts as used until the end of the block."""
        self.add(node, amounts)
        try:
            yield
        finally:
            self.remove(node, amounts)

    @contextmanager
    def removing(self, node: QuotaNode, amounts: Amounts) -> Generator[None]:
        """Counts the amounts as free until the end of the block."""
        self.remove(node, amounts)
        try:
            yield
        finally:
            self.add(node, amounts)

    def exceeds_quota(self, node: QuotaNode, fr: FlavorResource, more: int = 0) -> bool:
        """True if the node would use more than its subtree quota with `more` added."""
        return self.used(node, fr) + more > node.subtree_quota.get(fr, 0)

    def borrowing_queues(self, root: QuotaNode, contested: Iterable[FlavorResource]) -> list[QuotaNode]:
        """The queues below the root that use more than their quota of any of these, in the order of their index."""
        found = {index: node for fr in contested for index, node in self._over_quota.get(fr, {}).items()}
        return [node for _, node in sorted(found.items()) if isinstance(node.spec, QueueSpec) and node.root is root]

    def local_available(self, node: QuotaNode, fr: FlavorResource) -> int:
        """What is left of the node's local quota."""
        return max(0, node.local_quota(fr) - self.used(node, fr))

    def available(self, node: QuotaNode, fr: FlavorResource) -> int:
        """What the node can use now, with what it may borrow; negative if quotas shrank under what was admitted."""
        own, used = node.subtree_quota.get(fr, 0), self.used(node, fr)
        if node.parent is None:
            return own - used
        local, above = node.local_quota(fr), self.available(node.parent, fr)
        limit = node.borrowing_limit(fr)
        if limit is not None:
            above = min(above, own - local - max(0, used - local) + limit)
        return max(0, local - used) + above

    def fits(self, node: QuotaNode, amounts: Amounts, *, may_borrow: bool = True) -> bool:
        """True if the queue can use the amounts now; without `may_borrow`, of its own quota."""
        return all(
            amount <= self.available(node, fr) and (may_borrow or not self.exceeds_quota(node, fr, amount))
            for fr, amount in amounts.items()
        )

    def share(self, node: QuotaNode, extra: Mapping[FlavorResource, int] | None = None) -> Share:
        """The node's dominant resource share, if it used `extra` more. A node without a parent borrows nothing."""
        if node.parent is None:
            return Share(Fraction(0), node.weight, "", frozenset())
        used, extra = self._used[node.index], extra or {}
        borrowed: dict[FlavorResource, int] = {}
        # Usage without quota is borrowed too: the quota was taken away under an admitted workload.
        for fr in node.subtree_quota.keys() | used.keys():
            amount = used.get(fr, 0) + extra.get(fr, 0) - node.subtree_quota.get(fr, 0)
            if amount > 0:
                borrowed[fr] = amount
        ratio, resource = _dominant(borrowed, node.parent.lendable)
        return Share(ratio, node.weight, resource, frozenset(borrowed))

    def share_order(self, node: QuotaNode) -> tuple[bool, Fraction]:
        """`share(node).order`, kept until the node's usage changes."""
        known = self._shares[node.index]
        if known is None:
            known = self._shares[node.index] = self.share(node).order
        return known

    def borrowing_level(self, node: QuotaNode, fr: FlavorResource, amount: int) -> tuple[int, bool]:
        """Height of the lowest subtree around the queue that has the amount, and whether there is more above it.

        0 is the queue itself. If even the whole tree lacks the amount, the level is the height of the tree.
        """
        if node.parent is None or not self.exceeds_quota(node, fr, amount):
            return 0, node.parent is not None
        rest = amount - self.local_available(node, fr)
        for cohort in node.ancestors:
            if not self.exceeds_quota(cohort, fr, rest):
                return cohort.height, cohort.parent is not None
            rest -= self.local_available(cohort, fr)
        return node.root.height, False

    def _change(self, node: QuotaNode, fr: FlavorResource, delta: int) -> None:
        local, used = node.local_quota(fr), self.used(node, fr)
        self._used[node.index][fr] = used + delta
        self._shares[node.index] = None
        if self.exceeds_quota(node, fr):
            self._over_quota.setdefault(fr, {})[node.index] = node
        else:
            self._over_quota.get(fr, {}).pop(node.index, None)
        above = max(0, used + delta - local) - max(0, used - local)
        if node.parent is not None and above:
            self._change(node.parent, fr, above)


def _dominant(borrowed: Amounts, lendable: Mapping[str, int]) -> tuple[Fraction, str]:
    """The largest ratio of borrowed to lendable, in thousandths, and its resource; the first by name in a tie."""
    totals: dict[str, int] = {}
    for fr, amount in borrowed.items():
        totals[fr.resource] = totals.get(fr.resource, 0) + amount
    ratios = [
        (-Fraction(amount * _PER_THOUSAND, lendable[resource]), resource)
        for resource, amount in totals.items()
        if lendable.get(resource, 0) > 0
    ]
    ratio, resource = min(ratios, default=(Fraction(0), ""))
    return -ratio, resource
