"""Any course of reservations of several machines beside other work, minute by minute."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from services.scheduler.fairness.queue_tree import ReclaimStrategy
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fleet.fleet import Fleet, WholeMachines
from services.scheduler.fleet.machine import COMING, Machine, Promise, Use
from tests.services.scheduler.jobs import START
from tests.services.scheduler.life import MINUTE, PRICE, Life
from tests.tiers import examples
from vocabulary.money import price_of
from vocabulary.slots import EIGHTHS_PER_GPU, Slot

NAMES = ("machine-0", "machine-1", "machine-2", "machine-3")
GPUS = 8
QUEUES = ("red", "blue")
TIMES = st.lists(st.tuples(st.integers(0, 90), st.integers(1, 40)), max_size=2)
MACHINES = st.lists(st.tuples(st.integers(0, 90), st.sampled_from(["here", "there"]), st.booleans(), TIMES), max_size=6)


@given(st.integers(1, 4), st.integers(1, 60), MACHINES)
def test_a_seat_has_the_machines_that_are_free_first_together_of_one_site_if_one_has_enough(
    number: int, lasts: int, drawn: list[tuple[int, str, bool, list[tuple[int, int]]]]
) -> None:
    machines = [
        Machine(
            f"m{at}",
            GPUS,
            (Use("run", Slot(0, 0, EIGHTHS_PER_GPU), START + minutes * MINUTE),),
            site=(site,),
            is_ready=is_there,
            promised=tuple(
                Promise("one", (0,), START + first * MINUTE, START + (first + length) * MINUTE)
                for first, length in times
            ),
        )
        for at, (minutes, site, is_there, times) in enumerate(drawn)
    ]
    use = lasts * MINUTE
    seat = Fleet(machines, START).first_start("gang", WholeMachines(number, GPUS, use))
    by_id = {one.machine_id: one for one in machines}
    chosen = [by_id[name] for name in seat.machine_ids]
    assert len(set(seat.machine_ids)) == len(chosen) <= number
    assert all(one.is_ready and one.is_free(seat.begin, use, START) for one in chosen)
    assert seat.is_whole == (len(chosen) == number)
    assert (len(machines) >= number) or not chosen, "nothing is kept if not enough machines will be there"
    sites = [[one for one in machines if one.site == (site,)] for site in ("here", "there")]
    whole = [those for those in sites if len(those) >= number] or [machines]
    if len(whole[0]) >= number:
        every_minute = (START + minute * MINUTE for minute in range(200))
        first = next(at for at in every_minute if any(_free(those, at, use) >= number for those in whole))
        assert seat.begin == first
        assert whole == [machines] or len({one.site for one in chosen}) <= 1


def _free(machines: list[Machine], begin: datetime, use: timedelta) -> int:
    """How many of the machines nobody has in any minute from `begin` on."""
    minutes = [begin + at * MINUTE for at in range(use // MINUTE)]
    return sum(
        (one.uses[0].end if one.is_ready else START + COMING) <= begin
        and not any(promise.begin <= at < promise.end for at in minutes for promise in one.promised)
        for one in machines
    )


class GangLife(Life):
    """Four machines of eight GPUs."""

    SIZES: ClassVar = dict.fromkeys(NAMES, GPUS)
    QUEUES: ClassVar = QUEUES

    @rule(machines=st.integers(2, 3), minutes=st.integers(5, 60), queue=st.sampled_from(QUEUES))
    def several_machines_are_reserved(self, machines: int, minutes: int, queue: str) -> None:
        self.comes(self.new_reservation(GPUS, minutes * MINUTE, machines), queue)

    @rule(machines=st.integers(1, 3), ahead=st.integers(1, 60), minutes=st.integers(5, 40))
    def some_are_reserved_for_later(self, machines: int, ahead: int, minutes: int) -> None:
        start = self.clock.now() + ahead * MINUTE
        self.comes_later(self.new_reservation(GPUS, minutes * MINUTE, machines, start))

    @rule(gpus=st.sampled_from([1, 2, 4, 8]), minutes=st.integers(5, 40), queue=st.sampled_from(QUEUES))
    def one_machine_is_reserved(self, gpus: int, minutes: int, queue: str) -> None:
        self.comes(self.new_reservation(gpus, minutes * MINUTE, 1), queue)

    @rule(gpus=st.sampled_from([1, 8]), minutes=st.integers(1, 15), queue=st.sampled_from(QUEUES))
    def a_job_comes(self, gpus: int, minutes: int, queue: str) -> None:
        self.comes(self.new_job(gpus, minutes * MINUTE), queue)

    @precondition(lambda self: len(self.machines) > 1)
    @rule(name=st.sampled_from(NAMES))
    def a_machine_is_lost(self, name: str) -> None:
        if name in self.machines:
            for job in self.lose(name):
                self.again(job)
            self.look()

    @rule(name=st.sampled_from(NAMES))
    def it_comes_back(self, name: str) -> None:
        self.machines.add(name)
        # What was promised for later can be kept again.
        self.latest.clear()
        self.look()

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


GangLife.TestCase.settings = settings(max_examples=examples(100), stateful_step_count=40, deadline=None)
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


def a_team_with(limit: int) -> GangLife:
    """Both queues belong to a team that may have so many GPUs."""
    life = GangLife()
    team = QueueSettings("team", resources={"gpu": Share(limit=limit * 1_000)})
    life.queues.queues = Queues([team, *(QueueSettings(name, parent="team") for name in QUEUES)])
    return life


def test_the_first_job_after_a_team_was_put_above_its_queue_may_take_several_machines() -> None:
    life = busy(30, 30, 30)
    life.queues.queues = a_team_with(limit=8 * GPUS).queues.queues
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "red")
    assert seats_of(life) == [(2, 30)]


def test_two_that_come_together_do_not_start_beside_the_limit_of_the_team_of_their_queues() -> None:
    life = a_team_with(limit=2 * GPUS)
    for queue in QUEUES:
        job = life.new_reservation(GPUS, 20 * MINUTE, 2)
        life.jobs[job.job_id] = replace(job, spec=replace(job.spec, queue=queue))
        life.waiting.put(life.jobs[job.job_id])
    life.look()
    assert life.situations.used("MI300X")["team"] == 2 * GPUS * 1_000
    assert len(life.waiting) == 1
    life.end(next(iter(life.running.jobs())))
    # One pass finds what the queues have now, and the next one goes by it.
    life.look()
    life.look()
    assert not life.waiting


def test_the_first_counts_for_the_limit_of_a_team_while_machines_are_kept_for_it() -> None:
    life = busy(30, 30, 30, 60)
    limited = a_team_with(limit=3 * GPUS).queues.queues
    life.queues.queues = Queues([*limited.by_name.values(), QueueSettings("other")])
    for job in list(life.running.jobs()):
        life.changed(replace(job, spec=replace(job.spec, queue="other")))
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "red")
    assert seats_of(life) == [(2, 30)]
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "blue")
    assert seats_of(life) == [(2, 30)], "together they would have 32 GPUs of 24"
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 1), "other")
    assert seats_of(life) == [(2, 30)]


def two_teams(policy: FairnessPolicy, strategy: ReclaimStrategy, *minutes: int) -> GangLife:
    """Jobs of red run on all machines, half of which are blue's."""
    life = busy(*minutes)
    lab = QueueSettings("lab", policy=policy, reclaim_strategy=strategy)
    half = {"gpu": Share(quota=2 * GPUS * 1_000)}
    life.queues.queues = Queues([lab, *(QueueSettings(name, parent="lab", resources=half) for name in QUEUES)])
    return life


