"""Any course of a reservation, and of the session on its machine: who can log in, and when.

A session ends by what its machine was told, as that may be silent when the scheduler knows more. So both are here: the
scheduler's job, and the executor's timetable. The scheduler leads people to a session, which lets in those whose keys
it was told. One can log in if both do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from wavepool.executor.v1 import session_pb2

from services.executor.sessions.timetable import Timetable
from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.outcome import Ending
from services.scheduler.jobs.reservation import GRACE, SILENCE_AFTER_END, Extension, Reservation
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.states import OVER_STATES, WAITING_STATES, JobState
from services.scheduler.reservations.attempt.ending import CLOSE_GRACE
from services.scheduler.wire import payloads
from tests.services.scheduler.jobs import LEASE, START, a_queued_job
from vocabulary.ssh_keys import Key

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
USERS = ("alice", "bob", "carol")
STRETCHES = st.one_of(st.integers(1, 90), st.integers(1, 7200)).map(lambda seconds: seconds * SECOND)


@dataclass
class Session:
    """What a machine knows of its session."""

    timetable: Timetable
    lasts: timedelta
    users: frozenset[str]
    is_ready: bool = False
    killed_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        return now >= min(self.timetable.kill_time, self.killed_at or self.timetable.kill_time)


class AccessLife(RuleBasedStateMachine):
    """A reservation of one machine. It is over once it has settled; a lost machine's session is out of reach."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.job: Job = a_queued_job()
        self.session: Session | None = None
        self.is_silent = False
        self.was_cancelled = False
        self.let_in = {"alice"}
        """Whoever was let in last, and was not removed since."""

    @initialize(minutes=st.integers(5, 90), ahead=st.none() | st.integers(0, 60))
    def it_is_reserved(self, minutes: int, ahead: int | None) -> None:
        start = None if ahead is None else START + ahead * MINUTE
        made = Reservation("train", (key_of("alice"),), minutes * MINUTE, start_time=start)
        self.job = self.job.changed(reservation=made)

    @property
    def reservation(self) -> Reservation:
        return self.job.reserved

    @property
    def may_change(self) -> bool:
        """As the scheduler takes changes of who may log in, and of the time."""
        open_states = {ReservationState.PREPARING, ReservationState.ACTIVE}
        return self.job.reservation_state in open_states and not self.is_silent

    def can_log_in(self, user: str) -> bool:
        session = self.session
        if session is None or not session.is_ready or session.is_over(self.now):
            return False
        return self.job.takes_logins and user in session.users

    @rule(by=STRETCHES)
    def time_goes_on(self, by: timedelta) -> None:
        self.pass_time(by)

    @precondition(lambda self: self.session and self.reservation.expire_time)
    @rule(grace=st.sampled_from([timedelta(0), GRACE]), off=st.sampled_from([-SECOND, timedelta(0), SECOND]))
    def time_goes_on_to_the_end(self, grace: timedelta, off: timedelta) -> None:
        end = self.reservation.expire_time
        if end:
            self.pass_time(max(timedelta(0), end + grace + off - self.now))

    @precondition(lambda self: self.job.state in WAITING_STATES)
    @rule()
    def it_gets_its_gpus(self) -> None:
        if self.reservation.is_pending:
            self.job = self.job.changed(reservation=self.reservation.come_due())
        end = self.reservation.end_if_opened(self.now)
        self.job = self.job.start(LEASE, self.now)
        users = frozenset(self.reservation.users)
        self.session = Session(Timetable.of(end, GRACE, self.now), self.reservation.lasts, users)
        self.is_silent = False

    @precondition(lambda self: self.session and not self.session.is_ready)
    @rule()
    def its_session_is_ready(self) -> None:
        session = self.session
        assert session is not None
        if session.is_over(self.now):
            return
        session.is_ready = True
        if session.lasts and self.now + session.lasts > session.timetable.end_time:
            session.timetable = Timetable.of(self.now + session.lasts, GRACE, self.now)
        ready = session_pb2.SessionEvent(ready=session_pb2.SessionReady(user="dev"))
        ready.time.FromDatetime(self.now)
        self.job = self.job.changed(reservation=self.reservation.after(ready))
        self.tell()

    @precondition(lambda self: self.may_change)
    @rule(minutes=st.integers(1, 120))
    def it_is_extended(self, minutes: int) -> None:
        if self.session is None or self.now >= self.session.timetable.hang_up_time:
            return
        more = Extension(minutes * MINUTE, self.now, "user-1", f"key {len(self.reservation.extensions)}")
        self.job = self.job.changed(reservation=self.reservation.extended(more))
        self.tell()

    @precondition(lambda self: self.may_change or self.job.state in WAITING_STATES)
    @rule(user=st.sampled_from(USERS))
    def somebody_is_let_in(self, user: str) -> None:
        self.job = self.job.changed(reservation=self.reservation.with_keys([key_of(user)], []))
        self.let_in.add(user)
        self.tell()

    @precondition(lambda self: self.may_change or self.job.state in WAITING_STATES)
    @rule(user=st.sampled_from(USERS))
    def somebody_is_removed(self, user: str) -> None:
        changed = self.reservation.with_keys([], [user])
        if self.let_in != {user}:
            self.job = self.job.changed(reservation=changed)
            self.let_in.discard(user)
            self.tell()

    @precondition(lambda self: self.job.state in WAITING_STATES)
    @rule()
    def it_is_cancelled_in_the_queue(self) -> None:
        self.was_cancelled = True
        self.over(payloads.outcome(Ending(JobState.CANCELLED, "CANCELLED", "Cancelled.")))
        assert self.job.cost_micros == 0

    @precondition(lambda self: self.job.state is JobState.RUNNING)
    @rule()
    def it_is_cancelled_while_it_runs(self) -> None:
        self.was_cancelled = True
        self.job = self.job.request_cancel(self.now)
        if self.session and not self.is_silent:
            self.session.killed_at = self.session.killed_at or self.now + CLOSE_GRACE

    @precondition(lambda self: self.session)
    @rule()
    def its_machine_falls_silent(self) -> None:
        self.is_silent = True

    @precondition(lambda self: self.is_silent)
    @rule()
    def its_machine_is_heard_again(self) -> None:
        self.is_silent = False
        self.tell()
        if self.job.cancel_time and self.session:
            self.session.killed_at = self.session.killed_at or self.now + CLOSE_GRACE
        self.hear()

    @precondition(lambda self: self.session)
    @rule()
    def its_machine_is_lost(self) -> None:
        self.session = None
        if self.reservation.active_time or self.job.cancel_time:
            self.over(payloads.session_outcome(self.job, JobState.FAILED, timedelta(0), "Its machine was lost."))
        else:
            self.job = self.job.retry(excused=True)

    @invariant()
    def nobody_logs_in_but_from_the_beginning_to_the_end_and_its_grace(self) -> None:
        ready, end = self.reservation.ready_time, self.reservation.expire_time
        for user in USERS:
            if self.can_log_in(user):
                assert ready is not None
                assert end is not None
                assert ready <= self.now < end + GRACE

    @invariant()
    def nobody_logs_in_who_was_removed_or_after_it_was_cancelled(self) -> None:
        for user in USERS:
            if self.can_log_in(user):
                assert user in self.let_in
                assert not self.was_cancelled

    @invariant()
    def whoever_pays_can_log_in(self) -> None:
        end = self.reservation.expire_time
        if self.job.reservation_state is ReservationState.ACTIVE and end and self.now < end:
            assert all(self.can_log_in(user) for user in self.let_in)

    @invariant()
    def what_is_over_has_no_session_and_costs_no_more_than_its_time(self) -> None:
        if self.job.state in OVER_STATES:
            assert self.session is None
            assert not any(map(self.can_log_in, USERS))
        assert self.reservation.used(self.now) <= self.reservation.total

    def pass_time(self, by: timedelta) -> None:
        self.now += by
        self.hear()
        self.give_up_what_is_silent()

    def tell(self) -> None:
        """What a machine is told of each change: who may log in, and until when, if that is known."""
        session, end = self.session, self.reservation.expire_time
        if session is None or self.is_silent or session.is_over(self.now):
            return
        session.users = frozenset(self.reservation.users)
        if end and self.now < session.timetable.hang_up_time and end != session.timetable.end_time:
            session.timetable = Timetable.of(end, GRACE, self.now)

    def hear(self) -> None:
        """What a machine that is not silent tells: its last words, and that its session is over."""
        session = self.session
        if session is None or self.is_silent:
            return
        if session.timetable.due(self.now) == 0:
            last_words = session_pb2.SessionEvent(warning=session_pb2.SessionWarning(minutes_left=0))
            self.job = self.job.changed(reservation=self.reservation.after(last_words))
        if session.is_over(self.now):
            self.session = None
            if not session.is_ready and not self.job.cancel_time:
                self.job = self.job.retry()
                return
            ending = JobState.CANCELLED if self.job.cancel_time else JobState.FINISHED
            used = self.reservation.used(self.job.cancel_time or self.now)
            self.over(payloads.session_outcome(self.job, ending, used, "It is over."))

    def give_up_what_is_silent(self) -> None:
        end = self.reservation.expire_time
        if self.session and end and self.now >= end + GRACE + SILENCE_AFTER_END:
            self.session = None
            self.over(payloads.session_outcome(self.job, JobState.FAILED, timedelta(0), "Its machine was silent."))

    def over(self, outcome: Outcome) -> None:
        self.job = self.job.settle(replace(outcome))
        self.job = self.job.finish(self.job.cost_micros, self.now)


def key_of(user: str) -> Key:
    return Key(user, f"ssh-ed25519 AAAA{user}")


AccessLife.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestAccessLife = AccessLife.TestCase
