from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from services.executor.core.certify.independent import KERNELS, compile_command, program_source, times_of
from services.executor.core.certify.sources import ROOT
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import DeviceDescription
from services.executor.devices.nvidia.gpu import Gpu
from services.executor.devices.nvidia.nvidia_device import NvidiaDevice

HOPPER = NvidiaDevice(Gpu(0, "H100", "9.0", 80_000, 132)).describe()
MI300X = replace(CpuDevice().describe(), name="rocm", architecture="gfx942", is_gpu=True)


def _source(slug: str, device: DeviceDescription) -> str:
    return program_source(KERNELS[slug], KERNELS[slug].case(is_gpu=device.is_gpu), device)


@pytest.mark.parametrize("slug", sorted(KERNELS))
def test_the_reference_is_launched_on_the_programs_stream_with_the_cases_sizes(slug: str) -> None:
    source = _source(slug, MI300X)
    launches = [line for line in source.split("namespace {")[0].splitlines() if "<<<" in line]
    assert len(launches) == 1
    assert ", 0, launch_stream>>>" in launches[0]
    assert source.startswith("#include <hip/hip_runtime.h>\n#define GPU(name) hip##name\n")
    assert "#define GRAPHS 1\n" in source


def test_sizes_are_those_of_the_device() -> None:
    assert "solution((p)[0], (p)[1], (p)[2], 67108864)" in _source("vector-addition", MI300X)
    assert "solution((p)[0], (p)[1], (p)[2], 256, 192, 160)" in _source("matrix-multiplication", CpuDevice().describe())


@pytest.mark.cuda
@pytest.mark.parametrize("slug", sorted(KERNELS))
def test_nvcc_builds_it_without_anything_of_ours(slug: str, tmp_path: Path) -> None:
    file = tmp_path / "program.hip"
    file.write_text(_source(slug, HOPPER))
    command = compile_command(HOPPER, file, tmp_path / "program")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not [word for word in command if "wavepool" in word or word.startswith("-I")]


@pytest.mark.rocm
@pytest.mark.parametrize("slug", sorted(KERNELS))
def test_hipcc_builds_it_for_an_mi300x(slug: str, tmp_path: Path) -> None:
    file = tmp_path / "program.hip"
    file.write_text(_source(slug, MI300X))
    named = {**os.environ, "ROCM_PATH": str(ROOT / ".cache/rocm6/usr"), "HIP_PLATFORM": "amd"}
    said = (
        "import sys; from dataclasses import replace; from pathlib import Path;"
        "from services.executor.core.certify.independent import compile_command;"
        "from services.executor.devices.cpu.cpu_device import CpuDevice;"
        "device = replace(CpuDevice().describe(), name='rocm', architecture='gfx942');"
        "print('\\n'.join(compile_command(device, Path(sys.argv[1]), Path(sys.argv[2]))))"
    )
    # A process that has located ROCm remembers the place.
    asked = [sys.executable, "-c", said, str(file), str(tmp_path / "program")]
    command = subprocess.run(asked, cwd=ROOT, env=named, capture_output=True, text=True, check=True).stdout.splitlines()
    done = subprocess.run(command, cwd=tmp_path, env=named, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"gfx942" in (tmp_path / "program").read_bytes()


def test_what_it_prints_is_read() -> None:
    assert times_of("events hot 1.5\ngraph cold 20.25\n") == {"events hot": 1.5, "graph cold": 20.25}