def given_way(life: GangLife) -> list[tuple[str, str]]:
    """The machines of those that give way to the first of those that take several, and to whom."""
    (seat,) = life.situations.gang_seats("MI300X")
    at = {job.job_id: job.machine_id for job in life.running.jobs()}
    stops = life.situations.room_for(seat)
    for stop in stops:
        life.running.give_way(stop.job_id, stop.winner)
    return sorted((at[stop.job_id], stop.winner) for stop in stops)


@pytest.mark.parametrize("policy", FairnessPolicy)
def test_others_give_back_what_is_its_queues_and_it_starts_whole_when_they_have_stopped(policy: FairnessPolicy) -> None:
    life = two_teams(policy, ReclaimStrategy.CONSERVATIVE, 90, 90, 90, 30)
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "blue")
    gang = f"job-{life.number:03}"
    assert given_way(life) == [], "runs so young give way to nobody"
    life.time_goes_on(2)
    assert seats_of(life) == [(2, 90)]
    stopped = given_way(life)
    assert len(stopped) == len({machine for machine, _ in stopped}) == 2
    assert {winner for _, winner in stopped} == {gang}
    assert seats_of(life) == [(2, 3)], "they are kept for it from the moment on at which these have stopped"
    assert given_way(life) == [], "and nobody else gives way meanwhile"
    first, second = (job for job in list(life.running.jobs()) if life.running.winner(job.job_id))
    life.end(first)
    life.comes(life.new_job(GPUS, 90 * MINUTE), "red")
    assert gang not in {job.job_id for job in life.running.jobs()}
    assert len(life.running.jobs()) == 3, "what is free of them is for it"
    life.end(second)
    life.look()
    assert {lease.machine_id for lease in life.jobs[gang].leases} == {machine for machine, _ in stopped}


