from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.machines.cost import Tariff

DURATIONS = st.timedeltas(timedelta(0), timedelta(days=40))
HOTAISLE = Tariff(1_990_000, minimum=timedelta(hours=1), increment=timedelta(minutes=1))


@pytest.mark.parametrize(
    ("used", "micros"),
    [
        (timedelta(0), 0),
        (timedelta(seconds=1), 1_990_000),
        (timedelta(hours=1), 1_990_000),
        (timedelta(hours=1, seconds=1), 1_990_000 + 33_167),
        (timedelta(hours=2), 3_980_000),
    ],
)
def test_a_minimum_and_whole_increments_are_paid_for(used: timedelta, micros: int) -> None:
    assert HOTAISLE.cost_micros(used) == micros


def test_without_minimum_and_increment_every_microsecond_counts() -> None:
    assert Tariff(3_600_000_000).cost_micros(timedelta(microseconds=7)) == 7


@given(DURATIONS, DURATIONS)
def test_a_longer_use_never_costs_less(first: timedelta, second: timedelta) -> None:
    shorter, longer = sorted((first, second))
    assert HOTAISLE.cost_micros(shorter) <= HOTAISLE.cost_micros(longer)


@given(DURATIONS.filter(bool), st.timedeltas(timedelta(0), timedelta(hours=2)), st.timedeltas(timedelta(seconds=1)))
def test_what_is_billed_covers_the_use_by_less_than_one_increment_beyond_the_minimum(
    used: timedelta, minimum: timedelta, increment: timedelta
) -> None:
    increment = min(increment, timedelta(hours=2))
    billed = Tariff(1, minimum, increment).billed(used)
    assert used <= billed < max(minimum, used) + increment
