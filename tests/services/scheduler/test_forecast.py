"""Forecasts from what the scheduler knows, and the count of those that came true."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from services.scheduler import metrics
from services.scheduler.fairness.settings import Queues, QueueSettings, Share
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.resources import Isolation, Resources, Reuse
from services.scheduler.jobs.run_history import LEAST_USES, kind_of
from services.scheduler.jobs.states import JobState
from services.scheduler.peers.pool import PoolLimits
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.ordering import Claim
from services.scheduler.queue.waiting import lane_of
from tests.services.scheduler.jobs import LEASE, START, a_queued_job
from tests.services.scheduler.queue_bench import QueueBench, machine
from vocabulary.slots import EIGHTHS_PER_GPU, WHOLE_GPU, Slot

SECOND = timedelta(seconds=1)


class Bench(QueueBench):
    """A forecast whose runs take 10 s, of which three are known."""

    def __init__(self) -> None:
        super().__init__()
        self.dated = DatedBook(self.waiting, self.running, self.inventory, self.clock, timedelta(minutes=15))
        self.forecast = Forecast(self.waiting, self.running, self.inventory, self.clock, self.book, self.dated)
        self.forecast.remember([(kind_of(a_queued_job()), 10 * SECOND)] * 3)

    def machine(self, name: str, state: str, free: int, start_seconds: int = 0) -> None:
        reported = machine(0, machine_id=name, state=state, free_masks=[255 if free else 0])
        event = vmpool_pb2.MachineEvent(machine=reported)
        if start_seconds:
            event.estimate.CopyFrom(Duration(seconds=start_seconds))
        self.inventory.apply(event)

    def machine_of(self, *free_masks: int, name: str = "m1", devices: int = 1, runs: int = 1, **changes: Any) -> None:
        gpus = [inventory_pb2.Gpu(device_count=devices)] * len(free_masks)
        inventory = inventory_pb2.Inventory(gpus=gpus, runs_per_device=runs)
        fields = {"machine_id": name, "free_masks": free_masks, "gpu_count": len(free_masks), "inventory": inventory}
        self.reports(machine(0, "BUSY", **(fields | changes)))

    def run(self, job: Job, *slots: Slot, machine_id: str = "m1") -> None:
        self.runs(job, *(slots or (Slot(0, 0, 8),)), machine_id=machine_id)

    def wait_of(self, job: Job) -> timedelta:
        wait = self.forecast.standing(job).wait
        assert wait is not None
        assert wait.p50 == wait.p90
        return wait.p50


@pytest.fixture
def bench() -> Bench:
    return Bench()


def counted(within: str) -> float:
    return metrics.wait_estimates.labels(within)._value.get()


def test_a_queue_that_was_removed_while_its_claims_are_known_hinders_no_forecast(bench: Bench) -> None:
    bench.machine("m1", "WARM", 1)
    bench.waiting.claims = {"MI300X": {"gone": Claim(used=1000, fair_share=4000), "default": Claim(0, 1000)}}
    assert bench.wait_of(a_queued_job(1)) == timedelta(0)


def test_the_rest_of_a_run_counts_and_not_the_whole(bench: Bench) -> None:
    bench.machine("m1", "BUSY", 0)
    bench.run(a_queued_job(1))
    bench.clock.advance(7 * SECOND)
    assert bench.wait_of(a_queued_job(2)) == 3 * SECOND
    bench.waiting.put(a_queued_job(3, age_seconds=60))
    standing = bench.forecast.standing(a_queued_job(4))
    assert (standing.position, standing.basis) == (2, "3 runs of the same problems")
    assert bench.wait_of(a_queued_job(4)) == 13 * SECOND


def a_reservation(number: int, minutes: float, start_minutes: float | None = None) -> Job:
    start = None if start_minutes is None else START + timedelta(minutes=start_minutes)
    reservation = Reservation("train", (), timedelta(minutes=minutes), start_time=start)
    limited = a_queued_job(number, resources=Resources(EIGHTHS_PER_GPU))
    return limited.changed(reservation=reservation, spec=replace(limited.spec, time_limit_seconds=round(minutes * 60)))


def test_what_is_kept_for_later_is_waited_for_by_those_who_would_not_end_before_it(bench: Bench) -> None:
    bench.machine_of(0, 255)
    bench.run(a_queued_job(1))
    bench.dated.put(a_reservation(2, minutes=60, start_minutes=20))
    assert bench.wait_of(a_queued_job(3)) == 0 * SECOND, "its limit is 15 minutes"
    assert bench.wait_of(a_reservation(3, 30)) == 0 * SECOND, "there is another GPU by then"
    bench.dated.put(a_reservation(4, minutes=60, start_minutes=20))
    assert bench.wait_of(a_reservation(3, 30)) == timedelta(minutes=80)
    assert bench.wait_of(a_reservation(3, 18)) == 0 * SECOND
    bench.dated.remove("job-002")
    assert bench.wait_of(a_reservation(3, 30)) == 0 * SECOND


def several(number: int, machines: int, minutes: float = 30, queue: str = "default") -> Job:
    """A reservation of several machines of one GPU."""
    job = a_reservation(number, minutes)
    return replace(job, spec=replace(job.spec, machines=machines, queue=queue))


def test_several_machines_are_waited_for_until_the_last_of_them_is_free(bench: Bench) -> None:
    bench.machine_of(WHOLE_GPU)
    bench.machine_of(0, name="m2")
    bench.run(a_reservation(1, 20), machine_id="m2")
    assert bench.wait_of(several(2, 2)) == timedelta(minutes=23), "20, the grace, and a minute to be prepared"
    bench.waiting.put(replace(several(3, 2, minutes=40), create_time=START - timedelta(hours=1)))
    assert bench.wait_of(several(4, 2)) == timedelta(minutes=66), "those ahead have them first"
    assert bench.wait_of(a_queued_job(5)) == timedelta(0), "it ends before they need the machine that is free"


def test_several_machines_are_waited_for_behind_what_is_kept_for_later(bench: Bench) -> None:
    for name in ("m1", "m2"):
        bench.machine_of(WHOLE_GPU, name=name)
    bench.dated.put(a_reservation(1, minutes=60, start_minutes=20))
    assert bench.wait_of(a_reservation(2, 30)) == timedelta(0), "the other machine is free"
    assert bench.wait_of(several(2, 2)) == timedelta(minutes=80)
    assert bench.wait_of(several(2, 2, minutes=10)) == timedelta(0)


def test_it_is_said_why_nobody_knows_when_several_machines_are_free(bench: Bench) -> None:
    def why(job: Job) -> str:
        standing = bench.forecast.standing(job)
        assert standing.wait is None
        return standing.unknown

    bench.machine_of(WHOLE_GPU)
    assert "it takes 2 whole machines, and fewer are there or on their way" in why(several(1, 2))
    bench.machine("m2", "PROVISIONING", 0)
    assert "it is not known yet how long the machines that are being started take" in why(several(1, 2))
    bench.machine("m2", "PROVISIONING", 0, start_seconds=200)
    assert bench.wait_of(several(1, 2)) == 200 * SECOND
    small = QueueSettings("small", resources={"gpu": Share(limit=1000)})
    bench.book.queues = Queues([QueueSettings("default"), small])
    assert "it takes more than its queue may have at once" in why(several(1, 2, queue="small"))


def test_machines_that_the_pool_may_still_start_count_with_their_measured_times(bench: Bench) -> None:
    def wait_of(number: int, gpu_type: str = "MI300X", **changes: Any) -> tuple[float, float] | str:
        job = a_reservation(number, 30)
        standing = bench.forecast.standing(replace(job, spec=replace(job.spec, gpu_type=gpu_type, **changes)))
        wait = standing.wait
        return (wait.p50.total_seconds(), wait.p90.total_seconds()) if wait else standing.unknown

    known: dict[str, tuple[float, float] | None] = {"MI300X": (4.0, 4.0), "MI210": None}
    bench.dated.limits = PoolLimits(2, starts=known)
    assert wait_of(1) == (4, 4), "of an empty pool"
    bench.machine_of(0)
    bench.run(a_reservation(1, 67))
    assert wait_of(2) == (4, 4)
    assert "how long a machine of its type takes to start" in str(wait_of(2, "MI210"))
    assert wait_of(2, reuse=Reuse.REUSE) == (4200, 4200), "none is started for it"
    bench.waiting.put(replace(a_reservation(3, 30), create_time=START - timedelta(hours=1)))
    assert wait_of(4) == (4 + 33 * 60, 4 + 33 * 60), "the new machine goes to the one ahead"
    bench.waiting.hopeless = {lane_of(a_reservation(3, 30)): "it is too large"}
    assert bench.forecast.standing(a_reservation(4, 30)).position == 1, "what can never start is not ahead"
    bench.waiting.remove("job-003")
    bench.reports(machine(2, gpu_type="MI210"))
    assert wait_of(2) == (4, 4), "an idle one of another type gives way"
    bench.waiting.put(a_queued_job(5, gpu_type="MI250X"))
    assert wait_of(2) == (4200, 4200), "one that waits for another type has the last one"
    bench.waiting.hopeless = {lane_of(a_queued_job(5, gpu_type="MI250X")): "there is none"}
    assert wait_of(2) == (4, 4), "but not if it can never start"
    bench.dated.limits = PoolLimits(2, starts=known, never_paid={"MI300X": "$0.00 is left"})
    assert wait_of(2) == (4200, 4200), "none can be paid for"
    bench.dated.limits = PoolLimits(2, starts=known)
    bench.waiting.remove("job-005")
    bench.forecast = Forecast(
        bench.waiting, bench.running, bench.inventory, bench.clock, bench.book, bench.dated, None, lambda _: "no money"
    )
    assert wait_of(2) == (4200, 4200), "the pool says that it starts none"


def test_what_other_queues_would_have_first_by_their_shares_is_no_promise(bench: Bench) -> None:
    for name in ("m1", "m2"):
        bench.machine_of(WHOLE_GPU, name=name)
    forecast = Forecast(
        bench.waiting, bench.running, bench.inventory, bench.clock, bench.book, bench.dated, lambda _: False
    )
    standing = forecast.standing(several(1, 2))
    assert (standing.wait, "fair share" in standing.unknown) == (None, True)
    assert forecast.standing(a_reservation(1, 30)).wait is not None


def left_early(number: int, state: JobState = JobState.CANCELLED) -> Job:
    """A reservation of ten hours that was used for one."""
    job, begin = a_reservation(number, minutes=600), START - timedelta(hours=20)
    reservation = replace(job.reserved, active_time=begin)
    return job.changed(state=state, reservation=reservation, create_time=begin, end_time=begin + timedelta(hours=1))


def test_people_are_taken_to_leave_as_early_as_those_did_whose_reservations_were_not_lost(bench: Bench) -> None:
    bench.machine_of(0)
    bench.run(a_reservation(1, minutes=600))
    whole, early = timedelta(minutes=603), timedelta(minutes=63)
    assert bench.wait_of(a_reservation(2, 30)) == whole
    lost = [left_early(number, JobState.FAILED) for number in range(LEAST_USES)]
    bench.forecast.remember_reservations(lost)
    assert bench.wait_of(a_reservation(2, 30)) == whole
    for number in range(LEAST_USES):
        bench.forecast.reservation_is_over(left_early(number))
    assert bench.wait_of(a_reservation(2, 30)) == early
    bench.forecast.remember_reservations([])
    assert bench.wait_of(a_reservation(2, 30)) == whole, "those of the rows count, and no others"
    bench.forecast.remember_reservations([left_early(number) for number in range(LEAST_USES)])
    assert bench.wait_of(a_reservation(2, 30)) == early


def test_machines_that_are_ended_before_a_reservation_is_over_are_none_for_it(bench: Bench) -> None:
    for name, hours in (("m1", 12), ("m2", 2)):
        bench.machine_of(WHOLE_GPU, name=name, max_duration=hours * timedelta(hours=1))
    assert bench.forecast.standing(several(1, 2, minutes=20)).wait is not None
    assert bench.forecast.standing(several(1, 2, minutes=120)).wait is None


def test_a_run_that_is_over_is_not_waited_for(bench: Bench) -> None:
    bench.machine("m1", "WARM", 8)
    bench.run(a_queued_job(1))
    assert bench.wait_of(a_queued_job(2)) == 10 * SECOND, "whatever the pool last said"
    bench.running.remove("lease of job-001")
    assert bench.wait_of(a_queued_job(2)) == timedelta(0)


def test_a_machine_that_is_being_started_is_waited_for(bench: Bench) -> None:
    bench.machine("m1", "PROVISIONING", 0, start_seconds=200)
    bench.clock.advance(50 * SECOND)
    assert bench.wait_of(a_queued_job(1)) == 150 * SECOND


def test_a_gpu_that_somebody_else_uses_is_taken_for_busy(bench: Bench) -> None:
    bench.machine("m1", "BUSY", 0)
    assert bench.wait_of(a_queued_job(1)) == 10 * SECOND


def test_halves_of_two_gpus_are_no_free_gpu(bench: Bench) -> None:
    bench.machine_of(0b1111, 0b1111)
    assert bench.wait_of(a_queued_job(1)) == 10 * SECOND
    bench.machine_of(0b1111, WHOLE_GPU)
    assert bench.wait_of(a_queued_job(1)) == timedelta(0)


def test_what_no_machine_can_give_has_no_estimate(bench: Bench) -> None:
    bench.machine_of(0, WHOLE_GPU)
    assert bench.wait_of(a_queued_job(1)) == timedelta(0)
    assert bench.wait_of(a_queued_job(1, resources=Resources(2 * EIGHTHS_PER_GPU))) == 10 * SECOND
    bench.machine("m2", "WARM", 8)
    bench.machine("m3", "WARM", 8)
    several, part = Resources(4 * EIGHTHS_PER_GPU), Resources(4, Isolation.PARTITION)
    for resources in (several, part):
        assert bench.forecast.standing(a_queued_job(1, resources=resources)).wait is None


def test_free_gpus_of_two_machines_are_not_those_of_one(bench: Bench) -> None:
    """Each of two machines has two free GPUs, and two of others whose runs take 10 s."""
    for name in ("m1", "m2"):
        bench.machine_of(WHOLE_GPU, 0, WHOLE_GPU, 0, name=name)
    assert bench.wait_of(a_queued_job(1, resources=Resources(16))) == timedelta(0)
    assert bench.wait_of(a_queued_job(1, resources=Resources(32))) == 10 * SECOND
    bench.waiting.put(a_queued_job(3, age_seconds=60, resources=Resources(32)))
    assert bench.wait_of(a_queued_job(4, resources=Resources(16))) == timedelta(0), "the other machine has room"
    assert bench.wait_of(a_queued_job(4, resources=Resources(32))) == 10 * SECOND


def test_parts_are_counted_in_eighths_on_gpus_in_their_mode(bench: Bench) -> None:
    half = Resources(4, Isolation.PARTITION)
    bench.machine_of(0b11110000, devices=2)
    bench.machine_of(WHOLE_GPU, name="m2")
    assert bench.wait_of(a_queued_job(1, resources=half)) == timedelta(0)
    bench.waiting.put(a_queued_job(3, age_seconds=60, resources=half))
    assert bench.wait_of(a_queued_job(4, resources=half)) == 10 * SECOND
    assert bench.wait_of(a_queued_job(4)) == timedelta(0)


def test_as_many_runs_share_a_device_as_may_whatever_their_size_is(bench: Bench) -> None:
    eighth = Resources(1, Isolation.TIME_SLICE)
    bench.machine_of(WHOLE_GPU, runs=2)
    bench.run(a_queued_job(1, resources=eighth), Slot(0, 0, 1))
    assert bench.wait_of(a_queued_job(3, resources=eighth)) == timedelta(0)
    bench.run(a_queued_job(2, resources=eighth), Slot(0, 1, 1))
    assert bench.wait_of(a_queued_job(3, resources=eighth)) == 10 * SECOND


def test_a_queue_at_its_limit_waits_for_its_own_runs_though_gpus_are_free(bench: Bench) -> None:
    small = QueueSettings("small", parent="lab")
    bench.book.queues = Queues([QueueSettings("lab", resources={"gpu": Share(limit=1000)}), small])
    bench.machine_of(WHOLE_GPU, 0)

    def of(queue: str, number: int) -> Job:
        job = a_queued_job(number)
        return replace(job, spec=replace(job.spec, queue=queue))

    bench.run(of("small", 1), Slot(1, 0, 8))
    bench.clock.advance(3 * SECOND)
    assert bench.wait_of(of("small", 2)) == 7 * SECOND
    assert bench.wait_of(of("default", 2)) == timedelta(0)
    for number in range(4):
        bench.waiting.put(replace(of("small", 10 + number), create_time=START - timedelta(hours=1)))
    assert bench.wait_of(of("default", 2)) == timedelta(0), "a queue at its limit holds nobody up"
    assert bench.wait_of(of("small", 2)) == 47 * SECOND


def test_a_fallback_type_counts_if_it_will_do_and_jobs_ahead_take_only_what_they_may(bench: Bench) -> None:
    bench.machine_of(0)
    bench.machine_of(WHOLE_GPU, name="m2", gpu_type="MI210")
    flexible = a_queued_job(1, fallback_gpu_types=("MI210",))
    bench.waiting.put(a_queued_job(2, age_seconds=60))
    assert bench.wait_of(flexible) == timedelta(0)
    assert bench.wait_of(a_queued_job(3)) == 20 * SECOND


@pytest.mark.parametrize(("waited", "within"), [(10, "p50"), (11, "neither")])
def test_it_is_counted_whether_a_job_started_when_it_was_told(bench: Bench, waited: int, within: str) -> None:
    bench.machine("m1", "BUSY", 0)
    job, before = a_queued_job(1), counted(within)
    assert bench.wait_of(job) == 10 * SECOND
    bench.machine("m1", "WARM", 8)
    assert bench.wait_of(job) == timedelta(0), "the first promise is what counts"
    started = job.start(LEASE, START + waited * SECOND, "MI300X")
    for _ in range(2):
        bench.forecast.starts(started)
    assert counted(within) == before + 1


def test_a_second_attempt_is_no_promise(bench: Bench) -> None:
    bench.machine("m1", "WARM", 8)
    again, before = replace(a_queued_job(1), attempt=2), counted("neither")
    bench.forecast.standing(again)
    bench.forecast.starts(again.start(LEASE, START + timedelta(hours=1), "MI300X"))
    assert counted("neither") == before
