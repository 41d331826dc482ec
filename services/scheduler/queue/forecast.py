"""Forecasts a job's place in the queue and its wait, and counts how often the forecasts came true."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import fmean

from servicekit.clock import Clock
from services.scheduler import metrics
from services.scheduler.jobs.estimate import (
    PLAYED_AHEAD,
    WaitEstimate,
    is_played_in_full,
    percentile,
    wait_estimate,
    why_unknown,
)
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Reuse
from services.scheduler.jobs.run_history import RunHistory, RunKind
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.pool import PoolLimits
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.fleet_view import FleetView, Further
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import NO_SHARE
from services.scheduler.queue.waiting import Ahead, Lane, WaitingJobs, lane_of
from vocabulary.limits import LONGEST_RUN

RETRY_WITHOUT_HISTORY = timedelta(seconds=5)
_PROMISES_KEPT = 10_000
"""Estimates of jobs that have not started; the oldest of jobs that were cancelled go first."""


@dataclass(frozen=True)
class Standing:
    """A job's position from 1, and its wait if that is known."""

    position: int
    wait: WaitEstimate | None
    unknown: str = ""
    """Why its wait is not known, if it takes several machines; else empty."""
    basis: str = ""
    """What the wait is made of, or why it is not known, for people; empty if nothing has to be known for it."""


