"""A device's instruments besides the clock: the state of the hardware during a timed call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Reading:
    """State at one call; None for values that the device cannot report.

    `page_faults` counts those since the previous reading, `other_processes` the other users of the device.
    """

    clock_mhz: float | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None
    page_faults: int | None = None
    other_processes: int | None = None


@runtime_checkable
class Instruments(Protocol):
    """A device with instruments: an addition to Device, found with `isinstance`."""

    def read_instruments(self) -> Reading:
        """Return the state now. It is read after every timed call, so it must take far less than a millisecond."""
        ...


@runtime_checkable
class BusyShares(Protocol):
    """A device whose driver says how busy it is: an addition to Device, found with `isinstance`."""

    def busy_shares(self, devices: int) -> Sequence[float]:
        """Return for each of the first `devices` devices the share of the last moments in which it worked, 0 to 1.

        Devices that do not report it are left out. A driver's library may raise anything.
        """
        ...


@runtime_checkable
class SimulatedClock(Protocol):
    """A device whose time is not the host's: an addition to Device, found with `isinstance`."""

    def wall_ns(self, host_ns: int) -> int:
        """Return the judge's time, in ns, of an order that took `host_ns` of simulated time; 0 means a null call."""
        ...


@dataclass(frozen=True)
class Firmware:
    """Versions on which a time depends besides the toolchain; empty if the device cannot report them."""

    driver: str = ""
    firmware: str = ""


@runtime_checkable
class Versioned(Protocol):
    """A device that knows its driver and firmware: an addition to Device, found with `isinstance`."""

    def versions(self) -> Firmware:
        """Return the versions, e.g. of amdgpu and of the VBIOS."""
        ...
