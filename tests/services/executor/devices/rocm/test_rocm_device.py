"""The rocm device up to the process boundary: hipcc and amdsmi are scripted, in the forms of ROCm 7.0."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hipcpu.build_folder import BuildKind, ToolchainError
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.cache import CompileCache
from services.executor.core.model.failure import Failure
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.verdict import Verdict
from services.executor.devices.instruments import BusyShares, Firmware, Instruments, Versioned
from services.executor.devices.rocm import toolchain
from services.executor.devices.rocm.gpu import ErrorCounts, Gpu, Management
from services.executor.devices.rocm.rocm_device import RocmDevice
from services.executor.sandboxes.choice import choose_sandbox

MI300X = Gpu("AMD Instinct MI300X", "gfx942", 196_592, 304, "/dev/dri/renderD128", "SPX", "NPS1")
HIPCC = """#!/bin/sh
if [ "$1" = -parallel-jobs=2 ] && [ "$2" = --version ]; then exit "${NO_PARALLEL_JOBS:-0}"; fi
if [ "$1" = --version ]; then echo "HIP version: 6.4.43482-0f2d60242"; echo "AMD clang version 19.0.0git"; exit 0; fi
command="$*"
while [ $# -gt 0 ]; do
    case $1 in -o) output=$2; shift ;; *.hip|*.cpp|*.o) inputs="$inputs $1" ;; esac
    shift
done
if grep -qs "no such name" $inputs; then echo "solution.hip:1:1: error: use of undeclared identifier" >&2; exit 1; fi
{ echo "$command"; cat $inputs; } >"$output"
"""


class ScriptedSmi:
    """amdsmi's answers on a machine with one GPU; `unknown` lists calls that this driver does not answer."""

    AmdSmiClkType = SimpleNamespace(GFX="gfx")
    AmdSmiTemperatureType = SimpleNamespace(HOTSPOT="hotspot")
    AmdSmiTemperatureMetric = SimpleNamespace(CURRENT="current")

    def __init__(self, *unknown: str) -> None:
        self.answers: dict[str, Any] = {
            "amdsmi_init": None,
            "amdsmi_get_processor_handles": ["handle"],
            "amdsmi_get_gpu_asic_info": {
                "market_name": "AMD Instinct MI300X",
                "target_graphics_version": "gfx942",
                "num_compute_units": 304,
            },
            "amdsmi_get_gpu_vram_info": {"vram_size": 196_592},
            "amdsmi_get_gpu_enumeration_info": {"drm_render": 128},
            "amdsmi_get_gpu_compute_partition": "SPX",
            "amdsmi_get_gpu_memory_partition": "NPS1",
            "amdsmi_get_clock_info": {"clk": 2100, "max_clk": 2100},
            "amdsmi_get_power_info": {"current_socket_power": 612, "socket_power": "N/A"},
            "amdsmi_get_temp_metric": 71,
            "amdsmi_get_gpu_activity": {"gfx_activity": 40, "umc_activity": 7, "mm_activity": "N/A"},
            "amdsmi_get_gpu_process_list": [{"pid": 1}, {"pid": 2}],
            "amdsmi_get_gpu_total_ecc_count": {"correctable_count": 3, "uncorrectable_count": 0},
            "amdsmi_get_gpu_driver_info": {"driver_version": "6.12.12"},
            "amdsmi_get_gpu_vbios_info": {"version": "022.040.003.043.000001"},
        }
        self.unknown = set(unknown)
        self.missing: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name in self.missing:
            raise AttributeError(name)

        def call(*_: object) -> Any:
            if name in self.unknown:
                raise RuntimeError(f"{name}: AMDSMI_STATUS_NOT_SUPPORTED")
            return self.answers[name]

        return call