@pytest.mark.parametrize("policy", FairnessPolicy)
@pytest.mark.parametrize("strategy", ReclaimStrategy)
def test_nobody_gives_way_for_a_part_of_its_machines_or_for_more_than_its_queues_own(
    policy: FairnessPolicy, strategy: ReclaimStrategy
) -> None:
    life = two_teams(policy, strategy, 90)
    for _ in range(3):
        life.comes(life.new_reservation(GPUS, 60 * MINUTE), "red")
    life.time_goes_on(2)
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "blue")
    assert given_way(life) == [], "people work on the other three machines"
    life = two_teams(policy, strategy, 90, 90)
    for _ in range(2):
        life.comes(life.new_job(GPUS, 90 * MINUTE), "blue")
    life.time_goes_on(2)
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "blue")
    assert [life.situations.room_for(seat) for seat in life.situations.gangs("MI300X")] == [[]]


def test_it_is_said_which_limit_and_what_is_kept_before_it_holds_it_up() -> None:
    life = busy(30, 30, 30, 60)
    life.queues.queues = Queues([*a_team_with(limit=3 * GPUS).queues.queues.by_name.values(), QueueSettings("other")])
    for job in list(life.running.jobs()):
        life.changed(replace(job, spec=replace(job.spec, queue="other")))
    for queue in QUEUES:
        life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), queue)
    first, second = life.situations.gangs("MI300X")
    assert first.why(2) == "2 whole machines are kept for it, from 00:30:00 UTC on at the latest"
    assert second.why(2) == f"queue team may have 24 GPUs of MI300X, beside what is kept for {first.job_id}"


def test_what_others_gave_up_for_a_job_is_not_taken_by_several_machines() -> None:
    life = busy(30, 30, 90, 90)
    leaving, other = list(life.running.jobs())[:2]
    life.comes(life.new_reservation(GPUS, 20 * MINUTE, 2), "red")
    winner = life.new_job(GPUS, 30 * MINUTE)
    life.comes(winner, "blue")
    life.running.give_way(leaving.job_id, winner.job_id)
    life.situations.keep_promises({winner.job_id: leaving.machine_id})
    assert seats_of(life) == [(2, 31)], "the winner has its machine first"
    for job in (leaving, other):
        life.end(job)
    life.look()
    assert life.jobs[winner.job_id].machine_id == leaving.machine_id
