"""The cpu device with its sanitizers on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hipcpu.build_folder import SANITIZE, BuildKind
from services.executor.devices.device import Device, DeviceDescription, Toolchain
from services.executor.sandboxes.sandbox import Command, Mount

_FINDINGS = Path("/findings")
_FILE_NAME = "findings.jsonl"


class SanitizedCpuDevice:
    """Makes builds whose kernels check themselves; implements `devices.sanitizing.Sanitized`."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def describe(self) -> DeviceDescription:
        """Return the device's own description."""
        return self._device.describe()

    def toolchain(self) -> Toolchain:
        """Return the device's own toolchain."""
        return self._device.toolchain()

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the device's command with checks; a SOLUTION's harness has a `main`, so no runner is linked."""
        command = self._device.build_command(folder, kind)
        return replace(command, arguments=[*command.arguments, SANITIZE])

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the device's command with one worker, as the sanitizer watches one block after another."""
        command = self._device.run_command(folder, kind)
        return replace(command, environment={**command.environment, "WAVEPOOL_CPU_WORKERS": "1"})

    def with_findings(self, command: Command, folder: Path) -> Command:
        """Return `command` with the order to leave its findings in the empty `folder`."""
        environment = {**command.environment, "WAVEPOOL_FINDINGS": str(_FINDINGS / _FILE_NAME)}
        mounts = [*command.mounts, Mount(folder, _FINDINGS, writable=True)]
        return replace(command, mounts=mounts, environment=environment)

    def findings_file(self, folder: Path) -> Path:
        """Path of the findings in `folder`."""
        return folder / _FILE_NAME
