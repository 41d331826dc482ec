from __future__ import annotations

from datetime import timedelta

import pytest

from services.scheduler.jobs.allowance import WINDOW, Allowance, SubmissionLimits
from services.scheduler.jobs.errors import TooManyJobsError, TooManySubmissionsError
from tests.services.scheduler.jobs import START


def allowance(in_flight: int, submissions: int, most_in_flight: int = 20, per_hour: int = 100) -> Allowance:
    limits = SubmissionLimits(most_in_flight, per_hour)
    return Allowance(limits, in_flight, submissions, timedelta(minutes=5) if submissions else None)


@pytest.mark.parametrize(
    ("use", "remaining"),
    [
        (allowance(0, 0), 20),
        (allowance(18, 18), 2),
        (allowance(2, 99), 1),
        (allowance(20, 20), 0),
        (allowance(0, 100), 0),
        (allowance(0, 100_000, per_hour=0), 20),
        # The limits were lowered.
        (allowance(30, 30), 0),
        (allowance(0, 200), 0),
    ],
)
def test_what_remains_is_the_smaller_of_both_limits_and_never_below_0(use: Allowance, remaining: int) -> None:
    assert use.remaining == remaining


def test_only_a_limit_that_exists_can_be_used_up() -> None:
    assert allowance(0, 100).is_hour_used_up
    assert not allowance(0, 99).is_hour_used_up
    assert not allowance(0, 100_000, per_hour=0).is_hour_used_up


def test_a_submission_takes_one_from_both_limits() -> None:
    after = allowance(0, 0).after_one_more()
    assert (after.jobs_in_flight, after.submissions, after.remaining, after.renew_after) == (1, 1, 19, WINDOW)
    assert allowance(1, 5).after_one_more().renew_after == timedelta(minutes=5)


def test_refusals_name_the_limit_the_use_the_time_and_the_setting() -> None:
    hourly = TooManySubmissionsError(100, 103, timedelta(seconds=33, microseconds=1), START)
    assert str(hourly) == (
        "This account made 103 submissions in the last hour; the limit is 100. The next one is possible at 00:00:34 "
        "UTC, in 34 s. The operator can raise SCHEDULER_MAX_SUBMISSIONS_PER_HOUR."
    )
    assert hourly.retry_after == timedelta(seconds=33, microseconds=1)
    in_flight = TooManyJobsError(20, 21, timedelta(seconds=4.2))
    assert str(in_flight) == (
        "21 jobs of this account are in flight; the limit is 20. Wait until one is over, probably in 5 s, or cancel "
        "one. The operator can raise SCHEDULER_MAX_JOBS_IN_FLIGHT."
    )
