"""A price service whose answers are written here; it notes what it was asked."""

# ruff: noqa: N802 - RPCs are VerbNoun
from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1 import prices_pb2 as pb
from wavepool.billing.v1 import prices_pb2_grpc

if TYPE_CHECKING:
    from tests.gateway.refusals import Refusals

PRICED_GPU_TYPES = ("MI300X", "MI300A", "MI250X", "MI210", "MI325X")
SINCE = datetime(2026, 11, 1, tzinfo=UTC)


def a_price(gpu_type: str, price_micros_per_hour: int = 1_990_000) -> pb.Price:
    start = Timestamp()
    start.FromDatetime(SINCE)
    return pb.Price(
        gpu_type=gpu_type,
        price_micros_per_hour=price_micros_per_hour,
        minimum_billed=Duration(),
        billing_increment=Duration(nanos=1000),
        start_time=start,
    )


class ScriptedPrices(prices_pb2_grpc.PriceServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals

    async def ListPrices(self, request: Any, context: Any) -> pb.ListPricesResponse:
        await self.refusals.meet("ListPrices", request, context)
        return pb.ListPricesResponse(
            prices=[a_price(gpu_type) for gpu_type in PRICED_GPU_TYPES], spot_prices=[a_price("MI300X", 990_000)]
        )

    async def SetPrice(self, request: Any, context: Any) -> pb.SetPriceResponse:
        await self.refusals.meet("SetPrice", request, context)
        return pb.SetPriceResponse(
            period=pb.PricePeriod(
                period_id="price_2",
                price=a_price(request.gpu_type, request.price_micros_per_hour),
                spot=request.spot,
                source=pb.PRICE_SOURCE_ADMINISTRATOR,
            )
        )

    async def ListPricePeriods(self, request: Any, context: Any) -> pb.ListPricePeriodsResponse:
        await self.refusals.meet("ListPricePeriods", request, context)
        period = pb.PricePeriod(period_id="price_1", price=a_price("MI300X"), source=pb.PRICE_SOURCE_SETTINGS)
        return pb.ListPricePeriodsResponse(periods=[period])

    async def GetQuote(self, request: Any, context: Any) -> pb.GetQuoteResponse:
        await self.refusals.meet("GetQuote", request, context)
        line = pb.QuoteLine(
            gpu_type="MI300X", price_micros_per_hour=1_990_000, hour_micros=1_990_000, price_micros=235_943
        )
        return pb.GetQuoteResponse(
            hour_micros=1_990_000,
            price_micros=235_943,
            minimum_micros=1,
            hold_micros=497_500,
            duration=Duration(seconds=426, nanos=830_000_000),
            longest_run=Duration(seconds=900),
            lines=[line],
        )
