"""The GPU as NVIDIA's management library reports it; the only importer of `pynvml`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from hipcpu.build_folder import ToolchainError
from services.executor.devices.instruments import Firmware, Reading

_LANES = 32
# CUDA cores per multiprocessor, by compute capability: CUDA C++ Programming Guide, "Compute Capabilities".
_CORES = {"8.0": 64, "8.6": 128, "8.9": 128, "9.0": 128, "10.0": 128, "12.0": 128}
# KiB of shared memory that a block may request: the same guide, "Technical Specifications per Compute Capability".
_SHARED_KIB = {"8.0": 163, "8.6": 99, "8.7": 163, "8.9": 99, "9.0": 227, "10.0": 227, "12.0": 99}
_SHARED_KIB_OF_ALL = 48
"""Shared memory that a block has on every GPU without a request."""


@dataclass(frozen=True)
class Gpu:
    """One GPU, by its index in the driver."""

    index: int
    name: str
    capability: str
    """Compute capability, e.g. `9.0`."""
    memory_mib: int
    multiprocessors: int
    uuid: str = ""
    """GPU's name in CUDA_VISIBLE_DEVICES, e.g. `GPU-8f7c...`; empty if it is not reported."""

    @property
    def architecture(self) -> str:
        """Compile target, e.g. `sm_90`."""
        return architecture_of(self.capability)

    @property
    def shared_bytes(self) -> int:
        """Maximum shared memory of a block."""
        return _SHARED_KIB.get(self.capability, _SHARED_KIB_OF_ALL) << 10


def architecture_of(capability: str) -> str:
    """Return the compile target for a compute capability: `sm_90` for `9.0`."""
    return f"sm_{capability.replace('.', '')}"


def multiprocessors_of(cores: int, capability: str) -> int:
    """Return the number of multiprocessors from the number of CUDA cores."""
    return cores // _CORES.get(capability, 128)


class Management:
    """Queries the driver; opened once per process, because the library does not notice forks."""

    def __init__(self, index: int = 0) -> None:
        """Open the library; raises ToolchainError if there is no library, no driver or no such GPU."""
        try:
            self._nvml: Any = importlib.import_module("pynvml")
            self._nvml.nvmlInit()
            self._handle: Any = self._nvml.nvmlDeviceGetHandleByIndex(index)
        except ImportError as error:
            raise ToolchainError("nvidia-ml-py is not installed; run `uv sync --extra nvidia`") from error
        except Exception as error:
            raise ToolchainError(f"no NVIDIA GPU {index} can be used: {error}; `nvidia-smi` should list it") from error
        self._index = index

    def gpu(self) -> Gpu:
        """Return the GPU's index, name, compute capability, memory in MiB and multiprocessors, as NVML reports them."""
        nvml, handle = self._nvml, self._handle
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
        capability = f"{major}.{minor}"
        cores = int(nvml.nvmlDeviceGetNumGpuCores(handle))
        return Gpu(
            self._index,
            _text(nvml.nvmlDeviceGetName(handle)),
            capability,
            int(nvml.nvmlDeviceGetMemoryInfo(handle).total) >> 20,
            multiprocessors_of(cores, capability),
            _text(nvml.nvmlDeviceGetUUID(handle)),
        )

    def reading(self) -> Reading:
        """Return the clock of the multiprocessors, the temperature and the power."""
        nvml, handle = self._nvml, self._handle
        return Reading(
            clock_mhz=_known(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            temperature_celsius=_known(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            power_watts=_scaled(_known(nvml.nvmlDeviceGetPowerUsage, handle), 1e-3),
        )

    def busy_share(self) -> float | None:
        """Return the share of the last second or less in which a kernel ran."""
        try:
            return self._nvml.nvmlDeviceGetUtilizationRates(self._handle).gpu / 100
        except Exception:  # noqa: BLE001  every fault of the library is a subclass of its own
            return None

    def versions(self) -> Firmware:
        """Return the versions of driver and VBIOS."""
        nvml = self._nvml
        return Firmware(_text(nvml.nvmlSystemGetDriverVersion()), _text(nvml.nvmlDeviceGetVbiosVersion(self._handle)))


def _known(ask: Any, *arguments: Any) -> float | None:  # noqa: ANN401  the library has no types
    """Return an answer, or None if this GPU has none."""
    try:
        return float(ask(*arguments))
    except Exception:  # noqa: BLE001  every fault of the library is a subclass of its own
        return None


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
