"""What a job hears of the machine that is started for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.clock import ManualClock
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import JobState
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, ranked_by
from services.scheduler.queue.provisioning import ProvisioningReporter
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.waiting import WaitingJobs
from tests.services.scheduler.jobs import START, a_queued_job


class Moves:
    """A store that takes every move."""

    async def move(self, before: Job, after: Job, payloads: Sequence[bytes], now: datetime) -> Job:
        del before, payloads, now
        return after


async def test_a_job_whose_machine_is_ready_goes_back_to_the_queue_only_if_a_pass_does_not_start_it() -> None:
    waiting, inventory, clock = WaitingJobs(ranked_by(Age(timedelta(seconds=1)))), Inventory(), ManualClock(START)
    demand: Any = SimpleNamespace(blocked=lambda lane: "")
    forecast = Forecast(waiting, RunningJobs(), inventory, clock)
    reporter = ProvisioningReporter(cast("Any", Moves()), waiting, inventory, demand, forecast, clock)

    async def state_after(machine: vmpool_pb2.MachineState.ValueType, seq: int) -> JobState:
        event = vmpool_pb2.MachineEvent(
            seq=seq, machine=vmpool_pb2.Machine(machine_id="machine-1", gpu_type="MI300X", state=machine, gpu_count=1)
        )
        event.machine.create_time.FromDatetime(START)
        inventory.apply(event)
        await reporter.report()
        (job,) = waiting.jobs()
        return job.state

    waiting.put(a_queued_job())
    assert await state_after(vmpool_pb2.MACHINE_STATE_STARTING, 1) is JobState.PROVISIONING
    assert await state_after(vmpool_pb2.MACHINE_STATE_WARM, 2) is JobState.PROVISIONING
    assert await state_after(vmpool_pb2.MACHINE_STATE_BUSY, 3) is JobState.QUEUED
