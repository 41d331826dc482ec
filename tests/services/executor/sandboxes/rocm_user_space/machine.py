"""A machine of eight MI300X as its driver shows it in `/sys`, written by hand: nobody had one to record.

The files and fields are those that kfd_topology.c and amdgpu_xcp_drv.c of Linux 6.8 make. The figures are AMD's: 304
CUs of 4 SIMDs in 8 XCDs, 64 KiB of LDS, 192 GiB; PCI 1002:74a1; gfx942 is 90402. In CPX each GPU shows eight partitions
of one XCD each: the first has the card's own render node, and the others each have one of a platform device.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from services.executor.devices.rocm.sysfs import TOPOLOGY

PROCESSORS = 2
_XCDS, _CUS_OF_XCD, _SIMDS_OF_CU = 8, 38, 4
_MEMORY_BYTES = 192 << 30
# Caches of a CU, an XCD, and the GPU. The driver lists the first once for each CU.
_CACHES_KIB = {1: 32, 2: 4 << 10, 3: 256 << 10}
_DRM_MAJOR, _FIRST_RENDER_NODE = 226, 128
# Buses of an eight-GPU machine of AMD's own guide to the MI300X platform.
_BUSES = (0x0C, 0x22, 0x38, 0x5C, 0x9F, 0xAF, 0xBF, 0xDF)


@dataclass(frozen=True)
class Partition:
    """One device as the runtime counts them: a GPU in SPX, an XCD of one in CPX."""

    gpu: int
    part: int
    minor: int
    parts: int

    @property
    def node(self) -> str:
        """Its render node."""
        return f"/dev/dri/renderD{self.minor}"

    @property
    def bus(self) -> str:
        """The PCI address of its GPU."""
        return f"0000:{_BUSES[self.gpu]:02x}:00.0"

    @property
    def folder(self) -> str:
        """Its card's folder below `/sys`; partitions after the first are devices of no bus."""
        return (
            f"devices/platform/amdgpu_xcp_{self.minor}" if self.part else f"devices/pci0000:00/0000:00:01.1/{self.bus}"
        )

    @property
    def uuid(self) -> str:
        """The value for ROCR_VISIBLE_DEVICES; partitions of a GPU share it."""
        return f"GPU-{self._unique:016x}"

    @property
    def _unique(self) -> int:
        return 0x1A2B3C4D5E6F0000 + self.gpu

    def properties(self) -> str:
        """The node's properties, as kfd_topology.c prints them."""
        xcds = _XCDS // self.parts
        values = {
            "cpu_cores_count": 0,
            "simd_count": xcds * _CUS_OF_XCD * _SIMDS_OF_CU,
            "mem_banks_count": 1,
            "caches_count": len(_CACHES_KIB),
            "io_links_count": 1,
            "p2p_links_count": 0,
            "cpu_core_id_base": 0,
            "simd_id_base": 2147487744 + 4096 * self.minor,
            "max_waves_per_simd": 8,
            "lds_size_in_kb": 64,
            "gds_size_in_kb": 0,
            "num_gws": 64,
            "wave_front_size": 64,
            "array_count": 4 * xcds,
            "simd_arrays_per_engine": 1,
            "cu_per_simd_array": 10,
            "simd_per_cu": _SIMDS_OF_CU,
            "max_slots_scratch_cu": 32,
            "gfx_target_version": 90402,
            "vendor_id": 0x1002,
            "device_id": 0x74A1,
            "location_id": (_BUSES[self.gpu] << 8) + self.part,
            "domain": 0,
            "drm_render_minor": self.minor,
            "hive_id": 0x76B0C1D2E3F40506,
            "num_sdma_engines": 2,
            "num_sdma_xgmi_engines": 14,
            "num_sdma_queues_per_engine": 8,
            "num_cp_queues": 24,
            "max_engine_clk_fcompute": 2100,
            "local_mem_size": 0,
            "fw_version": 166,
            "capability": 671588992,
            "debug_prop": 1511,
            "sdma_fw_version": 19,
            "unique_id": self._unique,
            "num_xcc": xcds,
            "max_engine_clk_ccompute": 3700,
        }
        return _lines(values)


