"""The pure decisions about reservations: their time, their parts, their names, their states."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from wavepool.executor.v1 import session_pb2
from wavepool.scheduler.v1 import reservations_pb2

from services.billing.ledger.holds import Hold
from services.scheduler.jobs.errors import InvalidRequestError
from services.scheduler.jobs.reservation import GRACE, PART, Extension, Reservation, state_of
from services.scheduler.jobs.reservation_checks import (
    NO_LINKS,
    NO_NETWORK,
    ReservationLimits,
    admit_reservation,
    changed_users,
    extension_of,
    free_name,
    node_of,
    wrong_length,
    wrong_machines,
    wrong_name,
    wrong_size,
)
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.states import JobState
from services.scheduler.store.json_columns import ReservationColumn
from tests.services.scheduler.cluster import KEY, sound_reservation
from vocabulary.money import Tariff, price_of
from vocabulary.ssh_keys import Key

BEGIN = datetime(2026, 11, 26, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
LIMITS = ReservationLimits(timedelta(minutes=5), 24 * HOUR, 48 * HOUR, 48 * HOUR)
GPU_TYPES = ("MI300X", "MI300A", "MI250X", "MI210")
PLAIN = Reservation("train", (Key("alice", KEY),), HOUR)


def at(event: session_pb2.SessionEvent, when: datetime) -> session_pb2.SessionEvent:
    event.time.FromDatetime(when)
    return event


def ready() -> session_pb2.SessionEvent:
    return session_pb2.SessionEvent(ready=session_pb2.SessionReady(host_key="ssh-ed25519 AAAA", user="dev"))


def faults(**changes: object) -> str:
    with pytest.raises(InvalidRequestError) as caught:
        admit_reservation(sound_reservation(**changes), GPU_TYPES, LIMITS, [])
    return str(caught.value)


def test_its_time_begins_when_people_can_log_in_and_the_grace_is_free() -> None:
    assert (PLAIN.expire_time, PLAIN.used(BEGIN + HOUR)) == (None, timedelta(0))
    active = PLAIN.after(at(ready(), BEGIN))
    assert active.expire_time == BEGIN + HOUR
    assert active.used(BEGIN + timedelta(seconds=90)) == timedelta(seconds=90)
    assert active.used(BEGIN + HOUR + GRACE) == HOUR
    assert active.used(BEGIN - HOUR) == timedelta(0)


def test_who_comes_before_a_later_start_pays_from_then_on_and_never_more_than_was_held() -> None:
    early = timedelta(minutes=4)
    login = session_pb2.SessionEvent(login=session_pb2.SessionLogin(connection=1, user="alice"))
    dated = replace(PLAIN, start_time=BEGIN).after(at(ready(), BEGIN - timedelta(minutes=5)))
    assert (dated.active_time, dated.used(BEGIN - SECOND)) == (BEGIN, timedelta(0))
    came = dated.after(at(login, BEGIN - early))
    assert came.used(BEGIN) == early
    assert (came.expire_time, came.used(BEGIN + HOUR)) == (BEGIN + HOUR, HOUR)
    assert came.minutes_due(BEGIN + HOUR) == 60
    assert came.charged(59).next_minute_end() == BEGIN - early + HOUR
    assert came.charged(60).next_minute_end() is None
    assert came.after(at(login, BEGIN)).active_time == BEGIN - early
    assert dated.after(at(login, BEGIN + SECOND)).active_time == BEGIN


def test_minutes_are_due_when_they_are_over_and_none_is_due_after_the_end() -> None:
    active = PLAIN.after(at(ready(), BEGIN))
    assert [active.minutes_due(BEGIN + seconds * SECOND) for seconds in (0, 59, 60, 179)] == [0, 0, 1, 2]
    assert active.charged(2).minutes_due(BEGIN + 2 * PART) == 0
    assert active.charged(1).minutes_due(BEGIN + 3 * PART) == 3
    assert active.minutes_due(BEGIN + HOUR + GRACE) == 60
    assert active.charged(59).next_minute_end() == BEGIN + HOUR
    assert active.charged(60).next_minute_end() is None


def test_logins_are_counted_and_the_last_words_make_it_expire() -> None:
    login = session_pb2.SessionEvent(login=session_pb2.SessionLogin(connection=1, user="alice"))
    logout = session_pb2.SessionEvent(logout=session_pb2.SessionLogout(connection=1, user="alice"))
    inside = PLAIN.after(at(login, BEGIN))
    assert (inside.connections, inside.last_login_time) == (1, BEGIN)
    assert inside.after(at(logout, BEGIN)).connections == 0
    active = PLAIN.after(at(ready(), BEGIN))
    assert (PLAIN.idle_since, active.idle_since, active.after(at(login, BEGIN)).idle_since) == (None, BEGIN, None)
    assert active.after(at(login, BEGIN)).after(at(logout, BEGIN + HOUR)).idle_since == BEGIN + HOUR
    killed = session_pb2.SessionEvent(out_of_memory=session_pb2.SessionOutOfMemory(killed=2))
    assert active.after(at(killed, BEGIN + HOUR)).last_out_of_memory_time == BEGIN + HOUR
    warned = active.after(session_pb2.SessionEvent(warning=session_pb2.SessionWarning(minutes_left=5)))
    assert not warned.is_expiring
    last = at(session_pb2.SessionEvent(warning=session_pb2.SessionWarning(minutes_left=0)), BEGIN + HOUR)
    assert warned.after(last).is_expiring
    extended = warned.extended(Extension(HOUR, BEGIN, "", "more"))
    assert not extended.after(last).is_expiring, "it is of the end before"


def test_an_event_that_is_unknown_to_us_changes_nothing() -> None:
    assert PLAIN.after(session_pb2.SessionEvent(seq=7)) == PLAIN


@pytest.mark.parametrize(
    ("state", "active", "cancelled", "expected"),
    [
        (JobState.QUEUED, False, False, ReservationState.QUEUED),
        (JobState.PROVISIONING, False, False, ReservationState.QUEUED),
        (JobState.RUNNING, False, False, ReservationState.PREPARING),
        (JobState.RUNNING, True, False, ReservationState.ACTIVE),
        (JobState.RUNNING, True, True, ReservationState.EXPIRING),
        (JobState.SETTLING, True, False, ReservationState.EXPIRING),
        (JobState.FINISHED, True, False, ReservationState.EXPIRED),
        (JobState.CANCELLED, True, True, ReservationState.CANCELLED),
        (JobState.FAILED, True, False, ReservationState.FAILED),
    ],
)
def test_its_state_is_that_of_its_job_and_says_more_while_that_runs(
    state: JobState, active: bool, cancelled: bool, expected: ReservationState
) -> None:
    reservation = PLAIN.after(at(ready(), BEGIN)) if active else PLAIN
    assert state_of(state, reservation, is_cancelled=cancelled) is expected


def test_a_lost_attempt_forgets_its_session_and_keeps_what_people_asked_for() -> None:
    extension = Extension(HOUR, BEGIN, "user-1", "key")
    asked = replace(PLAIN, instead_of="res_lost")
    before = asked.after(session_pb2.SessionEvent(step=session_pb2.SessionStep(name="sandbox"))).extended(extension)
    assert before.afresh() == replace(asked, extensions=(extension,))


@pytest.mark.parametrize("name", ["a", "train-2", "x" * 63])
def test_a_label_is_a_name(name: str) -> None:
    assert wrong_name(name) == ""


@pytest.mark.parametrize("name", ["Train", "2train", "a--b", "a-", "-a", "x" * 64, "a b", "ä", "a\n"])
def test_what_is_no_label_is_no_name(name: str) -> None:
    assert "it must have 1 to 63 lower case letters" in wrong_name(name)


@given(st.sets(st.sampled_from(["a", "a-2", "a-3", "x" * 63, "x" * 61 + "-2"])), st.sampled_from(["a", "x" * 63]))
def test_a_free_name_is_a_name_that_nobody_has(taken: set[str], name: str) -> None:
    found = free_name(name, taken)
    assert found not in taken
    assert wrong_name(found) == ""


def test_a_request_has_its_gpus_its_time_and_a_name_of_its_type() -> None:
    spec, reservation = admit_reservation(
        sound_reservation(gpu_type="mi300x", gpus=4, fallback_gpu_types=["mi300a"]), GPU_TYPES, LIMITS, []
    )
    assert (spec.gpu_types, spec.resources.gpus, spec.resources.is_part) == (("MI300X", "MI300A"), 4, False)
    assert spec.time_limit_seconds == 3600 + GRACE.total_seconds()
    assert (reservation.name, reservation.duration, reservation.users) == ("mi300x", HOUR, ("alice",))


def test_a_priority_above_the_highest_is_refused() -> None:
    assert "spec.priority: is 101" in faults(priority=101)


def test_several_machines_are_whole_ones_that_start_together() -> None:
    gang = {"distributed": True, "allow_slow_links": True}
    spec, _ = admit_reservation(sound_reservation(gpus=48, **gang), GPU_TYPES, LIMITS, [])
    assert (spec.machines, spec.resources.gpus, spec.gpus_in_all) == (6, 8, 48)
    whole = "several machines are whole ones of 8: give 16, 24, 32, 40 or 48"
    assert faults(gpus=12, **gang) == f"spec.gpus: is 12; {whole}"
    assert faults(gpus=56, **gang) == f"spec.gpus: is 56; {whole}"
    assert faults(gpus=8, **gang) == (
        "spec.distributed: is for several machines: leave it out for 8, or give 16, 24, 32, 40 or 48 GPUs"
    )
    assert faults(gpus=16, distributed=True) == f"spec.distributed: {NO_LINKS}"


@pytest.mark.parametrize(
    ("machines", "most", "fault"),
    [
        (3, 2, "is 24, which takes 3 machines; the pool may have 2 machines (VMPOOL_MAX_MACHINES)"),
        (2, 1, "is 16, which takes 2 machines; the pool may have 1 machine (VMPOOL_MAX_MACHINES)"),
        (2, 2, ""),
        (2, 0, ""),
        (1, 0, ""),
    ],
)
def test_more_machines_than_the_pool_may_have_are_too_many(machines: int, most: int, fault: str) -> None:
    assert wrong_machines(machines, most, "10.0.0.0/8") == ([("spec.gpus", fault)] if fault else [])


def test_several_machines_need_a_network() -> None:
    assert wrong_machines(2, 2, "") == [("spec.distributed", NO_NETWORK)]
    assert wrong_machines(1, 2, "") == []
    assert wrong_machines(2, 0, "") == [], "nobody has asked the pool yet"


@pytest.mark.parametrize(
    ("hours", "longest_hours", "fault"),
    [
        (12, 11.5, "is 12 h; the most is 10.3 h, as the machines that the pool starts do not live longer"),
        (10.3, 11.5, ""),
        (24, None, ""),
        (0.1, 1, "is 6 minutes; there is no time at all, as the machines that the pool starts do not live longer"),
    ],
)
def test_a_reservation_that_no_machine_would_last_for_is_too_long(
    hours: float, longest_hours: float | None, fault: str
) -> None:
    reservation = Reservation("name", (), timedelta(hours=hours))
    longest = None if longest_hours is None else timedelta(hours=longest_hours)
    found = wrong_length(reservation, longest, "VMPOOL_LIFE")
    assert [(field, said[: len(fault)]) for field, said in found] == ([("spec.duration", fault)] if fault else [])
    assert all("(VMPOOL_LIFE)" in said for _, said in found)


TOO_SMALL = "no machine has more than 4, and the pool starts none with more (VMPOOL_GPUS_PER_MACHINE)"


@pytest.mark.parametrize(
    ("gpus", "machines", "largest", "fault"),
    [
        (8, 1, 4, f"is 8; {TOO_SMALL}"),
        (
            8,
            2,
            4,
            f"is 16, which takes machines of 8; {TOO_SMALL}",
        ),
        (4, 1, 4, ""),
        (8, 1, 0, ""),
    ],
)
def test_more_gpus_than_any_machine_has_are_too_many(gpus: int, machines: int, largest: int, fault: str) -> None:
    assert wrong_size(gpus, machines, largest) == ([("spec.gpus", fault)] if fault else [])


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("wp-7k3m9q2x", ("wp-7k3m9q2x", 0)),
        ("wp-7k3m9q2x-1", ("wp-7k3m9q2x", 1)),
        ("res_01J-5", ("res_01J", 5)),
        ("wp-5", ("wp-5", 0)),
        ("wp-7k3m9q2x-10", ("wp-7k3m9q2x-10", 0)),
        ("wp-7k3m9q2x-x", ("wp-7k3m9q2x-x", 0)),
        ("", ("", 0)),
    ],
)
def test_a_number_behind_a_host_is_one_of_its_machines(host: str, found: tuple[str, int]) -> None:
    assert node_of(host) == found


@pytest.mark.parametrize(
    ("seconds", "fault"),
    [
        (0, "is 0 s; the least is 5 minutes"),
        (-3600, "the least is 5 minutes"),
        (300_000_000_000, "the most is 24 h"),
    ],
)
def test_a_time_that_is_too_short_or_too_long_is_refused(seconds: int, fault: str) -> None:
    asked = reservations_pb2.ReservationSpec(keys=sound_reservation().keys)
    asked.duration.seconds = seconds
    with pytest.raises(InvalidRequestError, match="duration") as caught:
        admit_reservation(asked, GPU_TYPES, LIMITS, [])
    assert fault in str(caught.value)


def test_extensions_fill_up_what_is_left_and_no_more() -> None:
    reservation = replace(PLAIN, duration=24 * HOUR)
    assert extension_of(24 * 3600, reservation, LIMITS) == 24 * HOUR
    full = reservation.extended(Extension(24 * HOUR, BEGIN, "", "key"))
    with pytest.raises(InvalidRequestError, match="its limit"):
        extension_of(60, full, LIMITS)
    with pytest.raises(InvalidRequestError, match=r"the least is 1 minute$"):
        extension_of(0, reservation, LIMITS)


def test_two_people_cannot_have_one_key() -> None:
    bob = session_pb2.SessionKey(user="bob", public_key=KEY)
    with pytest.raises(InvalidRequestError, match="is that of alice, too"):
        changed_users(PLAIN, reservations_pb2.UpdateReservationRequest(add_keys=[bob]))


def test_a_row_gives_the_reservation_back() -> None:
    column = ReservationColumn()
    reservation = PLAIN.after(at(ready(), BEGIN)).extended(Extension(HOUR, BEGIN, "user-1", "key")).charged(33)
    stored = column.process_bind_param(reservation, None)  # pyright: ignore[reportArgumentType]
    assert column.process_result_value(stored, None) == reservation  # pyright: ignore[reportArgumentType]


class ReservationLife(RuleBasedStateMachine):
    """An active reservation over any course of time, extensions, charges that are due, and an end at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self.now = BEGIN
        self.reservation = PLAIN.after(at(ready(), BEGIN))
        self.hold = Hold("hold", "account", self.price(HOUR), tariffs={"MI300X": Tariff(1_990_000, gpus=8)})
        self.is_over = False

    def price(self, duration: timedelta) -> int:
        return price_of(duration, 1_990_000, gpus=8)

    def charge(self, total: timedelta, *, final: bool) -> None:
        billable = max(timedelta(0), total - self.hold.billed)
        self.hold = self.hold.charge(self.hold.price_of(billable, "MI300X"), final=final, billable=billable)

    @rule(seconds=st.integers(0, 4000))
    def time_goes_on(self, seconds: int) -> None:
        self.now += seconds * SECOND

    @precondition(lambda self: not self.is_over)
    @rule(minutes=st.integers(1, 300))
    def is_extended(self, minutes: int) -> None:
        more = minutes * timedelta(minutes=1)
        key = f"extension {len(self.reservation.extensions)}"
        self.hold = self.hold.extend(self.price(more), None)
        self.reservation = self.reservation.extended(Extension(more, self.now, "user-1", key))

    @precondition(lambda self: not self.is_over)
    @rule()
    def what_is_due_is_charged(self) -> None:
        if minutes := self.reservation.minutes_due(self.now):
            self.charge(minutes * PART, final=False)
            self.reservation = self.reservation.charged(minutes)

    @precondition(lambda self: not self.is_over)
    @rule()
    def ends(self) -> None:
        used = self.reservation.used(self.now)
        self.charge(used, final=True)
        self.is_over = True
        assert self.hold.charged_micros == self.price(used), "the parts cost what the whole costs"

    @invariant()
    def the_hold_covers_all_time_and_no_time_is_charged_twice(self) -> None:
        assert self.hold.amount_micros >= self.price(self.reservation.total)
        assert self.reservation.minutes_charged * PART <= self.reservation.total
        assert self.is_over or self.hold.charged_micros == self.price(self.reservation.minutes_charged * PART)
        assert self.reservation.used(self.now) <= self.reservation.total


TestReservationLife = ReservationLife.TestCase
