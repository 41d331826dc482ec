"""Any course of reservations, now and later, jobs, extensions, ends, losses and restarts, minute by minute."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from wavepool.executor.v1 import session_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.clock import ManualClock
from services.scheduler.jobs.reservation import GRACE, Extension, Reservation, ReservationState
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.spec import Lease
from services.scheduler.jobs.states import JobState
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, ranked_by
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.queue.waiting import WaitingJobs
from tests.services.scheduler.jobs import START, a_queued_job
from tests.services.scheduler.test_situations import NO_STORE, machine
from vocabulary.limits import LONGEST_RUN
from vocabulary.money import price_of
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU, covered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from services.scheduler.jobs.job import Job
    from services.scheduler.jobs.spec import Placement

MINUTE = timedelta(minutes=1)
LEAD = 5 * MINUTE
GPUS = st.sampled_from([1, 2])
MACHINES = {"machine-0": 2, "machine-1": 1}
PRICE = 1_990_000


class DatedLife(RuleBasedStateMachine):
    """Two machines; sessions are ready within a minute, and all that runs ends at its limit at the latest."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(START)
        self.machines = dict(MACHINES)
        self.jobs: dict[str, Job] = {}
        """Those that wait, are pending or run, as their rows have them."""
        self.number = 0
        self.has_lost = False
        self.build(())

    def build(self, jobs: Sequence[Job]) -> None:
        self.waiting, self.running = WaitingJobs(ranked_by(Age(timedelta(seconds=9)))), RunningJobs()
        self.inventory, queues = Inventory(), QueueBook(NO_STORE)
        self.book = DatedBook(self.waiting, self.running, self.inventory, self.clock, LONGEST_RUN)
        usage = UsageBook(NO_STORE, timedelta(0), self.clock)
        self.situations = Situations(
            queues, usage, self.waiting, self.running, self.inventory, self.clock, LONGEST_RUN, dated=self.book
        )
        for job in jobs:
            if job.lease:
                self.running.put(job)
            elif job.is_pending:
                self.book.put(job)
            else:
                self.waiting.put(job)
        self.report()

    @rule(gpus=GPUS, ahead=st.integers(1, 40), minutes=st.integers(5, 40))
    def one_is_reserved_for_later(self, gpus: int, ahead: int, minutes: int) -> None:
        job = self.new_reservation(gpus, minutes * MINUTE, self.clock.now() + ahead * MINUTE)
        if self.book.calendar("MI300X").fits(self.book.booking(job)):
            self.jobs[job.job_id] = job
            self.book.put(job)

    @rule(gpus=GPUS, minutes=st.integers(5, 40))
    def one_is_reserved_now(self, gpus: int, minutes: int) -> None:
        job = self.new_reservation(gpus, minutes * MINUTE)
        self.jobs[job.job_id] = job
        self.waiting.put(job)
        self.look()

    @rule(gpus=GPUS, minutes=st.integers(1, 15))
    def a_job_comes(self, gpus: int, minutes: int) -> None:
        job = self.new_job(gpus, minutes * MINUTE)
        self.jobs[job.job_id] = job
        self.waiting.put(job)
        self.look()

    @rule(place=st.integers(0, 20), minutes=st.integers(1, 40))
    def one_is_extended(self, place: int, minutes: int) -> None:
        running = [job for job in self.running.jobs() if job.reservation]
        if not running:
            return
        job = running[place % len(running)]
        more = min(minutes * MINUTE, self.book.longest_extension(job, minutes * MINUTE))
        if more > timedelta(0):
            extension = Extension(more, self.clock.now(), "user-1", f"key {len(job.reserved.extensions)}")
            self.changed(job.changed(reservation=job.reserved.extended(extension)))

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

    @precondition(lambda self: len(self.machines) > 1)
    @rule()
    def a_machine_is_lost(self) -> None:
        self.has_lost = True
        name, _ = self.machines.popitem()
        self.inventory.apply(
            vmpool_pb2.MachineEvent(machine=machine(int(name[-1]), state="LOST", gpu_count=MACHINES[name]))
        )
        for job in [job for job in self.running.jobs() if job.machine_id == name]:
            self.running.remove(job.lease.lease_id if job.lease else "")
            if job.reservation and job.reservation.active_time:
                del self.jobs[job.job_id]
                continue
            again = self.jobs[job.job_id] = job.retry(excused=True)
            self.waiting.put(again)
        self.look()

    @precondition(lambda self: len(self.machines) < len(MACHINES))
    @rule()
    def it_comes_back(self) -> None:
        self.machines = dict(MACHINES)
        self.look()

    @rule(random=st.randoms())
    def the_scheduler_restarts(self, random: Any) -> None:
        rows = list(self.jobs.values())
        random.shuffle(rows)
        self.build(rows)
        self.look()

    @invariant()
    def no_gpu_is_given_twice(self) -> None:
        given = [(job.machine_id, slot.gpu) for job in self.running.jobs() if job.lease for slot in job.lease.slots]
        assert len(given) == len(set(given))
        assert all(gpu < MACHINES[name] for name, gpu in given)

    @invariant()
    def all_that_is_promised_can_be_kept(self) -> None:
        if self.has_lost:
            return
        begins = {seat.booking_id: seat.begin for seat in self.book.seats("MI300X")}
        assert begins == {job.job_id: self.book.booking(job).begin for job in self.book.jobs()}

    @invariant()
    def the_time_that_is_paid_for_is_inside_the_reservation_and_the_hold(self) -> None:
        for job in self.running.jobs():
            reservation = job.reservation
            if reservation and reservation.active_time and reservation.expire_time:
                used = reservation.used(self.clock.now())
                assert timedelta(0) <= used <= reservation.total
                assert price_of(used, PRICE) <= price_of(reservation.total, PRICE)
                assert self.clock.now() <= reservation.expire_time + GRACE
                if reservation.start_time:
                    assert reservation.active_time >= reservation.start_time
                    assert reservation.expire_time == reservation.start_time + reservation.total

    def check_promises(self) -> None:
        """Whoever was to start by now has its GPUs, unless a machine was lost; else it waits or has failed."""
        for job in self.book.jobs():
            start = job.reserved.start_time
            assert start is not None
            assert self.has_lost or start > self.clock.now()
            assert job.is_pending == (start - LEAD > self.clock.now())
            state = ReservationState.PENDING if job.is_pending else ReservationState.QUEUED
            assert job.reservation_state is state

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
            for placement in self.book.placements(job):
                self.start(job.job_id, placement)
        for job_id, placement in self.situations.placements(self.situations.plan("MI300X")).items():
            self.start(job_id, placement)

    def start(self, job_id: str, placement: Placement) -> None:
        lease = Lease(f"lease-{job_id}", placement.machine_id, "", "", 1, START, placement.slots)
        self.waiting.remove(job_id)
        self.changed(self.jobs[job_id].start(lease, self.clock.now(), "MI300X"))
        self.report()

    def becomes_active(self, job: Job) -> None:
        if job.reservation and job.reservation.active_time is None:
            ready = session_pb2.SessionEvent(ready=session_pb2.SessionReady())
            ready.time.FromDatetime(self.clock.now())
            self.changed(job.changed(reservation=job.reservation.after(ready)))

    def end(self, job: Job) -> None:
        del self.jobs[job.job_id]
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
        for name, gpus in self.machines.items():
            held = [job for job in self.running.jobs() if job.machine_id == name and job.lease]
            slots = [slot for job in held if job.lease for slot in job.lease.slots]
            free = [WHOLE_GPU & ~mask for mask in covered([0] * gpus, slots)]
            changes: dict[str, Any] = {"gpu_count": gpus, "free_masks": free}
            self.inventory.apply(vmpool_pb2.MachineEvent(machine=machine(int(name[-1]), **changes)))

    def new_job(self, gpus: int, limit: timedelta) -> Job:
        self.number += 1
        job = a_queued_job(self.number, resources=Resources(EIGHTHS_PER_GPU * gpus))
        spec = replace(job.spec, time_limit_seconds=int(limit.total_seconds()))
        return replace(job, create_time=self.clock.now(), spec=spec)

    def new_reservation(self, gpus: int, duration: timedelta, start: datetime | None = None) -> Job:
        job = self.new_job(gpus, duration + GRACE)
        latest = start + min(30 * MINUTE, duration) + duration + GRACE if start else None
        made = Reservation("train", (), duration, start_time=start)
        made_job = replace(job, reservation=made, spec=replace(job.spec, deadline=latest))
        assert made_job.state is JobState.QUEUED
        return made_job


DatedLife.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestDatedLife = DatedLife.TestCase
