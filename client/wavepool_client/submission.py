"""A submission, as the client sends it."""

from __future__ import annotations

from dataclasses import dataclass
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
    profile: bool = False
    """After verdict and timing, profile the kernels. For Mode.CHECK, Mode.BENCHMARK and Mode.FULL only."""

    def as_json(self) -> dict[str, Any]:
        """The body of `POST /api/v1/submissions`."""
        left_out_if_empty: dict[str, Any] = {
            "launch_plan": self.launch_plan,
            "problem_def": self.problem_def,
            "timing": self.timing.value if self.timing else None,
            "profile": self.profile,
            "dtype": self.dtype,
            "gpu_type": self.gpu_type,
            "time_limit_seconds": self.time_limit_seconds,
            "queue": self.queue,
            "fallback_gpu_types": list(self.fallback_gpu_types),
        }
        return {name: value for name, value in left_out_if_empty.items() if value} | {
            "problem": self.problem,
            "code": self.code,
            "mode": self.mode.value,
            "language": "hip",
        }
