"""How a run ends, and the one table from verdicts to the status names that front ends know."""

from __future__ import annotations

from enum import StrEnum

from services.executor.core.job import Mode


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


_STATUS = {
    Verdict.ACCEPTED: "ACCEPTED",
    Verdict.COMPILE_ERROR: "COMPILE_ERROR",
    Verdict.COMPILE_LIMIT: "COMPILE_ERROR",
    Verdict.FORBIDDEN_SOURCE: "COMPILE_ERROR",
    Verdict.FORBIDDEN_LIBRARY: "COMPILE_ERROR",
    Verdict.LAUNCH_ERROR: "RUNTIME_ERROR",
    Verdict.RUNTIME_ERROR: "RUNTIME_ERROR",
    Verdict.WRONG_ANSWER: "WRONG_ANSWER",
    Verdict.PRECISION: "WRONG_ANSWER",
    Verdict.INPUT_MODIFIED: "WRONG_ANSWER",
    Verdict.OUT_OF_BOUNDS: "WRONG_ANSWER",
    Verdict.NONDETERMINISTIC: "WRONG_ANSWER",
    Verdict.TIME_LIMIT_EXCEEDED: "TIME_LIMIT_EXCEEDED",
    Verdict.MEMORY_LIMIT_EXCEEDED: "MEMORY_LIMIT_EXCEEDED",
    Verdict.OUTPUT_LIMIT_EXCEEDED: "RUNTIME_ERROR",
    Verdict.TIMING_INVALID: "ERROR",
    Verdict.PROBLEM_ERROR: "ERROR",
    Verdict.CANCELLED: "CANCELLED",
    Verdict.INFRA_ERROR: "ERROR",
}

_ACCEPTED_STATUS = {
    Mode.CHECK: "CHECKED",
    Mode.BENCHMARK: "BENCHMARKED",
    Mode.FULL: "ACCEPTED",
    Mode.SAMPLE: "PASSED",
    Mode.SANDBOX: "SANDBOX_SUCCESS",
}

_SANDBOX_STATUS = {
    Verdict.RUNTIME_ERROR: "SANDBOX_ERROR",
    Verdict.MEMORY_LIMIT_EXCEEDED: "SANDBOX_ERROR",
    Verdict.TIME_LIMIT_EXCEEDED: "SANDBOX_TIMEOUT",
    Verdict.OUTPUT_LIMIT_EXCEEDED: "SANDBOX_OUTPUT_LIMIT",
}


def status_of(verdict: Verdict, mode: Mode) -> str:
    """The seed's status name of the last frame that a run in `mode` shows."""
    if verdict is Verdict.ACCEPTED:
        return _ACCEPTED_STATUS[mode]
    if mode is Mode.SANDBOX:
        return _SANDBOX_STATUS.get(verdict, _STATUS[verdict])
    if mode is Mode.SAMPLE and _STATUS[verdict] == "WRONG_ANSWER":
        return "FAILED"
    return _STATUS[verdict]
