"""Facts of the GPUs from NVML's answers; questions are named after NVML's functions.

The formats are those of the NVML API reference (https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html).
A GPU in MIG mode is reported as such; its instances are not used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from services.executor.devices.inventory import Answers, DeviceFacts, GpuFacts, PartitionMode, UnreadFact
from services.executor.devices.nvidia.gpu import architecture_of, multiprocessors_of

DEVICE_QUESTIONS: Mapping[str, str] = {
    "nvmlDeviceGetName": "title",
    "nvmlDeviceGetUUID": "uuid",
    "nvmlDeviceGetPciInfo": "bus_address",
    "nvmlDeviceGetMemoryInfo": "memory_mib",
    "nvmlDeviceGetCudaComputeCapability": "architecture",
    "nvmlDeviceGetNumGpuCores": "compute_units",
    "nvmlDeviceGetVbiosVersion": "firmware",
    "nvmlDeviceGetInforomImageVersion": "firmware",
    "nvmlDeviceGetGspFirmwareVersion": "firmware",
    "nvmlDeviceGetMigMode": "compute_partition",
}
SYSTEM_QUESTIONS: Mapping[str, str] = {
    "nvmlSystemGetDriverVersion": "driver_version",
    "nvmlSystemGetCudaDriverVersion": "cuda_version",
}
_FIRMWARE = {
    "nvmlDeviceGetVbiosVersion": "VBIOS",
    "nvmlDeviceGetInforomImageVersion": "INFOROM",
    "nvmlDeviceGetGspFirmwareVersion": "GSP",
}
_MIG_MODES = {0: "", 1: "MIG"}
# NVML's words for "this GPU has no such feature", which is an answer and not a fault.
_NOT_SUPPORTED = "Not Supported"


def read_facts(indices: Sequence[int] | None = None) -> DeviceFacts:
    """Return the facts of all GPUs, or of those in `indices`; unreadable fields are listed in `unread`."""
    try:
        nvml: Any = importlib.import_module("pynvml")
        nvml.nvmlInit()
        handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in indices or range(nvml.nvmlDeviceGetCount())]
    except Exception as error:  # noqa: BLE001  every fault of the library is a subclass of its own
        return DeviceFacts(unread=[UnreadFact("gpus", f"NVML: {error}")])
    devices = [_answers(nvml, DEVICE_QUESTIONS, f"devices[{n}].", handle) for n, handle in enumerate(handles)]
    system = _answers(nvml, SYSTEM_QUESTIONS, "")
    unread = [fact for answers in devices for fact in answers.unread(DEVICE_QUESTIONS)]
    return DeviceFacts(
        gpus=[gpu_of(index, answers) for index, answers in enumerate(devices)],
        cuda_version=cuda_version(system.number("nvmlSystemGetCudaDriverVersion")),
        driver_version=system.text("nvmlSystemGetDriverVersion"),
        unread=[*unread, *system.unread(SYSTEM_QUESTIONS)],
    )


def gpu_of(index: int, answers: Answers) -> GpuFacts:
    """Return the facts of one GPU."""
    capability = answers.text("nvmlDeviceGetCudaComputeCapability")
    firmware = {name: answers.text(question) for question, name in _FIRMWARE.items() if answers.text(question)}
    return GpuFacts(
        index=index,
        title=answers.text("nvmlDeviceGetName"),
        uuid=answers.text("nvmlDeviceGetUUID"),
        architecture=architecture_of(capability) if capability else "",
        bus_address=answers.text("nvmlDeviceGetPciInfo").rpartition(".")[0],
        memory_mib=answers.number("nvmlDeviceGetMemoryInfo") >> 20,
        compute_units=multiprocessors_of(answers.number("nvmlDeviceGetNumGpuCores"), capability),
        compute_partition=_MIG_MODES.get(answers.number("nvmlDeviceGetMigMode"), ""),
        compute_partition_modes=(PartitionMode("MIG"),) if answers.is_reported("nvmlDeviceGetMigMode") else (),
        firmware=firmware,
    )


def cuda_version(number: int) -> str:
    """Format NVML's version number: 13020 is 13.2; empty for 0."""
    return f"{number // 1000}.{number % 1000 // 10}" if number else ""


def _answers(nvml: Any, questions: Mapping[str, str], place: str, *arguments: object) -> Answers:  # noqa: ANN401  the library has no types
    answers: dict[str, object] = {}
    faults: dict[str, str] = {}
    for question in questions:
        try:
            ask: Callable[..., Any] = getattr(nvml, question)
            answers[question] = _plain(ask(*arguments))
        except Exception as error:  # noqa: BLE001
            if _NOT_SUPPORTED not in str(error):
                faults[question] = f"{question}: {error}"
    return Answers(answers, faults, place)


def _plain(answer: Any) -> object:  # noqa: ANN401
    """Return an answer in plain types; of a structure, only the member that we need."""
    if isinstance(answer, bytes):
        return answer.decode(errors="replace")
    if isinstance(answer, tuple):
        # The compute capability.
        return ".".join(map(str, cast("tuple[object, ...]", answer)))
    if isinstance(answer, list):
        # MIG's mode now, and after the next reset.
        return cast("list[object]", answer)[0]
    for member in ("busId", "total"):
        if hasattr(answer, member):
            return _plain(getattr(answer, member))
    return answer
