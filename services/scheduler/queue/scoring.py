"""Scores the machines that have room for a job: the one with the highest score gets it.

What others gave up for a job, and machines that have room now instead of soon, come before any score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.scheduler.queue.ordering import JobFacts


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """A machine that has room for the job. GPUs that others than the scheduler's jobs use are left out."""

    machine_id: str
    gpu_type: str
    gpus: int
    free_gpus: int
    """Whole ones, without those that the same pass has given to other jobs."""


class Scoring(Protocol):
    """How machines are chosen."""

    def score(self, job: JobFacts, machine: MachineFacts) -> float:
        """Higher is better; of equal ones, the machine that was used last. The same facts always give the same."""
        ...


class Pack:
    """The placement `pack`: the fullest machine, so that others stay whole or can be given back."""

    def score(self, job: JobFacts, machine: MachineFacts) -> float:
        """The fewer GPUs are free, the higher."""
        del job
        return -machine.free_gpus


class Spread:
    """The placement `spread`: the emptiest machine, so that jobs share as little of one as they can."""

    def score(self, job: JobFacts, machine: MachineFacts) -> float:
        """The more GPUs are free, the higher."""
        del job
        return machine.free_gpus
