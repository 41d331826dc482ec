"""Gives waiting jobs their machines, in order, as soon as something changes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from servicekit.request_id import set_request_id
from services.scheduler import metrics
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import WAITING_STATES, Job, JobState
from services.scheduler.jobs.outcome import Ending
from services.scheduler.peers.pool import (
    JobHasLeaseError,
    PoolBusyError,
    PoolError,
    PoolRefusalError,
)
from services.scheduler.queue.placement import WHOLE_GPU_EIGHTHS, machine_for, machine_with_torch
from services.scheduler.queue.provisioning import placed_payload, start_kind_name
from services.scheduler.wire import payloads
from vocabulary.verdicts import INFRA_ERROR

if TYPE_CHECKING:
    from datetime import timedelta

    from servicekit.clock import Clock
    from services.scheduler.peers.pool import Placed, Pool
    from services.scheduler.queue.demand import DemandReporter
    from services.scheduler.queue.inventory import Inventory
    from services.scheduler.queue.provisioning import ProvisioningReporter
    from services.scheduler.queue.waiting import WaitingJobs
    from services.scheduler.runs.job_runner import JobRunner
    from services.scheduler.store.job_store import JobStore

log = get_logger(__name__)


class Dispatcher:
    """The loop that places waiting jobs.

    A lease is acquired before the row records it. A lease that no row records is acquired again by the same job and
    attempt, or expires.
    """

    name = "dispatcher"

    def __init__(
        self,
        store: JobStore,
        pool: Pool,
        waiting: WaitingJobs,
        inventory: Inventory,
        runner: JobRunner,
        demand: DemandReporter,
        provisioning: ProvisioningReporter,
        clock: Clock,
        lease_duration: timedelta,
    ) -> None:
        self._store = store
        self._pool = pool
        self._waiting = waiting
        self._inventory = inventory
        self._runner = runner
        self._demand = demand
        self._provisioning = provisioning
        self._clock = clock
        self._lease_duration = lease_duration

    async def run_once(self) -> None:
        """Places the jobs that can be placed, reports the rest to the pool, and tells those who wait for a machine."""
        try:
            await self._place_all()
            await self._demand.report()
        except PoolError as error:
            log.warning("vmpool does not answer as it should", extra={"reason": str(error)})
        await self._provisioning.report(self._demand.blocked)

    async def _place_all(self) -> None:
        full: set[str] = set()
        for job in self._waiting.in_order():
            # A job that finds no machine holds up the jobs behind it that can take no other GPU type.
            if not full.issuperset(job.spec.gpu_types) and not await self._place(job):
                full.update(job.spec.gpu_types)

    async def _place(self, job: Job) -> bool:
        set_request_id(job.request_id)
        with_torch = machine_with_torch(job, self._inventory.offers()) if job.has_definition else None
        try:
            placed = await self._acquire(job, with_torch)
        except PoolBusyError:
            # A job that waits for a machine with torch does not hold up the jobs behind it.
            return with_torch is not None
        except JobHasLeaseError:
            # The lease has expired, and its run may still be ending; the pool reports when it is over.
            return True
        except PoolRefusalError as error:
            await self._refuse(job, str(error))
            return True
        await self._start(job, placed)
        return True

    async def _acquire(self, job: Job, with_torch: str | None) -> Placed:
        machine_id = with_torch or machine_for(job, self._inventory.offers())
        if machine_id:
            # The offer may be out of date, or a lease from before a restart may be on another machine. A job that needs
            # torch takes no other machine.
            with suppress(JobHasLeaseError, *([] if with_torch else [PoolBusyError])):
                return await self._pool.acquire(job, machine_id, WHOLE_GPU_EIGHTHS, self._lease_duration)
        return await self._pool.acquire(job, None, WHOLE_GPU_EIGHTHS, self._lease_duration)

    async def _start(self, job: Job, placed: Placed) -> None:
        now = self._clock.now()
        started = job.start(placed.lease, now, placed.machine.gpu_type)
        try:
            started = await self._store.move(job, started, [placed_payload(placed, job.spec.gpu_type)], now)
        except StaleJobError:
            await self._give_back(job, placed)
            return
        self._waiting.remove(job.job_id)
        self._runner.run(started)
        if job.attempt == 1:
            start = start_kind_name(placed.start_kind)
            metrics.queue_seconds.labels(start).observe((now - job.create_time).total_seconds())

    async def _refuse(self, job: Job, reason: str) -> None:
        message = f"No machine can run this: {reason}"
        outcome = payloads.outcome(Ending(JobState.FAILED, INFRA_ERROR, message), reason)
        try:
            settling = await self._store.move(job, job.settle(outcome), [], self._clock.now())
        except StaleJobError:
            await self._look_again(job)
            return
        self._waiting.remove(job.job_id)
        self._runner.run(settling)

    async def _give_back(self, job: Job, placed: Placed) -> None:
        row = await self._look_again(job)
        # The pool gives one lease to one attempt: if the row has it already, it is in use.
        if row is None or row.lease is None or row.lease.lease_id != placed.lease.lease_id:
            with suppress(PoolError):
                await self._pool.release(placed.lease.lease_id, reason="the job did not wait for it")

    async def _look_again(self, job: Job) -> Job | None:
        row = await self._store.get(job.job_id)
        if row and row.state in WAITING_STATES:
            self._waiting.put(row)
        else:
            self._waiting.remove(job.job_id)
        return row
