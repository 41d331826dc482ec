"""One run: its request, its events so far, and its followers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from servicekit.feed import Feed
from vocabulary.limits import LONGEST_RUN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from wavepool.executor.v1.run_event_pb2 import Finished, RunEvent

    from servicekit.clock import Clock
    from services.executor.core.model.job import CoreJob
    from services.executor.leases.lease import Lease


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


class Run:
    """Keeps the events of one run in memory. It begins when made, and ends with its Finished event."""

    def __init__(self, spec: RunSpec, clock: Clock) -> None:
        self.spec = spec
        self._clock = clock
        self._events: list[RunEvent] = []
        self._news = Feed()

    @property
    def is_finished(self) -> bool:
        """True once the last event is recorded."""
        return self.finished is not None

    @property
    def finished(self) -> Finished | None:
        """The last event; None while the run goes on."""
        return self._events[-1].finished if self._events and self._events[-1].HasField("finished") else None

    @property
    def finish_time(self) -> datetime | None:
        """Time of the last event; None while the run goes on."""
        return self._events[-1].time.ToDatetime(tzinfo=UTC) if self.is_finished else None

    def record(self, event: RunEvent) -> None:
        """Add an event with its sequence number and time; does nothing once the run is over."""
        if self.is_finished:
            return
        event.seq = len(self._events) + 1
        event.time.FromDatetime(self._clock.now())
        self._events.append(event)
        self._news.notify()

    async def follow(self, after_seq: int) -> AsyncIterator[RunEvent]:
        """Yield the events after `after_seq`, then new ones until the last."""
        position = after_seq
        with self._news.follow() as news:
            while True:
                news.clear()
                for event in self._events[position:]:
                    position = event.seq
                    yield event
                if self.is_finished and position >= len(self._events):
                    return
                await news.wait()

    async def wait(self) -> None:
        """Wait for the last event."""
        async for _ in self.follow(len(self._events)):
            pass
