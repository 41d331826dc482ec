"""How a run ends. What front ends show for each verdict is in `vocabulary/verdicts.py`."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What a finished run ended with; everything but CANCELLED and INFRA_ERROR is about the submission."""

    ACCEPTED = "ACCEPTED"
    """Every stage that was asked for passed."""
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
    """Close to the reference, but less precise than the problem demands."""
    INPUT_MODIFIED = "INPUT_MODIFIED"
    OUT_OF_BOUNDS = "OUT_OF_BOUNDS"
    """Memory beside an array was written."""
    NONDETERMINISTIC = "NONDETERMINISTIC"
    TIME_LIMIT_EXCEEDED = "TIME_LIMIT_EXCEEDED"
    MEMORY_LIMIT_EXCEEDED = "MEMORY_LIMIT_EXCEEDED"
    OUTPUT_LIMIT_EXCEEDED = "OUTPUT_LIMIT_EXCEEDED"
    """A whole program printed too much; in a solution this is a flag and no verdict."""
    TIMING_INVALID = "TIMING_INVALID"
    """The claimed times cannot be true. Times that are unstable or unproven are no verdict (`Timing`)."""
    PROBLEM_ERROR = "PROBLEM_ERROR"
    """The problem definition that came with the submission cannot be used; the reason says why."""
    CANCELLED = "CANCELLED"
    INFRA_ERROR = "INFRA_ERROR"
    """Our fault: never billed, retried on another machine."""
