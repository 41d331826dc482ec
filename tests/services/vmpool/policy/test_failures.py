from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.fault import OF_NO_USE, Fault
from services.vmpool.machines.machine import Machine, MachineState
from services.vmpool.machines.offer import Source
from services.vmpool.policy.failures import (
    FIRST_SETTINGS_BACKOFF,
    LONGEST_BACKOFF,
    LONGEST_SETTINGS_BACKOFF,
    Failures,
    failures_in_a_row,
    sources_backing_off,
    trials_left,
)
from tests.services.vmpool.conftest import START, a_machine

if TYPE_CHECKING:
    from random import Random

SOURCE = Source("scripted", "a", "MI300X")
SECOND = timedelta(seconds=1)


def failed(backend: str, minute: int, fault: Fault = Fault.NO_CAPACITY) -> Machine:
    time = START + timedelta(minutes=minute)
    return a_machine(backend=backend, state=MachineState.FAILED, end_time=time, reason=f"reason {minute}", fault=fault)


def wasted(minute: int, fault: Fault = Fault.UNFIT) -> Machine:
    """A machine that was rented and ran nothing."""
    return replace(failed("a", minute, fault), provision_time=START)


def test_failures_are_counted_by_source_back_to_its_last_success() -> None:
    ready = a_machine(backend="a", ready_time=START + timedelta(minutes=2))
    starts = [failed("a", 5), failed("b", 4), failed("a", 3), ready, failed("a", 1)]
    assert failures_in_a_row(starts) == {
        SOURCE: Failures(2, START + timedelta(minutes=5), "reason 5", Fault.NO_CAPACITY),
        Source("scripted", "b", "MI300X"): Failures(1, START + timedelta(minutes=4), "reason 4", Fault.NO_CAPACITY),
    }


def test_a_success_ends_the_rest_of_failures_before_it_though_its_start_began_earlier() -> None:
    began_first = a_machine(backend="a", ready_time=START + timedelta(minutes=6))
    began_later = [replace(failed("a", minute), create_time=START + timedelta(minutes=minute)) for minute in (5, 4, 3)]
    assert failures_in_a_row([*began_later, began_first]) == {}


def test_a_changed_cause_counts_from_its_own_first_failure() -> None:
    same = [failed("a", minute) for minute in (1, 2, 3, 4, 5, 6, 7)]
    assert failures_in_a_row(same)[SOURCE].count == 7
    other = failed("a", 8, Fault.START_TIMEOUT)
    changed = failures_in_a_row([*same, other])[SOURCE]
    assert (changed.count, changed.fault) == (1, Fault.START_TIMEOUT)
    # A source that recovers in between still backs off for longer each time.
    assert failures_in_a_row([*same, other, failed("a", 9)])[SOURCE].count == 8


def test_a_machine_that_was_stopped_before_it_was_ready_has_failed() -> None:
    stopped = replace(failed("a", 1, Fault.EXECUTOR_EXITED), state=MachineState.STOPPED)
    assert failures_in_a_row([stopped])[SOURCE].count == 1


@pytest.mark.parametrize(("fault", "seconds"), [(Fault.NO_CAPACITY, 30), (Fault.MISCONFIGURED, 0)])
def test_a_rest_begins_once_the_failed_machine_is_given_back(fault: Fault, seconds: int) -> None:
    """Otherwise the pause would be over by then, and the same source would be tried again instead of the next."""
    machine = replace(failed("a", 0, fault), release_time=START + 30 * SECOND)
    assert failures_in_a_row([machine])[SOURCE].last_time == START + seconds * SECOND


def test_a_source_backs_off_for_longer_with_every_failure_up_to_an_end() -> None:
    pauses = [Failures(count, START, "").retry_time - START for count in (1, 2, 3, 1000)]
    assert pauses == [2 * SECOND, 4 * SECOND, 8 * SECOND, LONGEST_BACKOFF]


def test_a_source_is_tried_again_after_its_pause() -> None:
    failures = {SOURCE: Failures(1, START, "full", Fault.NO_CAPACITY)}
    assert sources_backing_off(failures, START + SECOND, {}, START + SECOND) == failures
    assert sources_backing_off(failures, START + SECOND, {}, START + 2 * SECOND) == {}


def test_a_provider_that_was_found_well_does_not_rest() -> None:
    failures = {SOURCE: Failures(8, START, "full", Fault.NO_CAPACITY)}
    now = START + 2 * SECOND
    for elsewhere_or_before in ({"other": now}, {"scripted": START}):
        assert sources_backing_off(failures, START, elsewhere_or_before, now) == failures
    assert sources_backing_off(failures, START, {"scripted": START + SECOND}, now) == {}


