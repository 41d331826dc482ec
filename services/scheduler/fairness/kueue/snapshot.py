"""The state that a decision is made on: the quota tree, the workloads that hold quota, and what they use of it."""

from __future__ import annotations

from bisect import insort
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain

from services.scheduler.fairness.kueue.queue_spec import Amounts
from services.scheduler.fairness.kueue.quota_tree import QuotaNode, QuotaTree
from services.scheduler.fairness.kueue.usage import Usage

_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Workload:
    """A workload that waits for quota, or has it."""

    name: str
    """Unique in a snapshot; the last tie-breaker."""
    queue: str
    priority: int
    request: Mapping[str, int]
    """By resource, in its integer unit."""
    create_time: datetime
    """With a time zone. The earlier of two otherwise equal workloads goes first."""
    local_queue: str = ""
    """The user's or team's queue that it came by; what it uses counts there in admission fair sharing."""


@dataclass(frozen=True)
class Admitted:
    """A workload that holds quota."""

    workload: Workload
    usage: Amounts
    admit_time: datetime
    is_evicting: bool = False
    """True if it was preempted before, and still holds its quota until it has stopped."""
    keeps: bool = False
    """True if it is never preempted; others are, in its place."""

    @property
    def victim_order(self) -> tuple[int, timedelta, str]:
        """The smallest is preempted first: the lowest priority, then the latest admitted, then by name."""
        return (self.workload.priority, _END_OF_TIME - self.admit_time, self.workload.name)


@dataclass(frozen=True)
class Snapshot:
    """A quota tree in use. Decisions change `usage` while they try things out, and leave it as it was."""

    tree: QuotaTree
    usage: Usage
    evicting: dict[str, list[Admitted]]
    """By queue, in victim order: what is on its way out already. It is preferred as a victim, as it costs nothing."""
    running: dict[str, list[Admitted]]
    """By queue, in victim order: the rest."""
    local_queue_usage: Mapping[str, float] = field(default_factory=dict[str, float])
    """By local queue, if admission fair sharing is on; see `local_queues.py`."""

    @contextmanager
    def without(self, gone: Sequence[Admitted]) -> Generator[None]:
        """Counts the quota of these workloads as free until the end of the block."""
        for one in gone:
            self.usage.remove(self.queue_of(one), one.usage)
        try:
            yield
        finally:
            for one in gone:
                self.usage.add(self.queue_of(one), one.usage)

    def copy(self) -> Snapshot:
        """A state of its own, of the same tree."""
        return replace(
            self,
            usage=self.usage.copy(),
            evicting={queue: list(those) for queue, those in self.evicting.items()},
            running={queue: list(those) for queue, those in self.running.items()},
        )

    def admit(self, one: Admitted) -> None:
        """Gives the workload its quota."""
        self.usage.add(self.queue_of(one), one.usage)
        insort(self._those_like(one), one, key=_victim_order)

    def dismiss(self, one: Admitted) -> None:
        """Takes back what `admit` did."""
        self.usage.remove(self.queue_of(one), one.usage)
        self._those_like(one).remove(one)

    def evict(self, one: Admitted) -> None:
        """Marks the workload as on its way out; it still holds its quota. Nothing changes if it was already."""
        if not one.is_evicting:
            self._those_like(one).remove(one)
            leaving = replace(one, is_evicting=True)
            insort(self._those_like(leaving), leaving, key=_victim_order)

    def holds_quota(self, workload: Workload) -> bool:
        """True if the workload has not stopped yet."""
        those = (by_queue.get(workload.queue, ()) for by_queue in (self.evicting, self.running))
        return any(one.workload.name == workload.name for one in chain.from_iterable(those))

    def queue_of(self, admitted: Admitted) -> QuotaNode:
        """The node of the queue that a workload holds quota in."""
        return self.tree.queues[admitted.workload.queue]

    def _those_like(self, one: Admitted) -> list[Admitted]:
        return (self.evicting if one.is_evicting else self.running).setdefault(one.workload.queue, [])


def snapshot_of(
    tree: QuotaTree, admitted: Iterable[Admitted], local_queue_usage: Mapping[str, float] | None = None
) -> Snapshot:
    """The snapshot in which these workloads hold quota. Raises KeyError if the tree has no queue of a workload."""
    snapshot = Snapshot(tree, Usage(tree), {}, {}, local_queue_usage or {})
    for one in admitted:
        snapshot.admit(one)
    return snapshot


def _victim_order(one: Admitted) -> tuple[int, timedelta, str]:
    return one.victim_order
