"""Any course of reservations of several machines beside other work, minute by minute."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from wavepool.executor.v1 import session_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.clock import ManualClock
from services.scheduler.fairness.settings import Queues, QueueSettings, Share
from services.scheduler.jobs.gang_seats import WholeMachine, gang_seat
from services.scheduler.jobs.reservation import GRACE, Reservation
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.spec import Lease
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
NAMES = ("machine-0", "machine-1", "machine-2", "machine-3")
GPUS = 8
QUEUES = ("red", "blue")
PRICE = 1_990_000


TIMES = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 40)), max_size=2)
MACHINES = st.lists(st.tuples(st.integers(0, 90), st.sampled_from(["here", "there"]), st.booleans(), TIMES), max_size=6)


@given(st.integers(1, 4), st.integers(1, 60), MACHINES)
def test_a_seat_has_the_machines_that_are_free_first_together_of_one_site_if_one_has_enough(
    number: int, lasts: int, drawn: list[tuple[int, str, bool, list[tuple[int, int]]]]
) -> None:
    machines = [
        WholeMachine(
            f"m{at}",
            (site,),
            START + minutes * MINUTE,
            is_there,
            tuple((START + first * MINUTE, START + (first + length) * MINUTE) for first, length in times),
        )
        for at, (minutes, site, is_there, times) in enumerate(drawn)
    ]
    use = lasts * MINUTE
    seat = gang_seat("gang", number, machines, use, START)
    by_id = {one.machine_id: one for one in machines}
    chosen = [by_id[name] for name in seat.machine_ids]
    assert len(set(seat.machine_ids)) == len(chosen) <= number
    assert all(one.is_there and one.is_free(seat.begin, use) for one in chosen)
    assert seat.is_whole == (len(chosen) == number)
    assert (len(machines) >= number) or not chosen, "nothing is kept if not enough machines will be there"
    sites = [[one for one in machines if one.site == (site,)] for site in ("here", "there")]
    whole = [those for those in sites if len(those) >= number] or [machines]
    if len(whole[0]) >= number:
        every_minute = (START + minute * MINUTE for minute in range(200))
        first = next(at for at in every_minute if any(_free(those, at, use) >= number for those in whole))
        assert seat.begin == first
        assert whole == [machines] or len({one.site for one in chosen}) <= 1


def _free(machines: list[WholeMachine], begin: datetime, use: timedelta) -> int:
    """How many of the machines nobody has in any minute from `begin` on."""
    minutes = [begin + at * MINUTE for at in range(use // MINUTE)]
    return sum(
        one.free_time <= begin and not any(first <= at < end for at in minutes for first, end in one.promised)
        for one in machines
    )


class GangLife(RuleBasedStateMachine):
    """Four machines of eight GPUs, of which some may be away; all that runs ends at its limit at the latest."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(START)
        self.machines = set(NAMES)
        self.jobs: dict[str, Job] = {}
        self.number = 0
        self.latest: dict[str, datetime] = {}
        """By when each gang was to start, as it was said first; forgotten when a machine is lost, or is promised."""
        self.has_lost = False
        self.build(())

    def build(self, jobs: Sequence[Job]) -> None:
        self.waiting, self.running = WaitingJobs(ranked_by(Age(timedelta(seconds=9)))), RunningJobs()
        self.inventory = Inventory()
        queues = self.queues = QueueBook(NO_STORE)
        queues.queues = Queues([QueueSettings(name) for name in QUEUES])
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

    @rule(machines=st.integers(2, 3), minutes=st.integers(5, 60), queue=st.sampled_from(QUEUES))
    def several_machines_are_reserved(self, machines: int, minutes: int, queue: str) -> None:
        self.comes(self.new_reservation(GPUS, minutes * MINUTE, machines), queue)

    @rule(machines=st.integers(1, 3), ahead=st.integers(1, 60), minutes=st.integers(5, 40))
    def some_are_reserved_for_later(self, machines: int, ahead: int, minutes: int) -> None:
        start = self.clock.now() + ahead * MINUTE
        job = self.new_reservation(GPUS, minutes * MINUTE, machines, start)
        if self.book.calendar("MI300X").fits(self.book.booking(job)):
            self.jobs[job.job_id] = job
            self.book.put(job)
            self.latest.clear()

    @rule(gpus=st.sampled_from([1, 2, 4, 8]), minutes=st.integers(5, 40), queue=st.sampled_from(QUEUES))
    def one_machine_is_reserved(self, gpus: int, minutes: int, queue: str) -> None:
        self.comes(self.new_reservation(gpus, minutes * MINUTE, 1), queue)

    @rule(gpus=st.sampled_from([1, 8]), minutes=st.integers(1, 15), queue=st.sampled_from(QUEUES))
    def a_job_comes(self, gpus: int, minutes: int, queue: str) -> None:
        self.comes(self.new_job(gpus, minutes * MINUTE), queue)

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
            for job in self.book.jobs():
                assert self.has_lost or self.start_of(job) > self.clock.now(), "whoever was to start has its machines"

    @precondition(lambda self: len(self.machines) > 1)
    @rule(name=st.sampled_from(NAMES))
    def a_machine_is_lost(self, name: str) -> None:
        if name not in self.machines:
            return
        self.machines.discard(name)
        self.latest.clear()
        self.has_lost = True
        self.inventory.apply(vmpool_pb2.MachineEvent(machine=machine(int(name[-1]), state="LOST", gpu_count=GPUS)))
        for job in list(self.running.jobs()):
            if any(lease.machine_id == name for lease in job.leases):
                self.running.remove(job.leases[0].lease_id)
                again = self.jobs[job.job_id] = job.retry(excused=True)
                assert again.leases == ()
                self.waiting.put(again)
        self.look()

    @rule(name=st.sampled_from(NAMES))
    def it_comes_back(self, name: str) -> None:
        self.machines.add(name)
        # What was promised for later can be kept again.
        self.latest.clear()
        self.look()

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
        given_to = [
            (lease.machine_id, slot.gpu)
            for job in self.running.jobs()
            for lease in job.leases
            for slot in lease.slots
            if slot.eighths == EIGHTHS_PER_GPU
        ]
        assert len(given_to) == len(set(given_to))

    @invariant()
    def it_has_all_its_machines_or_none(self) -> None:
        for job in self.jobs.values():
            names = {lease.machine_id for lease in job.leases}
            assert len(names) in {0, job.spec.machines}
            assert len(job.leases) == len(names)
            assert all(len(lease.slots) == GPUS for lease in job.leases) or job.spec.machines == 1

    @invariant()
    def all_that_is_promised_can_be_kept(self) -> None:
        if self.has_lost:
            return
        seats = self.book.seats("MI300X")
        for job in self.book.jobs():
            own = [seat for seat in seats if seat.booking_id == job.job_id]
            assert len({seat.machine_id for seat in own}) == len(own) == job.spec.machines
            assert {seat.begin for seat in own} == {self.book.booking(job).begin}

    @invariant()
    def all_its_time_is_paid_for_all_its_gpus_and_the_hold_is_enough(self) -> None:
        for job in self.running.jobs():
            if job.reservation and job.reservation.active_time:
                used = job.reservation.used(self.clock.now())
                cost = job.charge_for(used)
                assert cost == price_of(used, PRICE, eighths=job.spec.gpus_in_all * EIGHTHS_PER_GPU)
                assert cost <= job.hold_micros

    @invariant()
    def whoever_has_machines_kept_starts_when_it_was_said(self) -> None:
        seats = self.situations.gang_seats("MI300X")
        kept = [name for seat in seats for name in seat.machine_ids if seat.begin <= self.clock.now()]
        assert len(kept) == len(set(kept)), "one machine is for one of them at a time"
        for seat in seats:
            if not seat.is_whole:
                self.latest.pop(seat.job_id, None)
                continue
            latest = self.latest.setdefault(seat.job_id, seat.begin)
            # Reservations that are there are ready within a minute.
            assert seat.begin <= latest + MINUTE

    def comes(self, job: Job, queue: str) -> None:
        job = replace(job, spec=replace(job.spec, queue=queue))
        self.jobs[job.job_id] = job
        self.waiting.put(job)
        self.look()

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
        for name in sorted(self.machines):
            slots = [
                slot
                for job in self.running.jobs()
                for lease in job.leases
                if lease.machine_id == name
                for slot in lease.slots
            ]
            free = [WHOLE_GPU & ~mask for mask in covered([0] * GPUS, slots)]
            changes: dict[str, Any] = {"gpu_count": GPUS, "free_masks": free}
            self.inventory.apply(vmpool_pb2.MachineEvent(machine=machine(int(name[-1]), **changes)))

    def new_job(self, gpus: int, limit: timedelta) -> Job:
        self.number += 1
        job = a_queued_job(self.number, resources=Resources(EIGHTHS_PER_GPU * gpus))
        spec = replace(job.spec, time_limit_seconds=int(limit.total_seconds()))
        return replace(job, create_time=self.clock.now(), spec=spec)

    def new_reservation(self, gpus: int, duration: timedelta, machines: int, start: datetime | None = None) -> Job:
        job = self.new_job(gpus, duration + GRACE)
        hold = price_of(duration, PRICE, eighths=machines * gpus * EIGHTHS_PER_GPU)
        latest = start + min(30 * MINUTE, duration) + duration + GRACE if start else None
        spec = replace(job.spec, machines=machines, deadline=latest)
        made = Reservation("train", (), duration, start_time=start)
        return replace(job, reservation=made, spec=spec, hold_micros=hold)


