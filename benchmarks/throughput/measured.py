"""What a run of one queue measured."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


class QueueMissingError(Exception):
    """The queue cannot run on this machine; the message says what is missing."""


@dataclass(frozen=True)
class Measured:
    """Seconds from the first submission to the last end, and from submission to end of each job."""

    name: str
    seconds: float
    latencies: Sequence[float]
    note: str = ""

    @property
    def jobs_per_second(self) -> float:
        """Jobs that were done in each second of the run."""
        return len(self.latencies) / self.seconds

    def line(self) -> str:
        """A line of the table."""
        cuts = statistics.quantiles(self.latencies, n=100, method="inclusive")
        return (
            f"{self.name:<34} {len(self.latencies):>6} {self.jobs_per_second:>8.0f}/s"
            f" {cuts[49] * 1e3:>9.0f} ms {cuts[98] * 1e3:>9.0f} ms  {self.note}"
        )
