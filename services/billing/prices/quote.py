"""Quotes: what GPU time costs before it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from services.billing.errors import InvalidFieldError
from services.billing.prices.price_list import PriceList
from vocabulary.limits import LONGEST_BILLED
from vocabulary.money import MICROSECOND, WHOLE_GPU, Tariff

MOST_GPUS = 64
"""More than any machine has."""


@dataclass(frozen=True)
class GpuTime:
    """GPU time to be priced, on one of `gpu_types`; none of them means the default one."""

    gpu_types: Sequence[str] = ()
    eighths: int = WHOLE_GPU
    gpus: int = 1
    spot: bool = False
    duration: timedelta | None = None
    """None: the longest time that a run may take."""


@dataclass(frozen=True)
class QuoteLine:
    """The price of the GPU time on one GPU type, in micro-dollars."""

    gpu_type: str
    price_micros_per_hour: int
    """Of one whole GPU."""
    hour_micros: int
    price_micros: int
    minimum_micros: int
    hold_micros: int


@dataclass(frozen=True)
class Quote:
    """The lines of all GPU types that were asked for."""

    duration: timedelta
    longest_run: timedelta
    lines: Sequence[QuoteLine]

    @property
    def hour_micros(self) -> int:
        """The price of an hour on the dearest type."""
        return max(line.hour_micros for line in self.lines)

    @property
    def price_micros(self) -> int:
        """The price of the duration on the dearest type."""
        return max(line.price_micros for line in self.lines)

    @property
    def minimum_micros(self) -> int:
        """The price of the shortest use, on the dearest type for it."""
        return max(line.minimum_micros for line in self.lines)

    @property
    def hold_micros(self) -> int:
        """The most that it can cost: the longest run, or the duration if that is longer, on the dearest type."""
        return max(line.hold_micros for line in self.lines)


def quote(prices: PriceList, wanted: GpuTime, longest_run: timedelta, now: datetime) -> Quote:
    """The quote at the prices of now; raises InvalidFieldError with the name of a wrong field."""
    duration = longest_run if wanted.duration is None else wanted.duration
    _check(duration)
    gpu_types = dict.fromkeys(prices.gpu_type(name) for name in wanted.gpu_types or [""])
    lines = [_line(prices, gpu_type, wanted, (duration, longest_run), now) for gpu_type in gpu_types]
    return Quote(duration, longest_run, lines)


def sized(of_one: Tariff, eighths: int, gpus: int) -> Tariff:
    """The price of so many eighths of each of so many GPUs; raises InvalidFieldError."""
    if not 1 <= eighths <= WHOLE_GPU:
        raise InvalidFieldError("eighths", f"must be from 1 to {WHOLE_GPU}; it is {eighths}")
    if not 1 <= gpus <= MOST_GPUS:
        raise InvalidFieldError("gpu_count", f"must be from 1 to {MOST_GPUS}; it is {gpus}")
    return replace(of_one, eighths=eighths, gpus=gpus)


def _check(duration: timedelta) -> None:
    if not timedelta(0) < duration <= LONGEST_BILLED:
        raise InvalidFieldError("duration", f"must be more than 0 and at most {LONGEST_BILLED}")


def _line(
    prices: PriceList, gpu_type: str, wanted: GpuTime, durations: tuple[timedelta, timedelta], now: datetime
) -> QuoteLine:
    of_one = prices.price_at(now, gpu_type, spot=wanted.spot).tariff
    tariff = sized(of_one, wanted.eighths, wanted.gpus)
    return QuoteLine(
        gpu_type,
        of_one.price_micros_per_hour,
        hour_micros=tariff.price_of(timedelta(hours=1)),
        price_micros=tariff.cost_micros(durations[0]),
        minimum_micros=tariff.cost_micros(MICROSECOND),
        hold_micros=tariff.cost_micros(max(durations)),
    )
