"""`/api/v1/prices` and `/api/v1/quote`: what GPU time costs users. Administrators set prices."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from google.protobuf.duration_pb2 import Duration
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from wavepool.billing.v1 import prices_pb2
from wavepool.billing.v1.prices_pb2 import (
    GetQuoteRequest,
    ListPricePeriodsRequest,
    ListPricesRequest,
    SetPriceRequest,
)

from gateway.dependencies import TheAccount, TheAdmin, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import call
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.answer_words import PriceSourceWord
from gateway.words.proto_time import NoNumber
from gateway.words.shown import shown
from servicekit.rpc.proto_time import duration_to_proto, instant_to_proto
from vocabulary.gpu_types import title_of
from vocabulary.money import dollars_text, micros_of

router = APIRouter(tags=["prices"], route_class=JsonRoute)

MOST_USD = 10**9
MOST_SECONDS = 10**9
LAST_INSTANT = datetime(9000, 1, 1, tzinfo=UTC)
"""Limits that only keep numbers in range. They are far beyond sensible values, which billing checks."""
FIELD_NAMES = {
    "price_micros_per_hour": "price_usd_per_hour",
    "minimum_billed": "minimum_billed_seconds",
    "billing_increment": "billing_increment_seconds",
    "gpu_count": "gpus",
    "duration": "duration_seconds",
}

Seconds = Annotated[float, Field(strict=True, ge=0, le=MOST_SECONDS)]
Instant = Annotated[AwareDatetime, NoNumber, Field(le=LAST_INSTANT)]
Spot = Annotated[bool, Query(description="On a spot machine.")]


class GpuTimePrice(BaseModel):
    """The price of a GPU type, and the time that it counts for."""

    gpu_type: str
    spot: Annotated[bool, Field(description="On spot machines. Without such a price they cost the ordinary one.")]
    price_usd_per_hour: Annotated[float, Field(description="Of one whole GPU.")]
    minimum_billed_seconds: Annotated[float, Field(description="The minimum time that is charged.")]
    billing_increment_seconds: Annotated[float, Field(description="Beyond that, time is charged in steps of these.")]
    start_time: datetime | None
    end_time: Annotated[datetime | None, Field(description="Null: until another price is set.")]
    text: Annotated[str, Field(description="For people, such as `AMD MI300X (192GB, $1.99/hr)`.")]


class PriceList(BaseModel):
    """The prices of now."""

    currency: str
    prices: Annotated[list[GpuTimePrice], Field(description="The first is of the default GPU type.")]


class PricePeriod(GpuTimePrice):
    """A price of the past, of now, or of a time to come."""

    id: str
    source: PriceSourceWord
    create_time: datetime | None


class PriceHistory(BaseModel):
    """All prices: by GPU type, then newest first. A withdrawn one ends when it begins."""

    periods: list[PricePeriod]


class NewPrice(BaseModel):
    """A price that is to be set."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={
            "examples": [{"gpu_type": "MI300X", "price_usd_per_hour": 2.29, "start_time": "2027-01-01T00:00:00Z"}]
        },
    )

    gpu_type: Annotated[str, Field(min_length=1, max_length=40, description="In any case.")]
    price_usd_per_hour: Annotated[float, Field(strict=True, ge=-MOST_USD, le=MOST_USD, description="Of one whole GPU.")]
    spot: Annotated[bool, Field(strict=True, description="The price on spot machines.")] = False
    minimum_billed_seconds: Annotated[Seconds, Field(description="The minimum time that is charged.")] = 0.0
    billing_increment_seconds: Annotated[Seconds, Field(description="0: time is charged by the microsecond.")] = 0.0
    start_time: Annotated[Instant | None, Field(description="Never in the past; default: now.")] = None
    end_time: Annotated[
        Instant | None, Field(description="The price before counts again then; default: until another price is set.")
    ] = None
    replace_planned: Annotated[
        bool, Field(strict=True, description="Withdraws planned prices that begin at `start_time` or later.")
    ] = False
    currency: Annotated[str, Field(max_length=10, description="USD.")] = "USD"


class QuoteLine(BaseModel):
    """The price on one GPU type."""

    gpu_type: str
    price_usd_per_hour: Annotated[float, Field(description="Of one whole GPU.")]
    hour_usd: Annotated[float, Field(description="Of an hour of all that is asked for.")]
    price_usd: Annotated[float, Field(description="Of the duration.")]
    minimum_usd: Annotated[float, Field(description="Of the shortest use.")]


