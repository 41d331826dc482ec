from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import InvalidFieldError, LeaseEndedError
from services.vmpool.machines.lease import (
    EXPIRY_GRACE,
    Holder,
    Lease,
    LeaseState,
    StartKind,
    check_duration,
    check_job,
    expired_run_is_gone,
    run_outlives,
    start_kind,
)
from tests.services.vmpool.conftest import START, a_machine, a_request
from vocabulary.slots import Slot

MINUTE = timedelta(minutes=1)
LEASE = Lease(
    "lease", "m1", "job", 1, "MI300X", (Slot(0, 0, 8),), 1, StartKind.WARM_REUSE, START, expire_time=START + MINUTE
)


@given(st.timedeltas(timedelta(0), MINUTE - timedelta.resolution), st.timedeltas(timedelta(0), 5 * MINUTE))
def test_renewing_in_time_never_shortens_a_lease(after: timedelta, duration: timedelta) -> None:
    assert LEASE.renew(START + after, duration).expire_time == max(START + MINUTE, START + after + duration)


@pytest.mark.parametrize("ended", [LEASE.expire(), LEASE.end(START, "released")])
def test_a_lease_that_is_over_is_not_renewed(ended: Lease) -> None:
    with pytest.raises(LeaseEndedError):
        ended.renew(START, MINUTE)


def test_a_lease_past_its_expiry_is_not_renewed_even_before_anyone_has_marked_it() -> None:
    with pytest.raises(LeaseEndedError):
        LEASE.renew(START + MINUTE, MINUTE)


def test_the_first_reason_stands() -> None:
    ended = LEASE.expire().end(START, "its run is gone")
    assert (ended.state, ended.reason) == (LeaseState.ENDED, "it expired without being renewed")


@pytest.mark.parametrize(
    ("runs", "active", "late", "gone"),
    [
        (0, 0, timedelta(0), True),
        (1, 1, timedelta(0), False),
        (1, 1, EXPIRY_GRACE, True),
        (2, 1, EXPIRY_GRACE, False),
    ],
)
def test_an_expired_slot_is_free_once_its_run_is_surely_gone(
    runs: int, active: int, late: timedelta, gone: bool
) -> None:
    assert expired_run_is_gone(LEASE.expire(), runs, active, START + MINUTE + late) is gone


@given(st.integers(0, 8), st.integers(0, 8), st.timedeltas(timedelta(0), 24 * MINUTE))
def test_a_reserved_slot_is_free_only_once_nothing_is_in_flight(runs: int, active: int, late: timedelta) -> None:
    long = replace(LEASE, holder=Holder.RESERVATION, expire_time=START + 60 * MINUTE).expire()
    assert expired_run_is_gone(long, runs, active, START + 60 * MINUTE + late) is (runs == 0)


@given(st.integers(0, 8), st.integers(0, 8), st.timedeltas(timedelta(0), 24 * MINUTE))
def test_a_reserved_slot_whose_lease_was_never_long_is_free_as_a_jobs_is(
    runs: int, active: int, late: timedelta
) -> None:
    at = START + MINUTE + late
    of_a_job, short = LEASE.expire(), replace(LEASE, holder=Holder.RESERVATION).expire()
    assert expired_run_is_gone(short, runs, active, at) is expired_run_is_gone(of_a_job, runs, active, at)


@given(st.sampled_from(Holder), st.integers(0, 8), st.integers(0, 8), st.timedeltas(timedelta(0), 24 * MINUTE))
def test_nothing_outlives_a_lease_that_is_given_out_again(
    holder: Holder, runs: int, active: int, late: timedelta
) -> None:
    at = START + MINUTE + late
    expired = replace(LEASE, holder=holder).expire()
    outlives = run_outlives(expired, runs, active, at)
    assert outlives is (late >= EXPIRY_GRACE and runs > active)
    assert not (outlives and expired_run_is_gone(expired, runs, active, at))
    if holder is Holder.JOB and late >= EXPIRY_GRACE:
        assert outlives is not expired_run_is_gone(expired, runs, active, at)


@pytest.mark.parametrize(
    ("jobs_run", "after_seconds", "kind"),
    [(0, 1, StartKind.COLD_START), (0, 11, StartKind.WARM_REUSE), (1, 1, StartKind.WARM_REUSE)],
)
def test_those_who_waited_for_the_machine_start_cold(jobs_run: int, after_seconds: int, kind: StartKind) -> None:
    machine = a_machine(ready_time=START, jobs_run=jobs_run)
    assert start_kind(machine, START + timedelta(seconds=after_seconds)) is kind


@pytest.mark.parametrize("seconds", [-1, 0, 3601])
def test_durations_out_of_range_are_refused_with_the_limit(seconds: int) -> None:
    with pytest.raises(InvalidFieldError, match=r"duration.*3600 s"):
        check_duration(timedelta(seconds=seconds), timedelta(hours=1), "VMPOOL_LONGEST_LEASE")


@pytest.mark.parametrize(("job_id", "attempt", "field"), [("", 1, "job_id"), ("job", -1, "attempt")])
def test_a_request_says_whose_lease_it_is(job_id: str, attempt: int, field: str) -> None:
    with pytest.raises(InvalidFieldError, match=field):
        check_job(job_id, attempt)


def test_a_request_is_met_only_by_the_same_content() -> None:
    assert a_request().is_met_by([LEASE])
    assert a_request(machine_id="m1").is_met_by([LEASE])
    reserved = a_request(holder=Holder.RESERVATION)
    for other in (a_request(machine_id="m2"), a_request(eighths=4), a_request(gpu_type="MI210"), reserved):
        assert not other.is_met_by([LEASE])
    assert not a_request().is_met_by([replace(LEASE, slots=(Slot(0, 0, 4),))])
    assert not a_request().is_met_by([LEASE, LEASE])
