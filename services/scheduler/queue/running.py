"""The jobs that hold GPUs, as this scheduler knows without asking: those that it runs and has not given back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from services.scheduler.jobs.job import Job
from vocabulary.slots import Slot


class RunningJobs:
    """Jobs by lease, from the moment that their lease is known until it is given back."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._winners: dict[str, str] = {}

    def put(self, job: Job) -> None:
        """Adds a job that has a lease; one that is taken on again goes on, whatever it was to do before."""
        if job.lease:
            self._jobs[job.lease.lease_id] = job
            self._winners.pop(job.job_id, None)

    def remove(self, lease_id: str) -> None:
        """Notes that a lease is given back, or gone."""
        job = self._jobs.pop(lease_id, None)
        if job:
            self._winners.pop(job.job_id, None)

    def give_way(self, job_id: str, winner: str) -> None:
        """Notes that a job is being stopped so that the winner gets its GPUs."""
        self._winners[job_id] = winner

    def winner(self, job_id: str) -> str:
        """The job that this one gives way to; empty if it goes on."""
        return self._winners.get(job_id, "")

    def winners(self) -> frozenset[str]:
        """The jobs that some running job gives way to."""
        return frozenset(self._winners.values())

    def jobs(self) -> Collection[Job]:
        """All of them."""
        return self._jobs.values()


def slots_by_machine(jobs: Iterable[Job]) -> defaultdict[str, list[Slot]]:
    """The slots that jobs have, by machine."""
    held: defaultdict[str, list[Slot]] = defaultdict(list)
    for job in jobs:
        for lease in job.leases:
            held[lease.machine_id] += lease.slots
    return held
