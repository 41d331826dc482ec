"""An account, its credit and its tokens as HTTP shows them, and the body that asks for a token."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from gateway.words.enum_names import posting_kind_name
from gateway.words.proto_time import instant_of
from vocabulary.money import dollars_of

if TYPE_CHECKING:
    from wavepool.billing.v1 import billing_pb2


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
    """Whose token this is."""

    account_id: str
    account_name: str
    token_id: str
    admin: bool


class TokenRequest(BaseModel):
    """A token to make."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "laptop"}]})

    name: Annotated[str, Field(min_length=1, max_length=100, description="For people.")]
    account_id: Annotated[str, Field(max_length=100, description="Your own account where empty.")] = ""


class NewToken(BaseModel):
    """A new token; `token` is shown this once."""

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
