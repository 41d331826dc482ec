from __future__ import annotations

from services.scheduler.jobs.retries import ending_after_loss
from services.scheduler.jobs.states import JobState
from tests.services.scheduler.jobs import START, a_job


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
