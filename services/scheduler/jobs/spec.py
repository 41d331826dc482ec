"""What a job runs, once `admit` has accepted it: every name in its one spelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavepool.submission.v1.submission_pb2 import Submission

from submissions.checks import MOST_BYTES

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class JobSpec:
    """What to run, and on what."""

    submission: Submission
    """Without its texts: they are large, and only a run and its author need them."""
    gpu_type: str
    priority: int = 0
    fallback_gpu_types: tuple[str, ...] = ()
    """Where no machine of `gpu_type` is free, these will do, in this order."""

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """What it may run on, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)


def without_texts(submission: Submission) -> Submission:
    """A copy that has neither source nor launch plan nor problem definition."""
    rest = Submission()
    rest.CopyFrom(submission)
    for field in MOST_BYTES:
        rest.ClearField(field)
    return rest


def texts_of(submission: Submission) -> Submission:
    """A copy that has nothing else: merged with the rest, it is the submission again."""
    return Submission(**{field: getattr(submission, field) for field in MOST_BYTES})


@dataclass(frozen=True)
class Lease:
    """Slots of a machine, as vmpool gave them out."""

    lease_id: str
    machine_id: str
    executor_endpoint: str
    executor_token: str
    fencing_token: int
    eighths: int
    expire_time: datetime
    """Unless it is renewed."""
    gpu: int | None = None
    """The machine's GPU that the eighths are of; None where vmpool did not tell."""
    first_eighth: int | None = None
    """The first of the eighths on that GPU."""
