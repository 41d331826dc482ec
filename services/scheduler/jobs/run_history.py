"""Times of the last runs, by what ran: a check of one problem says little about the benchmark of another."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from datetime import timedelta

    from services.scheduler.jobs.job import Job

LEAST_HISTORY = 3
"""Fewer runs say too little about the slowest tenth of them."""
RUNS_REMEMBERED = 100
"""Of each kind: only recent runs say how long the present ones take."""


@dataclass(frozen=True)
class RunKind:
    """Runs of one kind take about as long as each other. `mode` is the number of the submission's mode."""

    problem: str
    mode: int
    gpu_type: str

    def wider(self) -> Sequence[Hashable]:
        """The kind itself, and those to look at without history of it: any problem, any GPU, any mode."""
        return self, (self.mode, self.gpu_type), (self.mode,), ()


def kind_of(job: Job) -> RunKind:
    """The kind of a job's run, on the machine that it has or else wants."""
    submission = job.spec.submission
    return RunKind(submission.problem, submission.mode, job.machine_gpu_type or job.spec.gpu_type)


class RunHistory:
    """The last run times in seconds of each kind, and of the wider ones."""

    def __init__(self) -> None:
        self._times: dict[Hashable, deque[float]] = defaultdict(lambda: deque(maxlen=RUNS_REMEMBERED))

    def remember(self, kind: RunKind, run_time: timedelta) -> None:
        """Adds a run that is over."""
        for key in kind.wider():
            self._times[key].append(run_time.total_seconds())

    def times(self, kind: RunKind) -> Sequence[float]:
        """Times of the narrowest kind with enough runs; empty if there is none."""
        found = (self._times[key] for key in kind.wider() if key in self._times)
        return next((times for times in found if len(times) >= LEAST_HISTORY), ())

    def all_times(self) -> Sequence[float]:
        """The last times of any kind."""
        return self._times[()]
