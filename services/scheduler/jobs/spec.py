"""The specification of an admitted job: every name in its one spelling."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from wavepool.submission.v1.submission_pb2 import Submission

from services.scheduler.jobs.resources import WHOLE_GPU, Resources, Reuse
from submissions.checks import MOST_BYTES
from vocabulary.limits import DEFAULT_QUEUE
from vocabulary.slots import EIGHTHS_PER_GPU, Slot, size_of


class WorkKind(NamedTuple):
    """A kind of waiting work: the GPU types that it may run on, the wanted one first, and what each job takes of them.

    A job takes `eighths` of each of `gpus` GPUs of one machine. A gang is so many jobs as it takes machines. With an
    `own_job_id` it is that job alone, and it wants a machine that is started for it.
    """

    gpu_types: tuple[str, ...]
    gpus: int = 1
    eighths: int = EIGHTHS_PER_GPU
    own_job_id: str = ""
    longest_seconds: int = 0
    """For how long a reservation has its machine; 0 for jobs, which are short."""


@dataclass(frozen=True)
class JobSpec:
    """The submission and the GPU types of a job."""

    submission: Submission
    """Without its texts: they are large, and only a run and its author need them."""
    gpu_type: str
    priority: int = 0
    fallback_gpu_types: tuple[str, ...] = ()
    """GPU types that will do, in this order, if no machine of `gpu_type` is free."""
    queue: str = DEFAULT_QUEUE
    time_limit_seconds: int = 0
    """The longest time of one attempt; 0 for the operator's limit, as in jobs from before there were limits."""
    resources: Resources = WHOLE_GPU
    job_class: str = ""
    """A class of its queue, whose value the queue gives; empty if the queue has none."""
    placement: str = ""
    """How its machine is chosen; empty for the queue's way."""
    movable: bool = False
    """A run may be stopped, and start again on another machine, if a larger job can start then."""
    deadline: datetime | None = None
    """It is to be over by then; None if it may wait for ever."""
    reuse: Reuse = Reuse.REUSE_OR_CREATE
    idle_seconds: int | None = None
    """How long its machine is to be kept idle after it; None for the pool's setting."""
    waits_for_operator: bool = False
    """It waits even if no machine can give it its GPUs as things are set now."""
    name: str = ""
    """For people."""
    machines: int = 1
    """It takes its resources of each of so many machines, of all or of none."""

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """All allowed GPU types, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)

    @property
    def gpus_in_all(self) -> int:
        """The number of GPUs that it lies on, of all its machines."""
        return self.resources.gpus * self.machines

    @property
    def least_milli(self) -> int:
        """The least that it takes of all its machines, in thousandths of a GPU."""
        return self.resources.least.milli * self.machines

    def longest_run(self, operators_limit: timedelta) -> timedelta:
        """The longest time of one attempt."""
        return timedelta(seconds=self.time_limit_seconds) if self.time_limit_seconds else operators_limit

    def latest_start(self, operators_limit: timedelta) -> datetime | None:
        """The last moment at which an attempt may start, so that it ends before the deadline; None without one."""
        return self.deadline - self.longest_run(operators_limit) if self.deadline else None

    def is_too_late(self, now: datetime, operators_limit: timedelta) -> bool:
        """True if an attempt that starts now might not end before the deadline."""
        return self.deadline is not None and now + self.longest_run(operators_limit) > self.deadline


def without_texts(submission: Submission) -> Submission:
    """Copies the submission without source, launch plan and problem definition."""
    rest = Submission()
    rest.CopyFrom(submission)
    for field in MOST_BYTES:
        rest.ClearField(field)
    return rest


def texts_of(submission: Submission) -> Submission:
    """Copies only the texts; merged with the rest, they give the submission again."""
    return Submission(**{field: getattr(submission, field) for field in MOST_BYTES})


@dataclass(frozen=True)
class Placement:
    """The slots of a machine that a job is to get: one slot, or 2, 4 or 8 whole GPUs."""

    machine_id: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Lease:
    """Slots of a machine, as vmpool leased them."""

    lease_id: str
    machine_id: str
    executor_endpoint: str
    executor_token: str
    fencing_token: int
    expire_time: datetime
    """The lease expires then if it is not renewed."""
    slots: tuple[Slot, ...]

    @property
    def eighths(self) -> int:
        """Total size of its slots."""
        return size_of(self.slots)