def machine(sys: Path, gpus: int = 8, *, cpx: bool = False) -> list[Partition]:
    """Writes `/sys` of a machine in this mode; returns its devices in the order of their nodes."""
    parts = _XCDS if cpx else 1
    # The driver counts a card's partitions together, and gives eight minors to each.
    found = [
        Partition(gpu, part, _FIRST_RENDER_NODE + 8 * gpu + part, parts) for gpu in range(gpus) for part in range(parts)
    ]
    topology = sys / TOPOLOGY
    for number in range(PROCESSORS):
        _write_node(topology / "nodes" / str(number), 0, "", _processor(number), _bank(0, 1 << 40, 64, 4800))
    for number, one in enumerate(found, start=PROCESSORS):
        memory = _bank(1, _MEMORY_BYTES // parts, 8192, 1300)
        _write_node(topology / "nodes" / str(number), 1000 + one.minor, "ip discovery", one.properties(), memory)
        _write_caches(topology / "nodes" / str(number))
        _write_link(topology / "nodes" / str(number), number, one.gpu * PROCESSORS // gpus)
        _write_card(sys, one)
    # The driver's files that the management library looks for.
    (sys / "module" / "amdgpu").mkdir(parents=True)
    (sys / "module" / "amdgpu" / "initstate").write_text("live\n")
    (sys / "module" / "amdgpu" / "version").write_text("6.12.12\n")
    (sys / "class" / "kfd").mkdir(parents=True)
    (sys / "class" / "kfd" / "kfd").symlink_to(f"../../{TOPOLOGY.parent}")
    (topology / "generation_id").write_text("2\n")
    (topology / "system_properties").write_text(
        _lines({"platform_oem": 35498446626881, "platform_id": 19791775302721, "platform_rev": 1})
    )
    return found


def _processor(number: int) -> str:
    names = "simd_count", "caches_count", "io_links_count", "p2p_links_count", "simd_id_base", "max_waves_per_simd"
    zeros = dict.fromkeys((*names, "lds_size_in_kb", "gds_size_in_kb", "num_gws", "wave_front_size", "array_count"), 0)
    own = {"cpu_cores_count": 1, "mem_banks_count": 1, "cpu_core_id_base": number, "max_engine_clk_ccompute": 3700}
    return _lines(own | zeros)


def _bank(heap: int, size_bytes: int, width_bits: int, clock_mhz: int) -> str:
    values = {"heap_type": heap, "size_in_bytes": size_bytes, "flags": 0, "width": width_bits}
    return _lines(values | {"mem_clk_max": clock_mhz})


def _write_node(folder: Path, gpu_id: int, name: str, properties: str, memory: str) -> None:
    bank = folder / "mem_banks" / "0"
    bank.mkdir(parents=True)
    for kind in ("caches", "io_links", "p2p_links"):
        (folder / kind).mkdir()
    (folder / "gpu_id").write_text(f"{gpu_id}\n")
    (folder / "name").write_text(f"{name}\n")
    (folder / "properties").write_text(properties)
    (bank / "properties").write_text(memory)


def _write_caches(folder: Path) -> None:
    for number, (level, size_kib) in enumerate(_CACHES_KIB.items()):
        (folder / "caches" / str(number)).mkdir()
        values = {"processor_id_low": 2147487744, "level": level, "size": size_kib, "cache_line_size": 128}
        more = {"cache_lines_per_tag": 0, "association": 0, "latency": 0, "type": 9}
        text = _lines({**values, **more}) + "sibling_map 1" + ",0" * 31 + "\n"
        (folder / "caches" / str(number) / "properties").write_text(text)


def _write_link(folder: Path, number: int, processor: int) -> None:
    link = folder / "io_links" / "0"
    link.mkdir()
    values = {
        "type": 2,
        "version_major": 0,
        "version_minor": 0,
        "node_from": number,
        "node_to": processor,
        "weight": 20,
    }
    more = dict.fromkeys(("min_latency", "max_latency", "min_bandwidth", "max_bandwidth"), 0)
    (link / "properties").write_text(_lines({**values, **more, "recommended_transfer_size": 0, "flags": 1}))


def _write_card(sys: Path, one: Partition) -> None:
    """Writes the card's folder, and the links by which its render node leads there."""
    device = sys / one.folder
    node = device / "drm" / f"renderD{one.minor}"
    node.mkdir(parents=True)
    (node / "dev").write_text(f"{_DRM_MAJOR}:{one.minor}\n")
    (node / "device").symlink_to("../..")
    bus = sys / "bus" / ("platform" if one.part else "pci")
    bus.mkdir(parents=True, exist_ok=True)
    up = "../" * len(device.relative_to(sys).parts)
    (device / "subsystem").symlink_to(f"{up}bus/{bus.name}")
    (device / "uevent").write_text(f"DRIVER=amdgpu\nPCI_ID=1002:74A1\nPCI_SLOT_NAME={one.bus}\n")
    (device / "secret").write_text("of this card\n")
    for of in ("", "subsystem_"):
        (device / f"{of}vendor").write_text("0x1002\n")
        (device / f"{of}device").write_text("0x74a1\n")
    (device / "revision").write_text("0x00\n")
    _write_state(device, one)
    card = device / "drm" / f"card{one.minor - _FIRST_RENDER_NODE}"
    card.mkdir()
    (card / "dev").write_text(f"{_DRM_MAJOR}:{one.minor - _FIRST_RENDER_NODE}\n")
    (card / "device").symlink_to("../..")
    (sys / "class" / "drm").mkdir(parents=True, exist_ok=True)
    (sys / "class" / "drm" / card.name).symlink_to(f"../../{card.relative_to(sys)}")
    for link in (sys / "dev" / "char" / f"{_DRM_MAJOR}:{one.minor}", sys / "class" / "drm" / f"renderD{one.minor}"):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to("../" * (len(link.relative_to(sys).parts) - 1) + str(node.relative_to(sys)))


def _write_state(device: Path, one: Partition) -> None:
    mode, memory = ("SPX", "NPS1") if one.parts == 1 else ("CPX", "NPS4")
    (device / "current_compute_partition").write_text(f"{mode}\n")
    (device / "available_compute_partition").write_text("SPX, DPX, QPX, CPX\n")
    (device / "current_memory_partition").write_text(f"{memory}\n")
    (device / "available_memory_partition").write_text("NPS1, NPS4\n")
    sensors = device / "hwmon" / "hwmon0"
    sensors.mkdir(parents=True)
    (sensors / "name").write_text("amdgpu\n")
    (sensors / "temp2_label").write_text("junction\n")
    (sensors / "temp2_input").write_text("47000\n")


def _lines(values: dict[str, int]) -> str:
    return "".join(f"{name} {value}\n" for name, value in values.items())
