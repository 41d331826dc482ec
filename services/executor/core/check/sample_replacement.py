"""Decides which samples may be taken again: none for being slow, and few for a recorded cause.

No outlier is dropped. A sample is replaced only if an instrument beside the clock says that the kernel was not the
cause; both values stay in the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from services.executor.devices.instruments import Reading

LEAST_SHARE_OF_CLOCK = 0.97
"""The least clock of a call, as a share of the session's median clock; below it, the call ran on another device, so
to speak."""
MOST_REPLACED = 0.05
"""The largest share of a session's samples that is replaced. If more have a cause, the rest stay: then the
machine was in that state for the whole measurement."""


class Cause(StrEnum):
    """The reason why a sample was taken again."""

    CLOCK = "clock"
    PAGE_FAULT = "page_fault"
    OTHER_PROCESS = "other_process"


@dataclass(frozen=True)
class Replaced:
    """A sample that was taken again: its place in the session, the time that no longer counts, and the cause."""

    index: int
    ns: float
    cause: Cause


def replaceable(readings: Sequence[Reading]) -> Mapping[int, Cause]:
    """Returns the samples to take again, by place: at most MOST_REPLACED of a session, the earliest, fast or slow."""
    clocks = [reading.clock_mhz for reading in readings if reading.clock_mhz is not None]
    least_clock = LEAST_SHARE_OF_CLOCK * median(clocks) if clocks else 0.0
    causes = ((index, _cause(reading, least_clock)) for index, reading in enumerate(readings))
    found = [(index, cause) for index, cause in causes if cause is not None]
    return dict(found[: int(MOST_REPLACED * len(readings))])


def _cause(reading: Reading, least_clock: float) -> Cause | None:
    if reading.clock_mhz is not None and reading.clock_mhz < least_clock:
        return Cause.CLOCK
    if reading.page_faults:
        return Cause.PAGE_FAULT
    return Cause.OTHER_PROCESS if reading.other_processes else None
