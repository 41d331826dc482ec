"""Devices that can report kernel times of a submission, by their maker's profiler."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from services.executor.sandboxes.sandbox import Command


@dataclass(frozen=True)
class Dispatch:
    """One launch of a kernel as a profiler reported it: a claim, like all that comes out of a runner's sandbox."""

    kernel: str
    duration_ns: int


@dataclass(frozen=True)
class KernelProfile:
    """All launches of one kernel."""

    kernel: str
    launches: int
    median_ns: float
    total_ns: int
    share: float
    """Share of the time of all kernels, 0 to 1."""


@runtime_checkable
class Profiled(Protocol):
    """A device with a profiler: an addition to Device, found with `isinstance`."""

    def profile_command(self, command: Command, folder: Path) -> Command:
        """Return `command` under the profiler, which writes into `folder` on the host. Raises ToolchainError."""
        ...

    def dispatches(self, folder: Path) -> Sequence[Dispatch]:
        """Return the dispatches that the profiler wrote; raises ValueError if they make no sense."""
        ...


def profiles_of(dispatches: Iterable[Dispatch]) -> list[KernelProfile]:
    """Return the profiles of all kernels, the longest total time first."""
    durations: dict[str, list[int]] = {}
    for dispatch in dispatches:
        durations.setdefault(dispatch.kernel, []).append(dispatch.duration_ns)
    whole = max(1, sum(map(sum, durations.values())))
    profiles = [
        KernelProfile(kernel, len(each), float(median(each)), sum(each), sum(each) / whole)
        for kernel, each in durations.items()
    ]
    return sorted(profiles, key=lambda profile: (-profile.total_ns, profile.kernel))
