from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.ledger.machine_usage import MachineUsage
from tests.services.scheduler.jobs import START, a_queued_job
from tests.services.vmpool.conftest import a_machine
from vocabulary.money import MICROSECOND, Tariff, dollars_of, dollars_text, micros_of, price_of

MI300X = 1_990_000
TIMES = st.timedeltas(timedelta(0), timedelta(days=400))
PRICES = st.integers(0, 10**9)
HOTAISLE = Tariff(MI300X, minimum=timedelta(hours=1), increment=timedelta(minutes=1))


def charge(time: timedelta, price: int) -> int:
    """The scheduler's charge for a run."""
    job = a_queued_job(price_micros_per_hour=price, hold_micros=10**15)
    return job.charge_for(time)


def billed_cost(time: timedelta, price: int) -> int:
    """Billing's cost of a machine that was used this long."""
    return MachineUsage("m1", 1, "local", "MI300X", 1, START, START + time, price, True, START).cost_micros


def pool_cost(time: timedelta, price: int) -> int:
    """vmpool's cost of the machine."""
    return a_machine(price_micros_per_hour=price, provision_time=START, rented=True).cost_until(START + time)


def test_the_run_that_once_had_two_prices_has_one() -> None:
    run = timedelta(seconds=426.83)
    assert [price(run, MI300X) for price in (price_of, charge, billed_cost, pool_cost)] == [235_943] * 4


@given(TIMES, PRICES)
def test_scheduler_billing_and_vmpool_give_one_time_one_amount(time: timedelta, price: int) -> None:
    assert charge(time, price) == billed_cost(time, price) == pool_cost(time, price) == price_of(time, price)