GangLife.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestGangLife = GangLife.TestCase


def busy(*minutes: int) -> GangLife:
    """Machines on each of which a job runs for so many minutes."""
    life = GangLife()
    for limit in minutes:
        life.comes(life.new_job(GPUS, limit * MINUTE), "red")
    assert len(life.running.jobs()) == len(minutes)
    return life


def seats_of(life: GangLife) -> list[tuple[int, int]]:
    """How many machines are kept for each gang, and from which minute on."""
    return [(len(seat.machine_ids), (seat.begin - START) // MINUTE) for seat in life.situations.gang_seats("MI300X")]


def test_two_of_two_queues_are_kept_machines_of_their_own_and_keep_their_turns() -> None:
    life = busy(30, 30, 60, 60)
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "red")
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "blue")
    assert seats_of(life) == [(2, 30), (2, 53)], "20 minutes, 2 of grace, and one to be prepared"


def test_only_work_that_ends_in_time_starts_on_what_is_kept() -> None:
    life = busy(30, 30, 30)
    life.comes(life.new_reservation(GPUS, 60 * MINUTE, 4), "red")
    assert seats_of(life) == [(4, 30)]
    life.comes(life.new_job(1, 31 * MINUTE), "red")
    assert len(life.running.jobs()) == 3
    life.comes(life.new_job(1, 30 * MINUTE), "red")
    assert len(life.running.jobs()) == 4


