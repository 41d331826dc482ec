from __future__ import annotations

from services.billing.prices.price_period import PriceSource
from services.billing.prices.settings_prices import settings_prices
from tests.services.billing.price_periods import NOW, a_price, day, periods_of
from vocabulary.money import Tariff

RATES = {"MI300X": Tariff(1_990_000)}
DEARER = {"MI300X": Tariff(2_500_000)}
SEEDED = (0.0, a_price(1.99, source=PriceSource.SETTINGS))


def test_a_new_database_gets_the_prices_of_the_settings() -> None:
    rates = {"MI300X": Tariff(1_990_000), "MI210": Tariff(1_100_000)}
    wanted = settings_prices([], rates, NOW).wanted
    assert [(one.gpu_type, one.tariff, one.source, one.start_time) for one in wanted] == [
        (gpu_type, tariff, PriceSource.SETTINGS, None) for gpu_type, tariff in rates.items()
    ]


def test_settings_that_did_not_change_change_nothing() -> None:
    assert not settings_prices(periods_of(SEEDED), RATES, day(3)).wanted


def test_a_changed_setting_is_a_new_price() -> None:
    (wanted,) = settings_prices(periods_of(SEEDED), DEARER, day(3)).wanted
    assert wanted.tariff == Tariff(2_500_000)


def test_a_price_that_an_administrator_set_or_planned_stands() -> None:
    for by_hand in ((1, a_price(3)), (1, a_price(3, start_time=day(9)))):
        decided = settings_prices(periods_of(SEEDED, by_hand), DEARER, day(3))
        assert not decided.wanted
        assert [period.tariff.price_micros_per_hour for period in decided.standing] == [3_000_000]


def test_a_price_by_hand_that_is_the_settings_own_needs_no_word() -> None:
    assert not settings_prices(periods_of(SEEDED, (1, a_price(2.5))), DEARER, day(3)).standing


def test_once_a_price_by_hand_has_ended_the_settings_count_again() -> None:
    periods = periods_of(SEEDED, (1, a_price(3, start_time=day(1), end_time=day(2))))
    assert not settings_prices(periods, DEARER, day(1.5)).wanted
    assert [one.tariff for one in settings_prices(periods, DEARER, day(3)).wanted] == [Tariff(2_500_000)]


def test_a_withdrawn_price_by_hand_does_not_stand() -> None:
    replaced = a_price(1.99, source=PriceSource.SETTINGS, start_time=day(5), replaces_planned=True)
    periods = periods_of(SEEDED, (1, a_price(3, start_time=day(9))), (2, replaced))
    assert settings_prices(periods, DEARER, day(3)).wanted
