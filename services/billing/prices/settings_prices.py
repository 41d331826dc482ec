"""Decides what the prices in the settings change when billing starts.

A GPU type without a price gets that of the settings from now on. Later, a changed setting is a new price from now on,
unless a price that an administrator set counts now or is planned: a price set by hand stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.billing.prices.price_change import WantedPrice
from services.billing.prices.price_period import PricePeriod, PriceSource
from vocabulary.money import Tariff


@dataclass(frozen=True)
class SettingsPrices:
    """The prices to set from now on, and the prices set by hand that stand against another price in the settings."""

    wanted: Sequence[WantedPrice]
    standing: Sequence[PricePeriod]


def settings_prices(periods: Sequence[PricePeriod], rates: Mapping[str, Tariff], now: datetime) -> SettingsPrices:
    """What `rates`, the settings' prices by GPU type, change."""
    wanted: list[WantedPrice] = []
    standing: list[PricePeriod] = []
    for gpu_type, tariff in rates.items():
        coming = [
            period for period in periods if period.gpu_type == gpu_type and not period.spot and not period.is_over(now)
        ]
        by_hand = [period for period in coming if period.source is PriceSource.ADMINISTRATOR]
        if by_hand:
            standing += [period for period in by_hand if period.tariff != tariff]
        elif all(period.tariff != tariff for period in coming):
            wanted.append(WantedPrice(gpu_type, tariff, PriceSource.SETTINGS))
    return SettingsPrices(wanted, standing)
