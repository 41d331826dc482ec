"""Devices that can check kernels at run time: bounds, initialisation, races."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from hipcpu.build_folder import BuildKind
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.sandboxes.sandbox import Command


class Sanitized(Protocol):
    """A Device whose builds check their kernels. A SOLUTION's harness has the program's `main`."""

    def describe(self) -> DeviceDescription:
        """Describe the device, as a Device does."""
        ...

    def toolchain(self) -> Toolchain:
        """Return the toolchain, as a Device does."""
        ...

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the build command, as a Device does."""
        ...

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the run command, as a Device does."""
        ...

    def with_findings(self, command: Command, folder: Path) -> Command:
        """Return `command` with the order to write its findings into the empty `folder` on the host."""
        ...

    def findings_file(self, folder: Path) -> Path:
        """Return the file of JSON lines that the command leaves there: a claim, since the submission could write it."""
        ...


@runtime_checkable
class Sanitizing(Protocol):
    """A device with sanitizers: an addition to Device, found with `isinstance`."""

    def sanitized(self) -> Sanitized:
        """Return the same device with its sanitizers on."""
        ...
