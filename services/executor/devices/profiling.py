"""Devices that can report the kernels of a submission with their times, by a profiler.

All that a profiler reports is a claim: it works in the sandbox and mostly in the process of the submission.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

from hipcpu.build_folder import ToolchainError
from services.executor.devices.device import Device
from services.executor.sandboxes.sandbox import Command

MOST_KERNELS = 64
_MOST_NAME_CHARACTERS = 512
_RUNNERS_OWN = ("wavepool::run_body<", "wavepool::(anonymous namespace)::", "wavepool::<unnamed>::")
"""The names of our runner's own kernels (core/runner), which make inputs and sweep caches, begin so."""


class ProfileClock(StrEnum):
    """The clock that a profile's times are from."""

    GPU = "GPU"
    HOST = "HOST"
    """The host's, around each launch on the cpu device: its times say nothing about a GPU."""


@dataclass(frozen=True)
class Profiler:
    """A device's profiler."""

    tool: str
    version: str
    clock: ProfileClock

    @property
    def title(self) -> str:
        """The tool with its version, e.g. `rocprofv3 1.1.0`."""
        return f"{self.tool} {self.version}".strip()


@dataclass(frozen=True)
class Extent:
    """Numbers of blocks or threads."""

    x: int
    y: int
    z: int


@dataclass(frozen=True)
class LaunchFacts:
    """A kernel and the resources that a launch of it takes; None for those that the profiler does not report."""

    name: str
    grid: Extent | None = None
    """In blocks."""
    block: Extent | None = None
    """In threads."""
    vgpr: int | None = None
    agpr: int | None = None
    sgpr: int | None = None
    """Registers of a thread: vector, accumulation, scalar."""
    lds_bytes: int | None = None
    """Shared memory of a block."""
    scratch_bytes: int | None = None
    """Scratch memory of a thread."""


@dataclass(frozen=True)
class Dispatch:
    """One launch of a kernel as a profiler reported it."""

    launch: LaunchFacts
    duration_ns: int


@dataclass(frozen=True)
class ProfiledKernel(LaunchFacts):
    """All launches of one kernel with the same grid, block and resources."""

    calls: int = field(kw_only=True)
    total_ns: int = field(kw_only=True)
    mean_ns: float = field(kw_only=True)
    min_ns: int = field(kw_only=True)
    max_ns: int = field(kw_only=True)
    share: float = field(kw_only=True)
    """Share of the time of all kernels, 0 to 1."""


@runtime_checkable
class Profiled(Protocol):
    """A device with a profiler: an addition to Device, found with `isinstance`."""

    def profiler(self) -> Profiler:
        """Return the profiler of this machine; raises ToolchainError if there is none, with the reason."""
        ...

    def profile_command(self, command: Command, folder: Path) -> Command:
        """Return `command` under the profiler, which writes into `folder` on the host. Raises ToolchainError."""
        ...

    def dispatches(self, folder: Path) -> Sequence[Dispatch]:
        """Return the dispatches that the profiler wrote; raises ValueError if they make no sense."""
        ...


def profiler_or_reason(device: Device) -> Profiler | str:
    """Return the profiler of a device on this machine, or the reason why it has none."""
    if not isinstance(device, Profiled):
        description = device.describe()
        why = "its times are made up" if description.is_simulated else "Wavepool has no profiler for it"
        return f"{description.name}: {why}"
    try:
        return device.profiler()
    except ToolchainError as error:
        return str(error)


def kernels_of(dispatches: Iterable[Dispatch]) -> list[ProfiledKernel]:
    """Return the submission's kernels, the longest total time first; those of our runner are left out."""
    durations: dict[LaunchFacts, list[int]] = {}
    for dispatch in dispatches:
        if not dispatch.launch.name.removeprefix("void ").startswith(_RUNNERS_OWN):
            durations.setdefault(dispatch.launch, []).append(dispatch.duration_ns)
    whole = max(1, sum(map(sum, durations.values())))
    kernels = [_kernel(launch, each, whole) for launch, each in durations.items()]
    return sorted(kernels, key=lambda kernel: (-kernel.total_ns, kernel.name))


def _kernel(launch: LaunchFacts, durations: Sequence[int], whole_ns: int) -> ProfiledKernel:
    total_ns = sum(durations)
    return ProfiledKernel(
        **vars(launch),
        calls=len(durations),
        total_ns=total_ns,
        mean_ns=total_ns / len(durations),
        min_ns=min(durations),
        max_ns=max(durations),
        share=total_ns / whole_ns,
    )


def shown_name(name: str) -> str:
    """Return a kernel's name as it may be shown: of bounded length, with `?` for what cannot be printed."""
    cut = name[:_MOST_NAME_CHARACTERS]
    return "".join(character if character.isprintable() else "?" for character in cut)