def test_a_fault_of_the_settings_backs_off_for_long_and_not_for_ever() -> None:
    pauses = [Failures(count, START, "", Fault.MISCONFIGURED).retry_time - START for count in (1, 2, 1000)]
    assert pauses == [FIRST_SETTINGS_BACKOFF, 2 * FIRST_SETTINGS_BACKOFF, LONGEST_SETTINGS_BACKOFF]


def test_a_fault_of_settings_that_were_found_well_since_then_holds_no_more() -> None:
    failures = {SOURCE: Failures(1, START, "no such image", Fault.MISCONFIGURED)}
    now = START + 2 * SECOND
    assert sources_backing_off(failures, START, {}, now) == failures
    assert sources_backing_off(failures, START + SECOND, {}, now) == {}
    assert failures[SOURCE].outlook(now) == (
        "no such image; tried again in 598 s, at 00:10:00 UTC, or once `wavepool doctor` finds no fault of the provider"
    )


LIMIT = 3
LATER = START + timedelta(days=20)
OUTCOMES = st.sampled_from([*Fault, "served"])


def stopped(starts: list[Machine], limit: int = LIMIT, resumed: int | None = None) -> bool:
    resumes = {} if resumed is None else {SOURCE: START + timedelta(minutes=resumed)}
    found = sources_backing_off(failures_in_a_row(starts, resumes), LATER, {"scripted": LATER}, LATER, limit)
    return any(one.is_stopped for one in found.values())


def outcome(minute: int, kind: Fault | str) -> Machine:
    time = START + timedelta(minutes=minute)
    if isinstance(kind, Fault):
        return replace(wasted(minute, kind), rented=kind is not Fault.NO_CAPACITY)
    return a_machine(backend="a", ready_time=time, jobs_run=1, provision_time=START)


@given(st.lists(OUTCOMES, max_size=12), st.randoms())
def test_renting_stops_after_so_many_useless_machines_since_the_last_success_and_not_otherwise(
    kinds: list[Fault | str], random: Random
) -> None:
    useless = 0
    for kind in kinds:
        useless = 0 if kind == "served" else useless + (kind in OF_NO_USE)
    starts = [outcome(minute, kind) for minute, kind in enumerate(kinds)]
    random.shuffle(starts)
    assert stopped(starts) is (useless >= LIMIT)
    assert not stopped(starts, limit=0)
    assert not stopped(starts, resumed=len(kinds)), "what was before an administrator resumed counts no more"


@given(st.lists(st.tuples(OUTCOMES, st.integers(1, 9)), max_size=40), st.integers(1, 5))
def test_no_more_useless_machines_are_rented_in_a_row_than_the_limit_however_many_are_wanted(
    steps: list[tuple[Fault | str, int]], limit: int
) -> None:
    """Except for those already on their way when the first one turned out to be useless."""
    history: list[Machine] = []
    under_way = rented_in_a_row = at_first_failure = 0
    for minute, (kind, wanted) in enumerate(steps):
        failures = failures_in_a_row(history)
        backing_off = sources_backing_off(failures, LATER, {"scripted": LATER}, LATER, limit)
        present = [a_machine(machine_id=f"m{n}", backend="a") for n in range(under_way)]
        may = 0 if backing_off else trials_left(failures, present, limit).get(SOURCE, wanted)
        under_way += min(wanted, may)
        if not under_way:
            break
        under_way -= 1
        history.append(outcome(minute, kind))
        if kind == "served":
            rented_in_a_row = 0
        elif kind in OF_NO_USE:
            at_first_failure = under_way if rented_in_a_row == 0 else at_first_failure
            rented_in_a_row += 1
        assert rented_in_a_row <= max(limit, 1 + at_first_failure)


@pytest.mark.parametrize(
    "harmless",
    [
        {"price_micros_per_hour": 0},
        {"rented": False},
        {"provision_time": None},
        {"ready_time": START, "jobs_run": 1},
    ],
    ids=["it costs nothing", "it was never made", "it was never ordered", "it has served"],
)
def test_a_machine_that_cost_nothing_or_served_stops_no_renting(harmless: dict[str, Any]) -> None:
    assert stopped([wasted(minute) for minute in range(LIMIT)])
    assert not stopped([wasted(0), wasted(1), replace(wasted(2), **harmless)])


def test_who_waits_reads_why_nothing_is_rented_and_what_ends_that() -> None:
    failures = failures_in_a_row([wasted(minute) for minute in range(LIMIT)])
    (found,) = sources_backing_off(failures, LATER, {}, LATER, LIMIT).values()
    assert found.wants_operator
    assert found.outlook(LATER) == (
        "reason 2; 3 machines in a row cost money and ran nothing (VMPOOL_UNFIT_LIMIT), so no more are rented until an "
        "administrator fixes the cause and runs `wavepool machines resume`"
    )
