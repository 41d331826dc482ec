"""What a plan sees of queue and machines; with the plan, which machine a job gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from services.scheduler.config import SchedulerSettings
from services.scheduler.fairness.settings import FairnessPolicy, Queues, QueueSettings, Share
from services.scheduler.fairness.situation import Hold, Plan, Stop, StopKind
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Isolation, Resources, Reuse
from services.scheduler.queue.plugins import SchedulerPlugins
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import MOST_PREEMPTIONS, MOST_STOPS, MOVE_COOL_DOWN, RETURN_TIME
from tests.services.scheduler.jobs import LEASE, START, a_queued_job
from tests.services.scheduler.queue_bench import QueueBench, machine
from vocabulary.limits import LONGEST_RUN
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU, Slot


def chosen(job: Job, machines: Sequence[vmpool_pb2.Machine], gpu_type: str = "MI300X") -> str | None:
    """The machine that the job is to start on, among those that want the type."""
    bench = QueueBench(*machines)
    bench.waiting.put(job)
    return bench.decided(gpu_type).starts.get(job.job_id)


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
    bench = QueueBench(*machines)
    for job in jobs:
        bench.waiting.put(job)
    return {job_id: one.slots for job_id, one in bench.situations.placements(bench.decided()).items()}


def wants(number: int, eighths: int, isolation: Isolation = Isolation.EXCLUSIVE, devices: int = 0) -> Job:
    return a_queued_job(number, resources=Resources(eighths, isolation, devices))


def partitioned(number: int, *device_counts: int, **changes: Any) -> vmpool_pb2.Machine:
    inventory = inventory_pb2.Inventory(gpus=[inventory_pb2.Gpu(device_count=count) for count in device_counts])
    fields: dict[str, Any] = {"gpu_count": len(device_counts), "free_masks": [255] * len(device_counts)}
    return machine(number, inventory=inventory, **(fields | changes))


def test_a_machine_that_starts_suits_only_what_such_machines_can_give() -> None:
    bench = QueueBench(machine(1, "STARTING"))
    half, whole = Resources(4, Isolation.PARTITION), Resources(8)

    def suits(resources: Resources) -> bool:
        return bench.inventory.suits(resources, ["MI300X"], "", bench.waiting)

    assert (suits(half), suits(whole)) == (True, True), "nobody knows what it will give"
    bench.reports(machine(2))
    assert (suits(half), suits(whole)) == (False, True)


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
    queues = Queues([QueueSettings("lab", placement=of_queue), QueueSettings("red", parent="lab")])
    two_gpus = [machine(number, gpu_count=2, free_masks=[255, 255], used_seconds=number) for number in (1, 2)]
    bench = QueueBench(*two_gpus, queues=queues, plugins=SchedulerPlugins(SchedulerSettings(data_dir=tmp_path)))
    for job in (a_queued_job(1), a_queued_job(2)):
        bench.waiting.put(replace(job, spec=replace(job.spec, queue="red", placement=asked)))
    assert len(set(bench.decided().starts.values())) == machines


def test_a_job_that_ends_before_one_hold_does_not_take_what_another_keeps() -> None:
    bench, short = QueueBench(machine(1, free_masks=[0]), machine(2, free_masks=[WHOLE_GPU])), a_queued_job(1)
    bench.waiting.put(short)
    decided = Plan(
        starts={short.job_id: "machine-1"},
        holds={
            "large": Hold("machine-1", START + timedelta(hours=1), whole(0)),
            "larger": Hold("machine-2", START + timedelta(seconds=1), whole(0)),
        },
    )
    assert bench.situations.placements(decided) == {}
    assert list(bench.situations.placements(replace(decided, holds={}))) == [short.job_id]


def whole(*gpus: int) -> tuple[Slot, ...]:
    return tuple(Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in gpus)


def with_gpus(count: int) -> QueueBench:
    """One machine of so many GPUs, of which the pool says that all are free."""
    return QueueBench(machine(1, gpu_count=count, free_masks=[WHOLE_GPU] * count))


def movable(number: int, **changes: Any) -> Job:
    job = a_queued_job(number, **changes)
    return replace(job, spec=replace(job.spec, movable=True))


def test_a_run_may_be_moved_if_it_agreed_and_is_old_enough_and_was_not_stopped_too_often() -> None:
    bench = with_gpus(8)
    often = replace(movable(3), attempt=4, attempts_excused=MOST_PREEMPTIONS)
    elsewhere = replace(movable(4), spec=replace(movable(4).spec, fallback_gpu_types=("MI210",)))
    for gpu, job in enumerate((a_queued_job(1), movable(2), often)):
        bench.runs(job, *whole(gpu))
    bench.running.put(elsewhere.start(replace(LEASE, lease_id="other"), START, "MI210"))

    def may_move(gpu_type: str = "MI300X") -> list[str]:
        return [one.job_id for one in bench.situations.of(gpu_type).running if one.movable and not one.keeps]

    assert may_move() == []
    bench.clock.advance(MOVE_COOL_DOWN)
    assert may_move() == ["job-002"]
    assert may_move("MI210") == [], "it would go back to its wanted type"
    bench.running.give_way("job-002", "job-009")
    assert may_move() == []


def test_a_run_that_could_not_end_before_its_deadline_if_it_started_again_is_not_moved_or_shrunk() -> None:
    bench = with_gpus(2)
    bench.clock.advance(MOVE_COOL_DOWN)
    last = bench.clock.now() + RETURN_TIME + LONGEST_RUN
    for number, deadline in enumerate((last, last - timedelta.resolution)):
        job = movable(number, resources=Resources(16, least_eighths=8))
        bench.runs(replace(job, spec=replace(job.spec, deadline=deadline)), *whole(number))
    found = bench.situations.of("MI300X").running
    assert [one.job_id for one in found if one.movable] == ["job-000"]
    assert [one.least_eighths for one in found] == [8, 0]


def test_the_place_of_a_run_that_moves_is_given_to_nobody_until_it_is_back_or_too_late() -> None:
    bench = QueueBench(*(machine(number, gpu_count=1, free_masks=[WHOLE_GPU]) for number in (1, 2)))
    leaving = bench.runs(movable(1), *whole(0))
    bench.running.give_way(leaving.job_id, "job-009")
    bench.situations.expect_back(Stop(leaving.job_id, "job-009", "", StopKind.MOVES, "machine-2", EIGHTHS_PER_GPU))
    behind, winner = a_queued_job(7), a_queued_job(9, resources=Resources(16))
    bench.waiting.put(behind)

    def starts() -> dict[str, str]:
        return dict(bench.decided().starts)

    assert starts() == {}
    assert bench.situations.returning_types() == {"MI300X"}
    bench.running.remove(leaving.leases[0].lease_id)
    bench.reports(machine(1, gpu_count=1, free_masks=[0]))
    assert starts() == {}, "it neither runs nor waits for a moment"
    bench.waiting.put(winner)
    bench.situations.keep_promises({winner.job_id: "machine-1"})
    bench.situations.keep_promises({})
    assert bench.situations.promises == {winner.job_id: "machine-1"}, "what was given up for it stays its own"
    bench.waiting.remove(winner.job_id)
    bench.waiting.put(leaving.retry(excused=True))
    assert starts() == {leaving.job_id: "machine-2"}, "it goes before others"
    bench.waiting.remove(leaving.job_id)
    bench.clock.advance(RETURN_TIME)
    assert starts() == {behind.job_id: "machine-2"}, "it did not come back"
    assert bench.situations.returning_types() == set()


def test_the_place_of_a_run_on_a_fallback_is_not_given_to_those_that_want_that_type_while_it_waits_again() -> None:
    bench = QueueBench(machine(1, gpu_type="MI210"))
    job = a_queued_job(1, resources=Resources(16, least_eighths=8), fallback_gpu_types=("MI210",))
    running = job.start(replace(LEASE, slots=whole(0)), START, "MI210")
    bench.running.put(running)
    bench.situations.expect_back(Stop(job.job_id, "job-009", "", StopKind.SHRINKS, LEASE.machine_id, EIGHTHS_PER_GPU))
    bench.running.remove(LEASE.lease_id)
    bench.waiting.put(running.retry(excused=True))
    bench.waiting.put(a_queued_job(2, age_seconds=99, gpu_type="MI210"))
    assert bench.situations.plan("MI210").starts == {}
    assert bench.situations.plan("MI210", fallback=True).starts == {job.job_id: LEASE.machine_id}


def test_a_range_on_a_machine_of_its_own_is_not_shrunk_as_its_next_attempt_gets_another_new_one() -> None:
    bench = with_gpus(8)
    for number, reuse in enumerate((Reuse.CREATE, Reuse.REUSE)):
        wide = a_queued_job(number, resources=Resources(16, least_eighths=8))
        bench.runs(replace(wide, spec=replace(wide.spec, reuse=reuse)), *whole(2 * number, 2 * number + 1))

    assert [one.least_eighths for one in bench.situations.of("MI300X").running] == [0, 8]


def test_a_range_that_is_shrunk_starts_with_no_more_than_it_was_told_until_it_is_back() -> None:
    bench = with_gpus(4)
    wide = bench.runs(a_queued_job(1, resources=Resources(32, least_eighths=8)), *whole(0, 1, 2, 3))
    bench.situations.expect_back(Stop(wide.job_id, "job-009", "", StopKind.SHRINKS, "machine-1", 16))
    bench.running.remove(wide.leases[0].lease_id)
    bench.waiting.put(wide.retry(excused=True))

    def size() -> int:
        return sum(slot.eighths for slot in bench.situations.placements(bench.decided())[wide.job_id].slots)

    assert size() == 16
    bench.situations.is_back(wide.job_id)
    assert size() == 32


@st.composite
def busy_queues(draw: st.DrawFn) -> QueueBench:
    """Up to four machines with whole GPUs, some in use, and up to forty jobs of several sizes in three queues."""
    shares = st.builds(Share, quota=st.sampled_from([0, 1000, 2000]), limit=st.sampled_from([None, 2000]))
    top = QueueSettings("lab", policy=draw(st.sampled_from(FairnessPolicy)))
    names = ["red", "green", "blue"]
    below = [QueueSettings(name, parent="lab", resources={"gpu": draw(shares)}) for name in names]
    bench = QueueBench(queues=Queues([top, *below]))

    def in_queue(job: Job) -> Job:
        return replace(job, spec=replace(job.spec, queue=draw(st.sampled_from(names))))

    for number in range(draw(st.integers(1, 4))):
        gpus = draw(st.sampled_from([1, 2, 8]))
        bench.reports(machine(number, gpu_count=gpus, free_masks=[255] * gpus))
        for gpu in range(draw(st.integers(0, gpus))):
            job = replace(a_queued_job(), job_id=f"running-{number}-{gpu}")
            bench.runs(in_queue(job), *whole(gpu), machine_id=f"machine-{number}")
    for number in range(draw(st.integers(1, 40))):
        resources = Resources(EIGHTHS_PER_GPU * draw(st.sampled_from([1, 1, 1, 2])))
        bench.waiting.put(in_queue(a_queued_job(number, age_seconds=draw(st.integers(0, 3)), resources=resources)))
    # So long ago that they may be stopped.
    bench.clock.advance(timedelta(hours=draw(st.integers(0, 1))))
    return bench


@given(busy_queues())
def test_a_look_at_few_jobs_starts_those_that_a_look_at_all_would(bench: QueueBench) -> None:
    few, everybody = bench.situations.plan("MI300X"), bench.decided()
    for part in ("starts", "stops", "promises", "holds", "queues"):
        assert getattr(few, part) == getattr(everybody, part)


def test_a_large_job_gets_its_hold_although_a_job_ahead_waits_for_a_machine_of_its_own() -> None:
    bench = QueueBench(machine(1, gpu_count=2, free_masks=[0, WHOLE_GPU]))
    bench.runs(a_queued_job(9), *whole(0))
    first, large = a_queued_job(1, age_seconds=9), a_queued_job(2, age_seconds=5, resources=Resources(16))
    for job in (replace(first, spec=replace(first.spec, reuse=Reuse.CREATE)), large, a_queued_job(3)):
        bench.waiting.put(job)

    assert bench.situations.plan("MI300X").holds.keys() == {large.job_id}
    assert first.job_id not in {one.job_id for one in bench.situations.of("MI300X").waiting}

    bench.reports(machine(2, own_job_id=first.job_id, gpu_count=1))
    assert bench.situations.plan("MI300X").starts[first.job_id] == "machine-2"


def test_a_queue_takes_back_as_many_gpus_in_a_pass_as_it_may_however_many_of_its_jobs_wait() -> None:
    shares = {"gpu": Share(quota=4000)}
    teams = [QueueSettings(name, parent="lab", resources=shares) for name in ("red", "blue")]
    full = machine(1, gpu_count=8, free_masks=[0] * 8)
    bench = QueueBench(full, queues=Queues([QueueSettings("lab"), *teams]))
    for gpu in range(8):
        job = replace(a_queued_job(), job_id=f"red-{gpu}")
        bench.runs(replace(job, spec=replace(job.spec, queue="red")), *whole(gpu))
    for number in range(10):
        job = a_queued_job(number)
        bench.waiting.put(replace(job, spec=replace(job.spec, queue="blue")))
    bench.clock.advance(timedelta(hours=1))

    decided = bench.situations.plan("MI300X")

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
