"""Jobs as callers ask for them."""

from __future__ import annotations

from typing import Any

from wavepool.scheduler.v1.scheduler_pb2 import JobSpec
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, Submission

SUBMISSION_FIELDS = frozenset(Submission.DESCRIPTOR.fields_by_name)


def job_spec(**fields: Any) -> JobSpec:
    """A spec whose submission gets those of the fields that belong to a submission."""
    submission = {name: fields.pop(name) for name in SUBMISSION_FIELDS & set(fields)}
    return JobSpec(submission=Submission(**submission), **fields)


def sound_spec(**changes: Any) -> JobSpec:
    """A spec that is admitted unless the changes break it."""
    sound = {"problem": "leaky-relu", "source": 'extern "C" void solution() {}', "mode": RUN_MODE_CHECK}
    return job_spec(**sound | changes)
