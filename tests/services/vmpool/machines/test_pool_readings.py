from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.fault import Fault
from services.vmpool.machines.load import MeanLoad
from services.vmpool.machines.machine import READY, Machine, MachineState
from services.vmpool.machines.offer import Source
from services.vmpool.machines.pool_readings import (
    NO_FAILURE,
    UnmetDemand,
    demand_readings,
    failure_readings,
    machine_readings,
    stopped_reading,
)
from services.vmpool.policy.failures import Failures
from services.vmpool.policy.packing import Demand
from services.vmpool.telemetry.unmet_demand import unmet_demand
from tests.services.vmpool.conftest import START, a_machine
from vocabulary import readings

WINDOW = timedelta(minutes=30)
LOAD = MeanLoad(0.25, 0.5, 0.75, 1.0)
MI300X = Demand("MI300X", 8, 3)


def ready(minutes_ago: float, state: MachineState = MachineState.WARM) -> Machine:
    return a_machine(state=state, ready_time=START - timedelta(minutes=minutes_ago))


def names(machine: Machine, load: MeanLoad = LOAD) -> dict[str, float]:
    found = machine_readings([machine], {machine.machine_id: load}, WINDOW, START)
    return {one.name: one.value for one in found}


def test_a_machines_use_over_the_window_is_told_only_if_it_was_ready_for_all_of_it() -> None:
    now = {readings.MACHINE_CPU: 0.25, readings.MACHINE_MEMORY: 0.5}
    assert names(ready(29)) == now
    assert names(ready(30)) == now | {readings.MACHINE_GPU: 0.75, readings.MACHINE_LEASED: 1.0}


@pytest.mark.parametrize("state", MachineState)
def test_only_ready_machines_are_busy_or_idle(state: MachineState) -> None:
    assert bool(names(ready(60, state))) == (state in READY)


def test_what_a_machine_does_not_report_is_no_reading() -> None:
    assert names(ready(60), MeanLoad(leased_share=0.0)) == {readings.MACHINE_LEASED: 0.0}
    assert list(machine_readings([ready(60)], {}, WINDOW, START)) == []


def test_failed_machines_are_counted_by_provider_with_the_last_reason_and_0_for_a_sound_one() -> None:
    ended = [
        a_machine(machine_id=f"m{number}", fault=fault, reason=f"reason\n{number}", end_time=START - number * WINDOW)
        for number, fault in enumerate([Fault.UNFIT, Fault.UNREACHABLE, *NO_FAILURE])
    ]
    found = {one.labels["provider"]: one for one in failure_readings(["docker", "scripted"], ended)}
    assert {name: one.value for name, one in found.items()} == {"docker": 0.0, "scripted": 2.0}
    assert dict(found["scripted"].details) == {"machine": "m0", "reason": "reason 0"}


def test_jobs_wait_in_vain_if_the_pool_is_full_or_the_sources_fail() -> None:
    failures = {Source("scripted", "", "MI300X"): Failures(2, START, "sold out")}
    warm, starting = a_machine(state=MachineState.WARM), a_machine(state=MachineState.STARTING)

    def reason(machines: list[Machine], limit: int, failed: dict[Source, Failures] | None = None) -> str:
        [found] = unmet_demand([MI300X], machines, limit, failed or {}, START)
        return found.reason

    assert reason([warm], 1) == "the limit of 1 machines is reached"
    assert reason([starting], 1, failures) == ""
    assert reason([warm], 2) == ""
    assert reason([warm], 2, failures).startswith("MI300X at scripted: sold out (2 times in a row)")
    assert reason([], 2, {Source("scripted", "", "MI210"): Failures(1, START, "sold out")}) == ""


def test_demand_of_a_gpu_type_is_one_reading_with_its_reason() -> None:
    found = list(
        demand_readings([UnmetDemand("MI210", 2, ""), UnmetDemand("MI300X", 3, ""), UnmetDemand("MI300X", 4, "full")])
    )
    assert [(one.labels["gpu_type"], one.value, one.details["reason"]) for one in found] == [
        ("MI210", 0.0, ""),
        ("MI300X", 4.0, "full"),
    ]
    stopped = stopped_reading([Source("dstack", "hotaisle", "MI300X")])
    assert (stopped.value, stopped.details["sources"]) == (1.0, "MI300X at dstack/hotaisle")


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(list(Fault)), st.text(max_size=300))))
def test_every_failure_counts_once_and_every_text_is_one_that_billing_takes(
    ends: list[tuple[str, Fault, str]],
) -> None:
    ended = [a_machine(provider=name, fault=fault, reason=text, end_time=START) for name, fault, text in ends]
    found = list(failure_readings(["a"], ended))
    assert sum(one.value for one in found) == sum(fault not in NO_FAILURE for _, fault, _ in ends)
    for one in found:
        assert all(text.isprintable() and len(text) <= 200 for text in one.details.values())
