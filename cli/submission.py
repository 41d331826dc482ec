"""What a person hands in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Mode(StrEnum):
    """How far a submission goes."""

    FULL = "full"
    """Check every test case, then benchmark."""
    CHECK = "check"
    """Check every test case."""
    BENCHMARK = "benchmark"
    """Benchmark; a check comes first."""
    SAMPLE = "sample"
    """One small case, with the values shown."""
    SANDBOX = "sandbox"
    """A whole program with its own `main`."""


@dataclass(frozen=True)
class Submission:
    """A kernel and what to do with it; `problem` is empty for Mode.SANDBOX."""

    code: str
    problem: str
    mode: Mode = Mode.FULL
    gpu_type: str = "MI300X"
    dtype: str = "float32"

    def as_json(self) -> dict[str, Any]:
        """The body of `POST /api/v1/submissions`."""
        return {
            "problem": self.problem,
            "code": self.code,
            "mode": self.mode.value,
            "gpu_type": self.gpu_type,
            "dtype": self.dtype,
            "language": "hip",
        }
