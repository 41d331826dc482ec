from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.errors import InsufficientCreditError, InvalidFieldError, NoPriceError
from services.billing.ledger.wanted_time import WantedTime
from services.billing.prices.price_change import WantedPrice
from services.billing.prices.price_list import PriceList
from services.billing.prices.price_period import PriceSource
from services.billing.prices.quote import GpuTime, quote
from tests.services.billing.price_periods import NOW, a_price, day, periods_of
from vocabulary.money import Tariff

LONGEST = timedelta(minutes=15)
PRICES = PriceList(
    ["MI300X", "MI210"],
    periods_of((0, a_price()), (0, a_price(1.1, gpu_type="MI210")), (1, a_price(0.8, spot=True))),
)
RUN = timedelta(seconds=426.83)


def quoted(prices: PriceList = PRICES, at: float = 2, **wanted: object) -> int:
    return quote(prices, GpuTime(**wanted), LONGEST, day(at)).price_micros  # pyright: ignore[reportArgumentType]


prices_of_types = st.dictionaries(
    st.sampled_from(["MI300X", "MI210"]),
    st.builds(Tariff, st.integers(1, 10**8), eighths=st.integers(1, 8), gpus=st.integers(1, 8)),
    min_size=1,
)


@given(prices_of_types, st.integers(0, 10**8), st.integers(0, 10**8))
def test_the_time_that_a_refusal_offers_is_paid_for_by_what_there_is(
    tariffs: dict[str, Tariff], held: int, room: int
) -> None:
    wanted = WantedTime(timedelta(days=1000), tariffs, held)
    possible = wanted.possible(room)
    assert wanted.needed(possible) <= room
    longer = wanted.needed(possible + timedelta(minutes=1 if possible >= timedelta(minutes=1) else 0, seconds=1))
    assert longer > room or possible >= timedelta(days=36_000)


def test_little_credit_is_enough_for_seconds_and_says_what_they_need() -> None:
    wanted = WantedTime(LONGEST, {"MI300X": Tariff(1_990_000)})
    refused = wanted.explain(InsufficientCreditError(497_500, 1_000))
    assert str(refused).endswith("Add credit; or ask for at most 1 s, which needs $0.000553.")
    assert "ask for" not in str(wanted.explain(InsufficientCreditError(497_500, 500)))


def test_the_known_run_has_its_known_price() -> None:
    assert quoted(duration=RUN) == 235_943


def test_without_a_duration_the_price_is_the_hold_of_the_longest_run() -> None:
    given_ = quote(PRICES, GpuTime(), LONGEST, day(2))
    assert (given_.duration, given_.price_micros, given_.hold_micros) == (LONGEST, 497_500, 497_500)


def test_the_hold_covers_a_longer_duration() -> None:
    assert quote(PRICES, GpuTime(duration=RUN), LONGEST, day(2)).hold_micros == 497_500
    assert quote(PRICES, GpuTime(duration=4 * LONGEST), LONGEST, day(2)).hold_micros == 1_990_000


def test_names_are_in_any_case_and_the_dearest_type_counts() -> None:
    given_ = quote(PRICES, GpuTime(["mi210", "Mi300x", "MI210"], duration=RUN), LONGEST, day(2))
    assert [line.gpu_type for line in given_.lines] == ["MI210", "MI300X"]
    assert given_.price_micros == 235_943


def test_shares_and_several_gpus_multiply_before_the_one_rounding() -> None:
    assert quoted(duration=RUN, eighths=1) == 29_493
    assert quoted(duration=RUN, gpus=8) == 1_887_538
    assert quoted(duration=RUN, eighths=1, gpus=8) == quoted(duration=RUN)


def test_spot_time_has_its_own_price_if_there_is_one() -> None:
    assert quoted(duration=timedelta(hours=1), spot=True) == 800_000
    assert quoted(duration=timedelta(hours=1), spot=True, gpu_types=["MI210"]) == 1_100_000


def test_the_price_is_that_of_now() -> None:
    prices = PriceList(["MI300X"], periods_of((0, a_price(1)), (0, a_price(2, start_time=day(5)))))
    assert [quoted(prices, at, duration=timedelta(hours=1)) for at in (4.9, 5)] == [1_000_000, 2_000_000]


def test_a_minimum_and_whole_increments_are_quoted() -> None:
    tariff = Tariff(3_600_000, timedelta(seconds=60), timedelta(seconds=10))
    prices = PriceList(["MI300X"], periods_of((0, WantedPrice("MI300X", tariff, PriceSource.SETTINGS))))
    assert quote(prices, GpuTime(), LONGEST, NOW).minimum_micros == 60_000
    assert [quoted(prices, duration=timedelta(seconds=seconds)) for seconds in (1, 61)] == [60_000, 70_000]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (GpuTime(["MI3000X"]), "gpu_type: must be one of MI300X, MI210; .*the nearest is MI300X"),
        (GpuTime(eighths=9), "eighths: must be from 1 to 8; it is 9"),
        (GpuTime(eighths=-1), "eighths"),
        (GpuTime(gpus=65), "gpu_count: must be from 1 to 64"),
        (GpuTime(duration=timedelta(0)), "duration: must be more than 0"),
        (GpuTime(duration=timedelta(days=401)), "duration: .*at most 400 days"),
    ],
)
def test_a_wrong_field_is_named(wanted: GpuTime, said: str) -> None:
    with pytest.raises(InvalidFieldError, match=said):
        quote(PRICES, wanted, LONGEST, day(2))


def test_before_the_first_price_there_is_none() -> None:
    with pytest.raises(NoPriceError, match="MI300X has no price at 2026-10-31T00:00:00Z"):
        PRICES.price_at(day(-1), "MI300X")
