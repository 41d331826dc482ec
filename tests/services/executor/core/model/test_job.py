from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1.judge_job_pb2 import JudgeJob
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, Submission

from services.executor.core.model.job import BadJobError, CoreJob

NUMBERS = st.lists(st.integers(0, 2**31 - 1)).map(tuple)


@given(
    st.builds(
        CoreJob,
        dtype=st.text(min_size=1),
        devices=NUMBERS,
        profile=st.booleans(),
        longest_seconds=st.floats(0, 1e9),
    )
)
def test_a_job_comes_to_the_judge_as_it_was(job: CoreJob) -> None:
    assert CoreJob.from_bytes(job.to_bytes()) == job


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (JudgeJob(submission=Submission(mode=RUN_MODE_CHECK)), "size_set: "),
        (JudgeJob(submission=Submission(mode=17), size_set="cpu"), "mode, timing_mode: 17 is none"),
        (JudgeJob(submission=Submission(mode=RUN_MODE_CHECK, timing_mode=17), size_set="cpu"), "mode, timing_mode: 17"),
    ],
)
def test_what_a_judge_does_not_know_is_refused(given: JudgeJob, fault: str) -> None:
    with pytest.raises(BadJobError, match=fault):
        CoreJob.from_bytes(given.SerializeToString())
