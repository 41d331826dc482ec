"""One run: its request and its events so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from wavepool.executor.v1.run_event_pb2 import Finished, RunEvent

from servicekit.clock import Clock
from services.executor.core.model.job import CoreJob
from services.executor.leases.lease import Lease
from services.executor.runs.event_log import EventLog
from vocabulary.limits import LONGEST_RUN


@dataclass(frozen=True)
class RunSpec:
    """A valid request for a run. Two requests with one id are the same run if their jobs are equal."""

    run_id: str
    job: CoreJob
    lease: Lease
    request_id: str = ""
    longest_run: timedelta = LONGEST_RUN
    """Time after which the run is ended."""
    mask_compute_units: bool = False
    """Whether its kernels run on the compute units of its slot alone, if that is a part of a device."""


class Run(EventLog[RunEvent]):
    """A run's request and events. It begins when made, and ends with its Finished event."""

    def __init__(self, spec: RunSpec, clock: Clock) -> None:
        super().__init__(clock, lambda event: event.HasField("finished"))
        self.spec = spec

    @property
    def finished(self) -> Finished | None:
        """The last event; None while the run goes on."""
        return self.last.finished if self.last is not None else None
