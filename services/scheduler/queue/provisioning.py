"""Tells waiting jobs which machine is being started for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC

from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2
from wavepool.vmpool.v1.vmpool_pb2 import MachineEvent

from servicekit.clock import Clock, short_id
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.pool import Placed
from services.scheduler.queue.demand import DemandReporter
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.placement import MachineStage, awaited_machines
from services.scheduler.queue.waiting import WaitingJobs, lane_of
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads

STATE_PREFIX = "MACHINE_STATE_"
REPORTED_AT_ONCE = 50
"""Number of jobs, from the front of the queue, that are told why no machine starts. The same reason usually applies to
the jobs behind them."""

_NUMBER = re.compile(r"(?<![\d:])\d+(?![\d:])")
"""Matches a number that is not part of a time of day."""


class ProvisioningReporter:
    """Writes an event for each step of the machine that a job waits for, and moves the job accordingly."""

    def __init__(
        self,
        store: JobStore,
        waiting: WaitingJobs,
        inventory: Inventory,
        demand: DemandReporter,
        forecast: Forecast,
        clock: Clock,
    ) -> None:
        self._store = store
        self._demand = demand
        self._waiting = waiting
        self._inventory = inventory
        self._forecast = forecast
        self._clock = clock
        self._reported: dict[str, MachineEvent] = {}
        self._reported_blocked: dict[str, str] = {}

    async def report(self) -> None:
        """Tells every job its news since the last call."""
        in_order = self._told()
        awaited = awaited_machines(in_order, self._inventory.offers(), self._waiting, self._inventory.can_have)
        events = {job_id: self._inventory.event_of(offer.machine_id) for job_id, offer in awaited.items()}
        reported, self._reported = self._reported, events
        for job in in_order:
            event, last = events.get(job.job_id), reported.get(job.job_id)
            if event and (last is None or last.seq != event.seq):
                await self._tell(job, event, last)
            elif event is None and job.state is JobState.PROVISIONING and not self._has_become_ready(last):
                await self._requeue(job, last)
        await self._tell_blocked([job for job in in_order if job.job_id not in events])

    def _has_become_ready(self, last: MachineEvent | None) -> bool:
        """True if the machine of the last report is ready since: the next pass says who gets it."""
        machine_id = last.machine.machine_id if last else ""
        return any(
            offer.machine_id == machine_id and offer.stage is MachineStage.READY for offer in self._inventory.offers()
        )

    def _told(self) -> list[Job]:
        """The jobs that may have news: the first ones, and those that were told of a machine before."""
        first = self._waiting.in_turn(REPORTED_AT_ONCE + self._inventory.starting_gpus())
        ids = {job.job_id for job in first}
        told = (self._waiting.get(job_id) for job_id in self._reported if job_id not in ids)
        return [*first, *(job for job in told if job)]

    async def _tell(self, job: Job, event: MachineEvent, last: MachineEvent | None) -> None:
        machine_id = event.machine.machine_id
        known = last is not None and last.machine.machine_id == machine_id
        # Only the machine's request says why no other machine starts, whatever step this one has reached.
        why = "" if known else self._inventory.request_reason(machine_id)
        after = job.provision() if job.state is JobState.QUEUED else job
        await self._move(job, after, payloads.provisioning(_starting(event, why)))

    async def _requeue(self, job: Job, last: MachineEvent | None) -> None:
        reason = self._inventory.end_reason(last.machine.machine_id) if last else ""
        why = f" ({reason})" if reason else ""
        message = f"No machine is being started for this job any more{why}; it waits for the next that is free."
        await self._queued(job, job.requeue(), message)

    async def _tell_blocked(self, unserved: Sequence[Job]) -> None:
        """Tells jobs that no existing machine could take why none starts, once for each reason.

        A changed number is not a new reason, because numbers count down. A changed time of day is one: it says when the
        next try is.
        """
        heard, self._reported_blocked = self._reported_blocked, {}
        reasons = ((job, self._demand.blocked(lane_of(job))) for job in unserved)
        reported = [(job, reason) for job, reason in reasons if reason and self._may_hear(job)]
        for job, reason in reported[:REPORTED_AT_ONCE]:
            self._reported_blocked[job.job_id] = _NUMBER.sub("#", reason)
            if heard.get(job.job_id) != self._reported_blocked[job.job_id]:
                await self._queued(job, job, f"Waiting for a machine: {reason}")

    def _may_hear(self, job: Job) -> bool:
        spec = job.spec
        # That there is one machine does not help who takes several.
        return job.state is JobState.QUEUED and (
            spec.machines > 1
            or not self._inventory.suits(spec.resources, spec.gpu_types, job.own_job_id, self._waiting)
        )

    async def _queued(self, job: Job, after: Job, message: str) -> None:
        standing = self._forecast.standing(job)
        await self._move(job, after, payloads.queued(standing.position, standing.wait, message))

    async def _move(self, job: Job, after: Job, payload: bytes) -> None:
        try:
            self._waiting.put(await self._store.move(job, after, [payload], self._clock.now()))
        except StaleJobError:
            # Cancelled in the meantime; the canceller takes it off the queue.
            return


def placed_payload(placed: Placed, wanted_gpu_type: str) -> bytes:
    """Event for a job that has got its machine."""
    machine = placed.machine
    instead = f", {machine.gpu_type} in place of {wanted_gpu_type}" if machine.gpu_type != wanted_gpu_type else ""
    cold = placed.start_kind == vmpool_pb2.START_KIND_COLD_START
    event = scheduler_pb2.Provisioning(
        start_kind=placed.start_kind,
        stage="ready",
        machine=machine,
        message=f"{'Started' if cold else 'Reusing warm'} machine {short_id(machine.machine_id)}{instead}",
    )
    if cold and machine.HasField("create_time") and machine.HasField("ready_time"):
        event.elapsed.FromTimedelta(machine.ready_time.ToDatetime(UTC) - machine.create_time.ToDatetime(UTC))
    return payloads.provisioning(event)


def start_kind_name(kind: vmpool_pb2.StartKind.ValueType) -> str:
    """Label for metrics: `cold` or `warm`."""
    return "cold" if kind == vmpool_pb2.START_KIND_COLD_START else "warm"


def _starting(event: MachineEvent, why: str) -> scheduler_pb2.Provisioning:
    state = vmpool_pb2.MachineState.Name(event.machine.state).removeprefix(STATE_PREFIX).lower()
    stage = event.provider_stage or state
    return scheduler_pb2.Provisioning(
        start_kind=vmpool_pb2.START_KIND_COLD_START,
        stage=stage,
        elapsed=event.elapsed if event.HasField("elapsed") else None,
        estimate=event.estimate if event.HasField("estimate") else None,
        estimate_p90=event.estimate_p90 if event.HasField("estimate_p90") else None,
        start_limit=event.start_limit if event.HasField("start_limit") else None,
        machine=event.machine,
        message=f"Starting a machine: {why or event.provider_stage or event.machine.reason or state}",
    )
