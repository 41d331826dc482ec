"""What the core is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from problems.kit.definition import SizeSet
from submissions.modes import MODES, TIMING_MODES, Mode, TimingMode
from vocabulary.limits import DEFAULT_DTYPE

if TYPE_CHECKING:
    from wavepool.submission.v1.submission_pb2 import Submission


@dataclass(frozen=True)
class CoreJob:
    """One run of a submission, on some of a machine's devices. `problem` is a slug, empty for SANDBOX.

    `seed` fixes the inputs, for replays: any text, or the secret that a report reveals. Without it they come from the
    operating system's entropy, as they must wherever the author of the source may not know them.
    """

    source: str
    mode: Mode
    problem: str = ""
    dtype: str = DEFAULT_DTYPE
    size_set: SizeSet = SizeSet.CPU
    seed: str = ""
    launch_plan: str = ""
    """JSON (docs/contracts.md); where there is one, the source is kernels only: contract D."""
    problem_definition: str = ""
    """Python source of a problem class; where there is one, it is used in place of the catalogue's problem."""
    devices: tuple[int, ...] = ()
    """The machine's devices that the run is on; the default one where none is named."""
    timing_mode: TimingMode | None = None
    """How calls are timed; the device's own way where it is None."""

    @classmethod
    def of(cls, submission: Submission, size_set: SizeSet, seed: str = "") -> Self:
        """The run of a submission that was checked; raises KeyError for a mode that we do not know."""
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
        )
