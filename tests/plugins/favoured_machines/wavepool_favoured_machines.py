"""A placement: machines whose ids match a pattern get jobs first, and the others only what is left."""

from __future__ import annotations

from fnmatch import fnmatchcase

from pydantic import BaseModel, Field

from services.scheduler.queue.ordering import JobFacts
from services.scheduler.queue.scoring import MachineFacts


class Options(BaseModel):
    """The patterns, as of file names."""

    patterns: tuple[str, ...] = Field(min_length=1)


class FavouredMachines:
    """Scores 1 for a favoured machine and 0 for any other, less what is free as `pack` does."""

    Settings = Options

    def __init__(self, options: Options) -> None:
        self._patterns = options.patterns

    def score(self, job: JobFacts, machine: MachineFacts) -> float:
        """Higher is better."""
        favoured = any(fnmatchcase(machine.machine_id, pattern) for pattern in self._patterns)
        return favoured - machine.free_gpus / 1000
