"""`/api/v1/me` and `/api/v1/costs`: the caller's account and its costs."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from wavepool.billing.v1.billing_pb2 import GetBalanceRequest, ListPostingsRequest

from gateway.dependencies import TheAccount, TheGateway
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.enum_names import posting_kind_name
from gateway.words.proto_time import instant_of
from vocabulary.money import dollars_of

if TYPE_CHECKING:
    from wavepool.billing.v1 import billing_pb2

router = APIRouter(tags=["account"])


class Posting(BaseModel):
    """One line of the ledger: credit added is positive, credit held or spent negative."""

    id: str
    create_time: datetime | None
    kind: str
    amount_usd: float
    description: str


class Costs(BaseModel):
    """An account's credit and a page of its ledger, newest first. available = granted - charged - held."""

    account_name: str
    granted_usd: float
    charged_usd: float
    held_usd: float
    available_usd: float
    alert_threshold_pct: float
    alert_fired: bool
    postings: list[Posting]
    next_page_token: str


class Me(BaseModel):
    """The account and the token of the request."""

    account_id: str
    account_name: str
    token_id: str
    admin: bool


class TokenRequest(BaseModel):
    """The name of a new token, and its account."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "laptop"}]})

    name: Annotated[str, Field(min_length=1, max_length=100, description="For people.")]
    account_id: Annotated[str, Field(max_length=100, description="Your own account where empty.")] = ""


class NewToken(BaseModel):
    """A new token; `token` is shown only this once."""

    id: str
    token: str


class Token(BaseModel):
    """A token without its secret."""

    id: str
    name: str
    prefix: str
    create_time: datetime | None
    revoke_time: datetime | None


class TokenList(BaseModel):
    """An account's tokens."""

    tokens: list[Token]


@router.get("/me")
async def get_me(account: TheAccount) -> Me:
    """Get the account that your token belongs to."""
    return Me(**asdict(account))


@router.get("/costs")
async def get_costs(
    account: TheAccount,
    gateway: TheGateway,
    page_size: Annotated[int, Query(ge=1, le=500)] = 50,
    page_token: Annotated[str, Query(max_length=500, description="The `next_page_token` of the page before.")] = "",
) -> Costs:
    """Get your credit, and a page of your ledger, newest first."""
    billing, account_id = gateway.upstreams.billing, account.account_id
    page = ListPostingsRequest(account_id=account_id, page_size=page_size, page_token=page_token)
    balance, postings = await asyncio.gather(
        billing.GetBalance(GetBalanceRequest(account_id=account_id), timeout=CALL_TIMEOUT_SECONDS),
        billing.ListPostings(page, timeout=CALL_TIMEOUT_SECONDS),
    )
    return costs_of(balance, postings)


def costs_of(balance: billing_pb2.GetBalanceResponse, page: billing_pb2.ListPostingsResponse) -> Costs:
    """An account's credit and a page of its ledger."""
    return Costs(
        account_name=balance.account_name,
        granted_usd=dollars_of(balance.granted_micros),
        charged_usd=dollars_of(balance.charged_micros),
        held_usd=dollars_of(balance.held_micros),
        available_usd=dollars_of(balance.available_micros),
        alert_threshold_pct=balance.alert_threshold_permille / 10,
        alert_fired=balance.alert_fired,
        postings=[
            Posting(
                id=posting.posting_id,
                create_time=instant_of(posting.create_time),
                kind=posting_kind_name(posting.kind),
                amount_usd=dollars_of(posting.amount_micros),
                description=posting.description,
            )
            for posting in page.postings
        ],
        next_page_token=page.next_page_token,
    )


def token_of(token: billing_pb2.Token) -> Token:
    """A token without its secret."""
    return Token(
        id=token.token_id,
        name=token.name,
        prefix=token.prefix,
        create_time=instant_of(token.create_time),
        revoke_time=instant_of(token.revoke_time),
    )
