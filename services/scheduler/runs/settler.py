"""Ends a job that is SETTLING: its charge, its lease, its last event."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import TypeVar

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler import metrics
from services.scheduler.jobs.errors import BillingUnreachableError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.run_history import kind_of
from services.scheduler.jobs.spec import Lease
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.billing import Billing
from services.scheduler.peers.pool import LeaseGoneError, Pool, PoolUnreachableError
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.running import RunningJobs
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from vocabulary.backoff import Backoff, Retries

log = get_logger(__name__)

T = TypeVar("T")

BACKOFF = Backoff(first=timedelta(seconds=0.05), longest=timedelta(seconds=5))
# A job's end waits this long for its lease to be given back; then the release goes on in the background.
RELEASE_SECONDS = 1.0


class Settler:
    """Settles jobs. Charge and release are idempotent, so another settler can repeat all of a dead one's work."""

    def __init__(
        self, store: JobStore, billing: Billing, pool: Pool, running: RunningJobs, forecast: Forecast, clock: Clock
    ) -> None:
        self._store = store
        self._billing = billing
        self._pool = pool
        self._running = running
        self._forecast = forecast
        self._clock = clock
        self._releases: set[asyncio.Task[None]] = set()

    async def settle(self, job: Job) -> Job:
        """Settles charge and lease, and ends the job; retries until billing answers."""
        charged_micros, _ = await asyncio.gather(self._charge(job), self._release_all(job))
        over = job.finish(charged_micros, self._clock.now())
        over = await self._store.move(job, over, [payloads.ended(over)], self._clock.now())
        metrics.jobs_ended.labels(over.state, over.verdict).inc()
        if over.reservation:
            self._forecast.reservation_is_over(over)
        elif over.state is JobState.FINISHED and over.start_time and over.end_time:
            run_time = over.end_time - over.start_time
            self._forecast.remember([(kind_of(over), run_time)])
            metrics.run_seconds.observe(run_time.total_seconds())
        return over

    async def _release_all(self, job: Job) -> None:
        # The first one last: with it, the job is forgotten.
        for lease in reversed(job.leases):
            await self.release(lease, until_free=job.longest_lease is not None)

    async def release(
        self,
        lease: Lease | None,
        *,
        machine_suspect: bool = False,
        reason: str = "",
        unfit_reason: str = "",
        until_free: bool = False,
    ) -> None:
        """Gives a lease back; returns after RELEASE_SECONDS at most, but retries until vmpool answers.

        Without the retries, a machine whose job ended while vmpool was down would stand idle until the lease expires.
        That of a reservation lasts for days: `until_free` returns only when it is given back, so that the row names the
        lease until then, for the next process if we are killed.
        """
        if lease is None:
            return
        release = asyncio.create_task(
            self._release(lease, machine_suspect=machine_suspect, reason=reason, unfit_reason=unfit_reason)
        )
        self._releases.add(release)
        release.add_done_callback(self._releases.discard)
        await asyncio.wait({release}, timeout=None if until_free else RELEASE_SECONDS)

    async def stop(self) -> None:
        """Gives up the releases that are still in progress; those leases expire."""
        releases = list(self._releases)
        for release in releases:
            release.cancel()
        await asyncio.gather(*releases, return_exceptions=True)

    async def _release(self, lease: Lease, *, machine_suspect: bool, reason: str, unfit_reason: str) -> None:
        try:
            await _until_reached(
                lambda: self._pool.release(
                    lease.lease_id, machine_suspect=machine_suspect, reason=reason, unfit_reason=unfit_reason
                ),
                PoolUnreachableError,
            )
        except LeaseGoneError:
            return
        except Exception:
            # Nothing waits for a release that goes on in the background; the lease expires.
            log.exception("a lease could not be given back", extra={"lease_id": lease.lease_id})
        finally:
            self._running.remove(lease.lease_id)

    async def _charge(self, job: Job) -> int:
        hold_id = job.hold_id
        if hold_id is None:
            return 0
        charged = await _until_reached(lambda: self._billing.settle(job, hold_id), BillingUnreachableError)
        excess = charged - job.cost_micros
        if not job.reservation or excess <= 0:
            return charged
        why = "it was lost by our fault" if job.ending is JobState.FAILED else "it ended before we heard of it"
        await _until_reached(partial(self._billing.refund, job, hold_id, excess, why), BillingUnreachableError)
        return job.cost_micros


async def _until_reached(call: Callable[[], Awaitable[T]], unreachable: type[Exception]) -> T:
    """Gives the answer of `call`, retried after a pause for as long as it raises `unreachable`."""
    retries = Retries(BACKOFF)
    while True:
        try:
            return await call()
        except unreachable:
            await retries.wait()
