"""Modes and timing modes of a submission: the words that people use, and the numbers of the protos."""

from __future__ import annotations

from enum import StrEnum

from wavepool.submission.v1 import submission_pb2


class Mode(StrEnum):
    """The mode of a run, which determines its stages."""

    CHECK = "check"
    """Compile, then check every case."""
    BENCHMARK = "benchmark"
    """Compile, check, then benchmark every public case."""
    FULL = "full"
    """The same as BENCHMARK; front ends show its success as ACCEPTED."""
    SAMPLE = "sample"
    """Compile, then show one small case with its input, output and expected output."""
    SANDBOX = "sandbox"
    """Compile a whole program with its own `main`, run it, and stream its output."""

    @property
    def number(self) -> submission_pb2.RunMode.ValueType:
        """The proto's number of the mode."""
        return submission_pb2.RunMode.Value(f"RUN_MODE_{self.name}")


class TimingMode(StrEnum):
    """The state of the device in which a benchmark times calls (docs/timing.md)."""

    COLD = "cold"
    """After a warm-up, with the caches swept before each call; the default on GPUs."""
    HOT = "hot"
    """After a warm-up, with the caches as the new inputs left them; the default on the cpu device."""
    FIRST_CALL = "first-call"
    """The first call of a fresh process, one for each sample: modules are loaded, kernels are looked up, pools are
    empty."""

    @property
    def number(self) -> submission_pb2.TimingMode.ValueType:
        """The proto's number of the timing mode."""
        return submission_pb2.TimingMode.Value(f"TIMING_MODE_{self.name}")


TIMED_MODES = (Mode.BENCHMARK, Mode.FULL)
"""The modes that time calls."""
PROFILED_MODES = (Mode.CHECK, *TIMED_MODES)
"""The modes that can have a profile."""
MODES = {mode.number: mode for mode in Mode}
"""Modes by their proto numbers; 0 and the numbers of newer programs are missing."""
TIMING_MODES = {submission_pb2.TIMING_MODE_UNSPECIFIED: None, **{mode.number: mode for mode in TimingMode}}
"""Timing modes by their proto numbers; None is the device's default."""


def timing_number(mode: TimingMode | None) -> submission_pb2.TimingMode.ValueType:
    """The proto's number of the timing mode; None is the device's default."""
    return mode.number if mode else submission_pb2.TIMING_MODE_UNSPECIFIED
