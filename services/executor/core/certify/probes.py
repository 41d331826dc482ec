"""The steps that look at the machine and run no kernel."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import asdict
from pathlib import Path, PurePath
from tempfile import gettempdir

import psutil

from hipcpu.build_folder import ToolchainError
from hipcpu.toolchain import compiler
from services.executor.core.certify.results import Figure, Outcome, StepResult
from services.executor.core.check.chain_arithmetic import require_library
from services.executor.devices.device import Device
from services.executor.devices.instruments import Instruments, Versioned
from services.executor.devices.inventory import DeviceFacts, Inventoried
from services.executor.devices.nvidia.toolchain import cuda
from services.executor.devices.rocm.toolchain import rocm

OLDEST_PYTHON = (3, 11)
_LEAST_MEMORY_MIB, _LEAST_MEMORY_OF_GPU_MIB = 4 << 10, 64 << 10
"""On a GPU the check of the largest cases holds their whole answers: up to 58 GiB (docs/measurements.md)."""
_LEAST_DISK_MIB = 2 << 10


def machine(step: str) -> StepResult:
    """Describes the machine; fails if Python is too old."""
    facts = {
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": _distribution(),
        "Python": f"{platform.python_version()} at {sys.executable}",
        "user": "root" if os.geteuid() == 0 else f"an ordinary user, groups {sorted(os.getgroups())}",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }
    if sys.version_info >= OLDEST_PYTHON:
        return StepResult(step, Outcome.PASSED, "Python is new enough", facts=facts)
    return StepResult(step, Outcome.FAILED, "Python is too old; install 3.11 or newer", facts=facts)


def processor(step: str) -> StepResult:
    """Tests whether judges can run on this processor, and whether their compiled part is here."""
    titles = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    cores = len(os.sched_getaffinity(0))
    facts = {"processor": f"{titles[0] if titles else platform.machine()}, {cores} of {os.cpu_count()} cores"}
    try:
        require_library()
    except (ToolchainError, OSError) as error:
        return StepResult(step, Outcome.FAILED, f"judges cannot run here: {error}", facts=facts)
    return StepResult(step, Outcome.PASSED, "judges can run on this processor", facts=facts)


def memory(step: str, device: str) -> StepResult:
    """Tests whether the host has enough memory for a judge."""
    found = psutil.virtual_memory()
    figures = (Figure("memory", found.total >> 20, "MiB"), Figure("free memory", found.available >> 20, "MiB"))
    least = _LEAST_MEMORY_OF_GPU_MIB if device in {"rocm", "nvidia"} else _LEAST_MEMORY_MIB
    if found.total >> 20 >= least:
        return StepResult(step, Outcome.PASSED, "enough for the largest cases", figures)
    return StepResult(step, Outcome.FAILED, f"the largest cases want a host with {least} MiB", figures)


def disk(step: str, cache_folder: Path) -> StepResult:
    """Tests whether builds and scratch folders have room."""
    free = {place: shutil.disk_usage(_existing(place)).free >> 20 for place in (cache_folder, Path(gettempdir()))}
    figures = tuple(Figure(f"free at {place}", mib, "MiB") for place, mib in free.items())
    if min(free.values()) >= _LEAST_DISK_MIB:
        return StepResult(step, Outcome.PASSED, "enough room", figures)
    return StepResult(step, Outcome.FAILED, f"free at least {_LEAST_DISK_MIB} MiB at each of these", figures)


def device_compiler(step: str, name: str) -> StepResult:
    """Finds the compiler for the device's kernels, whether or not there is a device."""
    try:
        if name == "rocm":
            title = f"hipcc at {rocm().hipcc}, HIP {'.'.join(map(str, rocm().version))}"
        elif name == "nvidia":
            title = f"nvcc {cuda().version} at {cuda().nvcc}"
        else:
            title = f"clang of ziglang {compiler().version} at {compiler().program}"
    except ToolchainError as error:
        return StepResult(step, Outcome.FAILED, str(error))
    return StepResult(step, Outcome.PASSED, title, facts={"compiler": title})


def driver(step: str, device: Device) -> StepResult:
    """Reports the driver's facts about the GPUs of this machine."""
    if not isinstance(device, Inventoried):
        return StepResult(step, Outcome.NOT_POSSIBLE, f"{device.describe().name} has no driver")
    found = device.facts()
    unread = "; ".join(f"{fact.field}: {fact.reason}" for fact in found.unread)
    if not found.gpus:
        return StepResult(step, Outcome.FAILED, f"no GPU is reported: {unread or 'the driver lists none'}")
    why = f"not reported: {unread}" if unread else "all that is asked for is reported"
    return StepResult(step, Outcome.MEASURED if unread else Outcome.PASSED, why, facts=_inventory(found))


def _inventory(found: DeviceFacts) -> dict[str, str]:
    versions = {"driver": found.driver_version, "ROCm": found.rocm_version, "CUDA": found.cuda_version}
    facts = {name: version for name, version in versions.items() if version}
    for gpu in found.gpus:
        modes = "/".join(filter(None, (gpu.compute_partition, gpu.memory_partition)))
        title = f"{gpu.title} {gpu.architecture} {modes}".strip()
        facts[f"GPU {gpu.index}"] = f"{title}, {gpu.memory_mib} MiB, {gpu.device_count} devices"
    return facts


def opened(step: str, device: Device) -> StepResult:
    """Opens the device and its toolchain, which everything else needs."""
    try:
        described, toolchain = device.describe(), device.toolchain()
    except ToolchainError as error:
        return StepResult(step, Outcome.NOT_POSSIBLE, str(error))
    facts = {name: str(value) for name, value in asdict(described).items()}
    return StepResult(step, Outcome.PASSED, described.title, facts={**facts, "toolchain": toolchain.title})


def instruments(step: str, device: Device) -> StepResult:
    """Reads the instruments that are read beside the clock at every call."""
    versions = device.versions() if isinstance(device, Versioned) else None
    facts = {name: value for name, value in asdict(versions).items() if value} if versions else {}
    if not isinstance(device, Instruments):
        name = device.describe().name
        return StepResult(step, Outcome.NOT_POSSIBLE, f"{name} has no instruments beside its clock", facts=facts)
    reading = asdict(device.read_instruments())
    units = {"clock_mhz": "MHz", "temperature_celsius": "°C", "power_watts": "W"}
    figures = tuple(
        Figure(name.partition("_")[0], reading[name], unit) for name, unit in units.items() if reading[name]
    )
    silent = [name.partition("_")[0] for name in units if reading[name] is None]
    if silent:
        return StepResult(step, Outcome.FAILED, f"not reported by the driver: {', '.join(silent)}", figures, facts)
    return StepResult(step, Outcome.PASSED, "clock, temperature and power are reported", figures, facts)


def _distribution() -> str:
    named = [line.partition("=")[2].strip().strip('"') for line in _lines("/etc/os-release") if "PRETTY_NAME" in line]
    return named[0] if named else "unknown"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _existing(place: Path) -> PurePath:
    return next(folder for folder in (place, *place.resolve().parents) if folder.exists())
