"""The workloads that wait in a queue, and which of them is next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush

from services.scheduler.fairness.kueue.snapshot import Workload

_Rank = tuple[int, float, str]


class Waiting:
    """The workloads of one queue: the highest priority first, then the oldest, then by name. False if none is left.

    With admission fair sharing, that is so within each local queue, and the local queue that used least goes first.
    """

    def __init__(self, workloads: Iterable[Workload]) -> None:
        self._by_local_queue: dict[str, list[tuple[_Rank, int, Workload]]] = {}
        self._added = 0
        for workload in workloads:
            self.add(workload)

    def __bool__(self) -> bool:
        return bool(self._by_local_queue)

    def add(self, workload: Workload) -> None:
        """Puts in one more."""
        self._added += 1
        heap = self._by_local_queue.setdefault(workload.local_queue, [])
        heappush(heap, ((-workload.priority, workload.create_time.timestamp(), workload.name), self._added, workload))

    def head(self, local_queue_usage: Mapping[str, float]) -> Workload:
        """The next one. Raises ValueError if none is left. Without any usage, local queues make no difference."""
        if len(self._by_local_queue) == 1:
            return next(iter(self._by_local_queue.values()))[0][2]
        heads = (heap[0] for heap in self._by_local_queue.values())
        return min(heads, key=lambda head: (local_queue_usage.get(head[2].local_queue, 0), head[:2]))[2]

    def remove(self, head: Workload) -> None:
        """Takes out a workload that `head` returned."""
        heap = self._by_local_queue[head.local_queue]
        heappop(heap)
        if not heap:
            del self._by_local_queue[head.local_queue]