class Forecast:
    """Forecasts from queue, machines, runs under way, the times of the last runs, and what is kept for later.

    Of reservations it learns how much of their time people used, and when they were made.

    Without `book` there are no limits of queues, and without `dated` nothing is kept. `may_have_turn` says of a job of
    several machines if it has its turn once it is the first of its queue; without it, all have. `blocked` says why the
    pool starts no further machine for such work; without it, nothing is in the way. `waits_for_quota` says of a job
    that free GPUs do not help it.
    """

    def __init__(
        self,
        waiting: WaitingJobs,
        running: RunningJobs,
        inventory: Inventory,
        clock: Clock,
        book: QueueBook | None = None,
        dated: DatedBook | None = None,
        may_have_turn: Callable[[Job], bool] = lambda _job: True,
        blocked: Callable[[Lane], str] | None = None,
        waits_for_quota: Callable[[Job], bool] = lambda _job: False,
    ) -> None:
        self._waits_for_quota = waits_for_quota
        self._waiting = waiting
        self._book = book
        self._dated = dated or DatedBook(waiting, running, inventory, clock, LONGEST_RUN)
        self._may_have_turn = may_have_turn
        self._blocked = blocked
        self._inventory = inventory
        self._clock = clock
        self._history = RunHistory()
        self._running = running
        self._promises: dict[str, WaitEstimate] = {}

    def remember(self, runs: Iterable[tuple[RunKind, timedelta]]) -> None:
        """Adds the times of runs that are over."""
        for kind, run_time in runs:
            self._history.remember(kind, run_time)

    def remember_reservations(self, jobs: Iterable[Job]) -> None:
        """Takes these reservations, the first to be made first, in place of all that are known."""
        self._history.forget_reservations()
        for job in jobs:
            self.reservation_is_made(job)
            self.reservation_is_over(job)

    def reservation_is_made(self, job: Job) -> None:
        """Notes that people came for GPUs now. One with a start of its own waits for that, and does not count."""
        if not job.is_dated:
            self._history.remember_arrival(job)

    def reservation_is_over(self, job: Job) -> None:
        """Notes how long people used a reservation, if they could and it was not lost by our fault."""
        reservation, end = job.reserved, job.end_time
        if end and reservation.active_time and job.state is not JobState.FAILED:
            self._history.remember_use(reservation.duration, reservation.used(end))

    def starts(self, job: Job) -> None:
        """Notes that a job has its machine. The first attempt shows if its wait was as it was told."""
        promised = self._promises.pop(job.job_id, None)
        if promised is not None and job.attempt == 1 and job.start_time is not None:
            waited = job.start_time - job.create_time
            within = "p50" if waited <= promised.p50 else "p90" if waited <= promised.p90 else "neither"
            metrics.wait_estimates.labels(within).inc()

    def standing(self, job: Job, *, is_promise: bool = True) -> Standing:
        """Position and wait of a job that waits, or is about to; not `is_promise` if it may never wait.

        There is no estimate of what no machine can give, and for machines of a job's own.
        """
        if job.own_job_id:
            return Standing(self._waiting.ahead(job).position, None)
        if job.spec.machines > 1 and job.spec.fallback_gpu_types:
            standing = self._of_one_type(job)
        else:
            standing = self._standing(job)
        wait = standing.wait
        if is_promise and wait is not None and job.attempt == 1 and job.job_id not in self._promises:
            self._promises[job.job_id] = wait
            while len(self._promises) > _PROMISES_KEPT:
                del self._promises[next(iter(self._promises))]
        return standing

    def _of_one_type(self, job: Job) -> Standing:
        """That of a job of several machines, all of one of its types: the first that is free now, or else is kept."""
        tried = [self._standing(job.of_type(gpu_type)) for gpu_type in job.spec.gpu_types]
        kept = job.spec.gpu_types.index(
            self._inventory.type_with(job.spec.machines, job.spec.resources.gpus, job.spec.gpu_types)
            or job.spec.gpu_type
        )
        free = [one for one in tried if one.wait and not one.wait.p90]
        return replace((free or [tried[kept]])[0], position=self._waiting.ahead(job).position)

    def _standing(self, job: Job) -> Standing:
        place, queues = self._waiting.ahead(job), self._book.queues if self._book else None
        if self._waits_for_quota(job):
            return Standing(place.position, None, "", "not known: it starts once it fits within its queue's quota")
        view = FleetView(
            (one for gpu_type in job.spec.gpu_types for one in self._dated.fleet(gpu_type).machines),
            self._inventory,
            self._running.jobs(),
            self._history,
            queues,
            job.spec.gpu_types,
            self._clock.now(),
            self._waiting.claims.get(job.spec.gpu_type),
            further := self._further(job),
        )
        ahead = self._waiting.jobs_ahead(job, PLAYED_AHEAD)
        need, needs, fleet = view.need(job), [view.need(other) for other in ahead], view.fleet()
        if job.spec.machines > 1:
            # What the other queues' jobs leave of their shares is not played.
            unknown = why_unknown(need, needs, fleet) if self._may_have_turn(job) else NO_SHARE
            if unknown:
                return Standing(place.position, None, unknown)
        beyond = self._beyond_seconds(job, place, ahead, view)
        wait = wait_estimate(need, needs, fleet, job.job_id, beyond)
        if not is_played_in_full(need, needs, fleet):
            wait = self._after_dated(job, wait)
        if further.number and further.start is None and (wait is None or wait.p90):
            return Standing(place.position, None, "it is not known yet how long a machine of its type takes to start")
        no_room = "what is kept for reservations that start later leaves no time for it"
        if wait is None:
            basis = f"not known: {why_unknown(need, needs, fleet) or no_room}"
            return Standing(place.position, None, no_room if job.spec.machines > 1 else "", basis)
        return Standing(place.position, wait, "", view.basis(ahead) if wait.p90 else "")

    def _further(self, job: Job) -> Further:
        """The machines that the pool may still start for the job, as large as it orders them for such work."""
        limits, resources = self._dated.limits, job.spec.resources
        gpu_type = next((one for one in job.spec.gpu_types if one in limits.starts), "")
        if not gpu_type or self._starts_none_for(job, limits):
            return Further()
        usual, wanted = limits.usual_gpus, resources.least.gpus
        return Further(
            self._dated.room(job.spec.gpu_types),
            gpu_type,
            usual if wanted <= usual else limits.gpus,
            limits.starts[gpu_type],
        )

    def _starts_none_for(self, job: Job, limits: PoolLimits) -> bool:
        longest = limits.longest_time
        lasts_too_long = job.longest_lease is not None and longest is not None and job.longest_lease > longest
        return bool(
            lasts_too_long
            or job.spec.reuse is Reuse.REUSE
            or not self._inventory.can_have(job.spec.resources, job.spec.gpu_types)
            or (self._blocked and self._blocked(lane_of(job)))
        )

    def _after_dated(self, job: Job, wait: WaitEstimate | None) -> WaitEstimate | None:
        """The wait, if what is kept for reservations that start later counts, too."""
        if wait is None or job.is_dated:
            return wait
        begin = self._clock.now() + wait.p50
        start = self._dated.first_start(job, begin)
        return WaitEstimate(wait.p50 + (start - begin), wait.p90 + (start - begin)) if start else None

    def next_end(self) -> timedelta:
        """Time until one of an account's jobs is likely to end."""
        times = self._history.all_times()
        return timedelta(seconds=percentile(times, 50)) if times else RETRY_WITHOUT_HISTORY

    def _beyond_seconds(self, job: Job, place: Ahead, ahead: Sequence[Job], view: FleetView) -> float:
        """What jobs ahead add that are too many to be played: so many runs of a mean time and size, one by one."""
        own = place.in_queue - sum(other.spec.queue == job.spec.queue for other in ahead)
        others = place.in_queue + place.in_others - len(ahead) - own
        times = self._history.all_times()
        if not own + others or not times or not view.eighths:
            return 0.0
        mean_eighths = fmean(other.spec.resources.least.eighths * other.spec.machines for other in ahead)
        runs = own / max(1, view.most_at_once(job)) + others / view.eighths
        return runs * mean_eighths * fmean(times)
