from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.errors import BillingError, InvalidFieldError, PastPriceError, PricePeriodsOverlapError
from services.billing.prices.price_change import WantedPrice, price_change
from services.billing.prices.price_list import PriceList
from services.billing.prices.price_period import PricePeriod
from tests.services.billing.price_periods import NOW, a_price, after, counted_ids, day, periods_of, spans

FIRST = (0.0, a_price(1.99))


def test_a_new_price_ends_the_one_before_it() -> None:
    assert spans(periods_of(FIRST, (1, a_price(2.5, start_time=day(3))))) == [(0, 3, 1_990_000), (3, None, 2_500_000)]


def test_a_price_without_a_start_counts_from_now() -> None:
    assert spans(periods_of(FIRST, (1, a_price(2.5)))) == [(0, 1, 1_990_000), (1, None, 2_500_000)]


def test_after_a_price_with_an_end_the_one_before_it_counts_again() -> None:
    periods = periods_of(FIRST, (1, a_price(0.5, start_time=day(3), end_time=day(5))))
    assert spans(periods) == [(0, 3, 1_990_000), (3, 5, 500_000), (5, None, 1_990_000)]


def test_a_price_never_begins_in_the_past() -> None:
    periods = periods_of(FIRST)
    with pytest.raises(PastPriceError, match=r"must not be in the past.*2026-11-02T00:00.*now 2026-11-03T00:00"):
        price_change(periods, a_price(2, start_time=day(1)), day(2), counted_ids())


def test_a_price_that_would_overlap_a_planned_one_is_refused_with_its_start() -> None:
    periods = periods_of(FIRST, (1, a_price(2.5, start_time=day(10))))
    for wanted in (
        a_price(3, start_time=day(5)),
        a_price(3, start_time=day(5), end_time=day(11)),
        a_price(3, start_time=day(10)),
    ):
        with pytest.raises(PricePeriodsOverlapError, match="MI300X begins at 2026-11-11T00:00:00Z"):
            price_change(periods, wanted, day(2), counted_ids())


def test_a_price_may_end_exactly_where_a_planned_one_begins() -> None:
    periods = periods_of(
        FIRST, (1, a_price(2.5, start_time=day(10))), (2, a_price(3, start_time=day(5), end_time=day(10)))
    )
    assert spans(periods) == [(0, 5, 1_990_000), (5, 10, 3_000_000), (10, None, 2_500_000)]


@pytest.mark.parametrize("start", [4, 10])
def test_planned_prices_can_be_replaced_and_stay_in_the_history(start: int) -> None:
    planned = (1, a_price(2.5, start_time=day(10)))
    periods = periods_of(FIRST, planned, (2, a_price(3, start_time=day(start), replaces_planned=True)))
    assert spans(periods) == [(0, start, 1_990_000), (start, None, 3_000_000)]
    assert [period.tariff.price_micros_per_hour for period in periods if period.is_withdrawn] == [2_500_000]


def test_a_price_from_now_on_can_replace_all_that_is_planned() -> None:
    planned = (1, a_price(2.5, start_time=day(10), end_time=day(12)))
    periods = periods_of(FIRST, planned, (2, a_price(3, replaces_planned=True)))
    assert spans(periods) == [(0, 2, 1_990_000), (2, None, 3_000_000)]


def test_after_a_short_price_in_place_of_a_planned_one_the_one_before_counts_for_good() -> None:
    wanted = a_price(3, start_time=day(10), end_time=day(12), replaces_planned=True)
    periods = periods_of(FIRST, (1, a_price(2.5, start_time=day(10))), (2, wanted))
    assert spans(periods) == [(0, 10, 1_990_000), (10, 12, 3_000_000), (12, None, 1_990_000)]


def test_a_price_that_counts_already_cannot_be_replaced() -> None:
    with pytest.raises(PricePeriodsOverlapError):
        price_change(periods_of(FIRST), a_price(3, replaces_planned=True), NOW, counted_ids())


def test_an_end_before_the_start_is_refused() -> None:
    with pytest.raises(InvalidFieldError, match="end_time: must be after start_time"):
        price_change([], a_price(2, start_time=day(3), end_time=day(3)), NOW, counted_ids())


def test_setting_the_same_price_again_changes_nothing_even_after_it_has_begun() -> None:
    wanted = a_price(2.5, start_time=day(3))
    periods = periods_of(FIRST, (1, wanted))
    again = price_change(periods, wanted, day(4), counted_ids())
    assert (again.added, again.ends, again.period) == ((), {}, periods[-1])


def test_prices_of_other_types_and_of_spot_machines_are_apart() -> None:
    periods = periods_of(FIRST, (1, a_price(1, gpu_type="MI210")), (2, a_price(0.5, spot=True)))
    assert [period.end_time for period in periods] == [None] * 3


WANTED = st.builds(
    a_price,
    st.sampled_from([0.5, 1.99, 2.5]),
    start_time=st.none() | st.integers(-2, 12).map(day),
    end_time=st.none() | st.integers(0, 15).map(day),
    replaces_planned=st.booleans(),
)
HISTORIES = st.lists(st.tuples(st.integers(0, 3), WANTED), max_size=12)


def played(history: list[tuple[int, WantedPrice]]) -> list[list[PricePeriod]]:
    """The periods after each change of a history, in which refused changes change nothing."""
    now, new_id = NOW, counted_ids(100)
    states = [periods_of(FIRST)]
    for days, wanted in history:
        now += timedelta(days=days, hours=1)
        try:
            states.append(after(states[-1], price_change(states[-1], wanted, now, new_id)))
        except BillingError:
            continue
    return states


@given(HISTORIES)
def test_whatever_is_set_there_is_no_gap_and_no_overlap(history: list[tuple[int, WantedPrice]]) -> None:
    found = spans(played(history)[-1])
    assert found[0][0] == 0
    assert found[-1][1] is None
    assert [end for _, end, _ in found[:-1]] == [start for start, _, _ in found[1:]]


@given(HISTORIES, st.floats(0, 40))
def test_every_instant_has_exactly_one_price(history: list[tuple[int, WantedPrice]], number: float) -> None:
    periods = played(history)[-1]
    (only,) = [period for period in periods if period.contains(day(number))]
    assert PriceList(["MI300X"], periods).price_at(day(number), "MI300X") == only


@given(HISTORIES)
def test_what_is_past_never_changes(history: list[tuple[int, WantedPrice]]) -> None:
    now, new_id = NOW, counted_ids(100)
    periods = periods_of(FIRST)
    for days, wanted in history:
        now += timedelta(days=days, hours=1)
        before = PriceList(["MI300X"], periods)
        try:
            periods = after(periods, price_change(periods, wanted, now, new_id))
        except BillingError:
            continue
        for hour in range(0, int((now - NOW) / timedelta(hours=1)), 7):
            instant = NOW + timedelta(hours=hour)
            is_price = PriceList(["MI300X"], periods).price_at(instant, "MI300X").tariff
            assert is_price == before.price_at(instant, "MI300X").tariff
