"""Watches the queue and what has ended lately."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from services.scheduler import metrics
from services.scheduler.jobs.problem_runs import slowdowns
from services.scheduler.jobs.queue_state import QueueState, WaitingJob, queue_readings, queue_states
from services.scheduler.queue.waiting import lane_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from servicekit.clock import Clock
    from services.scheduler.jobs.queue_state import EndCounts
    from services.scheduler.queue.demand import DemandReporter
    from services.scheduler.queue.inventory import Inventory
    from services.scheduler.queue.running import RunningJobs
    from services.scheduler.queue.waiting import Lane, WaitingJobs
    from services.scheduler.store.attempt_reader import AttemptReader
    from vocabulary.readings import Reading

COMPARED = timedelta(days=7)
"""Runs are compared with those of this time before them."""


class QueueMonitor:
    """Says from memory what waits and runs. What has ended is read from the rows with each pass of the readings."""

    def __init__(
        self,
        waiting: WaitingJobs,
        inventory: Inventory,
        demand: DemandReporter,
        running: RunningJobs,
        attempts: AttemptReader,
        clock: Clock,
        window: timedelta,
    ) -> None:
        self._waiting = waiting
        self._inventory = inventory
        self._demand = demand
        self._running = running
        self._attempts = attempts
        self._clock = clock
        self.window = window
        self._ended: Sequence[EndCounts] = ()

    def states(self) -> list[QueueState]:
        """What waits and runs now, and what had ended in the window at the last pass of the readings."""
        running = [(job.spec.queue, job.machine_gpu_type) for job in self._running.jobs()]
        return queue_states(self._waiting_jobs(), running, self._ended)

    async def readings(self) -> list[Reading]:
        """Everything that alerts are made from, now."""
        now = self._clock.now()
        self._ended = await self._attempts.end_counts(now - self.window)
        runs = await self._attempts.runs_by_problem(now - COMPARED, now - self.window)
        states = self.states()
        metrics.show_queues(states)
        return queue_readings(states, slowdowns(runs))

    def _waiting_jobs(self) -> Iterator[WaitingJob]:
        now = self._clock.now()
        reasons = {lane: self._stuck_because(lane) for lane in self._waiting.lanes()}
        for job in self._waiting.jobs():
            spec = job.spec
            waits = (now - job.create_time).total_seconds()
            yield WaitingJob((spec.queue, spec.gpu_type), waits, reasons[lane_of(job)])

    def _stuck_because(self, lane: Lane) -> str:
        """Why such jobs will not be served; empty if a machine that is there can do it."""
        suits = self._inventory.suits(lane.resources, lane.gpu_types, lane.own_job_id, self._waiting)
        return "" if suits else self._demand.blocked(lane)
