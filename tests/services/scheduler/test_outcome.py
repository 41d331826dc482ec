from __future__ import annotations

import pytest
from wavepool.executor.v1 import run_event_pb2

from services.scheduler.jobs.outcome import ending_of
from services.scheduler.jobs.states import JobState
from services.scheduler.wire.messages import verdict_name

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
