"""amdsmi's answers are taken as they are, however many are missing or made up.

The answers are in the forms of AMD's Python reference
(https://rocm.docs.amd.com/projects/amdsmi/en/docs-7.2.3/reference/amdsmi-py-api.html), and the modes in those of its
partitioning guide (https://instinct.docs.amd.com/projects/amdgpu-docs/en/latest/gpu-partitioning/mi300x/overview.html).
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hipcpu.build_folder import BuildKind
from services.executor.devices.inventory import Inventoried, PartitionMode
from services.executor.devices.rocm import toolchain
from services.executor.devices.rocm.gpu import Gpu
from services.executor.devices.rocm.probe import read_facts
from services.executor.devices.rocm.rocm_device import RocmDevice
from services.executor.devices.selection import Selectable, masked, selected

MODES = ("SPX", "DPX", "QPX", "CPX")


def answers(number: int = 0, partition: int = 0, **changes: Any) -> dict[str, Any]:
    """The answers for an MI300X, or for a partition of one."""
    return {
        "amdsmi_get_gpu_asic_info": {
            "market_name": "AMD Instinct MI300X",
            "num_compute_units": 304,
            "target_graphics_version": "gfx942",
            "asic_serial": "0x1A2B3C4D5E6F7081",
        },
        "amdsmi_get_gpu_vram_info": {"vram_type": "HBM", "vram_vendor": "HYNIX", "vram_size": 196_592},
        "amdsmi_get_gpu_enumeration_info": {
            "drm_render": 128 + number,
            "drm_card": number,
            "hsa_id": number + 2,
            "hip_id": number,
            "hip_uuid": f"GPU-{number:016x}",
        },
        "amdsmi_get_gpu_device_bdf": f"0000:{number + 5:02x}:00.{partition}",
        "amdsmi_get_gpu_compute_partition": "SPX",
        "amdsmi_get_gpu_memory_partition": "NPS1",
        "amdsmi_get_gpu_accelerator_partition_profile_config": {
            "num_profiles": 4,
            "profiles": [{"profile_type": mode, "memory_caps": ["NPS1"], "num_partitions": 1} for mode in MODES],
        },
        "amdsmi_get_gpu_memory_partition_config": {"partition_caps": ["NPS1", "NPS4"], "mp_mode": "NPS1"},
        "amdsmi_get_fw_info": {
            "fw_list": [
                {"fw_name": SimpleNamespace(name="AMDSMI_FW_ID_PM"), "fw_version": "85.112.00"},
                {"fw_name": "FW_ID_CP_MEC1", "fw_version": "153"},
                {"fw_name": "FW_ID_FROM_THE_FUTURE", "fw_version": "N/A"},
                "what is this?",
            ]
        },
        "amdsmi_get_gpu_vbios_info": {"part_number": "113-M3000100-102", "version": "022.040.003.043.000001"},
        "amdsmi_get_gpu_driver_info": {"driver_name": "amdgpu", "driver_version": "6.12.12", "driver_date": "N/A"},
        **changes,
    }


class ScriptedSmi:
    """amdsmi on a machine with these devices; it refuses calls for which they have no answer."""

    def __init__(self, *devices: dict[str, Any]) -> None:
        self.devices = devices

    def amdsmi_init(self) -> None:
        pass

    def amdsmi_get_processor_handles(self) -> list[int]:
        return list(range(len(self.devices)))

    def amdsmi_get_rocm_version(self) -> tuple[bool, str]:
        return True, "7.0.2"

    def __getattr__(self, name: str) -> Any:
        def call(handle: int) -> Any:
            if name not in self.devices[handle]:
                raise RuntimeError(f"AMDSMI_STATUS_NO_PERM\n({name})")
            return self.devices[handle][name]

        return call


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a scripted amdsmi in place."""

    def put(*devices: dict[str, Any]) -> None:
        monkeypatch.setitem(sys.modules, "amdsmi", ScriptedSmi(*devices))

    return put


def card(drm: Path, number: int, mode: int = 0o444) -> None:
    folder = drm / f"card{number}" / "device"
    folder.mkdir(parents=True)
    (folder / "available_compute_partition").write_text("SPX, DPX, CPX\n")
    (folder / "available_memory_partition").write_text("NPS1, NPS4\n")
    for name in ("current_compute_partition", "current_memory_partition"):
        (folder / name).write_text("SPX\n")
        (folder / name).chmod(mode)


def names(modes: Any) -> list[str]:
    return [mode.name for mode in modes]


def test_a_gpu_is_reported_with_everything_that_the_driver_knows(machine: Any, tmp_path: Path) -> None:
    machine(answers())

    facts = read_facts(drm=tmp_path)

    (gpu,) = facts.gpus
    assert (gpu.index, gpu.title, gpu.architecture) == (0, "AMD Instinct MI300X", "gfx942")
    assert (gpu.uuid, gpu.bus_address) == ("GPU-0000000000000000", "0000:05:00")
    assert (gpu.memory_mib, gpu.compute_units, gpu.device_count) == (196_592, 304, 1)
    assert (gpu.compute_partition, gpu.memory_partition) == ("SPX", "NPS1")
    assert names(gpu.compute_partition_modes) == list(MODES)
    assert gpu.memory_partition_modes == (PartitionMode("NPS1"), PartitionMode("NPS4"))
    assert gpu.firmware == {"CP_MEC1": "153", "PM": "85.112.00", "VBIOS": "022.040.003.043.000001"}
    assert (facts.rocm_version, facts.driver_version, list(facts.unread)) == ("7.0.2", "6.12.12", [])


