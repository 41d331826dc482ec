"""Which samples may be taken again: none for being slow, and few for a recorded cause.

No outlier is dropped. A sample is replaced only where an instrument beside the clock says that it was not the kernel's
doing; both values stay in the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.executor.devices.instruments import Reading

LEAST_SHARE_OF_CLOCK = 0.97
"""Of the session's median clock; a call below it ran on another device, so to say."""
MOST_REPLACED = 0.05
"""Of a session's samples. Where more have a cause, the state of the machine is what was measured, and they stay."""


class Cause(StrEnum):
    """Why a sample was taken again."""

    CLOCK = "clock"
    PAGE_FAULT = "page_fault"
    OTHER_PROCESS = "other_process"


@dataclass(frozen=True)
class Replaced:
    """A sample that was taken again: its place in the session, the time that no longer counts, and why."""

    index: int
    ns: float
    cause: Cause


def replaceable(readings: Sequence[Reading]) -> Mapping[int, Cause]:
    """The places of a session's samples to take again, at most MOST_REPLACED of them: the earliest, fast or slow."""
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
