"""Watches the queue and what has ended lately."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from servicekit.clock import Clock
from services.scheduler import metrics
from services.scheduler.jobs.problem_runs import slowdowns
from services.scheduler.jobs.queue_state import (
    EndCounts,
    Place,
    QueueState,
    Waiters,
    queue_readings,
    queue_states,
    reservation_counts,
    reservation_readings,
)
from services.scheduler.queue.dated_book import DatedBook
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
        dated: DatedBook,
        attempts: AttemptReader,
        clock: Clock,
        window: timedelta,
    ) -> None:
        self._waiting = waiting
        self._inventory = inventory
        self._demand = demand
        self._running = running
        self._dated = dated
        self._attempts = attempts
        self._clock = clock
        self.window = window
        self._ended: Sequence[EndCounts] = ()

    def states(self) -> list[QueueState]:
        """What waits and runs now, and what had ended in the window at the last pass of the readings."""
        running = [(job.spec.queue, job.machine_gpu_type) for job in self._running.jobs()]
        return queue_states(self._waiters(), running, self._ended, self._clock.now())

    async def readings(self) -> list[Reading]:
        """Everything that alerts are made from, now."""
        now = self._clock.now()
        self._ended = await self._attempts.end_counts(now - self.window)
        runs = await self._attempts.runs_by_problem(now - COMPARED, now - self.window)
        states = self.states()
        metrics.show_queues(states)
        known = (*self._dated.pending(), *self._waiting.jobs(), *self._running.jobs())
        metrics.show_reservations(reservation_counts(known))
        return [*queue_readings(states, slowdowns(runs)), *reservation_readings(self._running.jobs(), now)]

    def _waiters(self) -> dict[Place, Waiters]:
        reasons: dict[Lane, str] = {}
        found = {place: Waiters(since) for place, since in self._waiting.since().items()}
        for lane, jobs in self._waiting.lanes().items():
            kind = lane._replace(queue="")
            if kind not in reasons:
                reasons[kind] = self._stuck_because(kind)
            if reasons[kind]:
                waiters = found[lane.place]
                found[lane.place] = waiters._replace(stuck=waiters.stuck + jobs, stuck_because=reasons[kind])
        return found

    def _stuck_because(self, lane: Lane) -> str:
        """Why such jobs will not be served; empty if a machine that is there can do it."""
        suits = self._inventory.suits(lane.resources, lane.gpu_types, lane.own_job_id, self._waiting)
        return "" if suits else self._demand.blocked(lane)
