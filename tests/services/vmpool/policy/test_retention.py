from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.machines.machine import Machine
from services.vmpool.policy.retention import Retention, paid_until
from tests.services.vmpool.conftest import START, a_machine

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
RETENTION = Retention(10 * MINUTE, surplus_share=0.5, release_margin=MINUTE)


def idle(used: datetime, machine_id: str = "m1", **changes: object) -> Machine:
    return a_machine(machine_id=machine_id, provision_time=START, last_used_time=used, **changes)


def release_after(machine: Machine, now: datetime, retention: Retention = RETENTION) -> timedelta:
    return retention.release_times([machine], now)[machine.machine_id] - START


def test_time_that_is_billed_as_it_is_used_is_not_kept_beyond_the_timeout() -> None:
    used = START + 5 * MINUTE
    assert release_after(idle(used), used) == 15 * MINUTE


def test_a_minimum_that_is_paid_is_used_up() -> None:
    hourly = idle(START + 5 * MINUTE, minimum_billed=HOUR)
    assert release_after(hourly, START + 5 * MINUTE) == 59 * MINUTE
    longer = idle(START + 55 * MINUTE, minimum_billed=HOUR)
    assert release_after(longer, START + 55 * MINUTE) == 65 * MINUTE


def test_a_begun_increment_is_used_up() -> None:
    used = START + 55 * MINUTE
    machine = idle(used, minimum_billed=HOUR, billing_increment=HOUR)
    assert release_after(machine, used) == 119 * MINUTE


def test_a_machine_that_costs_nothing_has_no_paid_time() -> None:
    machine = idle(START, minimum_billed=HOUR, price_micros_per_hour=0)
    assert release_after(machine, START) == 10 * MINUTE
    assert paid_until(machine, START) == START


def test_gpu_types_may_have_timeouts_of_their_own() -> None:
    retention = Retention(10 * MINUTE, {"MI210": timedelta(0)})
    assert release_after(idle(START, gpu_type="MI210"), START, retention) == timedelta(0)
    assert release_after(idle(START), START, retention) == 10 * MINUTE


def test_each_further_idle_machine_of_a_type_stays_half_as_long() -> None:
    machines = [idle(START + timedelta(seconds=used), f"m{used}") for used in range(3)]
    other = idle(START, "other", gpu_type="MI210")
    times = RETENTION.release_times([*machines, other], START + MINUTE)
    stays = {machine.machine_id: times[machine.machine_id] - (machine.last_used_time or START) for machine in machines}
    assert stays == {"m2": 10 * MINUTE, "m1": 5 * MINUTE, "m0": 2.5 * MINUTE}
    assert times["other"] == START + 10 * MINUTE


spans = st.timedeltas(timedelta(0), timedelta(hours=5))


@given(used=spans, later=spans, minimum=spans, increment=st.sampled_from([timedelta(seconds=1), MINUTE, HOUR]))
def test_no_machine_goes_inside_of_paid_time_or_before_its_timeout(
    used: timedelta, later: timedelta, minimum: timedelta, increment: timedelta
) -> None:
    machine = idle(START + used, minimum_billed=minimum, billing_increment=increment)
    now = START + used + later
    goes = RETENTION.release_times([machine], now)["m1"]
    assert goes >= START + used + RETENTION.idle_timeout
    if goes <= now:
        assert paid_until(machine, now) - now <= RETENTION.release_margin
    assert goes <= max(now, START + used + RETENTION.idle_timeout) + max(minimum, increment)


def test_jobs_may_have_a_machine_kept_shorter_but_neither_longer_nor_out_of_paid_time() -> None:
    def kept(keep_idle: timedelta | None) -> timedelta:
        return release_after(idle(START, keep_idle=keep_idle), START)

    assert [kept(asked) for asked in (timedelta(0), MINUTE, HOUR, None)] == [
        0 * MINUTE,
        MINUTE,
        10 * MINUTE,
        10 * MINUTE,
    ]
    hourly = idle(START + MINUTE, keep_idle=timedelta(0), minimum_billed=HOUR)
    assert release_after(hourly, START + MINUTE) == 59 * MINUTE
    second = RETENTION.release_times([idle(START, "m1", keep_idle=HOUR), idle(START, "m2", keep_idle=MINUTE)], START)
    assert second == {"m1": START + 5 * MINUTE, "m2": START + MINUTE}
