from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.errors import InvalidFieldError
from services.billing.projections.circulating import CIRCULATING, CirculatingFigure, left_out
from services.billing.projections.scenario import Assumptions, Case, Reuse, scenario
from vocabulary.money import Tariff, price_of

GRANT = 1_400_000_000
ASSUMED = Assumptions(Tariff(1_990_000), GRANT)
DAY = 86_400


def case(assumed: Assumptions, tasks_per_day: int, reuse: Reuse) -> Case:
    (found,) = [one for one in scenario(assumed, tasks_per_day).cases if one.reuse is reuse]
    return found


def replayed(assumed: Assumptions, rate: float, tasks: int = 60_000) -> tuple[float, float]:
    """(cold share, machine seconds for each task) when random arrivals are played one by one."""
    drawing = random.Random(7)  # noqa: S311 - arrivals are no secret
    run, timeout, start = (time.total_seconds() for time in (assumed.run, assumed.idle_timeout, assumed.cold_start))
    now, free_at, cold, used = 0.0, 0.0, 0, 0.0
    for _ in range(tasks):
        now += drawing.expovariate(rate)
        idle = max(0.0, now - free_at)
        is_cold = idle > timeout
        cold += is_cold
        busy = run + start * is_cold
        used += busy + min(idle, timeout)
        free_at = max(now, free_at) + busy
    return cold / tasks, used / tasks


@pytest.mark.parametrize("tasks_per_day", [10, 50, 200, 2000, 3000])
def test_the_formula_agrees_with_a_replay_of_random_arrivals(tasks_per_day: int) -> None:
    cold, used = replayed(ASSUMED, tasks_per_day / DAY)
    found = case(ASSUMED, tasks_per_day, Reuse.SPREAD)
    assert 1 - found.warm_share == pytest.approx(cold, abs=0.01)
    assert found.billed_per_task.total_seconds() == pytest.approx(used, rel=0.02)


def test_without_reuse_a_task_costs_a_start_and_its_run() -> None:
    found = case(ASSUMED, 10, Reuse.NONE)
    assert found.task_micros == price_of(timedelta(seconds=238), 1_990_000) == 131_562
    assert found.month_micros == price_of(300 * timedelta(seconds=238), 1_990_000)
    assert found.grant_months == pytest.approx(35.47, abs=0.01)


def test_the_table_of_the_documentation() -> None:
    months = {
        (tasks, one.reuse.value): round(one.month_micros / 1e6, 2)
        for tasks in (10, 50, 200)
        for one in scenario(ASSUMED, tasks).cases
    }
    assert months == {
        (10, "none"): 39.47,
        (10, "spread"): 85.02,
        (10, "sittings"): 19.75,
        (50, "none"): 197.34,
        (50, "spread"): 357.7,
        (50, "sittings"): 98.76,
        (200, "none"): 789.37,
        (200, "spread"): 894.39,
        (200, "sittings"): 395.06,
    }


@pytest.mark.parametrize(("tasks_per_day", "figure"), list(zip((10, 50, 200), CIRCULATING, strict=True)))
def test_the_costs_in_circulation_are_those_of_sittings_and_their_months_are_not(
    tasks_per_day: int, figure: CirculatingFigure
) -> None:
    found = case(ASSUMED, tasks_per_day, Reuse.SITTINGS)
    assert figure.low_micros < found.month_micros < figure.high_micros
    assert found.grant_months is not None
    assert found.grant_months > figure.months


def test_a_task_in_a_sitting_has_the_measured_warm_share() -> None:
    assert case(ASSUMED, 10, Reuse.SITTINGS).warm_share == pytest.approx(44 / 47)
    cold = case(replace(ASSUMED, warm_share=0.0), 10, Reuse.SITTINGS)
    assert (cold.warm_share, cold.idle_per_task) == (0, timedelta(minutes=5))
    assert case(replace(ASSUMED, warm_share=1.0), 10, Reuse.SITTINGS).warm_share == pytest.approx(1)


def test_every_machine_costs_at_least_its_minimum() -> None:
    two_hours = replace(ASSUMED, tariff=Tariff(1_990_000, timedelta(hours=2)))
    assert case(two_hours, 10, Reuse.NONE).task_micros == 3_980_000
    assert case(two_hours, 10, Reuse.SITTINGS).task_micros == pytest.approx(3_980_000 * 3 / 47, abs=1)


def test_free_time_lasts_for_ever() -> None:
    assert case(replace(ASSUMED, tariff=Tariff(0)), 10, Reuse.NONE).grant_months is None


@given(st.integers(1, 9999), st.sampled_from(Reuse))
def test_more_tasks_never_cost_less(tasks_per_day: int, reuse: Reuse) -> None:
    low, high = (case(ASSUMED, tasks, reuse) for tasks in (tasks_per_day, tasks_per_day + 1))
    assert low.month_micros <= high.month_micros * (1 + 1e-6)


def test_a_month_that_nobody_can_pay_is_refused() -> None:
    with pytest.raises(InvalidFieldError, match=r"gpu_type: would cost more than \$1,000,000,000.00 a month"):
        scenario(replace(ASSUMED, tariff=Tariff(10**12, timedelta(days=400))), 10_000)


def test_the_figures_in_circulation_are_these() -> None:
    assert [(one.tasks_per_day, one.low_micros, one.high_micros, one.months) for one in CIRCULATING] == [
        (10, 15_000_000, 30_000_000, 8),
        (50, 75_000_000, 150_000_000, 5),
        (200, 300_000_000, 400_000_000, 3),
    ]


def test_what_they_leave_out_is_computed() -> None:
    said = "\n".join(left_out(ASSUMED))
    for sentence in (
        "8 months at $15.00 to $30.00 are $120.00 to $240.00, not $1,400.00: at that cost the grant lasts 46.7 to 93.3",
        "200 tasks a day for $300.00 to $400.00 a month are $0.050 to $0.067 a task.",
        "$0.05 a task pays for 90.5 s of a machine at $1.99 an hour.",
        "A cold start of 210 s costs $0.116084, an idle timeout of 300 s costs $0.165834, and a run of 28 s costs $0.0",
    ):
        assert sentence in said
    assert "is billed for at least" not in said
    hours = left_out(replace(ASSUMED, tariff=Tariff(1_990_000, timedelta(hours=2))))
    assert hours[-1] == "Every machine is billed for at least 7200 s costs $3.98."
