"""A scheduler's decisions minute by minute, beside machines of which some may be away: the base of state machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from wavepool.executor.v1 import session_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.clock import ManualClock
from services.scheduler.fairness.settings import Queues, QueueSettings
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import GRACE, Reservation
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.spec import Lease, Placement
from tests.services.scheduler.jobs import START, a_queued_job
from tests.services.scheduler.queue_bench import QueueBench, machine
from vocabulary.limits import LONGEST_RUN
from vocabulary.money import price_of
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU, covered

MINUTE = timedelta(minutes=1)
LEAD = 5 * MINUTE
PRICE = 1_990_000


class Life(RuleBasedStateMachine):
    """Sessions are ready within a minute, and all that runs ends at its limit at the latest."""

    SIZES: ClassVar[Mapping[str, int]]
    """The GPUs of each machine."""
    QUEUES: ClassVar[Sequence[str]] = ()

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(START)
        self.machines = set(self.SIZES)
        self.jobs: dict[str, Job] = {}
        """Those that wait, are pending or run, as their rows have them."""
        self.number = 0
        self.latest: dict[str, datetime] = {}
        """By when each gang was to start, as it was said first; forgotten when a machine is lost, or is promised."""
        self.has_lost = False
        self.build(())

    def build(self, jobs: Sequence[Job]) -> None:
        queues = Queues([QueueSettings(name) for name in self.QUEUES])
        bench = QueueBench(clock=self.clock, queues=queues, point=timedelta(seconds=9))
        self.waiting, self.running, self.inventory = bench.waiting, bench.running, bench.inventory
        self.queues, self.book, self.situations = bench.book, bench.dated, bench.situations
        for job in jobs:
            if job.lease:
                self.running.put(job)
            elif job.is_pending:
                self.book.put(job)
            else:
                self.waiting.put(job)
        self.report()

    @rule(place=st.integers(0, 20))
    def one_is_ended(self, place: int) -> None:
        if self.jobs:
            self.end(sorted(self.jobs.values(), key=lambda job: job.job_id)[place % len(self.jobs)])
            self.look()

    @rule(minutes=st.integers(1, 15))
    def time_goes_on(self, minutes: int) -> None:
        for _ in range(minutes):
            self.clock.advance(MINUTE)
            for job in list(self.running.jobs()):
                self.becomes_active(job)
            for job in [job for job in self.running.jobs() if self.end_of(job) <= self.clock.now()]:
                self.end(job)
            self.look()
            self.check_promises()

    @rule(random=st.randoms())
    def the_scheduler_restarts(self, random: Any) -> None:
        rows = list(self.jobs.values())
        random.shuffle(rows)
        # Two whose order it does not know may change places.
        self.latest.clear()
        self.build(rows)
        self.look()

    @invariant()
    def no_gpu_is_given_twice(self) -> None:
        leases = [lease for job in self.running.jobs() for lease in job.leases]
        given = [(lease.machine_id, slot.gpu) for lease in leases for slot in lease.slots]
        assert len(given) == len(set(given))
        assert all(gpu < self.SIZES[name] for name, gpu in given)

    def check_promises(self) -> None:
        """Whoever was to start by now has its GPUs, unless a machine was lost; else it waits or has failed."""
        for job in self.book.jobs():
            start = job.reserved.start_time
            assert start is not None
            assert self.has_lost or start > self.clock.now()
            assert job.is_pending == (start - LEAD > self.clock.now())
            state = ReservationState.PENDING if job.is_pending else ReservationState.QUEUED
            assert job.reservation_state is state

    def comes(self, job: Job, queue: str = "") -> None:
        job = replace(job, spec=replace(job.spec, queue=queue or job.spec.queue))
        self.jobs[job.job_id] = job
        self.waiting.put(job)
        self.look()

    def comes_later(self, job: Job) -> None:
        """Keeps its GPUs for a reservation with a start, if that is possible."""
        if self.book.calendar("MI300X").fits(self.book.booking(job)):
            self.jobs[job.job_id] = job
            self.book.put(job)
            self.latest.clear()

    def lose(self, name: str) -> list[Job]:
        """The machine is gone; its jobs, which run no more."""
        self.has_lost = True
        self.machines.discard(name)
        self.latest.clear()
        gone = machine(int(name[-1]), state="LOST", gpu_count=self.SIZES[name])
        self.inventory.apply(vmpool_pb2.MachineEvent(machine=gone))
        jobs = [job for job in self.running.jobs() if name in {lease.machine_id for lease in job.leases}]
        for job in jobs:
            self.running.remove(job.leases[0].lease_id)
        return jobs

    def again(self, job: Job) -> None:
        """A job whose machine was lost is back in the queue."""
        again = self.jobs[job.job_id] = job.retry(excused=True)
        assert again.leases == ()
        self.waiting.put(again)

    def look(self) -> None:
        """What the loops of a scheduler do in a pass."""
        self.report()
        now = self.clock.now()
        for job in [job for job in self.book.pending() if self.start_of(job) - LEAD <= now]:
            due = self.jobs[job.job_id] = job.changed(reservation=job.reserved.come_due())
            self.book.remove(job.job_id)
            self.waiting.put(due)
        for job in [job for job in self.waiting.jobs() if job.spec.is_too_late(now, LONGEST_RUN)]:
            assert self.has_lost
            self.end(job)
        for job in sorted(self.waiting.dated.values(), key=lambda job: (self.start_of(job), job.job_id)):
            if placements := self.book.placements(job):
                self.start(job.job_id, placements)
                # It may have come some minutes before its start.
                self.latest.clear()
        for seat in self.situations.gang_seats("MI300X"):
            if placements := self.situations.gang_placements(seat):
                self.start(seat.job_id, placements)
        for job_id, placement in self.situations.placements(self.situations.plan("MI300X")).items():
            self.start(job_id, [placement])

    def start(self, job_id: str, placements: Sequence[Placement]) -> None:
        first, *more = (
            Lease(f"lease-{job_id}-{rank}", one.machine_id, "", "", 1, START, one.slots)
            for rank, one in enumerate(placements)
        )
        self.waiting.remove(job_id)
        self.latest.pop(job_id, None)
        self.changed(self.jobs[job_id].start(first, self.clock.now(), "MI300X", more))
        self.report()

    def becomes_active(self, job: Job) -> None:
        """One machine after the other is ready; until the last one is, nothing is to be paid."""
        if not job.reservation or job.reservation.active_time:
            return
        reservation = job.reservation
        for rank in range(job.spec.machines):
            assert reservation.active_time is None
            ready = session_pb2.SessionEvent(seq=1, ready=session_pb2.SessionReady())
            ready.time.FromDatetime(self.clock.now())
            reservation = reservation.after(ready, rank)
        assert reservation.active_time == max(self.clock.now(), reservation.start_time or self.clock.now())
        self.changed(job.changed(reservation=reservation))

    def end(self, job: Job) -> None:
        del self.jobs[job.job_id]
        self.latest.pop(job.job_id, None)
        self.book.remove(job.job_id)
        if job.lease:
            self.running.remove(job.lease.lease_id)
        elif job.job_id in self.waiting:
            self.waiting.remove(job.job_id)

    def changed(self, job: Job) -> None:
        self.jobs[job.job_id] = job
        self.running.put(job)

    def end_of(self, job: Job) -> datetime:
        """When it has given its GPUs back at the latest; the grace of a dated one is not its own."""
        begin, reservation = job.start_time or START, job.reservation
        if reservation is None:
            return begin + job.longest_run(LONGEST_RUN)
        if reservation.expire_time is None:
            return self.clock.now() + MINUTE
        return reservation.expire_time + (timedelta(0) if reservation.start_time else GRACE)

    def start_of(self, job: Job) -> datetime:
        return job.reserved.start_time or START

    def report(self) -> None:
        """What the pool says of its machines."""
        leases = [lease for job in self.running.jobs() for lease in job.leases]
        for name in sorted(self.machines):
            slots = [slot for lease in leases if lease.machine_id == name for slot in lease.slots]
            free = [WHOLE_GPU & ~mask for mask in covered([0] * self.SIZES[name], slots)]
            changes: dict[str, Any] = {"gpu_count": self.SIZES[name], "free_masks": free}
            self.inventory.apply(vmpool_pb2.MachineEvent(machine=machine(int(name[-1]), **changes)))

    def new_job(self, gpus: int, limit: timedelta) -> Job:
        self.number += 1
        job = a_queued_job(self.number, resources=Resources(EIGHTHS_PER_GPU * gpus))
        spec = replace(job.spec, time_limit_seconds=int(limit.total_seconds()))
        return replace(job, create_time=self.clock.now(), spec=spec)

    def new_reservation(self, gpus: int, duration: timedelta, machines: int = 1, start: datetime | None = None) -> Job:
        job = self.new_job(gpus, duration + GRACE)
        hold = price_of(duration, PRICE, eighths=machines * gpus * EIGHTHS_PER_GPU)
        latest = start + min(30 * MINUTE, duration) + duration + GRACE if start else None
        spec = replace(job.spec, machines=machines, deadline=latest)
        made = Reservation("train", (), duration, start_time=start)
        return replace(job, reservation=made, spec=spec, hold_micros=hold)
