"""Why each machine does not take a job, with the scores of those that have room."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from wavepool.executor.v1 import inventory_pb2

from servicekit.clock import ManualClock
from services.scheduler.config import SchedulerSettings
from services.scheduler.fairness.situation import Hold
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Isolation, Resources
from services.scheduler.queue.plugins import Choice, SchedulerPlugins
from services.scheduler.queue.refusals import MOST_MACHINES, Refusal, Refusals
from tests.services.scheduler.jobs import START, a_queued_job
from tests.services.scheduler.queue_bench import QueueBench, machine
from vocabulary.slots import WHOLE_GPU, Slot


class Pool(QueueBench):
    """Machines of a scheduler whose clock stands one minute after START."""

    def __init__(self, data_dir: Path) -> None:
        clock = ManualClock(START + timedelta(minutes=1))
        super().__init__(clock=clock, plugins=SchedulerPlugins(SchedulerSettings(data_dir=data_dir)))
        assert self.placements
        self._refusals = Refusals(self.waiting, self.running, self.situations, self.placements, clock)

    def machine(
        self, name: str, *free_masks: int, state: str = "WARM", devices: int = 1, torch: str = "", **changes: Any
    ) -> None:
        gpus = [inventory_pb2.Gpu(device_count=devices)] * len(free_masks)
        inventory = inventory_pb2.Inventory(gpus=gpus, torch_version=torch)
        fields = {"machine_id": name, "gpu_count": len(free_masks), "free_masks": free_masks, "inventory": inventory}
        self.reports(machine(0, state, **(fields | changes)))

    def refusals(self, job: Job) -> list[Refusal]:
        return self._refusals.of(job, self.inventory.offers())

    def reason(self, job: Job) -> str:
        (refusal,) = self.refusals(job)
        assert not refusal.scores
        return refusal.reason


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path)


def placing(job: Job, placement: str) -> Job:
    return replace(job, spec=replace(job.spec, placement=placement))


@pytest.mark.parametrize(
    ("placement", "best"), [("pack", "machine-2"), ("spread", "machine-1"), ("", "machine-2"), ("lost", "machine-2")]
)
def test_machines_with_room_come_first_with_their_scores_the_best_at_the_top(
    pool: Pool, placement: str, best: str
) -> None:
    pool.machine("machine-0", 0)
    pool.machine("machine-1", WHOLE_GPU, WHOLE_GPU, used_seconds=50)
    pool.machine("machine-2", WHOLE_GPU, 0)

    first, second, last = pool.refusals(placing(a_queued_job(), placement))

    used = {"machine-1": -10.0, "machine-2": -60.0}
    free = {"machine-1": 2.0, "machine-2": 1.0}
    name, sign = ("spread", 1) if placement == "spread" else ("pack", -1)
    assert (first.machine_id, last.machine_id) == (best, "machine-0")
    for one in (first, second):
        assert one.scores == (
            ("promised", 0.0),
            (name, sign * free[one.machine_id]),
            ("last_used", used[one.machine_id]),
        )
    assert not last.scores


def test_the_machine_that_others_give_way_on_is_the_best_and_of_equal_ones_the_one_used_last(pool: Pool) -> None:
    for number in range(3):
        pool.machine(f"machine-{number}", WHOLE_GPU, used_seconds=number)
    pool.situations.promises = {"job-001": "machine-1"}

    assert [one.machine_id for one in pool.refusals(a_queued_job())] == ["machine-1", "machine-2", "machine-0"]


def test_a_gpu_that_our_jobs_have_is_not_free_for_a_score_whatever_the_pool_last_said(pool: Pool) -> None:
    pool.machine("machine-1", WHOLE_GPU, WHOLE_GPU)
    pool.runs(a_queued_job(9), Slot(1, 0, 8))

    (only,) = pool.refusals(a_queued_job())

    assert dict(only.scores)["pack"] == -1


def test_a_machine_in_use_names_its_jobs_and_those_that_they_give_way_to(pool: Pool) -> None:
    pool.machine("machine-1", 0, 0)
    pool.runs(a_queued_job(9), Slot(1, 0, 8))
    assert pool.reason(a_queued_job()) == "its GPUs are in use by job-009"
    pool.situations.promises = {"job-007": "machine-1"}
    assert pool.reason(a_queued_job()).endswith("by job-009; some of them are about to go to job-007")


def test_what_is_kept_for_another_job_is_said_with_the_time_and_ones_own_hold_keeps_nothing_from_it(
    pool: Pool,
) -> None:
    pool.machine("machine-1", WHOLE_GPU, 0)
    hold = Hold("machine-1", START + timedelta(hours=1), (Slot(0, 0, 8), Slot(1, 0, 8)))
    pool.situations.holds = {"job-007": hold}

    assert pool.reason(a_queued_job()) == "what is free of it is kept for job-007, until 01:00:00 UTC at the latest"
    assert pool.refusals(a_queued_job(7))[0].scores


@pytest.mark.parametrize(("state", "words"), [("STARTING", "being started"), ("DRAINING", "about to stop")])
def test_a_machine_that_takes_no_jobs_now_says_so(pool: Pool, state: str, words: str) -> None:
    pool.machine("machine-1", WHOLE_GPU, state=state)
    assert words in pool.reason(a_queued_job())


def test_gpus_in_a_mode_that_cannot_give_a_part_are_named_by_their_mode(pool: Pool) -> None:
    half = a_queued_job(resources=Resources(4, Isolation.PARTITION, 1))
    pool.machine("machine-1", WHOLE_GPU, devices=8)
    assert pool.reason(half).endswith("4/8 of a GPU as 1 device (partition): they are in CPX mode")
    pool.machine("machine-1", WHOLE_GPU, devices=2)
    assert pool.refusals(half)[0].scores


def test_a_machine_with_too_few_gpus_says_how_many_it_has(pool: Pool) -> None:
    pool.machine("machine-1", WHOLE_GPU)
    assert pool.reason(a_queued_job(resources=Resources(32))) == "it has no GPUs for 4 GPUs: it has 1"


def test_torch_is_a_reason_only_if_another_machine_has_it(pool: Pool) -> None:
    pool.machine("machine-1", WHOLE_GPU)
    job = a_queued_job(has_definition=True)
    assert pool.refusals(job)[0].scores
    pool.machine("machine-2", 0, torch="2.13.0")
    reasons = {one.machine_id: one.reason for one in pool.refusals(job)}
    assert "not have torch" in reasons["machine-1"]
    assert "in use" in reasons["machine-2"]


def test_a_placement_that_fails_leaves_the_scores_to_pack_and_its_failure_is_not_counted(pool: Pool) -> None:
    class Broken:
        def score(self, job: object, machine: object) -> float:
            raise ZeroDivisionError

    choices: Any = pool.placements and pool.placements.choices
    choices._known["broken"] = broken = Choice("placement", "broken", Broken())
    pool.machine("machine-1", WHOLE_GPU)

    (only,) = pool.refusals(placing(a_queued_job(), "broken"))

    assert only.scores[1] == ("pack", -1.0)
    assert broken.failures == 0


def test_the_wanted_type_comes_before_those_that_will_do_and_a_list_has_an_end(pool: Pool) -> None:
    job = a_queued_job(fallback_gpu_types=("MI210",))
    for number in range(MOST_MACHINES):
        pool.machine(f"other-{number}", WHOLE_GPU, gpu_type="MI210")
    pool.machine("wanted", *[WHOLE_GPU] * 8)

    found = pool.refusals(job)

    assert found[0].machine_id == "wanted"
    assert len(found) == MOST_MACHINES
