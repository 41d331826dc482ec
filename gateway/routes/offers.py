"""`/api/v1/offers` and `/api/v1/providers`: the sources of machines."""

from __future__ import annotations

import asyncio
from typing import Annotated

import grpc
from fastapi import APIRouter, Query
from wavepool.billing.v1.prices_pb2 import ListPricesRequest, ListPricesResponse
from wavepool.vmpool.v1.vmpool_pb2 import DiagnoseProvidersRequest, ListOffersRequest, ResumeRentingRequest

from gateway.dependencies import Gateway, TheAccount, TheGateway, TheOperator
from gateway.http.route_docs import problems
from gateway.machines.schemas import OfferList, ProviderDiagnosis, ResumedRenting
from gateway.machines.views import offers_of
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.shown import shown

router = APIRouter(tags=["machines"])

PROVIDERS_TIMEOUT_SECONDS = 25.0
"""Longer than for other calls, because clouds are slow to answer."""


@router.get("/offers")
async def list_offers(
    _: TheAccount,
    gateway: TheGateway,
    gpu_type: Annotated[str, Query(max_length=40, description="Only machines with this GPU.")] = "",
) -> OfferList:
    """List the machines that are available now, cheapest per GPU first, with their cost and the price for users."""
    request = ListOffersRequest(gpu_type=gpu_type)
    offers, prices = await asyncio.gather(
        gateway.upstreams.vmpool.ListOffers(request, timeout=PROVIDERS_TIMEOUT_SECONDS), _prices(gateway)
    )
    return offers_of(offers, prices)


@router.get("/providers/diagnosis", responses=problems(403))
async def diagnose_providers(_: TheOperator, gateway: TheGateway) -> ProviderDiagnosis:
    """Find out why the pool's providers cannot make machines, and how to fix it."""
    request = DiagnoseProvidersRequest()
    answer = await gateway.upstreams.vmpool.DiagnoseProviders(request, timeout=PROVIDERS_TIMEOUT_SECONDS)
    return shown(ProviderDiagnosis, answer)


@router.post("/providers/resume", responses=problems(403))
async def resume_renting(
    _: TheOperator,
    gateway: TheGateway,
    gpu_type: Annotated[str, Query(max_length=40, description="Empty: all.")] = "",
) -> ResumedRenting:
    """Rent machines again from stopped sources, after their fault is fixed."""
    request = ResumeRentingRequest(gpu_type=gpu_type)
    answer = await gateway.upstreams.vmpool.ResumeRenting(request, timeout=CALL_TIMEOUT_SECONDS)
    return shown(ResumedRenting, answer)


async def _prices(gateway: Gateway) -> ListPricesResponse | None:
    """The price list; None if billing does not answer, because the offers are worth having without it."""
    try:
        return await gateway.upstreams.prices.ListPrices(ListPricesRequest(), timeout=CALL_TIMEOUT_SECONDS)
    except grpc.aio.AioRpcError:
        return None
