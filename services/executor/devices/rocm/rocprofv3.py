"""ROCm's profiler rocprofv3: a Python program that starts another with a library in it, which traces the kernels.

Nobody has run this on a GPU yet. The options are those of ROCm's documentation ("Using rocprofv3").
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

from hipcpu.build_folder import ToolchainError
from services.executor.devices.kernel_trace import OUTPUT_NAME
from services.executor.devices.profiling import ProfileClock, Profiler
from services.executor.sandboxes.sandbox import Command, Mount

TOOL = "rocprofv3"
_PROFILE = Path("/profile")
_VERSION = re.compile(r"^\s*version:\s*(\S{1,40})$", re.MULTILINE)


@cache
def profiler(rocm: Path) -> Profiler:
    """Return the profiler of the ROCm in this folder, asked once; raises ToolchainError if there is none."""
    program = _program(rocm)
    try:
        done = subprocess.run([program, "--version"], capture_output=True, check=False, timeout=60)  # noqa: S603  ROCm's
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"{program} does not start: {error}") from error
    # Older releases have no such option.
    found = _VERSION.search((done.stdout + done.stderr).decode(errors="replace"))
    return Profiler(TOOL, found[1] if found else "", ProfileClock.GPU)


def profile_command(rocm: Path, command: Command, folder: Path) -> Command:
    """Return `command` under the profiler, which writes into `folder`; raises ToolchainError if there is none."""
    options = ("--kernel-trace", "--output-format", "csv", "-d", str(_PROFILE), "-o", OUTPUT_NAME, "--")
    path = f"{rocm}/bin:/usr/bin:/bin"  # rocprofv3 asks env for Python.
    return replace(
        command,
        arguments=(str(_program(rocm)), *options, *command.arguments),
        mounts=(*command.mounts, Mount(folder, _PROFILE, writable=True)),
        environment={**command.environment, "PATH": path, "WAVEPOOL_PROFILED": "1"},
    )


def _program(rocm: Path) -> Path:
    program = rocm / "bin" / TOOL
    if not program.exists():
        raise ToolchainError(f"no {TOOL} at {program}; install ROCm's rocprofiler-sdk")
    return program
