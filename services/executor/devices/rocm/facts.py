"""Facts of the GPUs from amdsmi's answers; pure.

Questions are named after amdsmi's functions, and answers have the forms of its Python reference
(https://rocm.docs.amd.com/projects/amdsmi/en/docs-7.2.3/reference/amdsmi-py-api.html). There, each partition is a
device of its own. The devices of one GPU share PCI domain, bus and device and differ at most in the function
(https://instinct.docs.amd.com/projects/amdgpu-docs/en/latest/gpu-partitioning/mi300x/quick-start-guide.html).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from services.executor.devices.inventory import Answers, GpuFacts, PartitionMode

Questions = Mapping[str, str]
"""Names of functions, with the fields that they are called for."""

QUESTIONS: Questions = {
    "amdsmi_get_gpu_asic_info": "title",
    "amdsmi_get_gpu_vram_info": "memory_mib",
    "amdsmi_get_gpu_enumeration_info": "uuid",
    "amdsmi_get_gpu_device_bdf": "bus_address",
    "amdsmi_get_gpu_compute_partition": "compute_partition",
    "amdsmi_get_gpu_memory_partition": "memory_partition",
    "amdsmi_get_gpu_accelerator_partition_profile_config": "compute_partition_modes",
    "amdsmi_get_gpu_memory_partition_config": "memory_partition_modes",
    "amdsmi_get_fw_info": "firmware",
    "amdsmi_get_gpu_vbios_info": "firmware",
}

_FIRMWARE_PREFIXES = ("AMDSMI_FW_ID_", "FW_ID_")
COMPUTE_FILE = "available_compute_partition"
MEMORY_FILE = "available_memory_partition"


def device_of(index: int, answers: Answers, sysfs: Mapping[str, str], settable: Mapping[str, bool]) -> GpuFacts:
    """Return the facts of one device.

    `sysfs` holds the files of its folder below /sys/class/drm, which list the modes even if we may not ask the library;
    `settable` tells for COMPUTE_FILE and MEMORY_FILE if the mode may be set.
    """
    asic = "amdsmi_get_gpu_asic_info"
    profiles = answers.entries("amdsmi_get_gpu_accelerator_partition_profile_config", "profiles")
    compute = [_text(cast("dict[str, Any]", p).get("profile_type")) for p in profiles if isinstance(p, dict)]
    memory = [_text(mode) for mode in answers.entries("amdsmi_get_gpu_memory_partition_config", "partition_caps")]
    return GpuFacts(
        index=index,
        title=answers.text(asic, "market_name"),
        uuid=answers.text("amdsmi_get_gpu_enumeration_info", "hip_uuid"),
        architecture=answers.text(asic, "target_graphics_version"),
        bus_address=answers.text("amdsmi_get_gpu_device_bdf").rpartition(".")[0],
        memory_mib=answers.number("amdsmi_get_gpu_vram_info", "vram_size"),
        compute_units=answers.number(asic, "num_compute_units"),
        compute_partition=answers.text("amdsmi_get_gpu_compute_partition"),
        memory_partition=answers.text("amdsmi_get_gpu_memory_partition"),
        compute_partition_modes=_modes(compute or _words(sysfs, COMPUTE_FILE), settable.get(COMPUTE_FILE, False)),
        memory_partition_modes=_modes(memory or _words(sysfs, MEMORY_FILE), settable.get(MEMORY_FILE, False)),
        firmware=_firmware(answers),
    )


def gpus_of(devices: Sequence[GpuFacts]) -> list[GpuFacts]:
    """Return the GPUs in the order of their first devices; a device without an address counts as a GPU."""
    gpus: dict[str, GpuFacts] = {}
    for number, device in enumerate(devices):
        address = device.bus_address or f"device {number}"
        known = gpus.get(address)
        if known is None:
            gpus[address] = replace(device, index=len(gpus), device_count=1)
        else:
            gpus[address] = replace(known, device_count=known.device_count + 1)
    return list(gpus.values())


def _firmware(answers: Answers) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in answers.entries("amdsmi_get_fw_info", "fw_list"):
        block = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        # An enum's member in some releases, and its name in others.
        name = _text(getattr(block.get("fw_name"), "name", block.get("fw_name")))
        for prefix in _FIRMWARE_PREFIXES:
            name = name.removeprefix(prefix)
        version = _text(block.get("fw_version"))
        if name and version:
            found[name] = version
    if vbios := answers.text("amdsmi_get_gpu_vbios_info", "version"):
        found["VBIOS"] = vbios
    return dict(sorted(found.items()))


def _modes(names: Sequence[str], settable: bool) -> tuple[PartitionMode, ...]:  # noqa: FBT001  each name gets it
    return tuple(PartitionMode(name, settable) for name in dict.fromkeys(names) if name)


def _words(sysfs: Mapping[str, str], file: str) -> list[str]:
    return [word.strip() for word in sysfs.get(file, "").replace(",", " ").split()]


def _text(value: object) -> str:
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return "" if text in {"N/A", "UNKNOWN"} else text
