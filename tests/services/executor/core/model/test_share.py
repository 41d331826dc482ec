"""The share of a machine that a submission's sandbox may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipcpu.build_folder import BuildKind
from services.executor.core.model.limits import Share, StageLimits
from services.executor.core.run.installation import Options, share_for
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.rocm.rocm_device import RocmDevice
from services.executor.devices.selection import within


def _options(memory_mib: int | None = None, cores: float | None = None) -> Options:
    return Options("cpu", "auto", Path("cache"), 1, sandbox_memory_mib=memory_mib, sandbox_cores=cores)


def test_a_gpu_s_submission_has_16_gib_and_4_cores() -> None:
    assert share_for(RocmDevice(), _options()) == Share(16384, 4.0)


@pytest.mark.parametrize(("machine_mib", "memory_mib"), [(4096, 3072), (20_000, 15_000), (262_144, 16384)])
def test_on_a_small_machine_the_judge_has_memory_left(machine_mib: int, memory_mib: int) -> None:
    assert Share.on_processors(machine_mib, 2) == Share(memory_mib, 2)


def test_what_is_set_holds_on_every_device() -> None:
    for device in (CpuDevice(), RocmDevice()):
        assert share_for(device, _options(2048, 0.5)) == Share(2048, 0.5)
        assert share_for(device, _options(2048)).memory_mib == 2048


def test_runner_and_program_are_held_to_the_share_and_the_compiler_is_not() -> None:
    limits = StageLimits().within(Share(2048, 1.5))
    for of_submission in (limits.runner, limits.program, limits.runner_sandbox):
        assert of_submission.cores == 1.5
    assert (limits.runner.memory_mib, limits.program.memory_mib) == (2048, 2048)
    assert limits.builder == StageLimits().builder


@pytest.mark.parametrize(("cores", "workers"), [(0.5, 1), (1, 1), (1.9, 1), (64, 3)])
def test_kernels_on_processors_have_no_more_threads_than_their_sandbox_has_cores(cores: float, workers: int) -> None:
    device = within(CpuDevice(3), cores)
    assert device.describe().compute_units == workers
    environment = device.run_command(Path("build"), BuildKind.SOLUTION).environment
    assert environment["WAVEPOOL_CPU_WORKERS"] == str(workers)
