"""The adapter: its description of itself, and its commands run in the best sandbox available."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from hipcpu import toolchain
from hipcpu.build_folder import BuildKind, ToolchainError
from servicekit.clock import SystemClock
from services.executor.config import ExecutorSettings
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import Device
from services.executor.devices.selection import masked
from services.executor.machine.signing import Signer
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import Limits
from services.executor.server import find_capabilities

_LIMITS = Limits(timedelta(seconds=60), timedelta(seconds=60), 4096, 256, 512, 1 << 20)


def test_device_describes_the_host_processor() -> None:
    device: Device = CpuDevice()
    description = device.describe()

    assert (description.name, description.architecture, description.wavefront_size) == ("cpu", "x86_64", 64)
    assert description.compute_units >= 1
    assert description.memory_mib > 0
    assert not description.is_gpu


def test_toolchain_names_its_compiler() -> None:
    assert CpuDevice().toolchain() == CpuDevice().toolchain()
    assert "ziglang" in CpuDevice().toolchain().title


def test_missing_toolchain_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_CACHE_DIR", str(tmp_path))

    with pytest.raises(ToolchainError, match=r"hipcpu\.prepare"):
        CpuDevice().toolchain()


async def test_an_executor_starts_without_a_toolchain_as_sessions_need_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAVEPOOL_CACHE_DIR", str(tmp_path / "cache"))
    settings = ExecutorSettings.model_validate({"token": "x", "work_dir": tmp_path, "data_dir": tmp_path})
    found = await find_capabilities(settings, Signer.kept_in(tmp_path / "key"), SystemClock())
    assert found.toolchain.title == "none when this executor started: its first run waits for it"
    assert found.prepare.__name__ == "prepare"


def test_the_build_sees_both_packages_of_its_compiler_where_they_are_installed_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kit has ziglang in a folder of its own, while the machine's Python brings llvmlite."""
    apart = tmp_path / "elsewhere" / "llvmlite"
    apart.mkdir(parents=True)
    monkeypatch.setattr(toolchain, "code_generator_folder", lambda: apart)
    paths = CpuDevice().build_command(tmp_path, BuildKind.SOLUTION).environment["PYTHONPATH"].split(os.pathsep)
    assert sorted(paths) == sorted([str(apart.parent), str(toolchain.compiler().folder.parent)])


async def test_program_is_built_and_run_in_sandboxes(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    (folder / "solution.hip").write_text(
        '__global__ void k() { printf("%d ", threadIdx.x); }\nint main() { k<<<1, 3>>>(); }'
    )
    sandbox = await choose_sandbox("auto")

    built = await (await sandbox.start(CpuDevice().build_command(folder, BuildKind.PROGRAM), _LIMITS)).wait()
    assert (built.code, built.stderr) == (0, b"")
    ran = await (await sandbox.start(CpuDevice().run_command(folder, BuildKind.PROGRAM), _LIMITS)).wait()
    assert (ran.code, ran.stdout) == (0, b"0 1 2 ")


@pytest.mark.parametrize(("eighths", "threads"), [(4, 4), (1, 1), (0, 8)])
def test_a_part_of_the_processors_has_its_share_of_the_threads(tmp_path: Path, eighths: int, threads: int) -> None:
    device = masked(CpuDevice(8), 0, eighths)

    assert device.describe().compute_units == threads
    assert device.run_command(tmp_path, BuildKind.SOLUTION).environment["WAVEPOOL_CPU_WORKERS"] == str(threads)
