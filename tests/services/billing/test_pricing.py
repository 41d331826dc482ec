from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.errors import PriceNotFoundError
from services.billing.pricing import PriceList, cost_micros

durations = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400))
prices = st.integers(min_value=0, max_value=10**9)


def test_an_hour_costs_the_price() -> None:
    assert cost_micros(timedelta(hours=1), 1_990_000) == 1_990_000


def test_a_second_of_an_mi300x_costs_553_micros() -> None:
    assert cost_micros(timedelta(seconds=1), 1_990_000) == 553


@given(duration=durations, price=prices)
def test_rounding_adds_less_than_one_micro_dollar(duration: timedelta, price: int) -> None:
    exact = Fraction(duration // timedelta(microseconds=1) * price, 3_600_000_000)
    assert 0 <= cost_micros(duration, price) - exact < 1


@given(first=durations, second=durations, price=prices)
def test_cutting_an_interval_never_makes_it_cheaper(first: timedelta, second: timedelta, price: int) -> None:
    assert cost_micros(first, price) + cost_micros(second, price) >= cost_micros(first + second, price)


def test_an_unknown_gpu_type_lists_those_that_have_a_price() -> None:
    with pytest.raises(PriceNotFoundError, match=r"H100.*MI300X, MI210"):
        PriceList({"MI300X": 1, "MI210": 2}).price_of("H100")
