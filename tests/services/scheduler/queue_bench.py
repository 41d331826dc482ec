"""The queue of a scheduler in memory: what waits and runs in it, its machines, and what a pass sees of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.clock import ManualClock
from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.settings import Queues
from services.scheduler.fairness.situation import Plan
from services.scheduler.jobs.job import Job
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, ranked_by
from services.scheduler.queue.plugins import Placements, SchedulerPlugins
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.queue.waiting import WaitingJobs
from tests.services.scheduler.jobs import LEASE, START
from vocabulary.limits import LONGEST_RUN
from vocabulary.slots import Slot

NO_STORE: Any = None


def machine(number: int, state: str = "WARM", used_seconds: int = 0, **changes: Any) -> vmpool_pb2.Machine:
    at = int(START.timestamp())
    fields: dict[str, Any] = {
        "machine_id": f"machine-{number}",
        "gpu_type": "MI300X",
        "gpu_count": 1,
        "state": vmpool_pb2.MachineState.Value(f"MACHINE_STATE_{state}"),
        "free_masks": [255],
        "create_time": Timestamp(seconds=at + number),
        "last_used_time": Timestamp(seconds=at + used_seconds),
    }
    return vmpool_pb2.Machine(**(fields | changes))


class QueueBench:
    """`point` is the waiting that a point of priority is worth."""

    def __init__(
        self,
        *machines: vmpool_pb2.Machine,
        clock: ManualClock | None = None,
        queues: Queues | None = None,
        plugins: SchedulerPlugins | None = None,
        point: timedelta = timedelta(seconds=1),
    ) -> None:
        self.clock = clock or ManualClock(START)
        self.waiting, self.running, self.inventory = WaitingJobs(ranked_by(Age(point))), RunningJobs(), Inventory()
        self.book = QueueBook(NO_STORE)
        self.book.queues = queues or Queues([])
        self.dated = DatedBook(self.waiting, self.running, self.inventory, self.clock, LONGEST_RUN)
        self.placements = Placements(self.book, plugins.placements) if plugins else None
        self.situations = Situations(
            self.book,
            UsageBook(NO_STORE, timedelta(0), self.clock),
            self.waiting,
            self.running,
            self.inventory,
            self.clock,
            LONGEST_RUN,
            self.placements,
            self.dated,
        )
        for one in machines:
            self.reports(one)

    def reports(self, one: vmpool_pb2.Machine) -> None:
        """The pool says this of a machine."""
        self.inventory.apply(vmpool_pb2.MachineEvent(machine=one))

    def runs(self, job: Job, *slots: Slot, lease_id: str = "", machine_id: str = LEASE.machine_id) -> Job:
        """The job, which has started on these slots."""
        lease = replace(LEASE, lease_id=lease_id or f"lease of {job.job_id}", machine_id=machine_id, slots=slots)
        started = job.start(lease, START, "MI300X")
        self.running.put(started)
        return started

    def decided(self, gpu_type: str = "MI300X") -> Plan:
        """The plan of a look at all jobs."""
        return plan(self.situations.of(gpu_type))
