"""Converts the messages of prices.proto to and from billing's own types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool.billing.v1 import prices_pb2 as pb

from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from services.billing.errors import InvalidFieldError
from services.billing.prices.price_change import WantedPrice
from services.billing.prices.price_period import PriceSource, check_currency, check_tariff
from services.billing.prices.quote import GpuTime
from services.billing.wire.fields import duration_from_proto, optional_instant
from vocabulary.money import MICROSECOND, WHOLE_GPU, Tariff

if TYPE_CHECKING:
    from datetime import datetime

    from services.billing.prices.price_list import PriceList
    from services.billing.prices.price_period import PricePeriod
    from services.billing.prices.quote import Quote

_SOURCES = {one: pb.PriceSource.Value(f"PRICE_SOURCE_{one.name}") for one in PriceSource}


def prices_to_proto(prices: PriceList, now: datetime) -> pb.ListPricesResponse:
    """The prices of now."""
    spot = [prices.spot_price_at(now, gpu_type) for gpu_type in prices.gpu_types]
    return pb.ListPricesResponse(
        prices=[_price_to_proto(prices.price_at(now, gpu_type)) for gpu_type in prices.gpu_types],
        spot_prices=[_price_to_proto(period) for period in spot if period is not None],
    )


def period_to_proto(period: PricePeriod) -> pb.PricePeriod:
    """A price with its period."""
    return pb.PricePeriod(
        period_id=period.period_id,
        price=_price_to_proto(period),
        spot=period.spot,
        source=_SOURCES[period.source],
        create_time=instant_to_proto(period.create_time),
    )


def wanted_from_proto(request: pb.SetPriceRequest, prices: PriceList) -> WantedPrice:
    """The price that is to be set; raises InvalidFieldError with the name of a wrong field."""
    check_currency(request.currency)
    # An empty request must not make the default GPU type free.
    if not request.gpu_type.strip():
        raise InvalidFieldError("gpu_type", f"must be one of {', '.join(prices.gpu_types)}")
    if not request.HasField("price_micros_per_hour"):
        raise InvalidFieldError("price_micros_per_hour", "must be given; 0 makes it free")
    has_increment = request.HasField("billing_increment")
    tariff = Tariff(
        request.price_micros_per_hour,
        duration_from_proto("minimum_billed", request.minimum_billed),
        duration_from_proto("billing_increment", request.billing_increment) if has_increment else MICROSECOND,
    )
    return WantedPrice(
        gpu_type=prices.gpu_type(request.gpu_type),
        tariff=check_tariff(tariff),
        source=PriceSource.ADMINISTRATOR,
        spot=request.spot,
        start_time=optional_instant("start_time", request, request.start_time),
        end_time=optional_instant("end_time", request, request.end_time),
        replaces_planned=request.replace_planned,
    )


def gpu_time_from_proto(request: pb.GetQuoteRequest) -> GpuTime:
    """The GPU time to be priced; raises InvalidFieldError if its duration is none."""
    has_duration = request.HasField("duration")
    return GpuTime(
        gpu_types=list(request.gpu_types),
        eighths=request.eighths or WHOLE_GPU,
        gpus=request.gpu_count or 1,
        spot=request.spot,
        duration=duration_from_proto("duration", request.duration) if has_duration else None,
    )


def quote_to_proto(quote: Quote) -> pb.GetQuoteResponse:
    """A quote."""
    return pb.GetQuoteResponse(
        hour_micros=quote.hour_micros,
        price_micros=quote.price_micros,
        minimum_micros=quote.minimum_micros,
        hold_micros=quote.hold_micros,
        duration=duration_to_proto(quote.duration),
        longest_run=duration_to_proto(quote.longest_run),
        lines=[
            pb.QuoteLine(
                gpu_type=line.gpu_type,
                price_micros_per_hour=line.price_micros_per_hour,
                hour_micros=line.hour_micros,
                price_micros=line.price_micros,
                minimum_micros=line.minimum_micros,
            )
            for line in quote.lines
        ],
    )


def _price_to_proto(period: PricePeriod) -> pb.Price:
    return pb.Price(
        gpu_type=period.gpu_type,
        price_micros_per_hour=period.tariff.price_micros_per_hour,
        minimum_billed=duration_to_proto(period.tariff.minimum),
        billing_increment=duration_to_proto(period.tariff.increment),
        start_time=instant_to_proto(period.start_time),
        end_time=instant_to_proto(period.end_time),
    )
