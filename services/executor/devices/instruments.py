"""What a device's instruments say beside the clock: in which state the hardware was when a call was timed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Reading:
    """The state at one call; None for what a device cannot say.

    `page_faults` and `other_processes` count what happened since the reading before, and who else was on the device.
    """

    clock_mhz: float | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None
    page_faults: int | None = None
    other_processes: int | None = None


@runtime_checkable
class Instruments(Protocol):
    """A device that has some: an addition to Device, found out by `isinstance`."""

    def read_instruments(self) -> Reading:
        """The state now. Read after every timed call, so it must take far less than a millisecond."""
        ...


@runtime_checkable
class SimulatedClock(Protocol):
    """A device whose time is not the host's: an addition to Device, found out by `isinstance`."""

    def wall_ns(self, host_ns: int) -> int:
        """What the judge's clock shows for an order that took `host_ns` of simulated time; 0 for a null call."""
        ...


@dataclass(frozen=True)
class Firmware:
    """What a time depends on beside the toolchain; empty where a device cannot say."""

    driver: str = ""
    firmware: str = ""


@runtime_checkable
class Versioned(Protocol):
    """A device that knows its driver and firmware: an addition to Device, found out by `isinstance`."""

    def versions(self) -> Firmware:
        """The versions, e.g. of amdgpu and of the VBIOS."""
        ...
