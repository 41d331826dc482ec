"""Finds how much to sweep through the caches so that a call finds none of its inputs there.

A runner of our own measures this, as a submission's could claim anything. It reads memory twice with a sweep in
between; the second read is slow once the sweep is large enough. The cache size that a machine reports is only a hint:
the MI300X reports the 4 MiB of one die, and has 256 MiB behind it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from services.executor.devices.device import DeviceDescription

_REPEATS = 5


class Probed(Protocol):
    """A session with a runner of our own."""

    def probe_ns(self, flush_bytes: int, probe_bytes: int) -> Awaitable[int]:
        """Measures in ns how long it takes to read memory that was read before a sweep."""
        ...


@dataclass(frozen=True)
class FlushProfile:
    """The range of sweeps to try; `grown_enough` is the factor by which cold time may still rise at the end."""

    first_bytes: int
    most_bytes: int
    probe_bytes: int
    grown_enough: float = 1.05


GPU_FLUSH = FlushProfile(first_bytes=512 << 20, most_bytes=4 << 30, probe_bytes=32 << 20)
"""Begins with twice the MI300X's Infinity Cache."""

CPU_FLUSH = FlushProfile(first_bytes=64 << 20, most_bytes=256 << 20, probe_bytes=1 << 20, grown_enough=1.15)
"""For shared cores: a probe's time is noisy, and everybody on the socket shares the last cache."""


@dataclass(frozen=True)
class Flush:
    """A sweep of `size_bytes`; reading the probe took `hot_ns` without it and `cold_ns` with it.

    `verified` says that this sweep made reading slower, and that one twice as large made it no slower still.
    """

    size_bytes: int
    hot_ns: float
    cold_ns: float
    verified: bool


def flush_profile(device: DeviceDescription) -> FlushProfile:
    """The sweeps to try on a device."""
    return GPU_FLUSH if device.is_gpu else CPU_FLUSH


async def calibrated_flush(trusted: Probed, profile: FlushProfile) -> Flush:
    """Grow the sweep until cold time stops rising; if it never does, return the first size, unverified.

    Raises Failure if the device runs out of memory.
    """
    hot_ns = await _read_ns(trusted, 0, profile)
    size_bytes = profile.first_bytes
    first_ns = cold_ns = await _read_ns(trusted, size_bytes, profile)
    while 2 * size_bytes <= profile.most_bytes:
        colder_ns = await _read_ns(trusted, 2 * size_bytes, profile)
        if max(profile.grown_enough * hot_ns, colder_ns / profile.grown_enough) < cold_ns:
            return Flush(size_bytes, hot_ns, cold_ns, verified=True)
        size_bytes, cold_ns = 2 * size_bytes, colder_ns
    return Flush(profile.first_bytes, hot_ns, first_ns, verified=False)


async def _read_ns(trusted: Probed, flush_bytes: int, profile: FlushProfile) -> float:
    return median([await trusted.probe_ns(flush_bytes, profile.probe_bytes) for _ in range(_REPEATS)])
