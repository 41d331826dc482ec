"""Tells waiting jobs which machine is being started for them."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from services.scheduler import payloads
from services.scheduler.errors import StaleJobError
from services.scheduler.job import Job, JobState
from services.scheduler.placement import awaited_machines

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2 import MachineEvent

    from servicekit.clock import Clock
    from services.scheduler.forecast import Forecast
    from services.scheduler.inventory import Inventory
    from services.scheduler.pool import Placed
    from services.scheduler.store.job_store import JobStore
    from services.scheduler.waiting import WaitingJobs

STATE_PREFIX = "MACHINE_STATE_"


class ProvisioningReporter:
    """Writes an event for each step of the machine that a job waits for, and moves the job accordingly."""

    def __init__(
        self, store: JobStore, waiting: WaitingJobs, inventory: Inventory, forecast: Forecast, clock: Clock
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._inventory = inventory
        self._forecast = forecast
        self._clock = clock
        self._told: dict[str, int] = {}

    async def report(self) -> None:
        """Tell every job for which there is news since the last time."""
        in_order = self._waiting.in_order()
        awaited = awaited_machines(in_order, self._inventory.offers())
        events = {job_id: self._inventory.event_of(offer.machine_id) for job_id, offer in awaited.items()}
        told, self._told = self._told, {job_id: event.seq for job_id, event in events.items()}
        for job in in_order:
            event = events.get(job.job_id)
            if event and told.get(job.job_id) != event.seq:
                await self._tell(job, event)
            elif event is None and job.state is JobState.PROVISIONING:
                await self._requeue(job)

    async def _tell(self, job: Job, event: MachineEvent) -> None:
        after = job.provision() if job.state is JobState.QUEUED else job
        await self._move(job, after, payloads.provisioning(_starting(event)))

    async def _requeue(self, job: Job) -> None:
        standing = self._forecast.standing(job)
        message = "No machine is being started for this job any more; it waits for the next that is free."
        await self._move(job, job.requeue(), payloads.queued(standing.position, standing.wait, message))

    async def _move(self, job: Job, after: Job, payload: bytes) -> None:
        try:
            self._waiting.put(await self._store.move(job, after, [payload], self._clock.now()))
        except StaleJobError:
            # Cancelled meanwhile: whoever did that takes it off the queue.
            return


def placed_payload(placed: Placed) -> bytes:
    """The job has its machine."""
    machine = placed.machine
    cold = placed.start_kind == vmpool_pb2.START_KIND_COLD_START
    event = scheduler_pb2.Provisioning(
        start_kind=placed.start_kind,
        stage="ready",
        machine=machine,
        message=f"{'Started' if cold else 'Reusing warm'} machine {machine.machine_id}",
    )
    if cold and machine.HasField("create_time") and machine.HasField("ready_time"):
        event.elapsed.FromTimedelta(machine.ready_time.ToDatetime(UTC) - machine.create_time.ToDatetime(UTC))
    return payloads.provisioning(event)


def start_kind_name(kind: vmpool_pb2.StartKind.ValueType) -> str:
    """For metrics: `cold` or `warm`."""
    return "cold" if kind == vmpool_pb2.START_KIND_COLD_START else "warm"


def _starting(event: MachineEvent) -> scheduler_pb2.Provisioning:
    state = vmpool_pb2.MachineState.Name(event.machine.state).removeprefix(STATE_PREFIX).lower()
    stage = event.provider_stage or state
    return scheduler_pb2.Provisioning(
        start_kind=vmpool_pb2.START_KIND_COLD_START,
        stage=stage,
        elapsed=event.elapsed if event.HasField("elapsed") else None,
        estimate=event.estimate if event.HasField("estimate") else None,
        machine=event.machine,
        message=f"Starting a machine: {stage}",
    )
