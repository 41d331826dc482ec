"""Reports to the pool how much work waits, so that it starts machines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.scheduler.peers.pool import WorkKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.scheduler.peers.pool import Pool
    from services.scheduler.queue.waiting import WaitingJobs

log = get_logger(__name__)

# The pool may forget it when it restarts.
REPEAT_SECONDS = 5.0


class DemandReporter:
    """Reports changed demand at once, and unchanged demand from time to time."""

    def __init__(self, pool: Pool, waiting: WaitingJobs) -> None:
        self._pool = pool
        self._waiting = waiting
        self._reported: dict[tuple[str, ...], int] = {}
        self._reported_at = 0.0
        self.blocked: Mapping[tuple[str, ...], str] = {}
        """Reasons for blocked demand, by the GPU types that a job may run on, as the pool last gave them; a reason also
        names the next step. Empty if demand is met."""

    async def report(self) -> None:
        """Reports to the pool if there is news; raises PoolError."""
        demand = self._waiting.jobs_by_gpu_types()
        stale = bool(demand) and time.monotonic() - self._reported_at >= REPEAT_SECONDS
        if demand == self._reported and not stale:
            return
        by_kind = await self._pool.report_demand({WorkKind(gpu_types): jobs for gpu_types, jobs in demand.items()})
        blocked = {gpu_types: reason for (gpu_types, _), reason in by_kind.items()}
        self._reported, self._reported_at = demand, time.monotonic()
        if blocked != self.blocked:
            log.info(
                "demand is blocked" if blocked else "demand is met",
                extra={"reasons": {"/".join(gpu_types): reason for gpu_types, reason in blocked.items()}},
            )
            self.blocked = blocked
