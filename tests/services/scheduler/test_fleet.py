"""The machines in time, through any days: what the fleet says beside rows, pool and what each reader makes of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from wavepool.vmpool.v1 import vmpool_pb2

from services.scheduler.fairness.backfill import occupied
from services.scheduler.fleet.fleet import Fleet, WholeMachines
from services.scheduler.fleet.machine import COMING, GIVING_BACK, Machine
from services.scheduler.jobs.run_history import RunHistory
from services.scheduler.queue.fleet_view import FleetView
from tests.services.scheduler.jobs import START
from tests.services.scheduler.life import MINUTE, Life
from tests.services.scheduler.queue_bench import machine
from tests.tiers import examples
from vocabulary.limits import LONGEST_RUN
from vocabulary.slots import WHOLE_GPU, Slot, covered

NAMES = ("machine-0", "machine-1", "machine-2")
GPUS = 4
DAY = timedelta(days=1)
AHEAD = [timedelta(0), 7 * MINUTE, 31 * MINUTE, 90 * MINUTE]


class FleetLife(Life):
    """Three machines of four GPUs, of which other tenants have some, and which come and go."""

    SIZES: ClassVar = dict.fromkeys(NAMES, GPUS)

    def __init__(self) -> None:
        self.tenants: dict[str, int] = {}
        """Of each machine, how many of its last GPUs others have."""
        self.starting: set[str] = set()
        super().__init__()
        # Others take GPUs without asking, so that promises may be broken here.
        self.has_lost = True

    @rule(gpus=st.sampled_from([1, 2, 4]), minutes=st.integers(1, 60))
    def a_job_comes(self, gpus: int, minutes: int) -> None:
        self.comes(self.new_job(gpus, minutes * MINUTE))

    @rule(machines=st.integers(1, 3), minutes=st.integers(5, 60))
    def some_are_reserved(self, machines: int, minutes: int) -> None:
        self.comes(self.new_reservation(GPUS, minutes * MINUTE, machines))

    @rule(gpus=st.sampled_from([1, 4]), ahead=st.integers(1, 60), minutes=st.integers(5, 40))
    def some_are_reserved_for_later(self, gpus: int, ahead: int, minutes: int) -> None:
        self.comes_later(self.new_reservation(gpus, minutes * MINUTE, 1, self.clock.now() + ahead * MINUTE))

    @rule(name=st.sampled_from(NAMES), gpus=st.integers(0, 2))
    def others_have_some(self, name: str, gpus: int) -> None:
        self.tenants[name] = gpus
        self.look()

    @rule(name=st.sampled_from(NAMES))
    def a_machine_is_lost_and_starts_again(self, name: str) -> None:
        for job in self.lose(name):
            self.again(job)
        self.starting.add(name)
        self.look()

    @rule()
    def all_are_ready(self) -> None:
        self.starting.clear()
        self.machines = set(NAMES)
        self.look()

    def report(self) -> None:
        """What the pool says: it may not know yet of a lease that we have, and has others that we do not know."""
        super().report()
        ours = self.held()
        for name in self.machines:
            theirs = [WHOLE_GPU if gpu >= GPUS - self.tenants.get(name, 0) else 0 for gpu in range(GPUS)]
            free = [WHOLE_GPU & ~mask for mask in covered(theirs, ours.get(name, ()))]
            self.tell(name, free_masks=free)
        for name in self.starting:
            self.tell(name, state="STARTING", free_masks=[])

    def tell(self, name: str, **changes: Any) -> None:
        reported = machine(int(name[-1]), gpu_count=GPUS, **changes)
        self.inventory.apply(vmpool_pb2.MachineEvent(machine=reported))

    def held(self) -> dict[str, list[Slot]]:
        """The slots of all leases that rows have, looked up one by one."""
        leases = [lease for job in self.running.jobs() for lease in job.leases]
        return {name: [slot for lease in leases if lease.machine_id == name for slot in lease.slots] for name in NAMES}

    @property
    def fleet(self) -> Fleet:
        return self.book.fleet("MI300X")

    @invariant()
    def it_has_every_machine_with_the_slots_that_rows_have(self) -> None:
        machines = {one.machine_id: one for one in self.fleet.machines}
        assert machines.keys() == self.machines | self.starting
        assert {name: sorted(use.slot for use in one.uses) for name, one in machines.items()} == {
            name: sorted(slots) for name, slots in self.held().items() if name in machines
        }
        assert all(one.is_ready == (name not in self.starting) for name, one in machines.items())

    @invariant()
    def its_gpus_are_taken_until_their_runs_end_and_promised_as_reservations_are_to_get_them(self) -> None:
        now, bookings = self.clock.now(), {job.job_id: self.book.booking(job) for job in self.book.jobs()}
        seats = self.book.seats("MI300X")
        for one in self.fleet.machines:
            for at in (now + ahead for ahead in AHEAD):
                taken = {use.slot.gpu for use in one.uses if use.end > at}
                assert one.busy_at(at) == len(taken)
            assert one.busy_at(now + DAY) == 0
            assert {(use.user_id, use.end) for use in one.uses} >= {
                (job.job_id, (job.start_time or now) + job.longest_run(LONGEST_RUN))
                for job in self.running.jobs()
                if not job.reservation and one.machine_id in {lease.machine_id for lease in job.leases}
            }
            assert [(promise.user_id, promise.gpus, promise.begin, promise.end) for promise in one.promised] == [
                (seat.booking_id, seat.gpus, seat.begin, bookings[seat.booking_id].end)
                for seat in seats
                if seat.machine_id == one.machine_id
            ]

    @invariant()
    def each_gpu_is_kept_for_whoever_is_to_have_it_first(self) -> None:
        gangs = [seat for seat in self.situations.gang_seats("MI300X") if seat.job_id in self.waiting]
        first: dict[tuple[str, int], tuple[datetime, int, str]] = {}
        for name, gpu in ((name, gpu) for name in self.machines | self.starting for gpu in range(GPUS)):
            later = self.book.seats("MI300X")
            able = [(one.begin, 0, one.booking_id) for one in later if one.machine_id == name and gpu in one.gpus]
            able += [(one.begin, 1, one.job_id) for one in gangs if name in one.machine_ids]
            if able:
                first[name, gpu] = min(able)
        kept = self.situations.kept("MI300X")
        slots = [(one.hold.machine_id, slot.gpu, one.hold.time, one.job_id) for one in kept for slot in one.hold.slots]
        assert sorted(slots) == sorted((*place, time, job_id) for place, (time, _, job_id) in first.items())
        assert all(one.queue == self.jobs[one.job_id].spec.queue for one in kept)

    @invariant()
    def policies_and_estimates_see_the_same_eighths_taken(self) -> None:
        seen, fleet = occupied(self.situations.of("MI300X")), self.fleet
        for one in fleet.machines:
            assert one.ours == covered([0] * GPUS, (use.slot for use in one.uses))
            assert seen[one.machine_id] == (one.occupied if one.is_ready else (WHOLE_GPU,) * GPUS)
            assert not any(a & b for a, b in zip(one.ours, one.others, strict=bool(one.others)))
        ready = [one for one in fleet.machines if one.is_ready]
        view = FleetView(
            fleet.machines, self.inventory, self.running.jobs(), RunHistory(), None, ("MI300X",), self.clock.now()
        )
        free = sum(seen[one.machine_id].count(0) for one in ready)
        assert view.fleet().free_gpus() == free
        assert sum(self.situations.held()[one.machine_id] == [] for one in ready) == sum(not one.uses for one in ready)

    @invariant()
    def a_first_start_is_as_early_as_can_be_and_no_machine_is_promised_twice(self) -> None:
        fleet, now = self.fleet, self.clock.now()
        need = WholeMachines(2, GPUS, 20 * MINUTE)
        seat = fleet.first_start("one", need)
        if seat.is_whole:
            first = next(
                at
                for at in (now + step * MINUTE / 6 for step in range(6 * 24 * 60))
                if sum(one.is_free(at, need.use, now) for one in fleet.machines) >= need.number
            )
            assert first - MINUTE / 6 < seat.begin <= first
            after = fleet.promising("one", seat.machine_ids, seat.begin, seat.begin + need.use)
            again = after.first_start("two", need)
            assert again.begin >= seat.begin + need.use or set(again.machine_ids).isdisjoint(seat.machine_ids)


FleetLife.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)
TestFleetLife = FleetLife.TestCase


def test_what_is_given_back_is_free_a_little_later_and_what_is_started_when_it_is_there() -> None:
    assert Machine("m", 1, others=(0b1,)).free_time(START) == START + GIVING_BACK
    assert Machine("m", 1, is_ready=False).free_time(START) == START + COMING
    assert Machine("m", 1).free_time(START) == START


def test_machines_that_do_not_last_or_that_the_pool_has_yet_to_start_are_nothing_to_a_gang() -> None:
    short = Machine("short", 8, life_end=START + MINUTE)
    new = Machine("new", 8, is_known=False)
    need = WholeMachines(1, 8, MINUTE, lease=2 * MINUTE)
    assert not Fleet([short, new, Machine("small", 4)], START).first_start("one", need).machine_ids
    assert Fleet([short, new], START).first_start("one", need._replace(lease=MINUTE)).machine_ids == ("short",)
