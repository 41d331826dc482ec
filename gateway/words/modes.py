"""The words for what to do with a submission: ours, and those of the seed-compatible routes."""

from __future__ import annotations

from enum import StrEnum

from wavepool.executor.v1 import executor_pb2


class Mode(StrEnum):
    """What to do with a submission."""

    CHECK = "check"
    BENCHMARK = "benchmark"
    FULL = "full"
    SAMPLE = "sample"
    SANDBOX = "sandbox"

    @property
    def proto(self) -> executor_pb2.RunMode.ValueType:
        """The mode as the services know it."""
        return executor_pb2.RunMode.Value(f"RUN_MODE_{self.name}")


class TimingMode(StrEnum):
    """In which state of the device calls are timed; docs/timing.md."""

    COLD = "cold"
    HOT = "hot"
    FIRST_CALL = "first-call"


def timing_mode_to_proto(mode: TimingMode | None) -> executor_pb2.TimingMode.ValueType:
    """The mode as the services know it; None is the device's own way."""
    if mode is None:
        return executor_pb2.TIMING_MODE_UNSPECIFIED
    return executor_pb2.TimingMode.Value(f"TIMING_MODE_{mode.name}")


class Endpoint(StrEnum):
    """The seed's words for the same."""

    CHECKER = "checker"
    BENCHMARK = "benchmark"
    FULL = "full"
    SAMPLE = "sample"
    SANDBOX = "sandbox"

    @property
    def mode(self) -> Mode:
        """Our word."""
        return Mode.CHECK if self is Endpoint.CHECKER else Mode(self.value)
