"""Devices that can check kernels as they run: bounds, initialisation, races."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

    from hipcpu.build_folder import BuildKind
    from services.executor.devices.device import DeviceDescription, Toolchain
    from services.executor.sandboxes.sandbox import Command


class Sanitized(Protocol):
    """A Device whose builds check their kernels. A SOLUTION's harness has the `main` of the program."""

    def describe(self) -> DeviceDescription:
        """As a Device."""
        ...

    def toolchain(self) -> Toolchain:
        """As a Device."""
        ...

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """As a Device."""
        ...

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """As a Device."""
        ...

    def with_findings(self, command: Command, folder: Path) -> Command:
        """`command`, told to write what it finds into the empty `folder` on the host."""
        ...

    def findings_file(self, folder: Path) -> Path:
        """The file of JSON lines that the command leaves there: a claim, since the submission could write it."""
        ...


@runtime_checkable
class Sanitizing(Protocol):
    """A device with sanitizers: an addition to Device, found out by `isinstance`."""

    def sanitized(self) -> Sanitized:
        """The same device with its sanitizers on."""
        ...