def test_it_waits_its_turn_behind_what_came_first_in_its_queue() -> None:
    life = busy(30, 30, 30, 30)
    life.comes(life.new_job(GPUS, 10 * MINUTE), "red")
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "red")
    assert seats_of(life) == []


def test_it_has_no_turn_while_its_queue_may_not_have_so_many_gpus() -> None:
    life = busy(30, 30, 30)
    life.queues.queues = Queues([QueueSettings("red", resources={"gpu": Share(limit=15_000)}), QueueSettings("blue")])
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "red")
    assert seats_of(life) == []
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "blue")
    assert seats_of(life) == [(2, 30)]


def test_nothing_is_kept_for_more_machines_than_are_there() -> None:
    life = busy(30, 30, 30)
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 5), "red")
    assert seats_of(life) == [(0, 0)]
    life.comes(life.new_job(1, 60 * MINUTE), "red")
    assert len(life.running.jobs()) == 4


def test_it_starts_around_what_is_promised_for_later() -> None:
    life = busy(30, 30, 30)
    for _ in range(3):
        dated = life.new_reservation(GPUS, 20 * MINUTE, 1)
        dated = replace(dated, reservation=replace(dated.reserved, start_time=START + 40 * MINUTE))
        life.book.put(dated)
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "red")
    assert seats_of(life) == [(2, 60)], "20 minutes do not fit in front of those that start at 40"
    life.comes(life.new_reservation(GPUS, 5 * MINUTE, 2), "blue")
    assert seats_of(life) == [(2, 60), (2, 30)], "and less does"
