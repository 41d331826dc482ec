"""The same events give the same placements: in a replay, and after a restart at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.clock import ManualClock
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Isolation, Resources
from services.scheduler.jobs.spec import Lease, Placement
from tests.services.scheduler.jobs import START, a_queued_job
from tests.services.scheduler.queue_bench import QueueBench, machine
from vocabulary.slots import WHOLE_GPU, covered

QUEUES = ("red", "green")
MACHINES, GPUS = 2, 4


class Submitted(NamedTuple):
    """A job comes."""

    queue: str
    eighths: int
    priority: int


class Ended(NamedTuple):
    """Of the jobs that run, the one at this place ends."""

    place: int


class Passed(NamedTuple):
    """Time passes."""

    seconds: int


Event = Submitted | Ended | Passed
EVENTS = st.one_of(
    st.builds(Submitted, st.sampled_from(QUEUES), st.sampled_from([4, 8, 8, 16]), st.integers(0, 1)),
    st.builds(Ended, st.integers(0, MACHINES * GPUS)),
    st.builds(Passed, st.integers(1, 100)),
)


@dataclass
class World:
    """A queue and two machines, of which one has partitioned GPUs; each event is followed by a pass."""

    policy: FairnessPolicy
    clock: ManualClock = field(default_factory=lambda: ManualClock(START))
    jobs: dict[str, Job] = field(default_factory=dict[str, Job])
    """Those that wait or run, as their rows have them."""
    log: list[dict[str, Placement]] = field(default_factory=list[dict[str, "Placement"]])
    submitted: int = 0

    def __post_init__(self) -> None:
        self.restart(lambda jobs: jobs)

    def restart(self, in_order: Callable[[list[Job]], Iterable[Job]]) -> None:
        """Forgets what is in memory, and reads the rows, in whatever order they come."""
        shares = {"gpu": Share(MACHINES * GPUS * 500)}
        lab = QueueSettings("lab", policy=self.policy)
        below = [QueueSettings(name, parent="lab", resources=shares) for name in QUEUES]
        bench = QueueBench(clock=self.clock, queues=Queues([lab, *below]), point=timedelta(seconds=9))
        self.waiting, self.running, self.inventory = bench.waiting, bench.running, bench.inventory
        self.situations = bench.situations
        for job in in_order(list(self.jobs.values())):
            (self.running if job.lease else self.waiting).put(job)
        self._report()

    def play(self, events: Sequence[Event]) -> None:
        """Each event in turn, with what a pass then starts."""
        for event in events:
            self._apply(event)
            self._report()
            placements = self.situations.placements(self.situations.plan("MI300X"))
            self.log.append(placements)
            for job_id, placement in placements.items():
                self._start(job_id, placement)

    def _apply(self, event: Event) -> None:
        if isinstance(event, Submitted):
            self.submitted += 1
            isolation = Isolation.PARTITION if event.eighths < 8 else Isolation.EXCLUSIVE
            resources = Resources(event.eighths, isolation)
            job = a_queued_job(self.submitted, resources=resources, priority=event.priority)
            job = replace(job, create_time=self.clock.now(), spec=replace(job.spec, queue=event.queue))
            self.jobs[job.job_id] = job
            self.waiting.put(job)
        elif isinstance(event, Passed):
            self.clock.advance(timedelta(seconds=event.seconds))
        elif running := sorted(self.running.jobs(), key=lambda job: job.job_id):
            job = running[event.place % len(running)]
            assert job.lease
            self.running.remove(job.lease.lease_id)
            del self.jobs[job.job_id]

    def _start(self, job_id: str, placement: Placement) -> None:
        job = self.jobs[job_id]
        lease = Lease(f"lease-{job_id}", placement.machine_id, "", "", 1, START, placement.slots)
        started = self.jobs[job_id] = job.start(lease, self.clock.now(), "MI300X")
        self.waiting.remove(job_id)
        self.running.put(started)

    def _report(self) -> None:
        """What the pool says of its machines."""
        held = self.running.jobs()
        for number in range(MACHINES):
            name = f"machine-{number}"
            slots = [slot for job in held if job.lease and job.machine_id == name for slot in job.lease.slots]
            free = [WHOLE_GPU & ~mask for mask in covered([0] * GPUS, slots)]
            changes: dict[str, Any] = {"gpu_count": GPUS, "free_masks": free}
            reported = machine(number, **changes)
            if number:
                for _ in range(GPUS):
                    reported.inventory.gpus.add(device_count=2)
            self.inventory.apply(vmpool_pb2.MachineEvent(machine=reported))


@given(st.sampled_from(FairnessPolicy), st.lists(EVENTS, max_size=40), st.integers(0, 40), st.randoms())
def test_a_replay_gives_the_same_placements_and_so_does_a_restart_at_any_moment(
    policy: FairnessPolicy, events: list[Event], moment: int, random: Any
) -> None:
    def shuffled(jobs: list[Job]) -> list[Job]:
        random.shuffle(jobs)
        return jobs

    original, replayed, restarted = World(policy), World(policy), World(policy)
    original.play(events)
    replayed.play(events)
    restarted.play(events[:moment])
    restarted.restart(shuffled)
    restarted.play(events[moment:])

    assert replayed.log == original.log
    assert restarted.log == original.log
