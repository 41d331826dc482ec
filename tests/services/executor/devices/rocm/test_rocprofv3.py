"""rocprofv3 up to the process boundary: its version as the documentation shows it, and the command that starts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hipcpu.build_folder import ToolchainError
from services.executor.devices.profiling import ProfileClock, Profiler
from services.executor.devices.rocm.rocprofv3 import profile_command, profiler
from services.executor.sandboxes.sandbox import Command

# From ROCm/rocm-systems, projects/rocprofiler-sdk/source/docs/how-to/using-rocprofv3.rst.
VERSION = """             version: 1.0.0
        git_revision: a1b2c3d4e5f6789012345678901234567890abcd
        library_arch: x86_64-linux-gnu
         system_name: Linux
    system_processor: x86_64
      system_version: 6.8.0-57-generic
         compiler_id: GNU
    compiler_version: 11.4.0
        rocm_version: 6.2.0
"""


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    profiler.cache_clear()
    yield
    profiler.cache_clear()


def installed(folder: Path, script: str) -> Path:
    (folder / "bin").mkdir()
    program = folder / "bin" / "rocprofv3"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


def test_the_version_is_the_programs_own(tmp_path: Path) -> None:
    rocm = installed(tmp_path, f"cat <<'E'\n{VERSION}E")
    assert profiler(rocm) == Profiler("rocprofv3", "1.0.0", ProfileClock.GPU)


def test_a_release_that_does_not_say_its_version_is_used_all_the_same(tmp_path: Path) -> None:
    rocm = installed(tmp_path, "echo 'unrecognized arguments: --version' >&2; exit 2")
    assert profiler(rocm).title == "rocprofv3"


def test_a_machine_without_it_gets_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="install ROCm's rocprofiler-sdk"):
        profiler(tmp_path)
    with pytest.raises(ToolchainError, match="install ROCm's rocprofiler-sdk"):
        profile_command(tmp_path, Command(["/build/runner"], Path("/build")), tmp_path)


def test_the_program_runs_under_it_and_may_write_when_it_exits(tmp_path: Path) -> None:
    rocm = installed(tmp_path, "exit 0")
    plain = Command(["/build/runner", "socket"], Path("/build"), environment={"HSA_XNACK": "0"})
    command = profile_command(rocm, plain, tmp_path)
    at = list(command.arguments).index("--")
    assert command.arguments[at + 1 :] == ("/build/runner", "socket")
    assert {"--kernel-trace", "csv", "/profile", "wavepool"} <= set(command.arguments[:at])
    assert [(mount.source, mount.writable) for mount in command.mounts] == [(tmp_path, True)]
    assert command.environment["HSA_XNACK"] == "0"
    assert command.environment["WAVEPOOL_PROFILED"] == "1"
