"""The GPU as AMD's management library reports it; the only importer of `amdsmi`.

None of this has run on an MI300X yet. The real library (Debian's 10.1) has answered it from recorded files.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hipcpu.build_folder import ToolchainError
from services.executor.devices.instruments import Firmware, Reading
from services.executor.devices.rocm.home import rocm_home

T = TypeVar("T")
ALL_XCDS = "SPX"
"""Mode in which a GPU is one device."""


@dataclass(frozen=True)
class Gpu:
    """One GPU, or one partition of one; ROCm shows each partition as a separate device."""

    name: str
    architecture: str
    """Compile target, e.g. `gfx942`."""
    memory_mib: int
    compute_units: int
    render_node: str
    """Path of the node, e.g. `/dev/dri/renderD128`."""
    compute_partition: str = ALL_XCDS
    """SPX, DPX, QPX or CPX; empty if the GPU has no partitions."""
    memory_partition: str = ""
    """NPS1, NPS4, ...; empty if it is not reported."""
    uuid: str = ""
    """GPU's name in ROCR_VISIBLE_DEVICES, e.g. `GPU-deadbeefdeadbeef`; empty if it is not reported."""


@dataclass(frozen=True)
class ErrorCounts:
    """Counts of memory errors, correctable or not, since the driver was loaded."""

    correctable: int
    uncorrectable: int


def load() -> tuple[Any, list[Any]]:
    """Return the library and a handle for each device; raises ToolchainError if there is no library or no driver."""
    try:
        smi = _library()
        smi.amdsmi_init()
        return smi, list(smi.amdsmi_get_processor_handles())
    except (ImportError, OSError, KeyError, AttributeError) as error:
        raise ToolchainError(f"amdsmi cannot be used ({error}); install ROCm's amd-smi-lib") from error
    except Exception as error:
        raise ToolchainError(f"the amdgpu driver does not answer: {error}; `amd-smi list` should") from error


def _library() -> Any:  # noqa: ANN401  the library has no types
    """Import ROCm's own library, or else the one installed with us: its structures must match ROCm's release."""
    own = rocm_home() / "share" / "amd_smi"
    if "amdsmi" in sys.modules or not (own / "amdsmi").is_dir():
        return importlib.import_module("amdsmi")
    sys.path.insert(0, str(own))
    try:
        return importlib.import_module("amdsmi")
    finally:
        sys.path.remove(str(own))


class Management:
    """Queries the driver; opened once per process, because the library does not notice forks."""

    def __init__(self, index: int = 0, pci_devices: Path = Path("/sys/bus/pci/devices")) -> None:
        """Open the library; raises ToolchainError if there is no library, no driver or no such GPU."""
        self._pci_devices = pci_devices
        self._smi, handles = load()
        if index >= len(handles):
            raise ToolchainError(f"ROCM_INDEX: there is no GPU {index}; this machine has {len(handles)}")
        self._handle = handles[index]

    def gpu(self) -> Gpu:
        """Return the GPU; raises ToolchainError if the driver does not report what we need."""
        smi, handle = self._smi, self._handle
        try:
            asic = smi.amdsmi_get_gpu_asic_info(handle)
            memory_mib = int(smi.amdsmi_get_gpu_vram_info(handle)["vram_size"])
            enumeration = self._enumeration()
            node = int(enumeration["drm_render"])
        except Exception as error:
            raise ToolchainError(f"the amdgpu driver does not say what this GPU is: {error}") from error
        return Gpu(
            name=str(asic["market_name"]),
            architecture=str(asic["target_graphics_version"]),
            memory_mib=memory_mib,
            compute_units=int(asic["num_compute_units"]),
            render_node=f"/dev/dri/renderD{node}",
            compute_partition=str(self._reported(smi.amdsmi_get_gpu_compute_partition) or ""),
            memory_partition=str(self._reported(smi.amdsmi_get_gpu_memory_partition) or ""),
            uuid=str(enumeration.get("hip_uuid") or "").replace("N/A", ""),
        )

    def reading(self) -> Reading:
        """Return the clock of the shaders, temperature of the hot spot, power, and number of other processes."""
        smi = self._smi
        clock = self._reported(smi.amdsmi_get_clock_info, smi.AmdSmiClkType.GFX)
        power = self._reported(smi.amdsmi_get_power_info)
        kind, metric = smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT
        processes = self._reported(smi.amdsmi_get_gpu_process_list)
        return Reading(
            clock_mhz=_number(clock and clock.get("clk")),
            temperature_celsius=_number(self._reported(smi.amdsmi_get_temp_metric, kind, metric)),
            power_watts=_number(power and power.get("current_socket_power")),
            # The runner itself is one of the processes.
            other_processes=None if processes is None else max(0, len(processes) - 1),
        )

    def busy_share(self) -> float | None:
        """Return the share of the last moments in which the shaders worked; None if it is not reported."""
        activity: Any = self._reported(self._smi.amdsmi_get_gpu_activity)
        percent = _number(activity and activity.get("gfx_activity"))
        # Firmware without a figure reports the largest number of its type.
        return percent / 100 if percent is not None and 0 <= percent <= 100 else None  # noqa: PLR2004  percents

    def errors(self) -> ErrorCounts | None:
        """The memory's error counters; None if they are not reported."""
        counts = self._reported(self._smi.amdsmi_get_gpu_total_ecc_count)
        return ErrorCounts(int(counts["correctable_count"]), int(counts["uncorrectable_count"])) if counts else None

    def versions(self) -> Firmware:
        """Return the versions of driver and VBIOS."""
        driver: Any = self._reported(self._smi.amdsmi_get_gpu_driver_info)
        vbios: Any = self._reported(self._smi.amdsmi_get_gpu_vbios_info)
        return Firmware(str(driver["driver_version"]) if driver else "", str(vbios["version"]) if vbios else "")

    def _enumeration(self) -> dict[str, Any]:
        """Return the GPU's node and uuid; before ROCm 6.4 only the kernel reports the node."""
        if hasattr(self._smi, "amdsmi_get_gpu_enumeration_info"):
            return self._smi.amdsmi_get_gpu_enumeration_info(self._handle)
        address = self._smi.amdsmi_get_gpu_device_bdf(self._handle)
        nodes = list((self._pci_devices / address / "drm").glob("renderD*"))
        if len(nodes) != 1:
            raise ToolchainError(f"no render node is shown for {address}; partitions need ROCm 6.4 or newer")
        return {"drm_render": nodes[0].name.removeprefix("renderD")}

    def _reported(self, ask: Callable[..., T], *arguments: object) -> T | None:
        """Return an answer, or None if this GPU or driver has none; virtual machines get fewer answers."""
        try:
            return ask(self._handle, *arguments)
        except Exception:  # noqa: BLE001  every fault of the library is a subclass of its own
            return None


def _number(value: object) -> float | None:
    """Return a number, or None for the library's "N/A"."""
    return float(value) if isinstance(value, int | float) else None
