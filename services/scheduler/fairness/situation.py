"""What a pass over the queue decides on, and what it decides, for one GPU type; the same for every policy.

Each job takes whole GPUs of one machine, or a part of one: 1, 2 or 4 eighths. Sizes are in eighths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from services.scheduler.fairness.queue_tree import WHOLE_GPU_MILLI
from services.scheduler.fairness.settings import Queues
from vocabulary.slots import EIGHTHS_PER_GPU, Slot, size_text


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that takes jobs. The order of machines breaks ties."""

    machine_id: str
    gpus: int
    taken: tuple[int, ...] = ()
    """The eighths of each GPU that other tenants have, as in `vocabulary/slots.py`; empty if they have none."""

    @property
    def own_gpus(self) -> int:
        """The number of GPUs that no other tenant has a part of."""
        return self.gpus - sum(map(bool, self.taken))


Scores: TypeAlias = "Callable[[Sequence[tuple[Machine, int]]], Sequence[float]]"
"""Scores machines, each given with its free GPUs; a higher score is better."""


@dataclass(frozen=True, slots=True)
class Running:
    """A job that holds GPUs of a machine."""

    job_id: str
    queue: str
    machine_id: str
    start_time: datetime
    eighths: int = EIGHTHS_PER_GPU
    slots: tuple[Slot, ...] = ()
    """Where they are; empty if that is not known, or does not matter."""
    stopping: bool = False
    """It is over or gives way, and its GPUs are about to be free."""
    gives_way_to: str = ""
    """The job that gets its GPUs then."""
    keeps: bool = False
    """It gives way to nobody."""
    end_time: datetime | None = None
    """It has ended by then, as its time limit is over; None if it may go on for ever."""
    least_eighths: int = 0
    """It can start again with so much, as it takes a range of whole GPUs; 0 if its size is fixed."""
    movable: bool = False
    """It may be stopped now, and start again on another machine."""
    machines: frozenset[str] | None = None
    """The machines that it may start on again; None for all."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A job that waits."""

    job_id: str
    queue: str
    turn_time: datetime
    """The earlier of two jobs of a queue goes first."""
    eighths: int = EIGHTHS_PER_GPU
    machines: frozenset[str] | None = None
    """The machines that it may run on; None for all."""
    promised: str = ""
    """The machine on which others gave way to it."""
    time_limit: timedelta | None = None
    """The longest time of a run; None for no limit."""
    scores: Scores | None = None
    """Chooses among machines that have room; None takes the fullest."""
    most_eighths: int = 0
    """It takes up to so many whole GPUs, if there are more than `eighths` for it; 0 if its size is fixed."""


@dataclass(frozen=True)
class Situation:
    """All that a plan depends on. Queues that the tree does not have count as the default queue."""

    gpu_type: str
    queues: Queues
    now: datetime
    machines: Sequence[Machine]
    running: Sequence[Running]
    waiting: Sequence[Candidate]
    """Within each queue, in the order in which they are to start."""
    further_eighths: Mapping[str, int] = field(default_factory=dict[str, int])
    """What jobs behind those of `waiting` want, by queue."""
    may_stop: bool = True
    """False if jobs take free GPUs only."""
    usage_ppm: Mapping[str, int] = field(default_factory=dict[str, int])
    """What queues used lately, decayed, as millionths of all GPUs of the type."""
    dated: Sequence[Dated] = ()
    """What is kept for reservations that start later, none of which is in `waiting`."""

    @property
    def own_milli(self) -> int:
        """Thousandths of GPUs that there are for us."""
        return sum(machine.own_gpus for machine in self.machines) * WHOLE_GPU_MILLI

    def queue_of(self, job: Running | Candidate) -> str:
        """The job's queue, which the tree has."""
        return self.queues.known(job.queue)


class StopKind(StrEnum):
    """What becomes of a running job that is stopped."""

    GIVES_WAY = "gives way"
    """It waits until there is room again."""
    SHRINKS = "shrinks"
    """It starts again with fewer GPUs of its machine."""
    MOVES = "moves"
    """It starts again on another machine."""


class Stop(NamedTuple):
    """A running job that is stopped so that another one gets its GPUs."""

    job_id: str
    winner: str
    reason: str
    kind: StopKind = StopKind.GIVES_WAY
    machine_id: str = ""
    """Where it starts again, if it does not only give way."""
    eighths: int = 0
    """What it starts again with there."""


class Hold(NamedTuple):
    """What is kept of a machine for a job, from a time on at the latest."""

    machine_id: str
    time: datetime
    slots: tuple[Slot, ...]

    def __str__(self) -> str:
        """Text for people."""
        size = size_text(sum(slot.eighths for slot in self.slots))
        return f"{size} of {self.machine_id} are kept for it, from {self.time:%H:%M:%S} UTC on at the latest"


class Dated(NamedTuple):
    """What is kept for a reservation that starts later: `hold` begins then."""

    job_id: str
    queue: str
    hold: Hold


class QueueState(NamedTuple):
    """What a queue may have and has, in thousandths of a GPU, with the jobs that start now."""

    quota: int
    fair_share: int
    used: int
    limit: int


@dataclass(frozen=True)
class Plan:
    """The decisions of one pass."""

    starts: Mapping[str, str]
    """Machines by job."""
    stops: tuple[Stop, ...] = ()
    promises: Mapping[str, str] = field(default_factory=dict[str, str])
    """The machine that each winner gets when those that give way have stopped, by job."""
    waiting: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why each other job waits."""
    queues: Mapping[str, QueueState] = field(default_factory=dict[str, QueueState])
    holds: Mapping[str, Hold] = field(default_factory=dict[str, Hold])
    """What is kept for some of those that wait, by job."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """What those that start get, in eighths, if that is more than the least."""
