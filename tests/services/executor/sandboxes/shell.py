"""Runs shell scripts in sandboxes for the contract suite."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from services.executor.sandboxes.gaps import Gap
from services.executor.sandboxes.sandbox import (
    Command,
    Exit,
    Limits,
    Mount,
    OutputListener,
    PreparedSandbox,
    Sandbox,
    SandboxedProcess,
)

GENEROUS = Limits(
    wall=timedelta(seconds=60),
    cpu=timedelta(seconds=40),
    memory_mib=256,
    processes=24,
    file_mib=8,
    output_bytes=64 << 10,
)
SHORT_WALL = replace(GENEROUS, wall=timedelta(seconds=0.5))
SHORT_CPU = replace(GENEROUS, cpu=timedelta(seconds=0.4))
SMALL_MEMORY = replace(GENEROUS, memory_mib=64)
FEW_PROCESSES = replace(GENEROUS, processes=10)
SMALL_FILES = replace(GENEROUS, file_mib=2)


class SandboxedShell:
    """Runs scripts in sandboxes of one adapter; `folder` is their /build, and `outside` lies beside it."""

    def __init__(self, sandbox: Sandbox, home: Path) -> None:
        self.sandbox = sandbox
        self.folder = home / "build"
        self.outside = home / "outside"
        for folder in (self.folder, self.outside):
            folder.mkdir()
        self.outside.chmod(0o777)

    def admits(self, gap: Gap) -> bool:
        return gap in self.sandbox.gaps

    async def start(
        self,
        script: str,
        limits: Limits = GENEROUS,
        mounts: tuple[Mount, ...] = (),
        on_output: OutputListener | None = None,
    ) -> SandboxedProcess:
        return await self.sandbox.start(self.command(script, mounts), limits, on_output)

    async def prepare(self, script: str, limits: Limits = GENEROUS) -> PreparedSandbox:
        return await self.sandbox.prepare(self.command(script), limits)

    def command(self, script: str, mounts: tuple[Mount, ...] = ()) -> Command:
        build = Mount(self.folder, Path("/build"), writable=True)
        environment = {"PATH": "/usr/bin:/bin", "GREETING": "hello"}
        return Command(["/bin/bash", "-c", script], Path("/build"), (build, *mounts), environment)

    async def run(self, script: str, limits: Limits = GENEROUS, mounts: tuple[Mount, ...] = ()) -> Exit:
        return await (await self.start(script, limits, mounts)).wait()


def processes_with(marker: str) -> list[int]:
    """The processes with `marker` on their command line, except this one."""
    return [
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdecimal() and int(folder.name) != os.getpid() and marker.encode() in _command_line(folder)
    ]


def _command_line(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true within 20 s"
        await asyncio.sleep(0.005)
