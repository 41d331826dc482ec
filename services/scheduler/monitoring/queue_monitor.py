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
        suited: dict[Lane, bool] = {}
        found: dict[Place, Waiters] = {}
        for lane, since in self._waiting.since().items():
            kind = lane._replace(queue="")
            if kind not in suited:
                suited[kind] = self._is_suited(kind)
            # Its users chose to wait, so nobody is alarmed.
            if lane.waits_for_operator and not suited[kind]:
                continue
            reason = "" if suited[kind] else self._demand.blocked(lane)
            before = found.get(lane.place, Waiters(()))
            found[lane.place] = Waiters(
                sorted([*before.since, *since]),
                before.stuck + (len(since) if reason else 0),
                reason or before.stuck_because,
            )
        return found

    def _is_suited(self, lane: Lane) -> bool:
        """True if a machine that is there, or on its way, can serve such jobs."""
        return self._inventory.suits(lane.resources, lane.gpu_types, lane.own_job_id, self._waiting)
