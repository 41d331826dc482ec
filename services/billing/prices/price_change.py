"""Decides what setting a price changes: nothing before now, no overlap, and no gap after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from services.billing.errors import InvalidFieldError, PastPriceError, PricePeriodsOverlapError
from services.billing.prices.price_period import PricePeriod, PriceSource
from vocabulary.money import Tariff


@dataclass(frozen=True)
class WantedPrice:
    """A price that is to be set, from `start_time` (None: from now) until before `end_time` (None: for good)."""

    gpu_type: str
    tariff: Tariff
    source: PriceSource
    spot: bool = False
    start_time: datetime | None = None
    end_time: datetime | None = None
    replaces_planned: bool = False
    """Withdraws the planned prices that begin at `start_time` or later."""


@dataclass(frozen=True)
class PriceChange:
    """The period of the new price, all periods to add, and the new ends of others by their ids."""

    period: PricePeriod
    added: Sequence[PricePeriod] = ()
    ends: Mapping[str, datetime] = field(default_factory=dict[str, "datetime"])


def price_change(
    periods: Sequence[PricePeriod], wanted: WantedPrice, now: datetime, new_id: Callable[[str], str]
) -> PriceChange:
    """What setting `wanted` changes. The price before it ends at its start, and counts again from its end on.

    A repeated call changes nothing. Raises PastPriceError, InvalidFieldError (the end is not after the start), and
    PricePeriodsOverlapError if a planned price would begin within the new period.
    """
    live = [
        period
        for period in sorted(periods, key=lambda period: period.start_time)
        if (period.gpu_type, period.spot) == (wanted.gpu_type, wanted.spot) and not period.is_withdrawn
    ]
    repeated = next((period for period in live if _is_same(period, wanted)), None)
    if repeated is not None:
        return PriceChange(repeated)
    start, end = wanted.start_time or now, wanted.end_time
    _check_times(start, end, now)
    planned = [period for period in live if period.start_time >= start and period.start_time > now]
    withdrawn = planned if wanted.replaces_planned else []
    kept = [period for period in live if period not in withdrawn]
    for period in kept:
        if period.start_time >= start and (end is None or end > period.start_time):
            raise PricePeriodsOverlapError(wanted.gpu_type, period.start_time)
    new = PricePeriod(
        new_id("price"), wanted.gpu_type, wanted.spot, wanted.tariff, wanted.source, start, end, create_time=now
    )
    ends = {period.period_id: period.start_time for period in withdrawn}
    before = next((period for period in reversed(kept) if period.start_time < start), None)
    if before is None:
        return PriceChange(new, [new], ends)
    if before.contains(start):
        ends[before.period_id] = start
    resumed = _resumed(before, withdrawn, end, now, new_id)
    return PriceChange(new, [new, resumed] if resumed else [new], ends)


def _is_same(period: PricePeriod, wanted: WantedPrice) -> bool:
    return (period.start_time, period.end_time, period.tariff, period.source) == (
        wanted.start_time,
        wanted.end_time,
        wanted.tariff,
        wanted.source,
    )


def _check_times(start: datetime, end: datetime | None, now: datetime) -> None:
    if start < now:
        raise PastPriceError(start, now)
    if end is not None and end <= start:
        raise InvalidFieldError("end_time", "must be after start_time")


def _resumed(
    before: PricePeriod,
    withdrawn: Sequence[PricePeriod],
    end: datetime | None,
    now: datetime,
    new_id: Callable[[str], str],
) -> PricePeriod | None:
    """The period in which the price before the new one counts again; None if the new one, or another, follows it."""
    if end is None:
        return None
    its_end = before.end_time
    if its_end in {period.start_time for period in withdrawn}:
        its_end = None
    if its_end is not None and its_end <= end:
        return None
    return PricePeriod(
        new_id("price"), before.gpu_type, before.spot, before.tariff, before.source, end, its_end, create_time=now
    )
