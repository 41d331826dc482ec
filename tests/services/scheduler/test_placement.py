from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.resources import Isolation, Resources, Reuse
from services.scheduler.queue.placement import (
    MachineOffer,
    MachineStage,
    awaited_machines,
    machine_with_torch,
)
from tests.services.scheduler.jobs import START, a_queued_job


def offer(number: int, stage: MachineStage = MachineStage.READY, **changes: Any) -> MachineOffer:
    fields: dict[str, Any] = {
        "machine_id": f"machine-{number}",
        "gpu_type": "MI300X",
        "stage": stage,
        "free_masks": (255,),
        "create_time": START + timedelta(seconds=number),
        "last_used_time": START,
    }
    return MachineOffer(**(fields | changes))


def test_job_with_a_definition_waits_for_a_machine_with_torch_if_there_is_one() -> None:
    job = a_queued_job(has_definition=True, fallback_gpu_types=("MI210",))
    bare, busy = offer(1), offer(2, has_torch=True, free_masks=(0,))
    closed, other_type = offer(3, MachineStage.CLOSED, has_torch=True), offer(4, has_torch=True, gpu_type="MI250X")
    assert machine_with_torch(job, [bare, closed, other_type]) is None
    assert machine_with_torch(job, [bare, busy]) == "machine-2"
    fallback = offer(5, has_torch=True, gpu_type="MI210")
    assert machine_with_torch(job, [bare, busy, fallback]) == "machine-5"
    assert machine_with_torch(job, [offer(6, has_torch=True), busy, fallback]) == "machine-6"
    assert machine_with_torch(a_queued_job(), [offer(6, has_torch=True)]) is None


def test_first_job_awaits_the_machine_that_was_asked_for_first() -> None:
    first, second, other = a_queued_job(1), a_queued_job(2), a_queued_job(3, gpu_type="MI210")
    starting = [offer(2, MachineStage.STARTING), offer(1, MachineStage.STARTING), offer(3)]
    awaited = awaited_machines([first, second, other], starting, ())
    assert {job_id: machine.machine_id for job_id, machine in awaited.items()} == {
        first.job_id: "machine-1",
        second.job_id: "machine-2",
    }


def test_a_part_awaits_no_machine_that_starts_for_others_and_cannot_give_it() -> None:
    half, whole = a_queued_job(1, resources=Resources(4, Isolation.PARTITION)), a_queued_job(2)
    awaited = awaited_machines([half, whole], [offer(1, MachineStage.STARTING)], (), lambda asked, _: asked.is_plain)
    assert list(awaited) == [whole.job_id]


def test_job_awaits_a_machine_of_its_wanted_type_before_a_fallback() -> None:
    first, second = (a_queued_job(number, fallback_gpu_types=("MI250X", "MI210")) for number in (1, 2))
    starting = [
        offer(number, MachineStage.STARTING, gpu_type=gpu_type)
        for number, gpu_type in enumerate(["MI300A", "MI210", "MI250X", "MI300X"])
    ]
    awaited = awaited_machines([first, second], starting, ())
    assert [awaited[job.job_id].gpu_type for job in (first, second)] == ["MI300X", "MI250X"]


@given(
    st.lists(st.sampled_from([("MI300X",), ("MI210",), ("MI300X", "MI210"), ("MI210", "MI300X")]), max_size=8),
    st.lists(st.tuples(st.sampled_from(["MI300X", "MI210"]), st.sampled_from(MachineStage)), max_size=8),
)
def test_no_two_jobs_await_one_machine_and_none_a_machine_that_does_not_fit(
    jobs_wanted: list[tuple[str, ...]], machines: list[tuple[str, MachineStage]]
) -> None:
    jobs = [
        a_queued_job(number, gpu_type=wanted, fallback_gpu_types=tuple(fallbacks))
        for number, (wanted, *fallbacks) in enumerate(jobs_wanted)
    ]
    offers = [offer(number, stage, gpu_type=gpu_type) for number, (gpu_type, stage) in enumerate(machines)]
    awaited = awaited_machines(jobs, offers, ())
    assert len({machine.machine_id for machine in awaited.values()}) == len(awaited)
    for job in jobs:
        if machine := awaited.get(job.job_id):
            assert machine.gpu_type in job.spec.gpu_types
            assert machine.stage is MachineStage.STARTING


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=8), st.integers(0, 4))
def test_a_job_awaits_its_own_machine_or_one_that_is_kept_for_no_other_that_waits(
    wants_own_and_has_it: list[tuple[bool, bool]], common: int
) -> None:
    jobs = [a_queued_job(number) for number in range(len(wants_own_and_has_it))]
    jobs = [
        replace(job, spec=replace(job.spec, reuse=Reuse.CREATE)) if own else job
        for job, (own, _) in zip(jobs, wants_own_and_has_it, strict=True)
    ]
    started = [job.job_id for job, (own, has) in zip(jobs, wants_own_and_has_it, strict=True) if own and has]
    names = [*started, *[""] * common, "job that waits no longer"]
    offers = [offer(number, MachineStage.STARTING, own_job_id=name) for number, name in enumerate(names)]
    awaited = awaited_machines(jobs, offers, {job.job_id for job in jobs})
    for job in jobs:
        machine = awaited.get(job.job_id)
        if job.own_job_id:
            assert (machine.own_job_id if machine else None) == (job.job_id if job.job_id in started else None)
        elif machine:
            assert machine.own_job_id in {"", "job that waits no longer"}
    others = sum(not job.own_job_id for job in jobs)
    assert len(awaited) == len(started) + min(others, common + 1)
