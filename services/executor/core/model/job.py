"""A job: the submission in the form that the core runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from google.protobuf.message import DecodeError
from wavepool.executor.v1.judge_job_pb2 import JudgeJob
from wavepool.submission.v1.submission_pb2 import Submission

from problems.kit.definition import SizeSet
from submissions.modes import MODES, TIMING_MODES, Mode, TimingMode, timing_number
from vocabulary.limits import DEFAULT_DTYPE


class BadJobError(ValueError):
    """The bytes that a judge was given are not a job; the message names the fault."""


@dataclass(frozen=True)
class CoreJob:
    """One run of a submission, on some of a machine's devices. `problem` is a slug, empty for SANDBOX.

    `seed` fixes the inputs, for replays: any text, or the secret that a report reveals. Without it they come from the
    operating system's entropy, which is required whenever the author of the source must not know them.
    """

    source: str
    mode: Mode
    problem: str = ""
    dtype: str = DEFAULT_DTYPE
    size_set: SizeSet = SizeSet.CPU
    seed: str = ""
    launch_plan: str = ""
    """JSON (docs/contracts.md). If it is not empty, the source has only kernels: contract D."""
    problem_definition: str = ""
    """Python source of a problem class. If it is not empty, it replaces the catalogue's problem."""
    devices: tuple[int, ...] = ()
    """The machine's devices to run on; if empty, the default one."""
    has_part_of_gpu: bool = False
    """Other runs may be on the same GPU, so that no time is proven."""
    masked_eighths: tuple[int, int] = (0, 0)
    """The first eighth and the number of eighths of its device whose compute units it may use; all if they are 0."""
    timing_mode: TimingMode | None = None
    """The timing mode of the calls; None for the device's default."""
    profile: bool = False
    """Whether to make a profile once verdict and timing are known."""
    language: str = ""
    """The language that its author sent it as; it is compiled as HIP."""
    longest_seconds: float = 0.0
    """The time that the run may take; 0 if it has no limit. The giver of the job enforces it."""

    @classmethod
    def of(cls, submission: Submission, size_set: SizeSet, seed: str = "") -> Self:
        """The run of a submission that was checked; raises KeyError for an unknown mode."""
        return cls(
            source=submission.source,
            mode=MODES[submission.mode],
            problem=submission.problem,
            dtype=submission.dtype or DEFAULT_DTYPE,
            size_set=size_set,
            seed=seed,
            launch_plan=submission.launch_plan,
            problem_definition=submission.problem_definition,
            timing_mode=TIMING_MODES[submission.timing_mode],
            profile=submission.profile,
            language=submission.language,
        )

    def to_bytes(self) -> bytes:
        """The job in the form that a judge reads."""
        submission = Submission(
            problem=self.problem,
            source=self.source,
            launch_plan=self.launch_plan,
            problem_definition=self.problem_definition,
            mode=self.mode.number,
            dtype=self.dtype,
            timing_mode=timing_number(self.timing_mode),
            profile=self.profile,
            language=self.language,
        )
        return JudgeJob(
            submission=submission,
            size_set=self.size_set,
            seed=self.seed,
            devices=self.devices,
            has_part_of_gpu=self.has_part_of_gpu,
            longest_seconds=self.longest_seconds,
            first_masked_eighth=self.masked_eighths[0],
            masked_eighths=self.masked_eighths[1],
        ).SerializeToString()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads the result of `to_bytes`; raises BadJobError."""
        try:
            given = JudgeJob.FromString(data)
            job = cls.of(given.submission, SizeSet(given.size_set), given.seed)
        except DecodeError as error:
            raise BadJobError(f"not a JudgeJob message: {error}") from error
        except KeyError as error:
            raise BadJobError(f"mode, timing_mode: {error} is none that this judge knows") from error
        except ValueError as error:
            raise BadJobError(f"size_set: {error}") from error
        return replace(
            job,
            devices=tuple(given.devices),
            has_part_of_gpu=given.has_part_of_gpu,
            longest_seconds=given.longest_seconds,
            masked_eighths=(given.first_masked_eighth, given.masked_eighths),
        )
