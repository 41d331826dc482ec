"""Limits of time, memory and processes for each stage of a run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from services.executor.core.model.flushing import CPU_FLUSH
from services.executor.sandboxes.sandbox import Limits

_OUTPUT_BYTES = 64 << 10
COMPILER_PROCESSES = 512
"""The limit of a compiler's processes. It is generous, as no source can make a compiler start any.

If sandboxes share a user, the kernel counts their processes together. With this limit a compiler can start beside seven
sandboxes that submissions have filled.
"""
_JUDGES_TIME = timedelta(minutes=4)
"""Time for the judge's own work. With a runner's time it stays below SCHEDULER_LONGEST_RUN, which ends a run."""
_MOST_OF_MEMORY = 0.75
_SWEEP_MIB = (CPU_FLUSH.most_bytes + CPU_FLUSH.probe_bytes) >> 20


def _builder() -> Limits:
    # The processor time limits the source; on a busy machine an honest one can wait for its turn for minutes.
    return Limits(
        wall=timedelta(seconds=90),
        busy_wall=timedelta(seconds=240),
        cpu=timedelta(seconds=60),
        memory_mib=4096,
        processes=COMPILER_PROCESSES,
        file_mib=256,
        output_bytes=256 << 10,
    )


@dataclass(frozen=True)
class Share:
    """The part of this machine that one submission's sandbox may use at once."""

    memory_mib: int = 16384
    cores: float = 4.0

    @classmethod
    def on_processors(cls, machine_memory_mib: int, processors: int) -> Share:
        """The share if kernels run on the host: all processors. A small machine keeps some memory for the judge."""
        return cls(min(cls.memory_mib, int(machine_memory_mib * _MOST_OF_MEMORY)), processors)


def _runner() -> Limits:
    return Limits(
        wall=timedelta(minutes=10),
        cpu=timedelta(minutes=20),
        memory_mib=16384,
        processes=64,
        file_mib=256,
        output_bytes=_OUTPUT_BYTES,
    )


def _program() -> Limits:
    return Limits(
        wall=timedelta(seconds=240),
        cpu=timedelta(seconds=480),
        memory_mib=16384,
        processes=64,
        file_mib=256,
        output_bytes=_OUTPUT_BYTES,
    )


def _definition() -> Limits:
    return Limits(
        wall=timedelta(minutes=14),
        cpu=timedelta(minutes=14),
        memory_mib=8192,
        processes=64,
        file_mib=64,
        output_bytes=_OUTPUT_BYTES,
    )


@dataclass(frozen=True)
class StageLimits:
    """The limits of each stage of a run.

    `runner.file_mib` is what a submission may write itself; shared memory comes on top of it. `runner.wall` is for
    everything that a process is ordered to do, without the judge's own work between its orders.

    `start_seconds` is the longest that a runner may take to start, and `copy_seconds` to move a call's data.
    `call_seconds` replaces the problem's own time limit of a call if it is smaller.
    """

    builder: Limits = field(default_factory=_builder)
    runner: Limits = field(default_factory=_runner)
    program: Limits = field(default_factory=_program)
    start_seconds: float = 20.0
    copy_seconds: float = 30.0
    call_seconds: float = float("inf")
    definition: Limits = field(default_factory=_definition)
    """The sandbox of a problem definition that came with a submission, for a whole run."""
    definition_start_seconds: float = 120.0
    """The longest that torch may take to load before such a definition is loaded."""
    definition_seconds: float = 60.0
    """The longest that such a definition may take to load, to make a call's inputs, or to compute their reference."""
    definition_looking_seconds: float = 30.0
    """The time after which no further case of it is tried."""
    definition_array_mib: int = 2048
    """The most that the arrays of one of its answers may take together."""
    profile_seconds: float = 60.0
    """The longest that a profile may take, after the verdict."""

    def within(self, share: Share) -> StageLimits:
        """The same limits for a submission's sandbox that may use only `share`."""
        own = {"memory_mib": share.memory_mib, "cores": share.cores}
        return replace(self, runner=replace(self.runner, **own), program=replace(self.program, **own))

    @property
    def runner_sandbox(self) -> Limits:
        """A runner's sandbox: the submission's limits, and on top the memory of our cache sweeps on a processor.

        The sandbox stays while the judge draws and compares, which does not count as the submission's time.
        """
        memory_mib = self.runner.memory_mib + _SWEEP_MIB
        return replace(self.runner, memory_mib=memory_mib, wall=self.runner.wall + _JUDGES_TIME)


def with_one_more_byte(limits: Limits) -> Limits:
    """Limits for a sandbox whose output is shown: one byte more is kept, which says that there was more output."""
    return replace(limits, output_bytes=limits.output_bytes + 1)
