"""Reasons why a machine ended, in kinds that decide the next step."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """A machine's fault; NONE if nothing went wrong."""

    NONE = ""
    NO_CAPACITY = "no_capacity"
    """The provider has no such machine now, or no room in its limits: try the next backend, then the next GPU type."""
    INTERRUPTED = "interrupted"
    """A spot machine was taken away: get another."""
    UNREACHABLE = "unreachable"
    """It stopped answering: release it and get another."""
    START_TIMEOUT = "start_timeout"
    """It was not ready in time: release it and get another."""
    EXPIRED = "expired"
    """It reached its longest life: get a new one."""
    EXECUTOR_EXITED = "executor_exited"
    """Its executor ended by itself; the exit status and the logs say how."""
    UNFIT = "unfit"
    """Its executor answers but takes no runs: no device, a driver that is too old, or a GPU that hangs. Get another."""
    MISCONFIGURED = "misconfigured"
    """It will most likely fail again until the operator changes something: no retry soon."""
    PROVIDER = "provider"
    """Anything else that the provider reports, in its own words."""


OF_NO_USE = frozenset({Fault.EXECUTOR_EXITED, Fault.START_TIMEOUT, Fault.UNFIT, Fault.UNREACHABLE})
"""Faults of machines that were made and paid for, and were of no use unless they had already run a job."""
WANTS_OPERATOR = frozenset({Fault.MISCONFIGURED})
"""Faults that a retry is unlikely to mend."""
