"""PriceService: decode, ask, encode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import grpc
from wavepool.billing.v1 import prices_pb2 as pb
from wavepool.billing.v1 import prices_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.proto_of import proto_of
from services.billing.prices.price_list import PriceList
from services.billing.prices.quote import quote
from services.billing.store.price_store import PriceStore
from services.billing.wire import prices as wire

Context = grpc.aio.ServicerContext[object, object]


@dataclass(frozen=True)
class PriceServicer(prices_pb2_grpc.PriceServiceServicer):
    """The RPCs of the service; `prices.proto` documents them."""

    store: PriceStore
    gpu_types: Sequence[str]
    longest_run: timedelta
    clock: Clock

    async def ListPrices(self, request: pb.ListPricesRequest, context: Context) -> pb.ListPricesResponse:
        """Lists the GPU types with their prices now."""
        return wire.prices_to_proto(await self._prices(), self.clock.now())

    async def SetPrice(self, request: pb.SetPriceRequest, context: Context) -> pb.SetPriceResponse:
        """Sets a price from an instant on."""
        wanted = wire.wanted_from_proto(request, PriceList(self.gpu_types, ()))
        return pb.SetPriceResponse(period=wire.period_to_proto(await self.store.set(wanted)))

    async def ListPricePeriods(
        self, request: pb.ListPricePeriodsRequest, context: Context
    ) -> pb.ListPricePeriodsResponse:
        """Lists all periods, or those of one GPU type."""
        prices = await self._prices()
        only = prices.gpu_type(request.gpu_type) if request.gpu_type else ""
        shown = [period for period in prices.periods if only in {"", period.gpu_type}]
        return pb.ListPricePeriodsResponse(periods=[wire.period_to_proto(period) for period in shown])

    async def GetQuote(self, request: pb.GetQuoteRequest, context: Context) -> pb.GetQuoteResponse:
        """Prices GPU time."""
        wanted = wire.gpu_time_from_proto(request)
        found = quote(await self._prices(), wanted, self.longest_run, self.clock.now())
        return proto_of(pb.GetQuoteResponse, found)

    async def _prices(self) -> PriceList:
        return PriceList(self.gpu_types, await self.store.periods())
