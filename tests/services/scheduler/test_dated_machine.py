"""Any course of reservations, now and later, jobs, extensions, ends, losses and restarts, minute by minute."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from services.scheduler.jobs.reservation import GRACE, Extension
from tests.services.scheduler.life import MINUTE, PRICE, Life
from tests.tiers import examples
from vocabulary.money import price_of

GPUS = st.sampled_from([1, 2])


class DatedLife(Life):
    """Two machines."""

    SIZES: ClassVar = {"machine-0": 2, "machine-1": 1}

    @rule(gpus=GPUS, ahead=st.integers(1, 40), minutes=st.integers(5, 40))
    def one_is_reserved_for_later(self, gpus: int, ahead: int, minutes: int) -> None:
        self.comes_later(self.new_reservation(gpus, minutes * MINUTE, start=self.clock.now() + ahead * MINUTE))

    @rule(gpus=GPUS, minutes=st.integers(5, 40))
    def one_is_reserved_now(self, gpus: int, minutes: int) -> None:
        self.comes(self.new_reservation(gpus, minutes * MINUTE))

    @rule(gpus=GPUS, minutes=st.integers(1, 15))
    def a_job_comes(self, gpus: int, minutes: int) -> None:
        self.comes(self.new_job(gpus, minutes * MINUTE))

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

    @precondition(lambda self: len(self.machines) > 1)
    @rule()
    def a_machine_is_lost(self) -> None:
        for job in self.lose(max(self.machines)):
            if job.reservation and job.reservation.active_time:
                del self.jobs[job.job_id]
            else:
                self.again(job)
        self.look()

    @precondition(lambda self: len(self.machines) < len(self.SIZES))
    @rule()
    def it_comes_back(self) -> None:
        self.machines = set(self.SIZES)
        self.look()

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


DatedLife.TestCase.settings = settings(max_examples=examples(100), stateful_step_count=40, deadline=None)
TestDatedLife = DatedLife.TestCase
