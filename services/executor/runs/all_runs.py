"""All runs of this executor: begins them in free slots, finds them again, ends them, and forgets them later."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from servicekit import logging
from servicekit.request_id import set_request_id
from services.executor import metrics
from services.executor.core.model.run_events import verdict_of
from services.executor.leases.errors import (
    DrainingError,
    NoRoomError,
    NoSlotError,
    RunConflictError,
    StaleLeaseError,
    UnfitError,
    UnknownRunError,
)
from services.executor.leases.fence import Fence
from services.executor.leases.slot import devices_of, free_place, overlap, part_of_device
from services.executor.runs.execution import EndReason, Execution, Place
from services.executor.runs.run import Run
from vocabulary.slots import EIGHTHS_PER_GPU

if TYPE_CHECKING:
    from datetime import datetime

    from servicekit.clock import Clock
    from services.executor.judges.pool import JudgePool
    from services.executor.leases.fence_file import FenceFile
    from services.executor.runs.health_check import HealthCheck
    from services.executor.runs.run import RunSpec

log = logging.get_logger(__name__)


@dataclass(frozen=True)
class Capacity:
    """Maximum number of runs at once, and of finished runs that are kept for clients that come back."""

    max_runs: int = 1
    device_counts: tuple[int, ...] = (1,)
    """Number of devices of each GPU: 1, or more if it is partitioned."""
    kept_finished: int = 64
    keep_duration: timedelta = timedelta(minutes=10)

    @property
    def gpu_count(self) -> int:
        """Number of GPUs that can be leased."""
        return len(self.device_counts)

    @property
    def eighths(self) -> int:
        """Number of eighths of the whole machine."""
        return self.gpu_count * EIGHTHS_PER_GPU

    @property
    def runs_per_device(self) -> int:
        """Number of runs that may share a device."""
        return max(1, self.max_runs // sum(self.device_counts))


class Runs:
    """All runs. They live on one event loop, and a lock guards steps that must not interleave."""

    def __init__(
        self, judges: JudgePool, health_check: HealthCheck, clock: Clock, capacity: Capacity, fence_file: FenceFile
    ) -> None:
        self.capacity = capacity
        self._judges = judges
        self._health_check = health_check
        self._clock = clock
        self._fence_file = fence_file
        self._fence = Fence(capacity.eighths, fence_file.read())
        self._executions: dict[str, Execution] = {}
        self._tasks: dict[asyncio.Task[None], Execution] = {}
        self._beginning = asyncio.Lock()
        self._draining = False

    @property
    def unfit_reason(self) -> str:
        """Reason why the machine takes no more runs; empty while it takes them."""
        return self._health_check.unfit_reason

    @property
    def in_flight(self) -> list[Execution]:
        """The runs that are not over."""
        return [execution for execution in self._executions.values() if not execution.run.is_finished]

    async def begin_or_attach(self, spec: RunSpec, after_seq: int) -> Run:
        """Return the run with this id; begins it if it is new and `after_seq` is 0.

        Raises RunConflictError, UnknownRunError, StaleLeaseError, NoSlotError, NoRoomError, DrainingError, UnfitError.
        """
        if spec.run_id not in self._executions:
            await self._settle()
        async with self._beginning:
            self._forget()
            known = self._executions.get(spec.run_id)
            if known is not None:
                return _attached(known, spec)
            if after_seq > 0:
                raise UnknownRunError(spec.run_id)
            return await self._begin(spec)

    def cancel(self, run_id: str) -> None:
        """End a run, if it is not over yet. Raises UnknownRunError."""
        self._known(run_id).end(EndReason.CANCELLED)

    def renew(self, run_id: str, fencing_token: int, expire_time: datetime) -> None:
        """Move the end of a run's lease; raises UnknownRunError, StaleLeaseError."""
        execution = self._known(run_id)
        _check_token(execution, fencing_token)
        execution.renew(expire_time)

    def start(self) -> None:
        """Prepare judges for the first runs, and check the devices."""
        self._judges.refill()
        self._health_check.start(range(sum(self.capacity.device_counts)))

    def drain(self) -> None:
        """Begin no more runs."""
        self._draining = True

    def end_all(self, reason: EndReason) -> None:
        """End every run in flight."""
        for execution in self.in_flight:
            execution.end(reason)

    async def close(self) -> None:
        """End all runs and wait until nothing is left of them."""
        self.drain()
        self.end_all(EndReason.EXECUTOR_STOPPED)
        await asyncio.gather(*self._tasks)
        await self._health_check.close()
        await self._judges.close()

    async def _settle(self) -> None:
        """Wait until nothing is left of finished runs and the health check after them is done."""
        if leaving := [task for task, execution in self._tasks.items() if execution.run.is_finished]:
            await asyncio.wait(leaving)
        await self._health_check.settle()

    async def _begin(self, spec: RunSpec) -> Run:
        if self._draining:
            raise DrainingError
        if self._health_check.unfit_reason:
            raise UnfitError(self._health_check.unfit_reason)
        if self._health_check.lacks_room:
            raise NoRoomError
        spec.lease.check_alive(self._clock.now())
        self._admit(spec)
        await self._end_superseded(spec)
        place = self._place(spec)
        execution = Execution(Run(spec, self._clock), self._judges, self._clock, place)
        self._executions[spec.run_id] = execution
        task = asyncio.create_task(self._carry_out(execution))
        self._tasks[task] = execution
        task.add_done_callback(self._tasks.pop)
        return execution.run

    async def _end_superseded(self, spec: RunSpec) -> None:
        """End runs of older leases on the same eighths: a newer lease means that they are over."""
        older = [execution for execution in self.in_flight if execution.lease.is_superseded_by(spec.lease)]
        for execution in older:
            execution.end(EndReason.LEASE_PASSED_ON)
        await asyncio.gather(*(execution.run.wait() for execution in older))

    def _admit(self, spec: RunSpec) -> None:
        before = self._fence.newest
        self._fence.admit(spec.lease)
        if self._fence.newest != before:
            self._fence_file.write(self._fence.newest)

    def _place(self, spec: RunSpec) -> Place:
        """Return the run's place: its lease's slots, or a free one if the lease names none."""
        in_flight, lease = self.in_flight, spec.lease
        taken = [slot for execution in in_flight for slot in execution.place.slots]
        free = free_place(lease.eighths, self.capacity.eighths, taken)
        slots = lease.slots or ((free,) if free else ())
        if not slots or overlap(slots, taken) or len(in_flight) >= self.capacity.max_runs:
            raise NoSlotError(len(in_flight))
        devices = devices_of(slots, self.capacity.device_counts)
        sharing = sum(not set(devices).isdisjoint(execution.place.devices) for execution in in_flight)
        if sharing >= self.capacity.runs_per_device:
            raise NoSlotError(len(in_flight))
        return Place(slots, devices, part_of_device(slots, self.capacity.device_counts))

    async def _carry_out(self, execution: Execution) -> None:
        spec = execution.run.spec
        if spec.request_id:
            set_request_id(spec.request_id)
        log.info("run begins", extra={"run_id": spec.run_id, "problem": spec.job.problem, "mode": spec.job.mode})
        with metrics.runs_in_flight.track_inprogress(), metrics.run_seconds.labels(spec.job.mode).time():
            await execution.carry_out()
        if finished := execution.run.finished:
            verdict = verdict_of(finished)
            metrics.runs.labels(spec.job.mode, verdict).inc()
            log.info("run ends", extra={"run_id": spec.run_id, "verdict": verdict, "reason": finished.reason})
            if not self._draining:
                self._health_check.after(verdict, execution.place.devices, leaves_processes=execution.leaves_processes)
        if not self._draining and not self.in_flight:
            self._judges.refill()

    def _known(self, run_id: str) -> Execution:
        execution = self._executions.get(run_id)
        if execution is None:
            raise UnknownRunError(run_id)
        return execution

    def _forget(self) -> None:
        finished = [(end, run_id) for run_id, e in self._executions.items() if (end := e.run.finish_time) is not None]
        oldest_kept = self._clock.now() - self.capacity.keep_duration
        surplus = len(finished) - self.capacity.kept_finished
        for place, (end, run_id) in enumerate(sorted(finished)):
            if end < oldest_kept or place < surplus:
                del self._executions[run_id]


def _attached(known: Execution, spec: RunSpec) -> Run:
    if spec.job != known.run.spec.job:
        raise RunConflictError(spec.run_id)
    _check_token(known, spec.lease.fencing_token)
    known.renew(spec.lease.expire_time)
    return known.run


def _check_token(known: Execution, fencing_token: int) -> None:
    """Check the caller's token against the run's. The administrator (token 0) may use any run."""
    if 0 < fencing_token < known.lease.fencing_token:
        raise StaleLeaseError(f"its fencing token is {fencing_token}, the run's is {known.lease.fencing_token}")
