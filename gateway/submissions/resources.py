"""The GPUs that a submission asks for, in our own form and as Kaiwo's annotations, and the message for it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from wavepool.scheduler.v1 import scheduler_pb2

from gateway.words.answer_words import Documented
from vocabulary.names import none_of

KAIWO = "kaiwo.ai/"
FRACTION, MEMORY = f"{KAIWO}gpu-fraction", f"{KAIWO}gpu-memory"
SHARING, ISOLATION = f"{KAIWO}gpu-sharing", f"{KAIWO}gpu-isolation"
KNOWN = (FRACTION, MEMORY, SHARING, ISOLATION)
_PREFIX = "ISOLATION_"
# Locations of faults leave out names that begin so: clients do not know them.
_NUMBER, _RANGE = "~number", "~range"
MOST_GPUS = 64
MOST_MIB = 2**40
"""Far more than any machine has; the scheduler knows how much there is of a type."""


class Isolation(StrEnum):
    """How a part of a GPU is kept apart from its other parts."""

    EXCLUSIVE = "exclusive"
    PARTITION = "partition"
    TIME_SLICE = "time-slice"
    CU_MASK = "cu-mask"


_NUMBERS = {one: scheduler_pb2.Isolation.Value(_PREFIX + one.name) for one in Isolation}
_KAIWO_ISOLATIONS = {"time-slicing": Isolation.TIME_SLICE, "none": Isolation.TIME_SLICE, "mig": Isolation.PARTITION}


def _kind_of_number(value: object) -> str:
    return _RANGE if isinstance(value, dict | GpuRange) else _NUMBER


class GpuRange(BaseModel):
    """How many whole GPUs a run may get: as many as are free, and as its queue's share allows."""

    model_config = ConfigDict(extra="forbid")

    min: Annotated[int, Field(strict=True, ge=1, le=MOST_GPUS, description="1, 2, 4 or 8.")]
    max: Annotated[
        int, Field(strict=True, ge=1, le=MOST_GPUS, description="1, 2, 4 or 8; credit is held for this many.")
    ]


class Resources(BaseModel):
    """The share of a machine that a submission asks for: `gpus`, `fraction` or `memory_mib`; default: one GPU."""

    model_config = ConfigDict(extra="forbid")

    # Zero would be as nothing in the message, and so one whole GPU.
    gpus: Annotated[
        Annotated[int | None, Field(strict=True, ge=1, le=MOST_GPUS), Tag(_NUMBER)] | Annotated[GpuRange, Tag(_RANGE)],
        Discriminator(_kind_of_number),
        Field(description="Whole GPUs of one machine: 1, 2, 4 or 8, or a range: the run gets as many as are free."),
    ] = None
    fraction: Annotated[
        float | None,
        Field(
            strict=True,
            gt=0,
            description="A part of one GPU, 0.1 to 1; rounded up to 1/8, 1/4, 1/2 or 1, and charged.",
        ),
    ] = None
    memory_mib: Annotated[
        int | None,
        Field(
            strict=True,
            ge=1,
            le=MOST_MIB,
            description="Memory: the run gets the smallest part, or number of GPUs, that has it.",
        ),
    ] = None
    devices: Annotated[
        int | None, Field(strict=True, ge=1, le=64, description="Exactly this many devices: partitions, or whole GPUs.")
    ] = None
    single_device: Annotated[bool, Field(strict=True, description="All of it as one device.")] = False
    isolation: Annotated[
        Isolation | None,
        Field(
            description="`exclusive`: whole GPUs, and the default for them. `partition`: the default for parts, on "
            "GPUs in a mode with such partitions. `time-slice`: a shared device; nothing keeps its co-tenants apart. "
            "`cu-mask`: the same, with compute units of its own, which nothing enforces."
        ),
    ] = None
    quiet: Annotated[
        bool, Field(strict=True, description="No other run on the GPU. True for whole GPUs; refused for parts.")
    ] = False

    def to_proto(self) -> scheduler_pb2.Resources:
        """The message for a job."""
        least, most = (self.gpus.min, self.gpus.max) if isinstance(self.gpus, GpuRange) else (0, self.gpus or 0)
        return scheduler_pb2.Resources(
            gpus=most,
            least_gpus=least,
            fraction=self.fraction or 0,
            memory_mib=self.memory_mib or 0,
            devices=self.devices or 0,
            single_device=self.single_device,
            isolation=_NUMBERS[self.isolation] if self.isolation else scheduler_pb2.ISOLATION_UNSPECIFIED,
            quiet=self.quiet,
        )


