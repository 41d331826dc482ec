"""What the core is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from problems.kit.definition import SizeSet
from services.executor.core.timing.timing_mode import TimingMode  # noqa: TC001  jsonlines reads the annotations at run time


class Mode(StrEnum):
    """Which stages a run has."""

    CHECK = "check"
    """Compile, then check every case."""
    BENCHMARK = "benchmark"
    """Compile, check, then benchmark every public case."""
    FULL = "full"
    """The same as BENCHMARK; front ends show its success as ACCEPTED."""
    SAMPLE = "sample"
    """Compile, then show one small case with its input, output and expected output."""
    SANDBOX = "sandbox"
    """Compile a whole program with its own `main`, run it, and stream what it prints."""


@dataclass(frozen=True)
class CoreJob:
    """One run. `problem` is a slug, empty for SANDBOX.

    `seed` fixes the inputs, for replays: any text, or the secret that a report reveals. Without it they come from the
    operating system's entropy, as they must wherever the author of the source may not know them.
    """

    source: str
    mode: Mode
    problem: str = ""
    dtype: str = "float32"
    size_set: SizeSet = SizeSet.CPU
    seed: str = ""
    launch_plan: str = ""
    """JSON (docs/contracts.md); where there is one, the source is kernels only: contract D."""
    problem_def: str = ""
    """Python source of a problem class; where there is one, it is used in place of the catalogue's problem."""
    devices: tuple[int, ...] = ()
    """The machine's devices that the run is on; the default one where none is named."""
    timing_mode: TimingMode | None = None
    """How calls are timed; the device's own way where it is None."""
