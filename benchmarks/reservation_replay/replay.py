"""Replays days of reservations and jobs through the product's own queue, fairness, calendar and estimates.

Time is simulated: it jumps from one event to the next. The replay does the work of the scheduler's loops, of vmpool,
which says what is free of two machines of 8 GPUs, and of the sessions. A decision takes no time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.executor.v1 import session_pb2
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, Submission
from wavepool.vmpool.v1 import vmpool_pb2

from benchmarks.reservation_replay.arrivals import Habits, Kernel, Visit, days_of_kernels, days_of_visits
from servicekit.clock import ManualClock
from services.scheduler.fairness.queue_tree import WHOLE_GPU_MILLI
from services.scheduler.fairness.settings import Queues, QueueSettings, Share
from services.scheduler.jobs.estimate import WaitEstimate
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import GRACE, Extension, Reservation
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.run_history import kind_of
from services.scheduler.jobs.spec import JobSpec, Lease, Placement
from services.scheduler.jobs.states import JobState
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, Claim, ranked_by
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs, slots_by_machine
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.queue.waiting import WaitingJobs
from vocabulary.limits import LONGEST_RUN
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU, covered

START = datetime(2026, 3, 2, tzinfo=UTC)
GPU_TYPE = "MI300X"
MACHINES, GPUS_PER_MACHINE = ("host-0", "host-1"), 8
QUOTAS = {"research": 8, "kernels": 8}
P50, P90 = 50, 90
AT_ONCE = 1.0
"""Seconds: no wait, but for the rounding of times."""
LEAD, BEFORE_END = timedelta(minutes=5), timedelta(minutes=10)
LONGEST_WAIT = 48 * 3600.0
KERNEL_LIMIT_SECONDS = 900
STOP_SECONDS, READY_SECONDS = 2.0, (5.0, 60.0)


@dataclass(frozen=True)
class Wait:
    """The estimate that somebody got who reserved, and how long they waited. All in seconds."""

    at: float
    gpus: int
    p50: float
    p90: float
    waited: float
    started: bool
    """False if they gave up after that wait."""

    @property
    def counts(self) -> bool:
        """True if they had to wait or were to: those who found free GPUs, as they were told, would flatter a share."""
        return self.waited > AT_ONCE or self.p90 > 0


def share_within(waits: Iterable[Wait], percent: int, scale: float = 1.0) -> float:
    """The share of those that count who started within their p50 or p90, times `scale`.

    Who gave up after a longer wait did not. Who gave up earlier says nothing, and is left out.
    """
    known = [
        (one.waited, limit)
        for one in waits
        for limit in [scale * (one.p50 if percent == P50 else one.p90)]
        if one.counts and (one.started or one.waited > limit)
    ]
    return sum(waited <= limit + AT_ONCE for waited, limit in known) / max(1, len(known))


class Replay:
    """So many days on two machines of 8 GPUs, in two queues."""

    def __init__(self, seed: int, days: int, habits: Habits) -> None:
        self._draw = Random(seed)  # noqa: S311 - a simulation
        self._clock = ManualClock(START)
        no_store: Any = None  # nothing here is stored
        self._book = QueueBook(no_store)
        quotas = {name: {"gpu": Share(gpus * WHOLE_GPU_MILLI)} for name, gpus in QUOTAS.items()}
        self._book.queues = Queues([QueueSettings(name, resources=quotas[name]) for name in QUOTAS])
        self._waiting, self._running = WaitingJobs(ranked_by(Age(timedelta(seconds=9)))), RunningJobs()
        self._inventory = Inventory()
        self._dated = DatedBook(self._waiting, self._running, self._inventory, self._clock, LONGEST_RUN)
        self._situations = Situations(
            self._book,
            UsageBook(no_store, timedelta(days=1), self._clock),
            self._waiting,
            self._running,
            self._inventory,
            self._clock,
            LONGEST_RUN,
            dated=self._dated,
        )
        self._forecast = Forecast(
            self._waiting,
            self._running,
            self._inventory,
            self._clock,
            self._book,
            self._dated,
            self._situations.may_have_turn,
        )
        self._jobs: dict[str, Job] = {}
        """Those that are not over, as their rows have them."""
        self._visits: dict[str, Visit] = {}
        self._kernels: dict[str, Kernel] = {}
        self._estimates: dict[str, WaitEstimate] = {}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        self.waits: list[Wait] = []
        self.gpu_seconds = 0.0
        """For how long GPUs were in use, each counted."""
        for visit in days_of_visits(self._draw, habits, days):
            self._at(visit.at, lambda visit=visit: self._reserve(visit))
        for kernel in days_of_kernels(self._draw, habits, days):
            self._at(kernel.at, lambda kernel=kernel: self._submit(kernel))

    @property
    def gpus(self) -> int:
        """The number of GPUs."""
        return len(MACHINES) * GPUS_PER_MACHINE

    def run(self) -> list[Wait]:
        """Plays until nobody waits or runs; gives the waits of those who reserved for as soon as possible."""
        self._report()
        while self._events:
            at, _, event = heapq.heappop(self._events)
            self._clock.advance(START + timedelta(seconds=at) - self._clock.now())
            event()
            self._look()
        return sorted(self.waits, key=lambda one: one.at)

    def _seconds(self) -> float:
        return (self._clock.now() - START).total_seconds()

    def _at(self, seconds: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (seconds, next(self._number), event))

    def _after(self, duration: timedelta | float, event: Callable[[], None]) -> None:
        seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
        self._at(self._seconds() + max(0.0, seconds), event)

    def _reserve(self, visit: Visit) -> None:
        duration = timedelta(seconds=visit.asked)
        start = self._clock.now() + timedelta(seconds=visit.ahead) if visit.ahead else None
        job = self._job(visit.queue, visit.gpus, int((duration + GRACE).total_seconds()))
        job = job.changed(reservation=Reservation("train", (), duration, start_time=start))
        self._visits[job.job_id] = visit
        if start is not None:
            if self._dated.calendar(GPU_TYPE).fits(self._dated.booking(job)):
                self._jobs[job.job_id] = job
                self._dated.put(job)
                self._at(max(self._seconds(), visit.at + visit.ahead - LEAD.total_seconds()), lambda: self._due(job))
            return
        wait = self._forecast.standing(job).wait
        if wait is not None:
            self._estimates[job.job_id] = wait
        self._jobs[job.job_id] = job
        self._forecast.reservation_is_made(job)
        self._waiting.put(job)
        self._after(min(visit.gives_up, LONGEST_WAIT), lambda: self._give_up(job.job_id))

    def _submit(self, kernel: Kernel) -> None:
        job = self._job(kernel.queue, 1, KERNEL_LIMIT_SECONDS, f"p{kernel.problem}")
        self._kernels[job.job_id] = kernel
        self._jobs[job.job_id] = job
        self._forecast.standing(job)
        self._waiting.put(job)

    def _job(self, queue: str, gpus: int, limit_seconds: int, problem: str = "") -> Job:
        submission = Submission(problem=problem, mode=RUN_MODE_CHECK) if problem else Submission()
        resources = Resources(EIGHTHS_PER_GPU * gpus)
        return Job(
            job_id=f"job-{next(self._number):06d}",
            account_id="account",
            idempotency_key=None,
            fingerprint="",
            spec=JobSpec(submission, GPU_TYPE, queue=queue, time_limit_seconds=limit_seconds, resources=resources),
            state=JobState.RESERVING,
            create_time=self._clock.now(),
            price_micros_per_hour=1,
            hold_micros=1,
        ).enqueue("hold")

    def _due(self, job: Job) -> None:
        due = self._jobs[job.job_id] = job.changed(reservation=job.reserved.come_due())
        self._dated.remove(job.job_id)
        self._waiting.put(due)

    def _give_up(self, job_id: str) -> None:
        job = self._waiting.get(job_id)
        if job is not None:
            self._note_wait(job, started=False)
            self._waiting.remove(job_id)
            del self._jobs[job_id]

    def _note_wait(self, job: Job, *, started: bool) -> None:
        told, visit = self._estimates.pop(job.job_id, None), self._visits[job.job_id]
        if told is not None:
            waited = self._seconds() - visit.at
            p50, p90 = told.p50.total_seconds(), told.p90.total_seconds()
            self.waits.append(Wait(visit.at, visit.gpus, p50, p90, waited, started))

    def _look(self) -> None:
        """What the loops of a scheduler do in a pass, until nothing more starts."""
        is_done = False
        while not is_done:
            self._report()
            is_done = True
            for job in sorted(self._waiting.dated.values(), key=lambda job: (job.reserved.start_time, job.job_id)):
                for placement in self._dated.placements(job):
                    self._start(job, placement)
            decided = self._situations.plan(GPU_TYPE)
            self._situations.forget_ended(self._jobs.__contains__)
            for stop in decided.stops:
                self._running.give_way(stop.job_id, stop.winner)
                self._after(STOP_SECONDS, lambda name=stop.job_id: self._stopped(name))
            for job_id, placement in self._situations.placements(decided).items():
                self._start(self._jobs[job_id], placement)
                is_done = False
            self._situations.keep_promises(decided.promises)
            self._situations.holds = decided.holds
            claims = {name: Claim(state.used, state.fair_share) for name, state in decided.queues.items()}
            self._waiting.claims = {GPU_TYPE: claims}

    def _start(self, job: Job, placement: Placement) -> None:
        lease = Lease(f"lease-{job.job_id}", placement.machine_id, "", "", 1, self._clock.now(), placement.slots)
        running = self._jobs[job.job_id] = job.start(lease, self._clock.now(), GPU_TYPE)
        self._waiting.remove(job.job_id)
        self._situations.is_back(job.job_id)
        self._running.put(running)
        self._forecast.starts(running)
        self._report()
        if job.reservation is None:
            attempt = running.attempt
            self._after(self._kernels[job.job_id].seconds, lambda: self._end(job.job_id, attempt))
            return
        if not job.is_dated:
            self._note_wait(job, started=True)
        self._after(self._draw.uniform(*READY_SECONDS), lambda: self._ready(job.job_id))

    def _stopped(self, job_id: str) -> None:
        """A run gives way: it waits again."""
        job = self._jobs.get(job_id)
        if job is not None and job.lease:
            self._running.remove(job.lease.lease_id)
            again = self._jobs[job_id] = job.retry(excused=True)
            self._waiting.put(again)

    def _ready(self, job_id: str) -> None:
        """People can log in; from then on it is known when they leave."""
        job, visit, now = self._jobs[job_id], self._visits[job_id], self._clock.now()
        ready = session_pb2.SessionEvent(ready=session_pb2.SessionReady())
        ready.time.FromDatetime(now)
        self._changed(job.changed(reservation=job.reserved.after(ready)))
        begin = max(now, job.reserved.start_time or now)
        leaves = begin + timedelta(seconds=visit.used) - now
        if visit.used < visit.asked:
            self._after(leaves, lambda: self._end(job_id))
            return
        self._after(begin + timedelta(seconds=visit.asked) - BEFORE_END - now, lambda: self._near_end(job_id))

    def _near_end(self, job_id: str) -> None:
        job, visit, now = self._jobs[job_id], self._visits[job_id], self._clock.now()
        wanted = timedelta(seconds=visit.extends)
        more = min(wanted, self._dated.longest_extension(job, wanted)) if wanted else wanted
        if more > timedelta(0):
            extended = job.reserved.extended(Extension(more, now, "user", "key"))
            job = self._changed(job.changed(reservation=extended))
        end = (job.reserved.expire_time or now) + GRACE
        begin = job.reserved.start_time or job.reserved.active_time or now
        leaves = begin + timedelta(seconds=visit.used) if visit.used > visit.asked else end
        self._after(min(end, leaves) - now, lambda: self._end(job_id))

    def _changed(self, job: Job) -> Job:
        self._jobs[job.job_id] = job
        self._running.put(job)
        return job

    def _end(self, job_id: str, attempt: int = 1) -> None:
        job = self._jobs.get(job_id)
        if job is None or not job.lease or job.attempt != attempt or job.start_time is None:
            return
        now = self._clock.now()
        del self._jobs[job_id]
        self._running.remove(job.lease.lease_id)
        self.gpu_seconds += job.spec.resources.gpus * (now - job.start_time).total_seconds()
        if job.reservation is None:
            self._forecast.remember([(kind_of(job), now - job.start_time)])
        else:
            self._forecast.reservation_is_over(job.changed(end_time=now))

    def _report(self) -> None:
        """What the pool says of its machines."""
        held = slots_by_machine(self._running.jobs())
        for name in MACHINES:
            masks = covered([0] * GPUS_PER_MACHINE, held[name])
            machine = vmpool_pb2.Machine(
                machine_id=name,
                gpu_type=GPU_TYPE,
                gpu_count=GPUS_PER_MACHINE,
                state=vmpool_pb2.MACHINE_STATE_BUSY if any(masks) else vmpool_pb2.MACHINE_STATE_WARM,
                free_masks=[WHOLE_GPU & ~mask for mask in masks],
                create_time=Timestamp(seconds=int(START.timestamp())),
            )
            self._inventory.apply(vmpool_pb2.MachineEvent(machine=machine))
