"""What a submission can be run for, and how it can be timed: the words that people use, and the protos' numbers."""

from __future__ import annotations

from enum import StrEnum

from wavepool.submission.v1 import submission_pb2


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

    @property
    def number(self) -> submission_pb2.RunMode.ValueType:
        """The mode in a message."""
        return submission_pb2.RunMode.Value(f"RUN_MODE_{self.name}")


class TimingMode(StrEnum):
    """In which state of the device a benchmark times calls (docs/timing.md)."""

    COLD = "cold"
    """After a warm-up, with the caches swept before each call: the default on GPUs."""
    HOT = "hot"
    """After a warm-up, with the caches as the new inputs left them: the default on the cpu device."""
    FIRST_CALL = "first-call"
    """The first call of a fresh process, one for each sample: modules load, kernels are found, pools are empty."""

    @property
    def number(self) -> submission_pb2.TimingMode.ValueType:
        """The timing mode in a message."""
        return submission_pb2.TimingMode.Value(f"TIMING_MODE_{self.name}")


TIMED_MODES = (Mode.BENCHMARK, Mode.FULL)
"""Those that time calls."""
MODES = {mode.number: mode for mode in Mode}
"""By their numbers; 0, and numbers of newer programs, are none."""
TIMING_MODES = {submission_pb2.TIMING_MODE_UNSPECIFIED: None, **{mode.number: mode for mode in TimingMode}}
"""By their numbers; None is the device's own way."""


def timing_number(mode: TimingMode | None) -> submission_pb2.TimingMode.ValueType:
    """The timing mode in a message; None is the device's own way."""
    return mode.number if mode else submission_pb2.TIMING_MODE_UNSPECIFIED
