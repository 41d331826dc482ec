"""The workloads that wait in a queue, and which of them is next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.scheduler.fairness.kueue.snapshot import Workload


class Waiting:
    """The workloads of one queue: the highest priority first, then the oldest, then by name. False if none is left.

    With admission fair sharing, that is so within each local queue, and the local queue that used least goes first.
    """

    def __init__(self, workloads: Iterable[Workload]) -> None:
        self._by_local_queue: dict[str, list[Workload]] = {}
        for workload in sorted(workloads, key=_rank, reverse=True):
            self._by_local_queue.setdefault(workload.local_queue, []).append(workload)

    def __bool__(self) -> bool:
        return bool(self._by_local_queue)

    def head(self, local_queue_usage: Mapping[str, float]) -> Workload:
        """The next one. Raises ValueError if none is left. Without any usage, local queues make no difference."""
        heads = (rest[-1] for rest in self._by_local_queue.values())
        return min(heads, key=lambda one: (local_queue_usage.get(one.local_queue, 0), _rank(one)))

    def remove(self, head: Workload) -> None:
        """Takes out a workload that `head` returned."""
        rest = self._by_local_queue[head.local_queue]
        rest.pop()
        if not rest:
            del self._by_local_queue[head.local_queue]


def _rank(workload: Workload) -> tuple[int, float, str]:
    return (-workload.priority, workload.create_time.timestamp(), workload.name)
