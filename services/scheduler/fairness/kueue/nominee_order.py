"""The order in which nominees are decided on: each takes what the later ones then lack.

With fair sharing it is a tournament: in every cohort, the children's nominees compete, and the child that would have
the smaller share with its nominee admitted wins; so one nominee comes up to the root, and is next. A child that would
not borrow any of what its nominee asks for is before all that would. Shares change with every admission, so that the
tournament goes on with the usage of the moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count

from services.scheduler.fairness.kueue.nomination import Nominee
from services.scheduler.fairness.kueue.quota_tree import QuotaNode
from services.scheduler.fairness.kueue.usage import Usage

_Standing = tuple[bool, tuple[bool, "Fraction"], tuple[int, float, str, str]]


def classical_order(nominees: Sequence[Nominee]) -> list[Nominee]:
    """Those that borrow from nobody first, then by how far up the tree they borrow."""
    return sorted(nominees, key=lambda nominee: (nominee.assignment.borrowing_level, nominee.rank))


def fair_order(usage: Usage, nominees: Sequence[Nominee]) -> Iterator[Nominee]:
    """Yields the winners of the tournaments, tree by tree.

    Before the next one is asked for, the usage of the last one's queue may change, and no other.
    """
    waiting = {nominee.queue: nominee for nominee in nominees}
    roots = {root: position for position, root in enumerate(dict.fromkeys(queue.root for queue in waiting))}
    serial = count()
    finalists: list[tuple[int, _Standing, int, Nominee]] = []

    def enter(subtree: QuotaNode) -> None:
        found = _winner(usage, subtree, waiting)
        if found is not None:
            winner, standings = found
            heappush(finalists, (roots[subtree.root], standings[subtree], next(serial), winner))

    for subtree in dict.fromkeys(_below_root(queue) for queue in waiting):
        enter(subtree)
    while finalists:
        *_, nominee = heappop(finalists)
        del waiting[nominee.queue]
        yield nominee
        # An admission changes the shares of this subtree alone: those of its siblings refer to what the root has.
        enter(_below_root(nominee.queue))


def _below_root(queue: QuotaNode) -> QuotaNode:
    return (queue, *queue.ancestors[:-1])[-1]


def _winner(
    usage: Usage, node: QuotaNode, waiting: dict[QuotaNode, Nominee]
) -> tuple[Nominee, dict[QuotaNode, _Standing]] | None:
    """The nominee that comes up to this node, with its standing at each node on its way; None if there is none."""
    if node in waiting:
        return waiting[node], _standings(usage, waiting[node])
    best: tuple[Nominee, dict[QuotaNode, _Standing]] | None = None
    best_standing: _Standing | None = None
    for child in (*node.cohorts, *node.queues):
        found = _winner(usage, child, waiting)
        if found is not None and (best_standing is None or found[1][child] < best_standing):
            best, best_standing = found, found[1][child]
    return best


def _standings(usage: Usage, nominee: Nominee) -> dict[QuotaNode, _Standing]:
    """Its standing among the siblings of each node from its queue to just below the root, with it admitted."""
    standings: dict[QuotaNode, _Standing] = {}
    with usage.adding(nominee.queue, nominee.assignment.amounts):
        for node in (nominee.queue, *nominee.queue.ancestors[:-1]):
            share = usage.share(node)
            borrows = not share.borrowed.isdisjoint(nominee.assignment.amounts)
            standings[node] = (borrows, share.order, nominee.rank)
    return standings
