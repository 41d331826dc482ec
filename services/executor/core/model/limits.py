"""Limits of time, memory and processes for each stage of a run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from services.executor.core.model.flushing import CPU_FLUSH
from services.executor.sandboxes.sandbox import Limits

_OUTPUT_BYTES = 64 << 10
COMPILER_PROCESSES = 512
"""Where sandboxes share a user, the kernel counts the processes of all: beside seven that submissions have filled, a
compiler still finds room. No source can have it start any."""
_JUDGES_TIME = timedelta(minutes=4)
"""With a runner's own time it stays below LONGEST_RUN, for which a scheduler waits."""
_MOST_OF_MEMORY = 0.75
_SWEEP_MIB = (CPU_FLUSH.most_bytes + CPU_FLUSH.probe_bytes) >> 20


def _builder() -> Limits:
    # The processor time bounds the source; on a busy machine an honest one can wait for its turn for minutes.
    return Limits(
        wall=timedelta(seconds=240),
        cpu=timedelta(seconds=60),
        memory_mib=4096,
        processes=COMPILER_PROCESSES,
        file_mib=256,
        output_bytes=256 << 10,
    )


@dataclass(frozen=True)
class Share:
    """What of this machine one submission's sandbox may use at once."""

    memory_mib: int = 16384
    cores: float = 4.0

    @classmethod
    def on_processors(cls, machine_memory_mib: int, processors: int) -> Share:
        """Where kernels run on the host: all processors, and on a small machine some memory less, for the judge."""
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
    """`runner.file_mib` is what a submission may write itself; the shared memory comes on top of it.

    `runner.wall` is for all that a process is asked to do, the judge's own work between its orders left out.

    `start_seconds` is how long a runner may take to come up, `copy_seconds` how long it may take to move a call's data.
    `call_seconds` replaces the problem's own time limit of a call where it is smaller.
    """

    builder: Limits = field(default_factory=_builder)
    runner: Limits = field(default_factory=_runner)
    program: Limits = field(default_factory=_program)
    start_seconds: float = 20.0
    copy_seconds: float = 30.0
    call_seconds: float = float("inf")
    definition: Limits = field(default_factory=_definition)
    """Of a problem definition that came with a submission, for a whole run."""
    definition_start_seconds: float = 120.0
    """The longest that torch may take to load before such a definition does."""
    definition_seconds: float = 60.0
    """The longest that such a definition may take to load, for a call's inputs, or for what is right for them."""
    definition_looking_seconds: float = 30.0
    """After which no further case of it is tried."""
    definition_array_mib: int = 2048
    """The most that it may give in one answer."""

    def within(self, share: Share) -> StageLimits:
        """The same, where a submission's sandbox may use no more than `share`."""
        own = {"memory_mib": share.memory_mib, "cores": share.cores}
        return replace(self, runner=replace(self.runner, **own), program=replace(self.program, **own))

    @property
    def runner_sandbox(self) -> Limits:
        """A runner's sandbox: on top of what a submission may use, what our sweeps of the caches do on a processor.

        The sandbox stays while the judge draws and compares, which is no time of the submission's.
        """
        memory_mib = self.runner.memory_mib + _SWEEP_MIB
        return replace(self.runner, memory_mib=memory_mib, wall=self.runner.wall + _JUDGES_TIME)


def with_one_more_byte(limits: Limits) -> Limits:
    """For a sandbox whose output is shown: it keeps a byte more than that, whose coming says that there was more."""
    return replace(limits, output_bytes=limits.output_bytes + 1)
