"""What a submission is compiled for and runs on; devices differ behind this interface and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from hipcpu.build_folder import BuildKind
    from services.executor.sandboxes.sandbox import Command


@dataclass(frozen=True)
class DeviceDescription:
    """A device as it reports itself; `memory_mib` is what submissions can allocate."""

    name: str
    """The adapter: `cpu`, `rocm`, `nvidia`."""
    title: str
    """The hardware in its maker's words, e.g. the host processor's model name for `cpu`."""
    architecture: str
    """The compile target, e.g. `x86_64` or `gfx942`."""
    wavefront_size: int
    compute_units: int
    memory_mib: int
    is_gpu: bool
    is_simulated: bool = False
    """Times are made up: they say nothing of any hardware."""
    max_threads_per_block: int = 1024
    max_lds_bytes: int = 64 << 10
    """Of a block, static and dynamic together."""

    @property
    def has_own_memory(self) -> bool:
        """Whether a GPU is there: what runs on a simulated one runs on the host."""
        return self.is_gpu and not self.is_simulated


@dataclass(frozen=True)
class Toolchain:
    """The compiler and runtime behind a device; `identity` changes whenever a build could come out differently."""

    identity: str
    title: str
    """One line for people, e.g. `clang 22.1.8 (ziglang 0.17.0) + wavepool cpu runtime`."""


class Device(Protocol):
    """Compiles and runs submissions.

    A build folder holds the inputs named by its BuildKind. The build command runs in a sandbox with that folder mounted
    writable at `/build`; exit status 0 leaves the executable `/build/runner` (for PROGRAM: `/build/program`) there, and
    the source's own object files or code objects as SOURCE_OBJECTS,
    status 1 means that the source is at fault, with the compiler's text on stderr, NO_ROOM_STATUS that the machine is,
    and any other status that the toolchain is.
    """

    def describe(self) -> DeviceDescription:
        """Its name, architecture, memory and number of compute units."""
        ...

    def toolchain(self) -> Toolchain:
        """The toolchain; raises ToolchainError, with what to do about it, where it is not installed."""
        ...

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """The sandboxed command that compiles what is in `folder` on the host."""
        ...

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """The sandboxed command that runs the finished build in `folder`, mounted read-only at `/build`.

        What else the sandbox is to see and is no file yet, a device may put beside `folder`: that is the run's own as
        well.
        """
        ...


class Inspector(Protocol):
    """Says what a compiler makes of a submission, for a GPU that need not be here.

    The folder holds `solution.hip` and is mounted writable at `/build`. Exit status 0 leaves `/build/report.json` there
    (the fields of `core.isa_report.IsaReport`, and `listing`); any other status means that there is no report.
    """

    def toolchain(self) -> Toolchain:
        """What reports are made with; raises ToolchainError, with what to do about it, where it is not installed."""
        ...

    def command(self, folder: Path) -> Command:
        """The sandboxed command that reports on what is in `folder` on the host."""
        ...
