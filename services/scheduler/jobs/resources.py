"""What a job takes of a machine, and the rules by which a request for GPUs becomes that.

The unit is an eighth of a GPU. A part of a GPU is 1, 2 or 4 eighths, and more than one GPU is 2, 4 or 8 whole ones of
one machine. Requests are rounded up to the next of these sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from wavepool.scheduler.v1 import scheduler_pb2

from submissions.checks import Violations
from vocabulary.gpu_types import COMPUTE_MODES, MEMORY_GB
from vocabulary.names import known_name
from vocabulary.slots import EIGHTH_MILLI, EIGHTHS_PER_GPU, LEGAL_GPUS, LEGAL_SIZES, gpus_for, size_text

LEAST_FRACTION = 0.1
"""Of a GPU; a smaller request is probably a mistake, as it gets an eighth anyway."""
DEVICES_OF_A_GPU = tuple(COMPUTE_MODES["MI300X"].values())
MOST_IDLE_SECONDS = 7 * 24 * 3600
"""More than any pool keeps idle machines for."""
_ROUNDING = 1e-9
"""A fraction such as 0.1 + 0.4 may be off by this."""
_MIB_PER_GB = 1024
_FIELD = "spec.resources"


class Isolation(StrEnum):
    """How a job's part of a GPU is kept apart from the other parts."""

    EXCLUSIVE = "exclusive"
    """Whole GPUs, with no other job on them."""
    PARTITION = "partition"
    """Partitions of its own of a GPU in DPX, QPX or CPX mode, with their memory."""
    TIME_SLICE = "time-slice"
    """It may share a device, and nothing keeps its co-tenants off its memory and time."""
    CU_MASK = "cu-mask"
    """As time-slice, but its kernels run on compute units of its own. Nothing enforces that."""

    @property
    def may_share(self) -> bool:
        """True if other jobs may be on the same device."""
        return self in {Isolation.TIME_SLICE, Isolation.CU_MASK}


class GpuMode(NamedTuple):
    """What a GPU is divided into."""

    devices: int = 1
    """1, or its partitions."""
    runs_per_device: int = 1
    """Runs that may share a device."""
    masks_compute_units: bool = False
    """Whether they can each have compute units of their own."""


class Reuse(StrEnum):
    """Which machines a job may run on."""

    REUSE_OR_CREATE = "reuse-or-create"
    """Any; one is started if none has room."""
    REUSE = "reuse"
    """Those that are there, or on their way for others."""
    CREATE = "create"
    """One that is started for it, and that has served no other run."""


