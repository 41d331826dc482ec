"""Jobs that were submitted here a moment ago: whoever submits one follows it at once, without having it looked up."""

from __future__ import annotations

from collections import OrderedDict

from wavepool.scheduler.v1.scheduler_pb2 import Job

MOST_JOBS = 1000


class RecentJobs:
    """Of each job what never changes and its stream needs: whose it is, and how it runs."""

    def __init__(self, most: int = MOST_JOBS) -> None:
        self._most = most
        self._jobs: OrderedDict[tuple[str, str], Job] = OrderedDict()

    def put(self, job: Job) -> None:
        """The scheduler has just taken it in."""
        kept = Job(job_id=job.job_id, account_id=job.account_id)
        kept.spec.submission.mode = job.spec.submission.mode
        self._jobs[(job.account_id, job.job_id)] = kept
        if len(self._jobs) > self._most:
            self._jobs.popitem(last=False)

    def find(self, account_id: str, job_id: str) -> Job | None:
        """The account's job of that id, without what may have changed since."""
        return self._jobs.get((account_id, job_id))
