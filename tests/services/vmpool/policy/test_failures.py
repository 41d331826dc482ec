from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from services.vmpool.fault import Fault
from services.vmpool.machines.machine import Machine, MachineState
from services.vmpool.machines.offer import Source
from services.vmpool.policy.failures import (
    FIRST_SETTINGS_BACKOFF,
    LONGEST_BACKOFF,
    LONGEST_SETTINGS_BACKOFF,
    Failures,
    failures_in_a_row,
    resting_sources,
)
from tests.services.vmpool.conftest import START, a_machine

SOURCE = Source("scripted", "a", "MI300X")
SECOND = timedelta(seconds=1)


def failed(backend: str, minute: int, fault: Fault = Fault.NO_CAPACITY) -> Machine:
    time = START + timedelta(minutes=minute)
    return a_machine(backend=backend, state=MachineState.FAILED, end_time=time, reason=f"reason {minute}", fault=fault)


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
    # One that comes and goes rests longer each time all the same.
    assert failures_in_a_row([*same, other, failed("a", 9)])[SOURCE].count == 8


def test_a_machine_that_was_stopped_before_it_was_ready_has_failed() -> None:
    stopped = replace(failed("a", 1, Fault.EXECUTOR_EXITED), state=MachineState.STOPPED)
    assert failures_in_a_row([stopped])[SOURCE].count == 1


@pytest.mark.parametrize(("fault", "seconds"), [(Fault.NO_CAPACITY, 30), (Fault.MISCONFIGURED, 0)])
def test_a_rest_begins_once_the_failed_machine_is_given_back(fault: Fault, seconds: int) -> None:
    """Else the rest is over by then, and the same source is tried again instead of the next."""
    machine = replace(failed("a", 0, fault), release_time=START + 30 * SECOND)
    assert failures_in_a_row([machine])[SOURCE].last_time == START + seconds * SECOND


def test_a_source_rests_longer_with_every_failure_up_to_an_end() -> None:
    rests = [Failures(count, START, "").retry_time - START for count in (1, 2, 3, 1000)]
    assert rests == [2 * SECOND, 4 * SECOND, 8 * SECOND, LONGEST_BACKOFF]


def test_a_source_is_tried_again_after_its_rest() -> None:
    failures = {SOURCE: Failures(1, START, "full", Fault.NO_CAPACITY)}
    assert resting_sources(failures, START + SECOND, {}, START + SECOND) == failures
    assert resting_sources(failures, START + SECOND, {}, START + 2 * SECOND) == {}


def test_a_provider_that_was_found_well_does_not_rest() -> None:
    failures = {SOURCE: Failures(8, START, "full", Fault.NO_CAPACITY)}
    now = START + 2 * SECOND
    for elsewhere_or_before in ({"other": now}, {"scripted": START}):
        assert resting_sources(failures, START, elsewhere_or_before, now) == failures
    assert resting_sources(failures, START, {"scripted": START + SECOND}, now) == {}


def test_a_fault_of_the_settings_rests_long_and_not_for_ever() -> None:
    rests = [Failures(count, START, "", Fault.MISCONFIGURED).retry_time - START for count in (1, 2, 1000)]
    assert rests == [FIRST_SETTINGS_BACKOFF, 2 * FIRST_SETTINGS_BACKOFF, LONGEST_SETTINGS_BACKOFF]


def test_a_fault_of_settings_that_were_found_well_since_then_holds_no_more() -> None:
    failures = {SOURCE: Failures(1, START, "no such image", Fault.MISCONFIGURED)}
    now = START + 2 * SECOND
    assert resting_sources(failures, START, {}, now) == failures
    assert resting_sources(failures, START + SECOND, {}, now) == {}
    assert failures[SOURCE].outlook(now) == (
        "no such image; tried again in 598 s, at 00:10:00 UTC, or once `wavepool doctor` finds the provider well"
    )
