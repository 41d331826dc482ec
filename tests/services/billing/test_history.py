from __future__ import annotations

import random
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.projections.history import Day, Projection, projection

FIRST = date(2026, 9, 1)
SAME = [Day(FIRST + timedelta(days=number), 10, 1_000_000, 2_000_000, 2) for number in range(30)]


def projected(
    days: list[Day], remaining: int = 60_000_000, *, of_operator: bool = True, length: int = 30
) -> Projection:
    return projection(days, FIRST, FIRST + timedelta(days=length), remaining, of_operator=of_operator)


def test_days_that_are_all_the_same_lead_to_one_figure() -> None:
    found = projected(SAME)
    assert found.month is not None
    assert (found.month.low_micros, found.month.middle_micros, found.month.high_micros) == (60_000_000,) * 3
    assert found.months_left == (1.0, 1.0)


def test_an_account_is_projected_from_its_charges() -> None:
    found = projected(SAME, of_operator=False)
    assert found.month is not None
    assert found.month.middle_micros == 30_000_000
    assert found.task_costs is not None
    assert (found.task_costs.mean_micros, found.task_costs.cold_micros) == (100_000, None)


def test_days_without_anything_count() -> None:
    found = projected([SAME[0], SAME[20]])
    assert found.month is not None
    assert found.month.low_micros < 4_000_000 <= found.month.high_micros
    assert found.days == 30


def test_days_before_the_first_use_do_not_count() -> None:
    assert projected(SAME[20:]).days == 10


@given(st.lists(st.integers(0, 10**9), min_size=7, max_size=30))
def test_the_range_holds_its_middle_and_is_always_the_same(costs: list[int]) -> None:
    days = [Day(FIRST + timedelta(days=number), 1, 0, cost, 1) for number, cost in enumerate(costs)]
    shuffled = random.Random(3).sample(days, len(days))  # noqa: S311 - any order will do
    first, again = (projected(one, length=len(costs)).month for one in (days, shuffled))
    assert first is not None
    assert first == again
    assert 30 * min(costs) <= first.low_micros <= first.middle_micros <= first.high_micros <= 30 * max(costs)


def test_less_than_a_week_says_nothing_of_a_month() -> None:
    found = projected(SAME[24:])
    assert (found.days, found.month, found.months_left) == (6, None, None)
    assert projected([]).days == 0


def test_cold_and_warm_tasks_add_up_to_what_was_spent() -> None:
    """47 tasks, 3 of them cold, on machines that cost $5.25."""
    costs = projected([Day(FIRST, 47, 2_500_000, 5_250_000, 3)]).task_costs
    assert costs is not None
    assert costs.mean_micros == pytest.approx(111_702, abs=1)
    assert costs.warm_micros == pytest.approx(53_191, abs=1)
    assert costs.cold_micros == pytest.approx(969_858, abs=1)
    assert costs.cold_micros is not None
    assert costs.warm_micros is not None
    assert 3 * costs.cold_micros + 44 * costs.warm_micros == pytest.approx(5_250_000)


def test_without_a_cold_start_all_that_was_spent_is_of_warm_tasks() -> None:
    costs = projected([Day(FIRST, 4, 1_000, 2_000, 0)]).task_costs
    assert costs is not None
    assert (costs.cold_micros, costs.warm_micros) == (None, 500)


def test_without_a_task_there_is_no_cost_of_one() -> None:
    assert projected([Day(FIRST, 0, 0, 5_000, 1)]).task_costs is None


def test_what_is_overspent_lasts_no_longer() -> None:
    assert projected(SAME, remaining=-5).months_left == (0, 0)
