"""A file that a builder plants in place of its output is read as a regular file or not at all, and never hangs us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hipcpu.build_folder import BuildKind
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.cache import CompileCache
from services.executor.core.model.failure import Failure
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.sandboxes.limits.file_tree import remove_tree
from services.executor.sandboxes.sandbox import Command, Mount
from tests.services.executor.sandboxes.shell import GENEROUS, SandboxedShell

PLANTS = {
    "a link to a file of the host": "ln -s /etc/passwd /build/runner",
    "a link to a device": "ln -s /dev/zero /build/runner",
    "a pipe": "mkfifo /build/runner",
    "a folder": "mkdir -p /build/runner/runner",
    "a socket": "perl -e 'use IO::Socket::UNIX; IO::Socket::UNIX->new(Local => q(/build/runner), Listen => 1)'",
    "a file without end": "truncate -s 300M /build/runner",
    "nothing": "true",
}


class Planting:
    """A device whose compiler is a script."""

    def __init__(self, script: str) -> None:
        self._script = script

    def describe(self) -> DeviceDescription:
        return DeviceDescription("cpu", "A Test 3000", "x86_64", 64, 2, 1024, is_gpu=False)

    def toolchain(self) -> Toolchain:
        return Toolchain(self._script, "scripted")

    def build_command(self, folder: Path, kind: Any) -> Command:
        mounts = [Mount(folder, Path("/build"), writable=True)]
        return Command(["/bin/bash", "-c", self._script], Path("/build"), mounts, {"PATH": "/usr/bin:/bin"})

    def run_command(self, folder: Path, kind: Any) -> Command:
        raise NotImplementedError


@pytest.mark.parametrize("script", PLANTS.values(), ids=PLANTS.keys())
async def test_a_planted_output_is_no_build(shell: SandboxedShell, script: str) -> None:
    limits = GENEROUS
    cache = CompileCache(shell.outside / "cache", 1 << 30)
    target = shell.outside / "run"
    target.mkdir()
    builder = Builder(Planting(script), shell.sandbox, cache, limits)
    unit = Unit(BuildKind.SOLUTION, "source", "harness", "declaration")

    with pytest.raises(Failure) as caught:
        await builder.build(unit, shell.folder, target)

    assert "root:" not in str(caught.value.__dict__)
    assert list(target.iterdir()) == []
    remove_tree(shell.folder)
    assert not shell.folder.exists()
