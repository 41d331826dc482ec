from __future__ import annotations

from wavepool.scheduler.v1.scheduler_pb2 import JOB_STATE_QUEUED, Job
from wavepool.submission.v1 import submission_pb2

from gateway.submissions.recent_jobs import RecentJobs
from tests.job_specs import job_spec


def job(number: int, account_id: str = "acc_user") -> Job:
    spec = job_spec(problem="softmax", source="x" * 1000, mode=submission_pb2.RUN_MODE_CHECK)
    return Job(job_id=f"job_{number}", account_id=account_id, spec=spec, state=JOB_STATE_QUEUED)


def test_a_job_is_found_by_its_account_alone() -> None:
    jobs = RecentJobs()
    jobs.put(job(1))

    found = jobs.find("acc_user", "job_1")
    assert found is not None
    assert (found.job_id, found.account_id, found.spec.submission.mode) == (
        "job_1",
        "acc_user",
        submission_pb2.RUN_MODE_CHECK,
    )
    assert jobs.find("acc_other", "job_1") is None
    assert jobs.find("acc_user", "job_2") is None


def test_what_may_change_and_what_is_long_is_not_kept() -> None:
    jobs = RecentJobs()
    jobs.put(job(1))

    found = jobs.find("acc_user", "job_1")
    assert found is not None
    assert (found.state, found.spec.submission.source) == (0, "")


def test_older_jobs_make_room_for_newer_ones() -> None:
    jobs = RecentJobs(most=2)
    for number in range(3):
        jobs.put(job(number))

    assert [jobs.find("acc_user", f"job_{number}") is not None for number in range(3)] == [False, True, True]
