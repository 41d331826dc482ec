"""Reads the machine's GPUs from amdsmi and sysfs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hipcpu.build_folder import ToolchainError
from services.executor.devices.inventory import Answers, DeviceFacts, GpuFacts, UnreadFact
from services.executor.devices.rocm import facts
from services.executor.devices.rocm.gpu import load

_DRM = Path("/sys/class/drm")
_CURRENT = {facts.COMPUTE_FILE: "current_compute_partition", facts.MEMORY_FILE: "current_memory_partition"}


def read_facts(indices: Sequence[int] | None = None, drm: Path = _DRM) -> DeviceFacts:
    """Return the facts of all GPUs, or of those with devices in `indices`; unreadable fields are listed in `unread`."""
    try:
        smi, handles = load()
    except ToolchainError as error:
        return DeviceFacts(unread=[UnreadFact("gpus", str(error))])
    wanted = range(len(handles)) if indices is None else [index for index in indices if index < len(handles)]
    unread: list[UnreadFact] = []
    devices = [_device(smi, handles[index], index, drm, unread) for index in wanted]
    driver = _answers(smi, [handles[index] for index in wanted[:1]], {"amdsmi_get_gpu_driver_info": "driver_version"})
    unread += driver.unread({"amdsmi_get_gpu_driver_info": "driver_version"})
    return DeviceFacts(
        gpus=facts.gpus_of(devices),
        rocm_version=_rocm_version(smi, unread),
        driver_version=driver.text("amdsmi_get_gpu_driver_info", "driver_version"),
        unread=unread,
    )


def _device(smi: Any, handle: object, index: int, drm: Path, unread: list[UnreadFact]) -> GpuFacts:  # noqa: ANN401  the library has no types
    answers = _answers(smi, [handle], facts.QUESTIONS, f"devices[{index}].")
    card = drm / f"card{answers.number('amdsmi_get_gpu_enumeration_info', 'drm_card')}" / "device"
    sysfs = {name: _read(card / name) for name in _CURRENT}
    settable = {name: os.access(card / current, os.W_OK) for name, current in _CURRENT.items()}
    device = facts.device_of(index, answers, sysfs, settable)
    unread += [fact for fact in answers.unread(facts.QUESTIONS) if not _reported_by_kernel(device, fact)]
    return device


def _reported_by_kernel(device: GpuFacts, fact: UnreadFact) -> bool:
    """Return True if modes that the library did not report were read from sysfs."""
    field = fact.field.rpartition(".")[2]
    return field.endswith("_modes") and bool(getattr(device, field))


def _answers(smi: Any, handles: Sequence[object], questions: facts.Questions, place: str = "") -> Answers:  # noqa: ANN401
    answers: dict[str, object] = {}
    faults: dict[str, str] = {}
    for question in questions:
        try:
            ask: Callable[..., object] = getattr(smi, question)
            answers[question] = ask(*handles)
        except Exception as error:  # noqa: BLE001  every fault of the library is a subclass of its own
            faults[question] = f"{question}: {' '.join(str(error).split())}"
    return Answers(answers, faults, place)


def _rocm_version(smi: Any, unread: list[UnreadFact]) -> str:  # noqa: ANN401
    """Return librocm-core's version; amdsmi answers with a flag, and the version or the reason for its absence."""
    try:
        found, said = smi.amdsmi_get_rocm_version()
    except Exception as error:  # noqa: BLE001
        found, said = False, error
    if not found:
        unread.append(UnreadFact("rocm_version", f"amdsmi_get_rocm_version: {said}"))
    return str(said) if found else ""


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