@given(TIMES, PRICES)
def test_rounding_adds_less_than_one_micro_dollar(time: timedelta, price: int) -> None:
    exact = Fraction(time // MICROSECOND * price, 3_600_000_000)
    assert 0 <= price_of(time, price) - exact < 1


@given(st.lists(TIMES, min_size=1, max_size=20), PRICES)
def test_parts_cost_no_less_than_the_whole_and_at_most_a_micro_dollar_more_for_each_cut(
    parts: list[timedelta], price: int
) -> None:
    whole = price_of(sum(parts, timedelta(0)), price)
    assert whole <= sum(price_of(part, price) for part in parts) <= whole + len(parts) - 1


@given(TIMES, TIMES, PRICES, PRICES)
def test_neither_more_time_nor_a_higher_price_ever_costs_less(
    one: timedelta, other: timedelta, low: int, high: int
) -> None:
    assert price_of(min(one, other), min(low, high)) <= price_of(max(one, other), max(low, high))


@given(TIMES, TIMES, PRICES)
def test_a_hold_for_the_longest_run_covers_every_run_in_full(one: timedelta, other: timedelta, price: int) -> None:
    run, longest = sorted([one, other])
    job = a_queued_job(price_micros_per_hour=price, hold_micros=price_of(longest, price))
    assert job.charge_for(run) == price_of(run, price)


def test_a_charge_ends_at_the_hold() -> None:
    assert a_queued_job(hold_micros=7).charge_for(timedelta(hours=1)) == 7


@given(st.lists(TIMES, min_size=1, max_size=10), PRICES)
def test_the_intervals_that_are_reported_of_a_machine_add_up_to_its_cost(parts: list[timedelta], price: int) -> None:
    booked, start = 0, START
    for sequence, part in enumerate(parts, 1):
        usage = MachineUsage("m1", sequence, "local", "MI300X", 1, start, start + part, price, False, START)
        booked, start = booked + usage.cost_micros, start + part
    assert booked == pool_cost(start - START, price)


@given(TIMES, PRICES, st.integers(1, 8), st.integers(1, 64))
def test_a_share_of_several_gpus_is_rounded_once(time: timedelta, price: int, eighths: int, gpus: int) -> None:
    exact = Fraction(time // MICROSECOND * price * eighths * gpus, 8 * 3_600_000_000)
    assert 0 <= price_of(time, price, eighths=eighths, gpus=gpus) - exact < 1


@given(TIMES, PRICES, st.integers(1, 8))
def test_all_eighths_cost_the_whole_together_and_apart_no_less(time: timedelta, price: int, eighths: int) -> None:
    whole = price_of(time, price)
    one, rest = price_of(time, price, eighths=eighths), price_of(time, price, eighths=8 - eighths)
    assert whole <= one + rest <= whole + 1
    assert price_of(time, price, eighths=1, gpus=8) == whole


@given(TIMES, PRICES, st.integers(1, 8), st.integers(1, 8))
def test_a_tariff_of_a_share_is_the_same_formula(time: timedelta, price: int, eighths: int, gpus: int) -> None:
    tariff = Tariff(price, eighths=eighths, gpus=gpus)
    assert tariff.cost_micros(time) == price_of(time, price, eighths=eighths, gpus=gpus)


@pytest.mark.parametrize(
    ("what", "time", "cents"),
    [("the shortest cold start", 120, 7), ("the longest cold start", 300, 17), ("the idle timeout", 300, 17)],
)
def test_the_known_times_of_a_machine_cost_the_known_cents(what: str, time: int, cents: int) -> None:
    assert round(price_of(timedelta(seconds=time), MI300X) / 10_000) == cents


def test_no_time_and_negative_time_cost_nothing() -> None:
    assert price_of(timedelta(0), MI300X) == price_of(timedelta(seconds=-1), MI300X) == 0


def test_the_shortest_time_costs_the_smallest_amount() -> None:
    assert price_of(MICROSECOND, 1) == 1


@given(TIMES, PRICES)
def test_amounts_are_whole_numbers(time: timedelta, price: int) -> None:
    assert type(price_of(time, price)) is int


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


@given(TIMES, TIMES)
def test_a_longer_use_never_costs_less(first: timedelta, second: timedelta) -> None:
    shorter, longer = sorted((first, second))
    assert HOTAISLE.cost_micros(shorter) <= HOTAISLE.cost_micros(longer)


@given(TIMES.filter(bool), st.timedeltas(timedelta(0), timedelta(hours=2)), st.timedeltas(timedelta(seconds=1)))
def test_what_is_billed_covers_the_use_by_less_than_one_increment_beyond_the_minimum(
    used: timedelta, minimum: timedelta, increment: timedelta
) -> None:
    increment = min(increment, timedelta(hours=2))
    billed = Tariff(1, minimum, increment).billed(used)
    assert used <= billed < max(minimum, used) + increment


@given(st.integers(0, 10**12))
def test_amounts_survive_the_way_to_dollars_and_back(micros: int) -> None:
    assert micros_of(dollars_of(micros)) == micros


def test_the_digits_of_a_dollar_amount_count_and_not_its_binary_fraction() -> None:
    assert (micros_of(1.99), micros_of(0.1 + 0.2)) == (1_990_000, 300_000)


def test_dollars_hide_nothing() -> None:
    assert [dollars_text(micros) for micros in (1_990_000, 1, 1_400_000_000)] == ["$1.99", "$0.000001", "$1,400.00"]
    assert [dollars_text(micros) for micros in (-1_990_000, -1)] == ["-$1.99", "-$0.000001"]


@given(
    st.integers(0, 10**11),
    st.integers(10**6, 10**9),
    st.sampled_from([timedelta(0), timedelta(minutes=1), timedelta(hours=1)]),
    st.sampled_from([MICROSECOND, timedelta(seconds=7), timedelta(minutes=1)]),
    st.integers(1, 8),
)
def test_the_longest_time_that_money_pays_for_is_paid_and_no_longer_one_is(
    micros: int, price: int, minimum: timedelta, increment: timedelta, gpus: int
) -> None:
    tariff = Tariff(price, minimum, increment, gpus=gpus)
    longest = tariff.longest_for(micros)
    assert tariff.cost_micros(longest) <= micros < tariff.cost_micros(longest + MICROSECOND)


def test_eight_gpus_run_for_two_and_a_half_hours_for_forty_dollars() -> None:
    eight = Tariff(MI300X, gpus=8)
    assert eight.cost_micros(timedelta(hours=24)) == 382_080_000
    assert eight.longest_for(40_000_000) // timedelta(minutes=1) == 150
    assert Tariff(0).longest_for(0) == Tariff(1).longest_for(10**15) == timedelta(days=36_525)
