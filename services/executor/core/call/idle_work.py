"""Measures how much a sandbox works while no order is open: above a hundredth of a core, the time is not proven.

Between two orders the inputs of the next call lie ready and nobody measures. Work that is done then costs no time that
we report. And a program that keeps the processors busy then makes a machine look busy that is not.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

MOST_SHARE = 0.01
"""The most CPU time that a sandbox may use while no order is open, as a share of one core."""
LEAST_CPU_NS = 1_000_000
"""Less CPU time is ignored: an honest runner needs up to 3 us to fall asleep after each order."""


@dataclass(frozen=True)
class IdleTime:
    """The time in which no order was open, and the CPU time of the whole sandbox in it."""

    wall_ns: int = 0
    cpu_ns: int = 0

    def __add__(self, other: IdleTime) -> IdleTime:
        """Returns the sum of both times."""
        return IdleTime(self.wall_ns + other.wall_ns, self.cpu_ns + other.cpu_ns)

    def __sub__(self, before: IdleTime) -> IdleTime:
        """Returns the time since `before`."""
        return IdleTime(self.wall_ns - before.wall_ns, self.cpu_ns - before.cpu_ns)


NO_TIME = IdleTime()


class IdleMeter:
    """Reads a sandbox's CPU time whenever an order ends or begins."""

    def __init__(self, cpu_time: Callable[[], Awaitable[timedelta]]) -> None:
        self._cpu_time = cpu_time
        self._began: tuple[int, int] | None = None
        self.total = NO_TIME

    async def order_ended(self) -> None:
        """Begins an idle time: from now on the sandbox has nothing to do."""
        self._began = time.perf_counter_ns(), await self._cpu_ns()

    async def order_begins(self) -> None:
        """Ends the idle time, if there is one, before the sandbox gets something to do."""
        if self._began is not None:
            wall_ns, cpu_ns = self._began
            self.total += IdleTime(time.perf_counter_ns() - wall_ns, await self._cpu_ns() - cpu_ns)
            self._began = None

    async def _cpu_ns(self) -> int:
        return round((await self._cpu_time()).total_seconds() * 1e9)


def works_when_idle(idle: IdleTime) -> bool:
    """True if the sandbox used more CPU time than it may."""
    return idle.cpu_ns > max(MOST_SHARE * idle.wall_ns, LEAST_CPU_NS)


def idle_doubt(idle: IdleTime) -> str:
    """Says why work between the calls leaves a time unproven, with advice; empty if it does not."""
    if not works_when_idle(idle):
        return ""
    cpu_ms, wall_ms = idle.cpu_ns / 1e6, idle.wall_ns / 1e6
    return (
        f"the program worked while nothing was asked of it ({cpu_ms:.0f} ms of CPU time in {wall_ms:.0f} ms between "
        f"calls): end all threads and all work before `solution` returns"
    )
