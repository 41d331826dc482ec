"""Jobs that were just submitted here, so that their submitters can follow them without a lookup."""

from __future__ import annotations

from collections import OrderedDict

from wavepool.scheduler.v1.scheduler_pb2 import Job

MOST_JOBS = 1000


class RecentJobs:
    """The fields of each job that never change and that its stream needs: its account and its mode."""

    def __init__(self, most: int = MOST_JOBS) -> None:
        self._most = most
        self._jobs: OrderedDict[tuple[str, str], Job] = OrderedDict()

    def put(self, job: Job) -> None:
        """Remembers a job that the scheduler has just taken in."""
        kept = Job(job_id=job.job_id, account_id=job.account_id)
        kept.spec.submission.mode = job.spec.submission.mode
        self._jobs[(job.account_id, job.job_id)] = kept
        if len(self._jobs) > self._most:
            self._jobs.popitem(last=False)

    def find(self, account_id: str, job_id: str) -> Job | None:
        """The account's job with that id, without fields that may have changed since; None if it is not here."""
        return self._jobs.get((account_id, job_id))