def test_the_partitions_of_a_gpu_are_its_devices(machine: Any, tmp_path: Path) -> None:
    devices = [answers(gpu, part, amdsmi_get_gpu_compute_partition="CPX") for gpu in range(2) for part in range(8)]
    machine(*devices)

    gpus = read_facts(drm=tmp_path).gpus

    assert [(gpu.index, gpu.bus_address, gpu.device_count) for gpu in gpus] == [
        (0, "0000:05:00", 8),
        (1, "0000:06:00", 8),
    ]


def test_devices_without_an_address_are_gpus_of_their_own(machine: Any, tmp_path: Path) -> None:
    machine(*(answers(number, amdsmi_get_gpu_device_bdf="N/A") for number in range(2)))

    assert [gpu.device_count for gpu in read_facts(drm=tmp_path).gpus] == [1, 1]


def test_modes_that_only_root_may_ask_for_are_read_from_the_kernel(machine: Any, tmp_path: Path) -> None:
    known = answers()
    del known["amdsmi_get_gpu_accelerator_partition_profile_config"], known["amdsmi_get_gpu_memory_partition_config"]
    machine(known)
    card(tmp_path, 0, 0o644)

    facts = read_facts(drm=tmp_path)

    assert facts.gpus[0].compute_partition_modes == tuple(PartitionMode(name, True) for name in ("SPX", "DPX", "CPX"))
    assert facts.gpus[0].memory_partition_modes == tuple(PartitionMode(name, True) for name in ("NPS1", "NPS4"))
    assert list(facts.unread) == []


def test_what_cannot_be_read_is_reported_with_the_reason(machine: Any, tmp_path: Path) -> None:
    known = answers()
    for question in ("amdsmi_get_fw_info", "amdsmi_get_gpu_memory_partition_config", "amdsmi_get_gpu_driver_info"):
        del known[question]
    machine(answers(), known)

    unread = {fact.field: fact.reason for fact in read_facts([1], tmp_path).unread}

    assert unread.keys() == {"devices[1].memory_partition_modes", "devices[1].firmware", "driver_version"}
    assert unread["driver_version"] == "amdsmi_get_gpu_driver_info: AMDSMI_STATUS_NO_PERM (amdsmi_get_gpu_driver_info)"


@pytest.mark.parametrize("odd", [None, "N/A", "", -1, 1.5, True, [], {}, {"market_name": ["x"]}, object()])
def test_answers_of_any_kind_break_nothing(machine: Any, tmp_path: Path, odd: object) -> None:
    machine(dict.fromkeys(answers(), odd))

    (gpu,) = read_facts(drm=tmp_path).gpus

    assert (gpu.title, gpu.uuid, gpu.memory_mib, dict(gpu.firmware)) == ("", "", 0, {})


def test_modes_of_later_drivers_are_passed_on(machine: Any, tmp_path: Path) -> None:
    machine(answers(amdsmi_get_gpu_compute_partition="HPX", amdsmi_get_gpu_memory_partition="NPS16"))

    (gpu,) = read_facts(drm=tmp_path).gpus

    assert (gpu.compute_partition, gpu.memory_partition) == ("HPX", "NPS16")


def test_a_machine_without_the_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", None)

    facts = read_facts()

    assert facts.gpus == ()
    assert "install ROCm's amd-smi-lib" in facts.unread[0].reason


def test_the_device_reports_one_gpu_where_it_is_set_to(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(*(answers(number) for number in range(4)))
    assert isinstance(RocmDevice(), Inventoried)
    assert len(RocmDevice().facts().gpus) == 4

    monkeypatch.setenv("ROCM_INDEX", "2")
    assert [gpu.uuid for gpu in RocmDevice().facts().gpus] == ["GPU-0000000000000002"]
    assert RocmDevice().on([1])._indices == (2,)


def test_a_run_sees_the_gpus_of_its_lease_and_no_other(
    machine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(*(answers(number) for number in range(8)))
    monkeypatch.setattr(toolchain, "rocm", lambda: toolchain.Rocm(tmp_path, ""))
    device = RocmDevice()
    assert isinstance(device, Selectable)

    command = selected(device, (5,)).run_command(tmp_path, BuildKind.SOLUTION)

    assert list(map(str, command.devices)) == ["/dev/kfd", "/dev/dri/renderD133"]
    assert command.environment["ROCR_VISIBLE_DEVICES"] == "GPU-0000000000000005"
    assert selected(device, ()) is device
    assert device.on((0,)) is device


@pytest.mark.parametrize(("first", "eighths", "mask"), [(0, 4, "0:0-151"), (7, 1, "0:266-303")])
def test_a_part_of_a_gpu_may_have_compute_units_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, eighths: int, mask: str
) -> None:
    monkeypatch.setattr(toolchain, "rocm", lambda: toolchain.Rocm(tmp_path, ""))
    device = RocmDevice(Gpu("AMD Instinct MI300X", "gfx942", 196_592, 304, "/dev/dri/renderD128", uuid="GPU-1"))

    command = masked(device, first, eighths).run_command(tmp_path, BuildKind.SOLUTION)

    assert command.environment["HSA_CU_MASK"] == mask
    assert masked(device, 0, 0) is device
    assert "HSA_CU_MASK" not in device.run_command(tmp_path, BuildKind.SOLUTION).environment


def test_partitions_are_distinguished_by_their_nodes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "rocm", lambda: toolchain.Rocm(tmp_path, ""))
    partition = Gpu("AMD Instinct MI300X", "gfx942", 24_574, 38, "/dev/dri/renderD140", "CPX", "NPS4", "GPU-1")

    command = RocmDevice(partition).run_command(tmp_path, BuildKind.SOLUTION)

    assert list(map(str, command.devices)) == ["/dev/kfd", "/dev/dri/renderD140"]
    assert "ROCR_VISIBLE_DEVICES" not in command.environment
