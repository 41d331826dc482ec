from __future__ import annotations

import pytest
from wavepool.executor.v1 import run_event_pb2

from services.scheduler.jobs.job import JobState
from services.scheduler.jobs.outcome import ending_after_loss, ending_of
from services.scheduler.wire.messages import verdict_name
from tests.services.scheduler.jobs import START, a_job

OURS = {"INFRA_ERROR", "UNSPECIFIED"}
ABOUT_THE_SUBMISSION = sorted(
    {name.removeprefix("VERDICT_") for name in run_event_pb2.Verdict.keys()} - OURS - {"CANCELLED"}  # noqa: SIM118 - an enum wrapper, no dict
)


@pytest.mark.parametrize("verdict", ABOUT_THE_SUBMISSION)
@pytest.mark.parametrize("cancel_requested", [True, False])
def test_verdict_about_the_submission_finishes_the_job(verdict: str, cancel_requested: bool) -> None:
    assert ending_of(verdict, cancel_requested=cancel_requested) is JobState.FINISHED


@pytest.mark.parametrize("verdict", sorted(OURS))
def test_fault_of_ours_ends_no_job(verdict: str) -> None:
    assert ending_of(verdict, cancel_requested=False) is None


def test_run_that_nobody_here_cancelled_is_lost() -> None:
    assert ending_of("CANCELLED", cancel_requested=True) is JobState.CANCELLED
    assert ending_of("CANCELLED", cancel_requested=False) is None


def test_verdict_of_a_newer_executor_counts_as_a_fault_of_ours() -> None:
    assert ending_of(verdict_name(999), cancel_requested=False) is None


def test_a_lost_attempt_is_followed_by_another_until_there_were_too_many() -> None:
    found = [ending_after_loss(a_job(attempt=attempt), "it burnt.", max_attempts=3) for attempt in (1, 2, 3)]
    assert found[:2] == [None, None]
    assert found[2]
    assert found[2].state is JobState.FAILED
    assert "3 times, the last time because it burnt. That is not" in found[2].message


def test_a_loss_that_is_excused_never_ends_a_job() -> None:
    assert ending_after_loss(a_job(attempt=9), "stopped", max_attempts=3, excused=True) is None
    assert ending_after_loss(a_job(attempt=4, attempts_excused=2), "it burnt", max_attempts=3) is None


def test_a_job_that_was_to_be_cancelled_is_not_tried_again() -> None:
    ending = ending_after_loss(a_job(cancel_time=START), "it burnt", max_attempts=3)
    assert ending
    assert ending.state is JobState.CANCELLED


def test_a_job_that_needs_torch_is_not_tried_where_there_is_none() -> None:
    ending = ending_after_loss(a_job(), "no torch", max_attempts=3, excused=True, needs_torch_in_vain=True)
    assert ending
    assert ending.state is JobState.FAILED
    assert "make setup-torch" in ending.message
