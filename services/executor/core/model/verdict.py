"""The verdicts with which a run ends. `vocabulary/verdicts.py` has the front ends' words for them."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The end of a run; all verdicts but CANCELLED and INFRA_ERROR are about the submission."""

    ACCEPTED = "ACCEPTED"
    """Every requested stage passed."""
    COMPILE_ERROR = "COMPILE_ERROR"
    COMPILE_LIMIT = "COMPILE_LIMIT"
    """The compiler ran out of time, memory or output."""
    FORBIDDEN_SOURCE = "FORBIDDEN_SOURCE"
    FORBIDDEN_LIBRARY = "FORBIDDEN_LIBRARY"
    LAUNCH_ERROR = "LAUNCH_ERROR"
    """A kernel launch was refused."""
    RUNTIME_ERROR = "RUNTIME_ERROR"
    """The submission crashed or ended early; the reason says which."""
    WRONG_ANSWER = "WRONG_ANSWER"
    PRECISION = "PRECISION"
    """The answer is close to the reference, but less precise than the problem demands."""
    INPUT_MODIFIED = "INPUT_MODIFIED"
    OUT_OF_BOUNDS = "OUT_OF_BOUNDS"
    """Memory beside an array was written."""
    NONDETERMINISTIC = "NONDETERMINISTIC"
    TIME_LIMIT_EXCEEDED = "TIME_LIMIT_EXCEEDED"
    MEMORY_LIMIT_EXCEEDED = "MEMORY_LIMIT_EXCEEDED"
    OUTPUT_LIMIT_EXCEEDED = "OUTPUT_LIMIT_EXCEEDED"
    """A whole program printed too much. For a solution this is a flag, not a verdict."""
    TIMING_INVALID = "TIMING_INVALID"
    """The claimed times cannot be true. Unstable or unproven times are not a verdict (`Timing`)."""
    SAMPLE_ONLY = "SAMPLE_ONLY"
    """The sample of the problem definition that came with the submission is right, and no test case could be run."""
    PROBLEM_ERROR = "PROBLEM_ERROR"
    """The problem definition that came with the submission cannot be used; the reason says why."""
    CANCELLED = "CANCELLED"
    INFRA_ERROR = "INFRA_ERROR"
    """The fault is ours: the run is never billed, and is retried on another machine."""