class Quote(BaseModel):
    """The cost of GPU time at current prices, on the most expensive GPU type; `lines` has each type."""

    hour_usd: Annotated[float, Field(description="Of an hour of all that is asked for.")]
    price_usd: Annotated[float, Field(description="Of the duration.")]
    minimum_usd: Annotated[float, Field(description="Of the shortest use.")]
    hold_usd: Annotated[float, Field(description="The most that it can cost, which a submission puts on hold.")]
    duration_seconds: float
    longest_run_seconds: Annotated[float, Field(description="A run that takes longer is ended.")]
    lines: list[QuoteLine]


@router.get("/prices")
async def list_prices(_: TheAccount, gateway: TheGateway) -> PriceList:
    """List the GPU types that can be requested, with current prices."""
    answer = await gateway.upstreams.prices.ListPrices(ListPricesRequest(), timeout=CALL_TIMEOUT_SECONDS)
    ordinary = [price_of(price, spot=False) for price in answer.prices]
    return PriceList(currency="USD", prices=[*ordinary, *(price_of(price, spot=True) for price in answer.spot_prices)])


@router.post("/prices", status_code=201, responses=problems(403, 409))
async def set_price(body: NewPrice, _: TheAdmin, gateway: TheGateway) -> PricePeriod:
    """Set a price from an instant on, never in the past. Jobs keep the price of their submission."""
    request = SetPriceRequest(
        gpu_type=body.gpu_type,
        spot=body.spot,
        price_micros_per_hour=micros_of(body.price_usd_per_hour),
        minimum_billed=_duration(body.minimum_billed_seconds),
        billing_increment=_duration(body.billing_increment_seconds) if body.billing_increment_seconds else None,
        start_time=instant_to_proto(body.start_time),
        end_time=instant_to_proto(body.end_time),
        replace_planned=body.replace_planned,
        currency=body.currency,
    )
    return period_of((await call(gateway.upstreams.prices.SetPrice, request, FIELD_NAMES)).period)


@router.get("/prices/history")
async def list_price_periods(
    _: TheAccount,
    gateway: TheGateway,
    gpu_type: Annotated[str, Query(max_length=40, description="Empty: all.")] = "",
) -> PriceHistory:
    """List past, current and planned prices."""
    request = ListPricePeriodsRequest(gpu_type=gpu_type)
    answer = await gateway.upstreams.prices.ListPricePeriods(request, timeout=CALL_TIMEOUT_SECONDS)
    return PriceHistory(periods=[period_of(period) for period in answer.periods])


@router.get("/quote")
async def get_quote(
    _: TheAccount,
    gateway: TheGateway,
    gpu_type: Annotated[
        list[Annotated[str, Field(max_length=40)]] | None,
        Query(
            max_length=20,
            description="In any case; of several, the most expensive counts. Default: the operator's default.",
        ),
    ] = None,
    eighths: Annotated[int, Query(ge=1, le=8, description="The share of each GPU, in eighths.")] = 8,
    gpus: Annotated[int, Query(ge=1, le=2**31 - 1)] = 1,
    spot: Spot = False,  # noqa: FBT002 - a query parameter
    duration_seconds: Annotated[
        float | None, Query(gt=0, le=MOST_SECONDS, description="Default: the longest time that a run may take.")
    ] = None,
) -> Quote:
    """Compute the cost of GPU time at current prices, and the credit that a submission puts on hold."""
    request = GetQuoteRequest(
        gpu_types=gpu_type or (),
        eighths=eighths,
        gpu_count=gpus,
        spot=spot,
        duration=None if duration_seconds is None else _duration(duration_seconds),
    )
    return shown(Quote, await call(gateway.upstreams.prices.GetQuote, request, FIELD_NAMES))


def price_of(price: prices_pb2.Price, *, spot: bool) -> GpuTimePrice:
    """A price of now."""
    dollars = f"{dollars_text(price.price_micros_per_hour)}/hr"
    text = title_of(price.gpu_type, f"spot, {dollars}" if spot else dollars)
    return shown(GpuTimePrice, price, spot=spot, text=text)


def period_of(period: prices_pb2.PricePeriod) -> PricePeriod:
    """A price with its period."""
    return shown(PricePeriod, period, period.price, text=price_of(period.price, spot=period.spot).text)


def _duration(seconds: float) -> Duration:
    return duration_to_proto(timedelta(seconds=seconds))
