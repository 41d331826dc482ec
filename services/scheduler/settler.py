"""Ends a job that is SETTLING: its charge, its lease, its last event."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.scheduler import metrics, payloads
from services.scheduler.errors import BillingUnreachableError
from services.scheduler.job import JobState
from services.scheduler.pool import LeaseGoneError, PoolRefusalError, PoolUnreachableError

if TYPE_CHECKING:
    from servicekit.clock import Clock
    from services.scheduler.billing import Billing
    from services.scheduler.forecast import Forecast
    from services.scheduler.job import Job
    from services.scheduler.pool import Pool
    from services.scheduler.spec import Lease
    from services.scheduler.store.job_store import JobStore

log = get_logger(__name__)

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 5.0
# A lease that cannot be given back ends by itself.
RELEASE_SECONDS = 3.0


class Settler:
    """Both settlements are idempotent, so a settler that died is followed by another that does all of it again."""

    def __init__(self, store: JobStore, billing: Billing, pool: Pool, forecast: Forecast, clock: Clock) -> None:
        self._store = store
        self._billing = billing
        self._pool = pool
        self._forecast = forecast
        self._clock = clock

    async def settle(self, job: Job) -> Job:
        """Settle charge and lease, and end the job; tries until billing answers."""
        charged_micros, _ = await asyncio.gather(self._charge(job), self.release(job.lease))
        over = job.finish(charged_micros, self._clock.now())
        over = await self._store.move(job, over, [payloads.ended(over)], self._clock.now())
        metrics.jobs_ended.labels(over.state, over.verdict).inc()
        if over.state is JobState.FINISHED and over.start_time and over.end_time:
            run_time = over.end_time - over.start_time
            self._forecast.remember([run_time])
            metrics.run_seconds.observe(run_time.total_seconds())
        return over

    async def release(self, lease: Lease | None, *, machine_suspect: bool = False, reason: str = "") -> None:
        """Give a lease back, if vmpool can be reached soon."""
        if lease is None:
            return
        with suppress(TimeoutError, LeaseGoneError):
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._release(lease, machine_suspect=machine_suspect, reason=reason)

    async def _release(self, lease: Lease, *, machine_suspect: bool, reason: str) -> None:
        while True:
            try:
                return await self._pool.release(lease.lease_id, machine_suspect=machine_suspect, reason=reason)
            except PoolUnreachableError:
                await asyncio.sleep(FIRST_PAUSE_SECONDS)
            except PoolRefusalError:
                log.exception("vmpool refuses to take a lease back", extra={"lease_id": lease.lease_id})
                return None

    async def _charge(self, job: Job) -> int:
        pause = FIRST_PAUSE_SECONDS
        while job.hold_id is not None:
            try:
                return await self._billing.settle(job, job.hold_id, job.cost_micros)
            except BillingUnreachableError:
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        return 0