class AdmittedResources(BaseModel):
    """The share of one machine that a submission gets, after rounding: whole GPUs, or a part of one."""

    gpus: Annotated[int | None, Field(description="The upper end, if it is a range.")]
    min_gpus: Annotated[int | None, Field(description="The lower end, if it is a range; else null.")]
    fraction: float | None
    devices: Annotated[int | None, Field(description="Null: any number.")]
    isolation: Annotated[str, Documented(Isolation)]


def admitted_resources(resources: scheduler_pb2.Resources) -> AdmittedResources:
    """The share that a job takes; a new isolation is named as the scheduler names it."""
    number = resources.isolation
    known = number in scheduler_pb2.Isolation.values()
    name = scheduler_pb2.Isolation.Name(number).removeprefix(_PREFIX) if known else str(number)
    return AdmittedResources(
        gpus=resources.gpus or None,
        min_gpus=resources.least_gpus or None,
        fraction=resources.fraction or None,
        devices=resources.devices or None,
        isolation=name.lower().replace("_", "-"),
    )


def body_of_resources(resources: scheduler_pb2.Resources) -> dict[str, object]:
    """The object that asks for the share which a job takes; empty for one whole GPU."""
    found = admitted_resources(resources)
    size = {"min": found.min_gpus, "max": found.gpus} if found.min_gpus else found.gpus
    # One that this gateway does not know yet cannot be asked for here.
    isolation = found.isolation if found.isolation in set(Isolation) else None
    asked = {"gpus": size, "fraction": found.fraction, "devices": found.devices, "isolation": isolation}
    plain = {"gpus": 1, "fraction": None, "devices": None, "isolation": Isolation.EXCLUSIVE}
    return {} if asked == plain else {name: value for name, value in asked.items() if value}


def of_annotations(annotations: Mapping[str, str]) -> Resources | None:
    """The resources that Kaiwo's annotations ask for; None if they ask for none. Annotations of others are left alone.

    Raises ValueError with the annotation and the fix.
    """
    if unknown := next((name for name in annotations if name.startswith(KAIWO) and name not in KNOWN), ""):
        raise ValueError(none_of(unknown, KNOWN))
    said = {name: annotations[name].strip().lower() for name in KNOWN if name in annotations}
    if not said:
        return None
    asked = Resources()
    if FRACTION in said:
        fraction = _number(FRACTION, said[FRACTION], MOST_GPUS)
        # Kaiwo writes several GPUs as a fraction above 1.
        has_several = fraction > 1 and fraction.is_integer()
        asked = Resources(gpus=int(fraction)) if has_several else Resources(fraction=fraction)
    if MEMORY in said:
        memory = _number(MEMORY, said[MEMORY], MOST_MIB)
        if not memory.is_integer():
            raise ValueError(f"{MEMORY}: is {said[MEMORY]}; give whole MiB")
        asked = asked.model_copy(update={"memory_mib": int(memory)})
    return asked.model_copy(update={"isolation": _isolation(said)})


def _isolation(said: Mapping[str, str]) -> Isolation | None:
    shares = said.get(SHARING, "")
    if shares not in {"", "true", "false"}:
        raise ValueError(f"{SHARING}: is {shares!r}; give true or false")
    if ISOLATION not in said:
        return {"true": Isolation.TIME_SLICE, "false": Isolation.EXCLUSIVE}.get(shares)
    isolation = _KAIWO_ISOLATIONS.get(said[ISOLATION])
    if isolation is None:
        raise ValueError(f"{ISOLATION}: is {said[ISOLATION]!r}; give one of {', '.join(_KAIWO_ISOLATIONS)}")
    if shares == "false":
        raise ValueError(f"{SHARING}: is false beside {ISOLATION}; leave one of them out")
    return isolation


def _number(name: str, text: str, most: int) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{name}: is {text!r}; give a number") from None
    if not 0 < number <= most:
        raise ValueError(f"{name}: is {text!r}; give a number above 0, and at most {most}")
    return number
