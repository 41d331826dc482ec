from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation, ReservedDisk
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.retries import ending_after_loss, lost_with_disk, replaced
from services.scheduler.jobs.states import JobState
from tests.services.scheduler.jobs import START, a_job
from vocabulary.slots import EIGHTHS_PER_GPU


def test_a_lost_attempt_is_followed_by_another_until_there_were_too_many() -> None:
    found = [ending_after_loss(a_job(attempt=attempt), "it burnt.", max_attempts=3, now=START) for attempt in (1, 2, 3)]
    assert found[:2] == [None, None]
    assert found[2]
    assert found[2].state is JobState.FAILED
    assert "3 times, the last time because it burnt. That is not" in found[2].message


@pytest.mark.parametrize(
    ("disk", "said"),
    [
        (None, "on the machine are lost. Reserve"),
        (ReservedDisk("disk_1", "work"), "on the machine are lost; its disk work is as it was before. Reserve"),
        (ReservedDisk("disk_1", "work", START - timedelta(days=1)), "its disk work is kept as of 2025-12-31 00:00"),
    ],
)
def test_whoever_loses_a_machine_reads_what_is_kept_of_the_disk(disk: ReservedDisk | None, said: str) -> None:
    reservation = Reservation("mine", (), timedelta(hours=1), active_time=START, disk=disk)
    ending = ending_after_loss(a_job(reservation=reservation), "it burnt", 3, START + timedelta(hours=1))
    assert ending
    assert said in ending.message


@pytest.mark.parametrize("reason", ["its machine is gone ({})", "its lease is gone (Lease 'l' is over: {}. Stop.)"])
@pytest.mark.parametrize("safe_time", [None, START + timedelta(minutes=10)])
def test_whoever_is_ended_by_an_operator_reads_that_and_nothing_of_leases(
    reason: str, safe_time: datetime | None
) -> None:
    # As vmpool says it, in tests/services/vmpool/lifecycle/test_reconciler_close.py.
    stopped, now = reason.format("the pool is stopping"), START + timedelta(minutes=20)
    disk = ReservedDisk("disk_1", "work", safe_time)
    reservation = Reservation("mine", (), timedelta(hours=1), active_time=START, disk=disk)
    ending = ending_after_loss(a_job(reservation=reservation), stopped, 3, now)
    assert ending
    for message in (ending.message, *filter(None, [lost_with_disk(reservation, stopped, now)])):
        assert message.startswith("Ended because the operator stopped Wavepool. ")
        assert "refunded" in message
        assert "lease" not in message


@pytest.mark.parametrize(
    ("used", "since", "left"),
    [
        (59, "the 1 minute since then is", "the 1 minute that was left"),
        (57, "the 3 minutes since then is", "the 3 minutes that were left"),
    ],
)
def test_the_minutes_of_a_loss_are_counted(used: int, since: str, left: str) -> None:
    now = START + timedelta(minutes=used)
    disk = ReservedDisk("disk_1", "work", now - timedelta(minutes=60 - used))
    message = lost_with_disk(Reservation("mine", (), timedelta(hours=1), active_time=START, disk=disk), "it burnt", now)
    assert since in message
    assert left in message


def test_a_loss_that_is_excused_never_ends_a_job() -> None:
    assert ending_after_loss(a_job(attempt=9), "stopped", max_attempts=3, now=START, excused=True) is None
    assert ending_after_loss(a_job(attempt=4, attempts_excused=2), "it burnt", max_attempts=3, now=START) is None


def test_a_job_that_was_to_be_cancelled_is_not_tried_again() -> None:
    ending = ending_after_loss(a_job(cancel_time=START), "it burnt", max_attempts=3, now=START)
    assert ending
    assert ending.state is JobState.CANCELLED


def _lost(left: timedelta = timedelta(hours=2), **changes: Any) -> Job:
    reservation = replace(Reservation("lost", (), timedelta(hours=3)), left=left)
    return a_job(1, resources=Resources(2 * EIGHTHS_PER_GPU), reservation=reservation, end_time=START, **changes)


def _wanted(hours: float = 2, gpus: int = 2, **changes: Any) -> Job:
    reservation = Reservation("again", (), timedelta(hours=hours))
    return a_job(2, resources=Resources(gpus * EIGHTHS_PER_GPU), reservation=reservation, **changes)


@pytest.mark.parametrize(
    ("wanted", "lost", "later", "goes_first"),
    [
        (_wanted(), _lost(), timedelta(minutes=59), True),
        (_wanted(gpus=1), _lost(), timedelta(0), True),
        (_wanted(hours=1 / 12), _lost(timedelta(minutes=1)), timedelta(0), True),
        (_wanted(gpus=4), _lost(), timedelta(0), False),
        (_wanted(hours=2.1), _lost(), timedelta(0), False),
        (_wanted(gpu_type="MI300A"), _lost(), timedelta(0), False),
        (_wanted(gpu_type="MI300A"), _lost(fallback_gpu_types=("MI300A",)), timedelta(0), True),
        (_wanted(), _lost(), timedelta(hours=1), False),
        (_wanted(), _lost(timedelta(0)), timedelta(0), False),
    ],
)
def test_what_was_left_of_a_lost_reservation_goes_first_for_an_hour(
    wanted: Job, lost: Job, later: timedelta, goes_first: bool
) -> None:
    least = timedelta(minutes=5)
    assert replaced(wanted, [lost], least, START + later) == ("job-001" if goes_first else "")
    again = wanted.changed(reservation=replace(wanted.reserved, instead_of="job-001"))
    assert replaced(wanted, [lost, again], least, START + later) == ""
