"""The interface of devices, which submissions are compiled for and run on; only here do devices differ."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hipcpu.build_folder import BuildKind
from services.executor.sandboxes.sandbox import Command


@dataclass(frozen=True)
class DeviceDescription:
    """A device as it reports itself; submissions can allocate `memory_mib`."""

    name: str
    """Name of the adapter: `cpu`, `rocm`, `nvidia`."""
    title: str
    """Name that the maker gives the hardware, e.g. the host processor's model name for `cpu`."""
    architecture: str
    """Compile target, e.g. `x86_64` or `gfx942`."""
    wavefront_size: int
    compute_units: int
    memory_mib: int
    is_gpu: bool
    is_simulated: bool = False
    """True if times are made up and say nothing about any hardware."""
    max_threads_per_block: int = 1024
    max_lds_bytes: int = 64 << 10
    """Maximum per block, static and dynamic together."""

    @property
    def has_own_memory(self) -> bool:
        """True if there is a real GPU: runs on a simulated one use the host's memory."""
        return self.is_gpu and not self.is_simulated


@dataclass(frozen=True)
class Toolchain:
    """The compiler and runtime behind a device; `identity` changes if a build could come out differently."""

    identity: str
    title: str
    """Title in one line, e.g. `clang 22.1.8 (ziglang 0.17.0) + wavepool cpu runtime`."""
    command: str = ""
    """The command that compiles a submission's source, `solution.hip`, for people; empty if unknown."""


class Device(Protocol):
    """Compiles and runs submissions.

    A build folder holds the inputs named by its BuildKind. The build command runs in a sandbox with that folder mounted
    writable at `/build`. Exit status 0 leaves the executable `/build/runner` (for PROGRAM: `/build/program`) there, and
    the source's own object files or code objects as SOURCE_OBJECTS. Status 1 means a fault of the source, with the
    compiler's messages on stderr, NO_ROOM_STATUS a fault of the machine, and any other status a fault of the toolchain.
    """

    def describe(self) -> DeviceDescription:
        """Return the device's name, architecture, memory and number of compute units."""
        ...

    def toolchain(self) -> Toolchain:
        """Return the toolchain; raises ToolchainError, with advice, if it is not installed."""
        ...

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the sandboxed command that compiles the files in `folder` on the host."""
        ...

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the sandboxed command that runs the finished build in `folder`, mounted read-only at `/build`.

        If the sandbox must see other files that do not exist yet, a device may put them beside `folder`, which belongs
        to the run alone.
        """
        ...


class Inspector(Protocol):
    """Reports on a compiler's output for a submission, for a GPU that need not be here.

    The folder holds `solution.hip` and is mounted writable at `/build`. Exit status 0 leaves `/build/report.json` there
    (the fields of `core.isa_report.IsaReport`, and `listing`); any other status means that there is no report.
    """

    def toolchain(self) -> Toolchain:
        """Return the toolchain for reports; raises ToolchainError, with advice, if it is not installed."""
        ...

    def command(self, folder: Path) -> Command:
        """Return the sandboxed command that reports on the files in `folder` on the host."""
        ...