@pytest.fixture
def rocm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A ROCm whose compiler logs how it was called."""
    tmp_path.chmod(0o755)
    folder = tmp_path / "rocm"
    (folder / "llvm" / "bin").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "hipcc").write_text(HIPCC)
    (folder / "bin" / "hipcc").chmod(0o755)
    monkeypatch.setenv("ROCM_PATH", str(folder))
    monkeypatch.setenv("WAVEPOOL_CACHE_DIR", str(tmp_path / "toolchains"))
    toolchain.rocm.cache_clear()
    yield folder
    toolchain.rocm.cache_clear()


async def compiled(folder: Path, source: str) -> str:
    for name in ("compile", "run"):
        (folder / name).mkdir(mode=0o755)
    cache = CompileCache(folder / "cache", 1 << 30)
    builder = Builder(RocmDevice(MI300X), await choose_sandbox("auto"), cache, StageLimits().builder)
    unit = Unit(BuildKind.SOLUTION, source, "the harness\n", "void solution()")
    return (await builder.build(unit, folder / "compile", folder / "run")).executable.decode()


async def test_a_source_is_compiled_for_the_gpus_architecture_in_a_sandbox_and_linked_with_our_runner(
    rocm: Path, tmp_path: Path
) -> None:
    runner = await compiled(tmp_path, "their kernel\n")
    assert "--offload-arch=gfx942" in runner
    assert "-std=c++20 -O3" in runner
    for part in ("their kernel", "the harness", "wavepool_call"):
        assert part in runner


def test_a_build_has_our_runner_although_its_command_is_the_first_thing_that_is_asked_for(
    rocm: Path, tmp_path: Path
) -> None:
    script = RocmDevice(MI300X).build_command(tmp_path, BuildKind.SOLUTION).arguments[-1]
    objects = sorted(map(str, toolchain.runner_folder("gfx942").glob("*.o")))
    assert objects
    assert f"solution.o harness.o {' '.join(objects)} -o runner" in script


async def test_errors_are_reported_with_their_line(rocm: Path, tmp_path: Path) -> None:
    with pytest.raises(Failure) as caught:
        await compiled(tmp_path, "no such name\n")
    assert caught.value.verdict is Verdict.COMPILE_ERROR
    assert "solution.hip:1:1: error: use of undeclared identifier" in caught.value.details


def test_the_compiler_sees_no_gpu_and_the_runner_sees_one(rocm: Path, tmp_path: Path) -> None:
    device = RocmDevice(MI300X)
    assert not device.build_command(tmp_path, BuildKind.SOLUTION).devices
    command = device.run_command(tmp_path, BuildKind.SOLUTION)
    assert list(map(str, command.devices)) == ["/dev/kfd", "/dev/dri/renderD128"]
    assert not any(mount.writable for mount in command.mounts)


@pytest.mark.parametrize("kind", BuildKind)
def test_no_run_may_have_pages_of_the_host_migrated_to_the_gpu(rocm: Path, tmp_path: Path, kind: BuildKind) -> None:
    (rocm / "bin" / "rocprofv3").touch()
    device = RocmDevice(MI300X)
    command = device.run_command(tmp_path, kind)
    assert command.environment["HSA_XNACK"] == "0"
    assert device.profile_command(command, tmp_path).environment["HSA_XNACK"] == "0"


def test_a_machine_without_rocm_gets_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_PATH", str(tmp_path))
    toolchain.rocm.cache_clear()
    with pytest.raises(ToolchainError, match=r"install ROCm 6\.2 or newer"):
        RocmDevice(MI300X).toolchain()


@pytest.mark.parametrize(("version", "fits"), [("5.7.1", False), ("6.1.4", False), ("6.2.0", True), ("7.0.5", True)])
def test_an_old_rocm_is_refused(rocm: Path, version: str, fits: bool) -> None:
    (rocm / "bin" / "hipcc").write_text(f"#!/bin/sh\necho 'HIP version: {version}'\n")
    if fits:
        assert toolchain.rocm().version >= toolchain.OLDEST
    else:
        with pytest.raises(ToolchainError, match="too old"):
            toolchain.rocm()


@pytest.mark.parametrize(("status", "takes"), [("0", True), ("1", False)])
def test_both_halves_are_compiled_at_once_if_the_compiler_can(
    rocm: Path, monkeypatch: pytest.MonkeyPatch, status: str, takes: bool
) -> None:
    """AMD's clang can; LLVM's rejects the option."""
    monkeypatch.setenv("NO_PARALLEL_JOBS", status)
    assert ("-parallel-jobs=2" in toolchain.driver("gfx942").compile) is takes


@pytest.mark.usefixtures("rocm")
def test_people_see_the_command_that_compiles_their_source() -> None:
    program, *words = shlex.split(toolchain.toolchain("gfx942").command)
    assert program == toolchain.rocm().hipcc
    assert {"--offload-arch=gfx942", "-O3", "-std=c++20"} < set(words)
    assert words[-4:] == ["-c", "solution.hip", "-o", "solution.o"]


@pytest.mark.parametrize("folder", ["lib/llvm/bin", "llvm/bin"])
def test_the_compilers_own_programs_are_found_in_either_place(rocm: Path, folder: str) -> None:
    shutil.rmtree(rocm / "llvm")
    (rocm / folder).mkdir(parents=True)
    assert toolchain.driver("gfx942").assemble[0] == str(rocm / folder / "clang")


def test_a_compiler_that_hides_its_version_is_trusted(rocm: Path) -> None:
    (rocm / "bin" / "hipcc").write_text("#!/bin/sh\necho something else\n")
    assert toolchain.rocm().version == (0, 0)


def test_the_driver_is_asked_what_the_gpu_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", ScriptedSmi())
    assert Management().gpu() == MI300X
    described = RocmDevice(Management().gpu()).describe()
    assert described.title == "AMD Instinct MI300X (SPX/NPS1)"
    assert (described.wavefront_size, described.compute_units, described.is_gpu) == (64, 304, True)


def test_its_instruments_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", ScriptedSmi())
    management = Management()
    reading = management.reading()
    assert (reading.clock_mhz, reading.temperature_celsius, reading.power_watts) == (2100, 71, 612)
    assert reading.other_processes == 1
    assert management.busy_share() == 0.4
    assert management.errors() == ErrorCounts(3, 0)
    assert management.versions() == Firmware("6.12.12", "022.040.003.043.000001")
    assert isinstance(RocmDevice(MI300X), Instruments)
    assert isinstance(RocmDevice(MI300X), Versioned)
    assert isinstance(RocmDevice(MI300X), BusyShares)


@pytest.mark.parametrize("told", ["N/A", 0xFFFF, -1, None])
def test_a_share_that_the_driver_does_not_tell_is_not_known(monkeypatch: pytest.MonkeyPatch, told: object) -> None:
    smi = ScriptedSmi()
    smi.answers["amdsmi_get_gpu_activity"] = {"gfx_activity": told}
    monkeypatch.setitem(sys.modules, "amdsmi", smi)
    assert Management().busy_share() is None
    smi.unknown.add("amdsmi_get_gpu_activity")
    assert Management().busy_share() is None


def test_what_a_virtual_machines_driver_does_not_tell_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    optional = [
        name for name in ScriptedSmi().answers if name.split("_")[-1] in {"partition", "metric", "count", "list"}
    ]
    smi = ScriptedSmi(*optional, "amdsmi_get_power_info", "amdsmi_get_gpu_driver_info")
    smi.answers["amdsmi_get_clock_info"] = {"clk": "N/A"}
    monkeypatch.setitem(sys.modules, "amdsmi", smi)
    management = Management()
    reading = management.reading()
    assert (reading.clock_mhz, reading.temperature_celsius, reading.power_watts) == (None, None, None)
    assert reading.other_processes is None
    assert management.errors() is None
    assert management.versions().driver == ""
    assert management.gpu().compute_partition == ""


@pytest.mark.parametrize(
    ("unknown", "said"),
    [("amdsmi_init", "driver does not answer"), ("amdsmi_get_gpu_asic_info", "does not say what this GPU is")],
)
def test_a_driver_that_does_not_answer_is_reported(monkeypatch: pytest.MonkeyPatch, unknown: str, said: str) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", ScriptedSmi(unknown))
    with pytest.raises(ToolchainError, match=said):
        Management().gpu()


@pytest.mark.parametrize("nodes", [["renderD136"], [], ["renderD136", "renderD137"]])
def test_before_rocm_6_4_the_kernel_says_which_render_node_a_gpu_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nodes: list[str]
) -> None:
    smi = ScriptedSmi()
    smi.missing = {"amdsmi_get_gpu_enumeration_info"}
    smi.answers["amdsmi_get_gpu_device_bdf"] = "0000:0c:00.0"
    monkeypatch.setitem(sys.modules, "amdsmi", smi)
    for node in nodes:
        (tmp_path / "0000:0c:00.0" / "drm" / node).mkdir(parents=True)
    management = Management(pci_devices=tmp_path)
    if len(nodes) == 1:
        assert management.gpu() == replace(MI300X, render_node="/dev/dri/renderD136")
    else:
        with pytest.raises(ToolchainError, match=r"partitions need ROCm 6\.4"):
            management.gpu()


def test_a_gpu_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", ScriptedSmi())
    with pytest.raises(ToolchainError, match="there is no GPU 3; this machine has 1"):
        Management(3)


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    with pytest.raises(ToolchainError, match="amd-smi-lib"):
        Management()
