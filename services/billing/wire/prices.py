"""Converts the messages of prices.proto to and from billing's own types."""

from __future__ import annotations

from datetime import datetime

from wavepool.billing.v1 import prices_pb2 as pb

from servicekit.rpc.proto_of import proto_of
from services.billing.errors import InvalidFieldError
from services.billing.prices.price_change import WantedPrice
from services.billing.prices.price_list import PriceList
from services.billing.prices.price_period import PricePeriod, PriceSource, check_currency, check_tariff
from services.billing.prices.quote import GpuTime
from services.billing.wire.fields import duration_from_proto, optional_instant
from vocabulary.money import MICROSECOND, WHOLE_GPU, Tariff


def prices_to_proto(prices: PriceList, now: datetime) -> pb.ListPricesResponse:
    """The prices of now."""
    spot = [prices.spot_price_at(now, gpu_type) for gpu_type in prices.gpu_types]
    return pb.ListPricesResponse(
        prices=[_price_to_proto(prices.price_at(now, gpu_type)) for gpu_type in prices.gpu_types],
        spot_prices=[_price_to_proto(period) for period in spot if period is not None],
    )


def period_to_proto(period: PricePeriod) -> pb.PricePeriod:
    """A price with its period."""
    return proto_of(pb.PricePeriod, period, price=_price_to_proto(period))


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


def _price_to_proto(period: PricePeriod) -> pb.Price:
    tariff = period.tariff
    return proto_of(pb.Price, period, tariff, minimum_billed=tariff.minimum, billing_increment=tariff.increment)