@dataclass(frozen=True, order=True)
class Resources:
    """What a job takes: `eighths` of GPUs in all, on exactly `devices` devices if that is not 0.

    A job that takes a range of whole GPUs starts with `least_eighths` or more, up to `eighths`, as many as there are.
    """

    eighths: int = EIGHTHS_PER_GPU
    isolation: Isolation = Isolation.EXCLUSIVE
    devices: int = 0
    least_eighths: int = 0
    """0 if the size is fixed."""

    @property
    def is_range(self) -> bool:
        """True if the size is chosen when the job starts."""
        return self.least_eighths > 0

    @property
    def least(self) -> Resources:
        """The least that the job starts with."""
        return self.sized(self.least_eighths) if self.is_range else self

    def sized(self, eighths: int) -> Resources:
        """The same with a fixed size."""
        return replace(self, eighths=eighths, least_eighths=0)

    @property
    def gpus(self) -> int:
        """The number of GPUs that it lies on."""
        return gpus_for(self.eighths)

    @property
    def eighths_of_each(self) -> int:
        """Eighths of each of these GPUs."""
        return min(self.eighths, EIGHTHS_PER_GPU)

    @property
    def is_part(self) -> bool:
        """True if it is less than a GPU."""
        return self.eighths < EIGHTHS_PER_GPU

    @property
    def milli(self) -> int:
        """Thousandths of a GPU."""
        return self.eighths * EIGHTH_MILLI

    @property
    def is_plain(self) -> bool:
        """True if any free slots of the size will do, whatever the GPU's mode is."""
        return not self.is_part and not self.devices

    def fits(self, mode: GpuMode) -> bool:
        """True if GPUs in that mode can give it."""
        eighths = self.eighths_of_each
        devices_of_each = max(1, eighths * mode.devices // EIGHTHS_PER_GPU)
        if self.devices and devices_of_each * self.gpus != self.devices:
            return False
        if not self.is_part or eighths * mode.devices % EIGHTHS_PER_GPU == 0:
            return True
        can_mask = mode.masks_compute_units or self.isolation is not Isolation.CU_MASK
        return self.isolation.may_share and mode.runs_per_device > 1 and can_mask

    def __str__(self) -> str:
        """Text for people, such as `2 GPUs`, `1 to 4 GPUs` or `1/2 of a GPU (time-slice)`."""
        if self.is_range:
            return f"{self.least.gpus} to {size_text(self.eighths)}"
        devices = f" as {self.devices} device{'s' if self.devices > 1 else ''}" if self.devices else ""
        return size_text(self.eighths) + devices + (f" ({self.isolation})" if self.is_part else "")


WHOLE_GPU = Resources()


def resources_of(asked: scheduler_pb2.Resources, gpu_types: Sequence[str]) -> tuple[Resources, Violations]:
    """What a request for GPUs of these types comes to, and its faults with the field and the fix of each."""
    named = [name for name in ("gpus", "fraction", "memory_mib") if getattr(asked, name)]
    if len(named) > 1:
        return WHOLE_GPU, [(_FIELD, f"has {' and '.join(named)}; give one of gpus, fraction and memory_mib")]
    wrong: Violations = []
    if asked.gpus and asked.gpus not in LEGAL_GPUS:
        wrong.append((f"{_FIELD}.gpus", f"is {asked.gpus}; it must be one of {_listed(LEGAL_GPUS)}"))
    if asked.fraction and not LEAST_FRACTION <= asked.fraction <= 1:
        fix = f"it must be from {LEAST_FRACTION:g} to 1; for several GPUs give gpus"
        wrong.append((f"{_FIELD}.fraction", f"is {asked.fraction:g}; {fix}"))
    eighths, fault = _eighths_for_memory(asked.memory_mib, gpu_types)
    wrong += [(f"{_FIELD}.memory_mib", fault)] if fault else []
    if wrong:
        return WHOLE_GPU, wrong
    if asked.fraction:
        eighths = _rounded_up(math.ceil(asked.fraction * EIGHTHS_PER_GPU - _ROUNDING))
    elif asked.gpus:
        eighths = asked.gpus * EIGHTHS_PER_GPU
    resources, wrong = _isolated(asked, eighths or EIGHTHS_PER_GPU)
    return _ranged(asked, resources, wrong) if asked.least_gpus else (resources, wrong)


def modes_for(resources: Resources, gpu_type: str) -> list[str]:
    """The modes in which a GPU of the type can give this to a job alone, each with the devices that the job gets.

    Empty for types whose modes are not known.
    """
    known = known_name(gpu_type, COMPUTE_MODES)
    found: list[str] = []
    for mode, count in COMPUTE_MODES.get(known, {}).items():
        if resources.fits(GpuMode(count)):
            devices = max(1, resources.eighths_of_each * count // EIGHTHS_PER_GPU)
            each = " each" if devices > 1 else ""
            plural = "s" if devices > 1 else ""
            found.append(f"{mode} ({devices} device{plural} of {MEMORY_GB[known] // count} GB{each})")
    return found


def mode_text(gpu_type: str, device_count: int) -> str:
    """The mode of a GPU that is so many devices, for people: `SPX mode`, or `2 devices each` if no mode is known."""
    modes = COMPUTE_MODES.get(known_name(gpu_type, COMPUTE_MODES), {})
    mode = next((mode for mode, count in modes.items() if count == device_count), "")
    return f"{mode} mode" if mode else f"{device_count} device{'s' if device_count > 1 else ''} each"


def machine_use_of(asked: scheduler_pb2.MachineUse) -> tuple[Reuse, int | None, Violations]:
    """Which machines a request may run on, and how many seconds its machine is to be kept idle after it.

    Also its faults, with the field and the fix of each.
    """
    wrong: Violations = []
    reuse = _REUSES.get(asked.reuse, Reuse.REUSE_OR_CREATE)
    if asked.reuse and asked.reuse not in _REUSES:
        legal = ", ".join(one.name for one in Reuse)
        wrong.append(("spec.machine.reuse", f"{asked.reuse} is none that is known; give one of {legal}"))
    if not asked.HasField("idle_time"):
        return reuse, None, wrong
    idle = asked.idle_time
    if not 0 <= idle.seconds <= MOST_IDLE_SECONDS or idle.nanos:
        fix = f"give whole seconds from 0 to {MOST_IDLE_SECONDS}; the pool may keep machines for less"
        wrong.append(("spec.machine.idle_time", f"is {idle.seconds} s and {idle.nanos} ns; {fix}"))
    return reuse, idle.seconds, wrong


def machine_use_to_proto(
    reuse: Reuse, idle_seconds: int | None, *, waits_for_operator: bool
) -> scheduler_pb2.MachineUse:
    """How an admitted job uses its machine."""
    number = scheduler_pb2.MachineReuse.Value(f"MACHINE_REUSE_{reuse.name}")
    use = scheduler_pb2.MachineUse(reuse=number, wait_for_operator=waits_for_operator)
    if idle_seconds is not None:
        use.idle_time.FromSeconds(idle_seconds)
    return use


def resources_to_proto(resources: Resources) -> scheduler_pb2.Resources:
    """The resources as an admitted job has them."""
    return scheduler_pb2.Resources(
        gpus=0 if resources.is_part else resources.gpus,
        least_gpus=resources.least.gpus if resources.is_range else 0,
        fraction=resources.eighths / EIGHTHS_PER_GPU if resources.is_part else 0.0,
        devices=resources.devices,
        single_device=resources.devices == 1,
        isolation=scheduler_pb2.Isolation.Value(f"ISOLATION_{resources.isolation.name}"),
        quiet=not resources.is_part,
    )


def _isolated(asked: scheduler_pb2.Resources, eighths: int) -> tuple[Resources, Violations]:
    is_part = eighths < EIGHTHS_PER_GPU
    wrong: Violations = []
    isolation = _ISOLATIONS.get(asked.isolation)
    if asked.isolation and isolation is None:
        legal = ", ".join(one.name for one in Isolation)
        wrong.append((f"{_FIELD}.isolation", f"{asked.isolation} is none that is known; give one of {legal}"))
    if isolation is Isolation.EXCLUSIVE and is_part:
        wrong.append((f"{_FIELD}.isolation", "exclusive is for whole GPUs; leave it out, or ask for a whole GPU"))
    if isolation not in {None, Isolation.EXCLUSIVE} and not is_part:
        wrong.append((f"{_FIELD}.isolation", f"{isolation} is for parts of a GPU; leave it out, or give a fraction"))
    if asked.quiet and is_part:
        wrong.append((f"{_FIELD}.quiet", "others may use the rest of the GPU; leave it out, or ask for a whole GPU"))
    devices = asked.devices or int(asked.single_device)
    if asked.single_device and asked.devices > 1:
        wrong.append((f"{_FIELD}.devices", f"is {asked.devices} beside single_device; leave one of them out"))
    resources = Resources(eighths, isolation or (Isolation.PARTITION if is_part else Isolation.EXCLUSIVE), devices)
    if devices and not any(map(resources.fits, _ANY_MODE)):
        possible = _listed(
            number
            for number in range(1, LEGAL_SIZES[-1] + 1)
            if any(map(Resources(eighths, resources.isolation, number).fits, _ANY_MODE))
        )
        wrong.append((f"{_FIELD}.devices", f"is {devices}; {size_text(eighths)} can be {possible}"))
    return resources, wrong


def _ranged(asked: scheduler_pb2.Resources, resources: Resources, wrong: Violations) -> tuple[Resources, Violations]:
    """The resources as a range of whole GPUs."""
    field = f"{_FIELD}.least_gpus"
    if not asked.gpus:
        wrong.append((field, f"is {asked.least_gpus} without gpus; give the most GPUs as gpus, or leave it out"))
    elif asked.least_gpus not in LEGAL_GPUS or asked.least_gpus > asked.gpus:
        fitting = _listed(number for number in LEGAL_GPUS if number <= asked.gpus)
        wrong.append((field, f"is {asked.least_gpus}; up to {asked.gpus} GPUs, it must be one of {fitting}"))
    elif resources.devices and asked.least_gpus < asked.gpus:
        fault = f"is {resources.devices}, and the number of GPUs is a range; leave one of them out"
        wrong.append((f"{_FIELD}.devices", fault))
    if wrong or asked.least_gpus == asked.gpus:
        return resources, wrong
    return replace(resources, least_eighths=asked.least_gpus * EIGHTHS_PER_GPU), wrong


def _eighths_for_memory(memory_mib: int, gpu_types: Sequence[str]) -> tuple[int, str]:
    """The least size that has so much memory on every one of the types, and what is wrong with the request."""
    if not memory_mib:
        return 0, ""
    if memory_mib < 0:
        return 0, f"is {memory_mib}; it must be above 0"
    largest = 0
    for gpu_type in gpu_types:
        known = known_name(gpu_type, MEMORY_GB)
        if not known:
            return 0, f"the memory of {gpu_type} is not known; give a fraction or gpus"
        gpu_mib = MEMORY_GB[known] * _MIB_PER_GB
        eighths = -(-memory_mib * EIGHTHS_PER_GPU // gpu_mib)
        if eighths > LEGAL_SIZES[-1]:
            most = LEGAL_SIZES[-1] // EIGHTHS_PER_GPU
            return 0, f"is {memory_mib}; {most} GPUs of {gpu_type}, the most for one job, have {most * gpu_mib}"
        largest = max(largest, _rounded_up(eighths))
    return largest, ""


def _rounded_up(eighths: int) -> int:
    return next(size for size in LEGAL_SIZES if size >= eighths)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


_ANY_MODE = [GpuMode(devices, runs_per_device=2, masks_compute_units=True) for devices in DEVICES_OF_A_GPU]
_REUSES = {scheduler_pb2.MachineReuse.Value(f"MACHINE_REUSE_{one.name}"): one for one in Reuse}
_ISOLATIONS = {scheduler_pb2.Isolation.Value(f"ISOLATION_{one.name}"): one for one in Isolation}
