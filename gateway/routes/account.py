"""`/api/v1/me` and `/api/v1/costs`: who asks, and what it has cost them."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from wavepool.billing.v1.billing_pb2 import GetBalanceRequest, ListPostingsRequest

from gateway.account import Costs, Me, costs_of
from gateway.dependencies import TheAccount, TheGateway
from gateway.upstreams import CALL_TIMEOUT_SECONDS

router = APIRouter(tags=["account"])


@router.get("/me")
async def get_me(account: TheAccount) -> Me:
    """Whose token this is."""
    return Me(**asdict(account))


@router.get("/costs")
async def get_costs(
    account: TheAccount,
    gateway: TheGateway,
    page_size: Annotated[int, Query(ge=1, le=500)] = 50,
    page_token: Annotated[str, Query(max_length=500, description="The `next_page_token` of the page before.")] = "",
) -> Costs:
    """Your credit, and a page of your ledger, newest first."""
    billing, account_id = gateway.upstreams.billing, account.account_id
    page = ListPostingsRequest(account_id=account_id, page_size=page_size, page_token=page_token)
    balance, postings = await asyncio.gather(
        billing.GetBalance(GetBalanceRequest(account_id=account_id), timeout=CALL_TIMEOUT_SECONDS),
        billing.ListPostings(page, timeout=CALL_TIMEOUT_SECONDS),
    )
    return costs_of(balance, postings)
