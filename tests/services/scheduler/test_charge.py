from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.charge import charge_of, price_of, worst_case

PRICES = st.integers(0, 100_000_000)
TIMES = st.timedeltas(timedelta(0), timedelta(days=30))


def test_an_hour_costs_the_hourly_price() -> None:
    assert price_of(timedelta(hours=1), 1_990_000) == 1_990_000


def test_a_fraction_of_a_micro_dollar_is_not_charged() -> None:
    assert price_of(timedelta(seconds=1), 1_990_000) == 552
    assert price_of(timedelta(microseconds=1), 1_990_000) == 0


def test_negative_time_costs_nothing() -> None:
    assert price_of(timedelta(seconds=-1), 1_990_000) == 0


@given(TIMES, TIMES, PRICES)
def test_hold_covers_every_run_that_is_not_longer_than_the_longest(
    one: timedelta, other: timedelta, price: int
) -> None:
    shorter, longest = sorted([one, other])
    assert 0 <= price_of(shorter, price) <= worst_case(longest, price) <= price_of(longest, price) + 1


@given(TIMES, PRICES, st.integers(0, 10_000_000))
def test_charge_is_never_above_the_hold(time: timedelta, price: int, hold: int) -> None:
    assert charge_of(time, price, hold) == min(price_of(time, price), hold)


@given(TIMES, TIMES, PRICES)
def test_time_in_two_parts_costs_at_most_a_micro_less_than_in_one(one: timedelta, other: timedelta, price: int) -> None:
    together = price_of(one + other, price)
    assert together - 1 <= price_of(one, price) + price_of(other, price) <= together
