"""NVML's answers are taken as they are, however many are missing.

The answers are in the forms of nvidia-ml-py and the NVML API reference
(https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html).
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hipcpu.build_folder import BuildKind
from services.executor.devices.inventory import Inventoried
from services.executor.devices.nvidia.facts import cuda_version, read_facts
from services.executor.devices.nvidia.gpu import Gpu
from services.executor.devices.nvidia.nvidia_device import NvidiaDevice
from services.executor.devices.selection import Selectable


class ScriptedNvml:
    """pynvml on a machine with `count` GPUs; `faults` maps functions to the errors that they raise."""

    def __init__(self, count: int = 2, **faults: str) -> None:
        self.count = count
        self.faults = faults
        self.answers: dict[str, Any] = {
            "nvmlInit": None,
            "nvmlDeviceGetCount": count,
            "nvmlSystemGetDriverVersion": "580.65.06",
            "nvmlSystemGetCudaDriverVersion": 13000,
            "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3",
            "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=85_520_809_984, free=1, used=1),
            "nvmlDeviceGetCudaComputeCapability": (9, 0),
            "nvmlDeviceGetNumGpuCores": 16_896,
            "nvmlDeviceGetVbiosVersion": "96.00.99.00.01",
            "nvmlDeviceGetInforomImageVersion": b"G520.0200.00.05",
            "nvmlDeviceGetGspFirmwareVersion": "580.65.06",
            "nvmlDeviceGetMigMode": [0, 0],
        }

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802  NVML's name
        return index

    def __getattr__(self, name: str) -> Any:
        def call(*handle: int) -> Any:
            if name in self.faults:
                raise RuntimeError(self.faults[name])
            if name == "nvmlDeviceGetUUID":
                return f"GPU-{handle[0]}"
            if name == "nvmlDeviceGetPciInfo":
                return SimpleNamespace(busId=f"00000000:{handle[0] + 0x1B:02X}:00.0".encode())
            return self.answers[name]

        return call


def test_gpus_are_reported_with_everything_that_the_driver_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", ScriptedNvml())

    facts = read_facts()

    assert [(gpu.index, gpu.uuid, gpu.bus_address) for gpu in facts.gpus] == [
        (0, "GPU-0", "00000000:1B:00"),
        (1, "GPU-1", "00000000:1C:00"),
    ]
    gpu = facts.gpus[0]
    assert (gpu.title, gpu.architecture, gpu.memory_mib, gpu.compute_units) == (
        "NVIDIA H100 80GB HBM3",
        "sm_90",
        81_559,
        132,
    )
    assert gpu.firmware == {"VBIOS": "96.00.99.00.01", "INFOROM": "G520.0200.00.05", "GSP": "580.65.06"}
    assert (gpu.compute_partition, [mode.name for mode in gpu.compute_partition_modes]) == ("", ["MIG"])
    assert (facts.driver_version, facts.cuda_version, facts.rocm_version) == ("580.65.06", "13.0", "")
    assert list(facts.unread) == []


def test_what_is_not_there_is_no_fault_and_what_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = {
        "nvmlDeviceGetMigMode": "Not Supported",
        "nvmlDeviceGetVbiosVersion": "GPU is lost",
        "nvmlSystemGetCudaDriverVersion": "Unknown Error",
    }
    monkeypatch.setitem(sys.modules, "pynvml", ScriptedNvml(1, **faults))

    facts = read_facts()

    assert facts.gpus[0].compute_partition_modes == ()
    assert {fact.field: fact.reason for fact in facts.unread} == {
        "devices[0].firmware": "nvmlDeviceGetVbiosVersion: GPU is lost",
        "cuda_version": "nvmlSystemGetCudaDriverVersion: Unknown Error",
    }


def test_a_machine_without_the_driver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", ScriptedNvml(nvmlInit="NVML Shared Library Not Found"))

    facts = read_facts()

    assert facts.gpus == ()
    assert [fact.reason for fact in facts.unread] == ["NVML: NVML Shared Library Not Found"]


@pytest.mark.parametrize("odd", [None, -1, "N/A", object()])
def test_answers_of_any_kind_break_nothing(monkeypatch: pytest.MonkeyPatch, odd: object) -> None:
    nvml = ScriptedNvml(1)
    nvml.answers |= {name: odd for name in nvml.answers if name not in {"nvmlInit", "nvmlDeviceGetCount"}}
    monkeypatch.setitem(sys.modules, "pynvml", nvml)

    (gpu,) = read_facts().gpus

    assert (gpu.title, gpu.memory_mib, gpu.compute_units) == ("", 0, 0)


@pytest.mark.parametrize(("number", "version"), [(13020, "13.2"), (12040, "12.4"), (0, "")])
def test_cudas_version_is_read(number: int, version: str) -> None:
    assert cuda_version(number) == version


def test_a_run_sees_the_gpu_of_its_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", ScriptedNvml(4))
    device = NvidiaDevice()
    assert isinstance(device, Inventoried)
    assert isinstance(device, Selectable)

    assert device.on([3]).run_command(tmp_path, BuildKind.SOLUTION).environment["CUDA_VISIBLE_DEVICES"] == "GPU-3"
    named = NvidiaDevice(Gpu(2, "A Test H100", "9.0", 80_000, 132, "GPU-x"))
    assert named.run_command(tmp_path, BuildKind.SOLUTION).environment["CUDA_VISIBLE_DEVICES"] == "GPU-x"
    monkeypatch.setenv("NVIDIA_INDEX", "1")
    assert [gpu.uuid for gpu in NvidiaDevice().facts().gpus] == ["GPU-1"]
