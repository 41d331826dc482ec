"""What a job runs, once `admit` has accepted it: every name in its one spelling."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class Mode(StrEnum):
    """Which stages a run has."""

    CHECK = "check"
    BENCHMARK = "benchmark"
    FULL = "full"
    SAMPLE = "sample"
    SANDBOX = "sandbox"


class TimingMode(StrEnum):
    """In which state of the device a benchmark times calls; docs/timing.md."""

    COLD = "cold"
    HOT = "hot"
    FIRST_CALL = "first-call"


@dataclass(frozen=True)
class JobSpec:
    """What to run; `problem` is empty for Mode.SANDBOX, and `timing_mode` None is the device's own way."""

    problem: str
    mode: Mode
    gpu_type: str
    dtype: str
    language: str
    priority: int
    timing_mode: TimingMode | None = None
    fallback_gpu_types: tuple[str, ...] = ()
    """Where no machine of `gpu_type` is free, these will do, in this order."""

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """What it may run on, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)


@dataclass(frozen=True)
class Texts:
    """What a submission is written in. Large, so it is kept apart from its job.

    `launch_plan` is JSON, `problem_def` the Python source of a problem class; both are empty for most jobs.
    """

    source: str
    launch_plan: str = ""
    problem_def: str = ""

    @property
    def characters(self) -> int:
        """Of all of them."""
        return len(self.source) + len(self.launch_plan) + len(self.problem_def)


@dataclass(frozen=True)
class Lease:
    """Slots of a machine, as vmpool gave them out."""

    lease_id: str
    machine_id: str
    executor_endpoint: str
    executor_token: str
    fencing_token: int
    eighths: int
    expire_time: datetime
    """Unless it is renewed."""
    gpu: int | None = None
    """The machine's GPU that the eighths are of; None where vmpool did not tell."""
    first_eighth: int | None = None
    """The first of the eighths on that GPU."""
