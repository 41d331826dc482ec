"""All runs of this executor: begins them, finds them again, ends them, and forgets them later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from hipcpu.build_folder import ToolchainError
from servicekit import logging
from servicekit.clock import Clock
from servicekit.request_id import set_request_id
from services.executor import metrics
from services.executor.core.model.run_events import verdict_of
from services.executor.judges.pool import JudgePool
from services.executor.leases.errors import RunConflictError, UnfitError, UnknownRunError
from services.executor.runs.admission import Admission, Capacity, EndReason
from services.executor.runs.execution import Execution
from services.executor.runs.health_check import HealthCheck
from services.executor.runs.run import Run, RunSpec

log = logging.get_logger(__name__)


class Runs:
    """All runs. They live on one event loop."""

    def __init__(
        self,
        judges: JudgePool,
        health_check: HealthCheck,
        clock: Clock,
        admission: Admission,
        prepare: Callable[[], None],
    ) -> None:
        """`prepare` is what runs wait for, and sessions do not; it raises ToolchainError."""
        self._prepare = prepare
        self._judges = judges
        self._health_check = health_check
        self._clock = clock
        self._admission = admission
        self._executions: dict[str, Execution] = {}

    @property
    def capacity(self) -> Capacity:
        """How many runs there may be at once."""
        return self._admission.capacity

    @property
    def unfit_reason(self) -> str:
        """Reason why the machine takes no more runs; empty while it takes them."""
        return self._health_check.unfit_reason

    @property
    def in_flight(self) -> list[Execution]:
        """The runs that are not over."""
        return [execution for execution in self._executions.values() if not execution.is_over]

    async def begin_or_attach(self, spec: RunSpec, after_seq: int) -> Run:
        """Return the run with this id; begins it if it is new and `after_seq` is 0.

        Raises RunConflictError, UnknownRunError, StaleLeaseError, NoSlotError, NoRoomError, DrainingError, UnfitError.
        """
        if spec.run_id not in self._executions:
            await self._admission.settle()
            try:
                await asyncio.to_thread(self._prepare)
            except ToolchainError as error:
                raise UnfitError(str(error)) from error
        async with self._admission.turn:
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
        execution.lease.check_token(fencing_token)
        execution.renew(expire_time)

    def start(self) -> None:
        """Prepare judges for the first runs, and check the devices."""
        self._judges.refill()
        self._health_check.start(range(sum(self.capacity.device_counts)))

    def drain(self) -> None:
        """Begin no more runs."""
        self._admission.is_draining = True

    async def close(self) -> None:
        """End all runs and wait until nothing is left of them."""
        await self._admission.close()
        await self._health_check.close()
        await self._judges.close()

    async def _begin(self, spec: RunSpec) -> Run:
        place = await self._admission.place_for(spec.lease)
        execution = Execution(Run(spec, self._clock), self._judges, self._clock, place)
        self._executions[spec.run_id] = execution
        self._admission.enter(execution, self._carry_out(execution))
        return execution.run

    async def _carry_out(self, execution: Execution) -> None:
        spec = execution.run.spec
        if spec.request_id:
            set_request_id(spec.request_id)
        log.info("run begins", extra={"run_id": spec.run_id, "problem": spec.job.problem, "mode": spec.job.mode})
        with metrics.runs_in_flight.track_inprogress(), metrics.run_seconds.labels(spec.job.mode).time():
            await execution.carry_out()
        is_draining = self._admission.is_draining
        if finished := execution.run.finished:
            verdict = verdict_of(finished)
            metrics.runs.labels(spec.job.mode, verdict).inc()
            log.info("run ends", extra={"run_id": spec.run_id, "verdict": verdict, "reason": finished.reason})
            if not is_draining:
                self._health_check.after(verdict, execution.place.devices, leaves_processes=execution.leaves_processes)
        if not is_draining and not self.in_flight:
            self._judges.refill()

    def _known(self, run_id: str) -> Execution:
        execution = self._executions.get(run_id)
        if execution is None:
            raise UnknownRunError(run_id)
        return execution

    def _forget(self) -> None:
        ends = {run_id: end for run_id, e in self._executions.items() if (end := e.run.finish_time) is not None}
        for run_id in self.capacity.outdated(ends, self._clock.now()):
            del self._executions[run_id]


def _attached(known: Execution, spec: RunSpec) -> Run:
    if spec.job != known.run.spec.job:
        raise RunConflictError(spec.run_id)
    known.lease.check_token(spec.lease.fencing_token)
    known.renew(spec.lease.expire_time)
    return known.run
