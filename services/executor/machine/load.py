"""How busy the machine is, also between runs: its processors, its memory, and its GPUs if their driver tells."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from services.executor.devices.device import Device
from services.executor.devices.instruments import BusyShares
from services.executor.machine.host_facts import mib_of, value_of
from services.executor.machine.inventory import in_thread

SHORTEST_SECONDS = 0.5
"""Over a shorter time the kernel's counters, which advance by hundredths of a second, say little."""


@dataclass(frozen=True)
class Load:
    """Shares from 0 to 1; None for what is not known.

    The processors' and the GPUs' are of a time that has just passed, the memory's is of now.
    """

    cpu_share: float | None = None
    memory_share: float | None = None
    gpu_share: float | None = None


class LoadMeter:
    """Measures the load from one call of `read` to the next. A driver that hangs holds nothing up."""

    def __init__(
        self,
        device: Device,
        device_count: int,
        proc: Path = Path("/proc"),
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._device = device if isinstance(device, BusyShares) else None
        self._device_count = device_count
        self._proc = proc
        self._monotonic_seconds = monotonic_seconds
        self._ticks = self._cpu_ticks()
        self._ticks_at = monotonic_seconds()
        self._cpu_share: float | None = None
        self._gpu_share: float | None = None
        self._asked: asyncio.Future[Sequence[float]] | None = None

    def read(self) -> Load:
        """The load now. The GPUs' share is what their driver answered since the call before."""
        self._measure_processors()
        self._ask_driver()
        return Load(self._cpu_share, self._memory_share(), self._gpu_share)

    def _measure_processors(self) -> None:
        now = self._monotonic_seconds()
        if now - self._ticks_at < SHORTEST_SECONDS:
            return
        (busy_before, all_before), (busy, every) = self._ticks, self._cpu_ticks()
        passed = every - all_before
        self._cpu_share = min(1.0, max(0.0, (busy - busy_before) / passed)) if passed > 0 else None
        self._ticks, self._ticks_at = (busy, every), now

    def _ask_driver(self) -> None:
        if self._device is None:
            return
        if self._asked is not None:
            if not self._asked.done():
                # An answer that is late says nothing about now.
                self._gpu_share = None
                return
            self._gpu_share = fmean(shares) if (shares := _answer(self._asked)) else None
        device, count = self._device, self._device_count
        self._asked = in_thread(lambda: device.busy_shares(count))

    def _cpu_ticks(self) -> tuple[int, int]:
        """Ticks for which processors worked, and all ticks, since the machine's start; 0 if they cannot be read."""
        try:
            _, *fields = (self._proc / "stat").read_text().partition("\n")[0].split()
            # user, nice, system, idle, iowait, irq, softirq, steal; the guests' time after them is in the users'.
            ticks = [int(field) for field in fields[:8]]
            return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
        except (OSError, ValueError, IndexError):
            return 0, 0

    def _memory_share(self) -> float | None:
        try:
            text = (self._proc / "meminfo").read_text()
        except OSError:
            return None
        total = mib_of(value_of(text, "MemTotal"))
        return min(1.0, max(0.0, 1 - mib_of(value_of(text, "MemAvailable")) / total)) if total else None


def _answer(asked: asyncio.Future[Sequence[float]]) -> Sequence[float]:
    """What a driver answered; nothing if it failed."""
    return () if asked.exception() else asked.result()
