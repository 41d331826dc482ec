"""What a plan sees of queue and machines; with the plan, which machine a job gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.clock import ManualClock
from services.scheduler.config import SchedulerSettings
from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fairness.situation import Hold, Plan, Stop, StopKind
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Isolation, Resources, Reuse
from services.scheduler.jobs.spec import Lease
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, ranked_by
from services.scheduler.queue.plugins import Placements, SchedulerPlugins
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import MOST_PREEMPTIONS, MOST_STOPS, MOVE_COOL_DOWN, RETURN_TIME, Situations
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.queue.waiting import WaitingJobs
from tests.services.scheduler.jobs import LEASE, START, a_queued_job
from vocabulary.limits import LONGEST_RUN
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU, Slot

NO_STORE: Any = None


def machine(number: int, state: str = "WARM", used_seconds: int = 0, **changes: Any) -> vmpool_pb2.Machine:
    at = int(START.timestamp())
    fields: dict[str, Any] = {
        "machine_id": f"machine-{number}",
        "gpu_type": "MI300X",
        "gpu_count": 1,
        "state": vmpool_pb2.MachineState.Value(f"MACHINE_STATE_{state}"),
        "free_masks": [255],
        "create_time": Timestamp(seconds=at + number),
        "last_used_time": Timestamp(seconds=at + used_seconds),
    }
    return vmpool_pb2.Machine(**(fields | changes))


def waiting_jobs() -> WaitingJobs:
    return WaitingJobs(ranked_by(Age(timedelta(seconds=1))))


def chosen(job: Job, machines: Sequence[vmpool_pb2.Machine], gpu_type: str = "MI300X") -> str | None:
    """The machine that the job is to start on, among those that want the type."""
    clock, waiting, inventory = ManualClock(START), waiting_jobs(), Inventory()
    for one in machines:
        inventory.apply(vmpool_pb2.MachineEvent(machine=one))
    waiting.put(job)
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting, RunningJobs(), inventory, clock, LONGEST_RUN)
    return plan(situations.of(gpu_type)).starts.get(job.job_id)


def test_job_goes_to_the_fitting_machine_that_was_used_last() -> None:
    machines = [
        machine(1),
        machine(2, used_seconds=9),
        machine(3, used_seconds=99, free_masks=[15]),
        machine(4, used_seconds=99, gpu_type="MI210"),
        machine(5, "DRAINING", used_seconds=99),
    ]
    assert chosen(a_queued_job(), machines) == "machine-2"


def test_job_that_fits_nowhere_gets_no_machine() -> None:
    assert chosen(a_queued_job(), [machine(1, free_masks=[0]), machine(2, "STARTING")]) is None


def test_a_job_does_not_take_part_where_its_fallback_is_wanted() -> None:
    job = a_queued_job(fallback_gpu_types=("MI210",))
    for gpu_type in ("MI300X", "MI210"):
        assert chosen(job, [machine(1, gpu_type="MI210")], gpu_type) is None


def placed(machines: Sequence[vmpool_pb2.Machine], *jobs: Job) -> dict[str, tuple[Slot, ...]]:
    """The slots of the jobs that start now, by job id."""
    clock, waiting, inventory = ManualClock(START), waiting_jobs(), Inventory()
    for one in machines:
        inventory.apply(vmpool_pb2.MachineEvent(machine=one))
    for job in jobs:
        waiting.put(job)
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting, RunningJobs(), inventory, clock, LONGEST_RUN)
    placements = situations.placements(plan(situations.of("MI300X")))
    return {job_id: placement.slots for job_id, placement in placements.items()}


def wants(number: int, eighths: int, isolation: Isolation = Isolation.EXCLUSIVE, devices: int = 0) -> Job:
    return a_queued_job(number, resources=Resources(eighths, isolation, devices))


def partitioned(number: int, *device_counts: int, **changes: Any) -> vmpool_pb2.Machine:
    inventory = inventory_pb2.Inventory(gpus=[inventory_pb2.Gpu(device_count=count) for count in device_counts])
    fields: dict[str, Any] = {"gpu_count": len(device_counts), "free_masks": [255] * len(device_counts)}
    return machine(number, inventory=inventory, **(fields | changes))


def test_several_gpus_are_of_one_machine() -> None:
    small, large = machine(1), machine(2, gpu_count=4, free_masks=[255, 0, 255, 255])

    assert placed([small, large], wants(1, 16)) == {"job-001": (Slot(2, 0, 8), Slot(3, 0, 8))}
    assert placed([small, small], wants(1, 16)) == {}


def test_parts_go_on_a_gpu_in_a_mode_that_has_them_and_fill_it_before_another() -> None:
    halves = [wants(number, 4, Isolation.PARTITION) for number in range(3)]

    found = placed([machine(1), partitioned(2, 2, 2)], *halves)

    assert [(slot.gpu, slot.first) for (slot,) in found.values()] == [(0, 0), (0, 4), (1, 0)]


def test_a_part_that_no_gpu_has_waits_and_holds_up_no_other_job() -> None:
    found = placed([machine(1), machine(2)], wants(1, 4, Isolation.PARTITION), wants(2, 8))

    assert found.keys() == {"job-002"}


def test_one_device_of_half_a_gpu_needs_a_gpu_of_two_devices() -> None:
    one_device = wants(1, 4, Isolation.PARTITION, devices=1)

    assert placed([partitioned(1, 8)], one_device) == {}
    assert placed([partitioned(1, 8, 2)], one_device) == {"job-001": (Slot(1, 0, 4),)}


def test_only_so_many_runs_share_a_device_as_its_machine_allows() -> None:
    shared = [wants(number, 2, Isolation.TIME_SLICE) for number in range(3)]
    for_two = machine(1, inventory=inventory_pb2.Inventory(runs_per_device=2))

    assert placed([for_two], *shared).keys() == {"job-000", "job-001"}
    assert placed([machine(1)], *shared) == {}


def test_parts_of_others_leave_the_rest_of_their_gpu_alone() -> None:
    assert placed([partitioned(1, 2, free_masks=[0xF0])], wants(1, 4, Isolation.PARTITION)) == {}


@pytest.mark.parametrize(
    ("of_queue", "asked", "machines"),
    [("", "", 1), ("spread", "", 2), ("spread", "pack", 1), ("", "spread", 2), ("lost", "", 1)],
)
def test_jobs_are_packed_or_spread_as_they_ask_or_else_as_their_queue_says(
    tmp_path: Path, of_queue: str, asked: str, machines: int
) -> None:
    settings = SchedulerSettings(data_dir=tmp_path)
    clock, waiting, inventory, book = ManualClock(START), waiting_jobs(), Inventory(), QueueBook(NO_STORE)
    book.queues = Queues([QueueSettings("lab", placement=of_queue), QueueSettings("red", parent="lab")])
    for number in (1, 2):
        two_gpus = machine(number, gpu_count=2, free_masks=[255, 255], used_seconds=number)
        inventory.apply(vmpool_pb2.MachineEvent(machine=two_gpus))
    for number in (1, 2):
        job = a_queued_job(number)
        waiting.put(replace(job, spec=replace(job.spec, queue="red", placement=asked)))
    placements = Placements(book, SchedulerPlugins(settings).placements)
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(book, usage, waiting, RunningJobs(), inventory, clock, LONGEST_RUN, placements)
    assert len(set(plan(situations.of("MI300X")).starts.values())) == machines


def test_a_job_that_ends_before_one_hold_does_not_take_what_another_keeps() -> None:
    clock, waiting, inventory = ManualClock(START), waiting_jobs(), Inventory()
    for one in (machine(1, free_masks=[0]), machine(2, free_masks=[WHOLE_GPU])):
        inventory.apply(vmpool_pb2.MachineEvent(machine=one))
    short = a_queued_job(1)
    waiting.put(short)
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting, RunningJobs(), inventory, clock, LONGEST_RUN)
    slots = (Slot(0, 0, EIGHTHS_PER_GPU),)
    decided = Plan(
        starts={short.job_id: "machine-1"},
        holds={
            "large": Hold("machine-1", START + timedelta(hours=1), slots),
            "larger": Hold("machine-2", START + timedelta(seconds=1), slots),
        },
        backfilled=frozenset({short.job_id}),
    )
    assert situations.placements(decided) == {}
    assert list(situations.placements(replace(decided, holds={}))) == [short.job_id]


def movable(number: int, **changes: Any) -> Job:
    job = a_queued_job(number, **changes)
    return replace(job, spec=replace(job.spec, movable=True))


def test_a_run_may_be_moved_if_it_agreed_and_is_old_enough_and_was_not_stopped_too_often() -> None:
    clock, waiting, inventory, running = ManualClock(START), waiting_jobs(), Inventory(), RunningJobs()
    inventory.apply(vmpool_pb2.MachineEvent(machine=machine(1, gpu_count=8, free_masks=[WHOLE_GPU] * 8)))
    often = replace(movable(3), attempt=4, attempts_excused=MOST_PREEMPTIONS)
    elsewhere = replace(movable(4), spec=replace(movable(4).spec, fallback_gpu_types=("MI210",)))
    for number, job in enumerate((a_queued_job(1), movable(2), often)):
        lease = replace(LEASE, lease_id=f"lease-{number}", slots=(Slot(number, 0, EIGHTHS_PER_GPU),))
        running.put(job.start(lease, START, "MI300X"))
    running.put(elsewhere.start(replace(LEASE, lease_id="other"), START, "MI210"))
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting, running, inventory, clock, LONGEST_RUN)

    def may_move(gpu_type: str = "MI300X") -> list[str]:
        return [one.job_id for one in situations.of(gpu_type).running if one.movable and not one.keeps]

    assert may_move() == []
    clock.advance(MOVE_COOL_DOWN)
    assert may_move() == ["job-002"]
    assert may_move("MI210") == [], "it would go back to its wanted type"
    running.give_way("job-002", "job-009")
    assert may_move() == []


def test_a_run_that_could_not_end_before_its_deadline_if_it_started_again_is_not_moved_or_shrunk() -> None:
    clock, waiting, inventory, running = ManualClock(START + MOVE_COOL_DOWN), waiting_jobs(), Inventory(), RunningJobs()
    inventory.apply(vmpool_pb2.MachineEvent(machine=machine(1, gpu_count=2, free_masks=[WHOLE_GPU] * 2)))
    last = clock.now() + RETURN_TIME + LONGEST_RUN
    for number, deadline in enumerate((last, last - timedelta.resolution)):
        job = movable(number, resources=Resources(16, least_eighths=8))
        lease = replace(LEASE, lease_id=f"lease-{number}", slots=(Slot(number, 0, EIGHTHS_PER_GPU),))
        running.put(replace(job, spec=replace(job.spec, deadline=deadline)).start(lease, START, "MI300X"))
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting, running, inventory, clock, LONGEST_RUN)

    assert [one.job_id for one in situations.of("MI300X").running if one.movable] == ["job-000"]
    assert [one.least_eighths for one in situations.of("MI300X").running] == [8, 0]


def test_the_place_of_a_run_that_moves_is_given_to_nobody_until_it_is_back_or_too_late() -> None:
    clock, waiting, inventory, running = ManualClock(START), waiting_jobs(), Inventory(), RunningJobs()
    for number in (1, 2):
        inventory.apply(vmpool_pb2.MachineEvent(machine=machine(number, gpu_count=1, free_masks=[WHOLE_GPU])))
    leaving = movable(1).start(replace(LEASE, slots=(Slot(0, 0, EIGHTHS_PER_GPU),)), START, "MI300X")
    running.put(leaving)
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting, running, inventory, clock, LONGEST_RUN)
    running.give_way(leaving.job_id, "job-009")
    situations.expect_back(Stop(leaving.job_id, "job-009", "", StopKind.MOVES, "machine-2", EIGHTHS_PER_GPU))
    behind, winner = a_queued_job(7), a_queued_job(9, resources=Resources(16))
    waiting.put(behind)

    def starts() -> dict[str, str]:
        return dict(plan(situations.of("MI300X")).starts)

    assert starts() == {}
    assert situations.returning_types() == {"MI300X"}
    running.remove(LEASE.lease_id)
    inventory.apply(vmpool_pb2.MachineEvent(machine=machine(1, gpu_count=1, free_masks=[0])))
    assert starts() == {}, "it neither runs nor waits for a moment"
    waiting.put(winner)
    situations.keep_promises({winner.job_id: "machine-1"})
    situations.keep_promises({})
    assert situations.promises == {winner.job_id: "machine-1"}, "what was given up for it stays its own"
    waiting.remove(winner.job_id)
    waiting.put(leaving.retry(excused=True))
    assert starts() == {leaving.job_id: "machine-2"}, "it goes before others"
    waiting.remove(leaving.job_id)
    clock.advance(RETURN_TIME)
    assert starts() == {behind.job_id: "machine-2"}, "it did not come back"
    assert situations.returning_types() == set()


def test_a_range_on_a_machine_of_its_own_is_not_shrunk_as_its_next_attempt_gets_another_new_one() -> None:
    clock, inventory, running = ManualClock(START), Inventory(), RunningJobs()
    inventory.apply(vmpool_pb2.MachineEvent(machine=machine(1, gpu_count=8, free_masks=[WHOLE_GPU] * 8)))
    for number, reuse in enumerate((Reuse.CREATE, Reuse.REUSE)):
        wide = a_queued_job(number, resources=Resources(16, least_eighths=8))
        slots = tuple(Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in (2 * number, 2 * number + 1))
        lease = replace(LEASE, lease_id=f"lease-{number}", slots=slots)
        running.put(replace(wide, spec=replace(wide.spec, reuse=reuse)).start(lease, START, "MI300X"))
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting_jobs(), running, inventory, clock, LONGEST_RUN)

    assert [one.least_eighths for one in situations.of("MI300X").running] == [0, 8]


def test_a_range_that_is_shrunk_starts_with_no_more_than_it_was_told_until_it_is_back() -> None:
    clock, waiting, inventory, running = ManualClock(START), waiting_jobs(), Inventory(), RunningJobs()
    inventory.apply(vmpool_pb2.MachineEvent(machine=machine(1, gpu_count=4, free_masks=[WHOLE_GPU] * 4)))
    wide = a_queued_job(1, resources=Resources(32, least_eighths=8))
    slots = tuple(Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in range(4))
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting, running, inventory, clock, LONGEST_RUN)
    started = wide.start(replace(LEASE, slots=slots), START, "MI300X")
    running.put(started)
    situations.expect_back(Stop(wide.job_id, "job-009", "", StopKind.SHRINKS, "machine-1", 16))
    running.remove(LEASE.lease_id)
    waiting.put(started.retry(excused=True))

    def size() -> int:
        return sum(slot.eighths for slot in situations.placements(plan(situations.of("MI300X")))[wide.job_id].slots)

    assert size() == 16
    situations.is_back(wide.job_id)
    assert size() == 32


@st.composite
def busy_queues(draw: st.DrawFn) -> Situations:
    """Up to four machines with whole GPUs, some in use, and up to forty jobs of several sizes in three queues."""
    clock, waiting, inventory, running = ManualClock(START), waiting_jobs(), Inventory(), RunningJobs()
    shares = st.builds(Share, quota=st.sampled_from([0, 1000, 2000]), limit=st.sampled_from([None, 2000]))
    book = QueueBook(NO_STORE)
    top = QueueSettings("lab", policy=draw(st.sampled_from(FairnessPolicy)))
    names = ["red", "green", "blue"]
    book.queues = Queues([top, *(QueueSettings(name, parent="lab", resources={"gpu": draw(shares)}) for name in names)])

    def in_queue(job: Job) -> Job:
        return replace(job, spec=replace(job.spec, queue=draw(st.sampled_from(names))))

    for number in range(draw(st.integers(1, 4))):
        gpus = draw(st.sampled_from([1, 2, 8]))
        inventory.apply(vmpool_pb2.MachineEvent(machine=machine(number, gpu_count=gpus, free_masks=[255] * gpus)))
        for gpu in range(draw(st.integers(0, gpus))):
            name = f"{number}-{gpu}"
            lease = Lease(name, f"machine-{number}", "", "", 1, START, (Slot(gpu, 0, EIGHTHS_PER_GPU),))
            running.put(in_queue(replace(a_queued_job(), job_id=f"running-{name}")).start(lease, START, "MI300X"))
    for number in range(draw(st.integers(1, 40))):
        eighths = EIGHTHS_PER_GPU * draw(st.sampled_from([1, 1, 1, 2]))
        waiting.put(in_queue(a_queued_job(number, age_seconds=draw(st.integers(0, 3)), resources=Resources(eighths))))
    # So long ago that they may be stopped.
    clock.advance(timedelta(hours=draw(st.integers(0, 1))))
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    return Situations(book, usage, waiting, running, inventory, clock, LONGEST_RUN)


@given(busy_queues())
def test_a_look_at_few_jobs_starts_those_that_a_look_at_all_would(situations: Situations) -> None:
    few, all_of_them = situations.plan("MI300X"), plan(situations.of("MI300X"))

    assert (few.starts, few.stops, few.promises, few.holds) == (
        all_of_them.starts,
        all_of_them.stops,
        all_of_them.promises,
        all_of_them.holds,
    )
    assert few.queues == all_of_them.queues


def test_a_large_job_gets_its_hold_although_a_job_ahead_waits_for_a_machine_of_its_own() -> None:
    clock, waiting, inventory, running = ManualClock(START), waiting_jobs(), Inventory(), RunningJobs()
    inventory.apply(vmpool_pb2.MachineEvent(machine=machine(1, gpu_count=2, free_masks=[0, WHOLE_GPU])))
    held = a_queued_job(9).start(replace(LEASE, slots=(Slot(0, 0, EIGHTHS_PER_GPU),)), START, "MI300X")
    running.put(held)
    first, large = a_queued_job(1, age_seconds=9), a_queued_job(2, age_seconds=5, resources=Resources(16))
    waiting.put(replace(first, spec=replace(first.spec, reuse=Reuse.CREATE)))
    waiting.put(large)
    waiting.put(a_queued_job(3))
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(QueueBook(NO_STORE), usage, waiting, running, inventory, clock, LONGEST_RUN)

    assert situations.plan("MI300X").holds.keys() == {large.job_id}
    assert first.job_id not in {one.job_id for one in situations.of("MI300X").waiting}

    own = machine(2, own_job_id=first.job_id, gpu_count=1)
    inventory.apply(vmpool_pb2.MachineEvent(machine=own))
    assert situations.plan("MI300X").starts[first.job_id] == "machine-2"


def test_a_queue_takes_back_as_many_gpus_in_a_pass_as_it_may_however_many_of_its_jobs_wait() -> None:
    clock, waiting, inventory, running = ManualClock(START), waiting_jobs(), Inventory(), RunningJobs()
    inventory.apply(vmpool_pb2.MachineEvent(machine=machine(1, gpu_count=8, free_masks=[0] * 8)))
    book = QueueBook(NO_STORE)
    shares = {"gpu": Share(quota=4000)}
    book.queues = Queues(
        [QueueSettings("lab"), *(QueueSettings(name, parent="lab", resources=shares) for name in ("red", "blue"))]
    )
    for gpu in range(8):
        lease = Lease(f"lease-{gpu}", "machine-1", "", "", 1, START, (Slot(gpu, 0, EIGHTHS_PER_GPU),))
        job = replace(a_queued_job(), job_id=f"red-{gpu}")
        running.put(replace(job, spec=replace(job.spec, queue="red")).start(lease, START, "MI300X"))
    for number in range(10):
        job = a_queued_job(number)
        waiting.put(replace(job, spec=replace(job.spec, queue="blue")))
    clock.advance(timedelta(hours=1))
    usage = UsageBook(NO_STORE, timedelta(0), clock)
    situations = Situations(book, usage, waiting, running, inventory, clock, LONGEST_RUN)

    decided = situations.plan("MI300X")

    assert len(decided.stops) == len(decided.promises) == MOST_STOPS


def test_a_run_that_was_to_give_way_and_is_taken_on_again_counts_as_going_on() -> None:
    running = RunningJobs()
    started = a_queued_job().start(LEASE, START, "MI300X")
    running.put(started)
    running.give_way(started.job_id, "winner")
    assert running.winner(started.job_id) == "winner"

    running.put(started)

    assert not running.winner(started.job_id)
    assert not running.winners()
