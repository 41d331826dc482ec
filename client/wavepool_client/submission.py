"""A submission, as the client sends it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Mode(StrEnum):
    """The mode of a submission, which determines its stages."""

    FULL = "full"
    """Check every test case, then benchmark."""
    CHECK = "check"
    """Check every test case."""
    BENCHMARK = "benchmark"
    """Check every test case, then benchmark."""
    SAMPLE = "sample"
    """One small case, with the values shown."""
    SANDBOX = "sandbox"
    """A whole program with its own `main`."""


TIMED_MODES = frozenset({Mode.FULL, Mode.BENCHMARK})
PROFILED_MODES = TIMED_MODES | {Mode.CHECK}


class TimingMode(StrEnum):
    """The state of the device in which calls are timed; see docs/timing.md."""

    COLD = "cold"
    """After a warm-up, with the caches swept before each call."""
    HOT = "hot"
    """After a warm-up, with the caches as the new inputs left them."""
    FIRST_CALL = "first-call"
    """The first call of a fresh process, one for each sample."""


class Isolation(StrEnum):
    """How a part of a GPU is kept apart from its other parts."""

    EXCLUSIVE = "exclusive"
    """Whole GPUs that are not shared."""
    PARTITION = "partition"
    """Partitions of its own, with their memory; the default for parts."""
    TIME_SLICE = "time-slice"
    """A device that is shared; nothing keeps its co-tenants apart."""
    CU_MASK = "cu-mask"
    """The same, with compute units of its own, which nothing enforces."""


class Reuse(StrEnum):
    """Which machines a submission may run on."""

    REUSE = "reuse"
    """Those that are there; none is started for it."""
    REUSE_OR_CREATE = "reuse-or-create"
    """Any; one is started if none has room."""
    CREATE = "create"
    """One that is started for it and has served no other run."""


@dataclass(frozen=True)
class MachineUse:
    """How a submission uses its machine."""

    reuse: Reuse | None = None
    """None: any machine."""
    idle_seconds: int | None = None
    """How long its machine is kept idle after it, at most as long as the pool keeps machines; None for that."""
    wait_for_operator: bool | None = None
    """Wait although no machine can give it its GPUs, as an operator may change that; else it is refused."""

    def as_json(self) -> dict[str, Any]:
        """The object `machine` of a submission; empty if nothing is said."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class GpuRange:
    """How many whole GPUs a run may get: as many as are free, and as its queue's share allows."""

    min: int
    """1, 2, 4 or 8."""
    max: int
    """1, 2, 4 or 8; credit is held for so many, and the charge is for what the run got."""


@dataclass(frozen=True)
class Resources:
    """What a submission takes of one machine: one of `gpus`, `fraction` and `memory_mib`; else one whole GPU."""

    gpus: int | GpuRange | None = None
    """Whole GPUs of one machine: 1, 2, 4 or 8, or a range."""
    fraction: float | None = None
    """A part of one GPU, from 0.1 to 1; rounded up to 1/8, 1/4, 1/2 or 1, and so charged."""
    memory_mib: int | None = None
    """The smallest part, or number of GPUs, that has so much memory."""
    devices: int | None = None
    """The exact number of devices: partitions, or whole GPUs."""
    isolation: Isolation | None = None

    def as_json(self) -> dict[str, Any]:
        """The object `resources` of a submission; empty for one whole GPU."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Submission:
    """A kernel and the way to run it; `problem` is empty for Mode.SANDBOX."""

    code: str
    problem: str
    mode: Mode = Mode.FULL
    gpu_type: str = ""
    """If empty, the operator's default."""
    dtype: str = ""
    """If empty, the problem's first element type."""
    launch_plan: dict[str, Any] | None = None
    """If there is a plan, the code is kernels only (docs/contracts.md)."""
    problem_def: str = ""
    """Python source of a problem class that replaces the catalogue's problem."""
    timing: TimingMode | None = None
    """None: the device's default, which is cold on GPUs. For Mode.BENCHMARK and Mode.FULL only."""
    fallback_gpu_types: tuple[str, ...] = ()
    """GPU types that will do, in this order, if no machine of `gpu_type` is free; the price of the one used applies."""
    queue: str = ""
    """If empty, the queue `default`."""
    time_limit_seconds: int | None = None
    """The longest run, which credit is held for; None for the queue's limit."""
    resources: Resources = field(default_factory=Resources)
    job_class: str = ""
    """A class of the queue; if empty, the queue's default class."""
    placement: str = ""
    """How the machine is chosen, such as "spread"; if empty, as the queue says."""
    movable: bool = False
    """The run may be stopped, and start again elsewhere, for a larger one. For modes that time nothing."""
    priority: int = 0
    """-100 to 100; the queue says how far above 0 without an administrator's token."""
    deadline: str = ""
    """A time with its zone, such as 2026-11-01T12:00:00Z. If it still waits when it can no longer end by then, it is
    cancelled; empty: it waits as long as it takes."""
    machine: MachineUse = field(default_factory=MachineUse)
    profile: bool = False
    """After verdict and timing, profile the kernels. For Mode.CHECK, Mode.BENCHMARK and Mode.FULL only."""
    name: str = ""
    """For people, such as the name of a file."""

    def as_json(self) -> dict[str, Any]:
        """The body of `POST /api/v1/submissions`."""
        said = {"class" if name == "job_class" else name: value for name, value in vars(self).items()}
        said |= {"machine": self.machine.as_json(), "resources": self.resources.as_json()}
        always = {"problem": self.problem, "code": self.code, "language": "hip"}
        return {name: value for name, value in said.items() if value} | always
