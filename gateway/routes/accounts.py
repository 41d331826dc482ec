"""`/api/v1/accounts`: wallets with credit, each of one user or one team."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from wavepool.billing.v1 import identity_pb2
from wavepool.billing.v1.billing_pb2 import GetBalanceRequest
from wavepool.billing.v1.identity_pb2 import CreateUserRequest, GetAccountRequest, ListAccountsRequest

from gateway.dependencies import Gateway, TheAccount, TheAdmin, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import GrantUsd, Name, Reference, call
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.answer_words import AccountOwnerWord
from gateway.words.shown import shown
from vocabulary.money import micros_of

router = APIRouter(prefix="/accounts", tags=["accounts"], route_class=JsonRoute)


class AccountRequest(BaseModel):
    """A new account, for a new user of the same name."""

    model_config = ConfigDict(
        extra="forbid", allow_inf_nan=False, json_schema_extra={"examples": [{"name": "ada", "grant_usd": 5.0}]}
    )

    name: Name
    grant_usd: GrantUsd = 0.0


class AccountSummary(BaseModel):
    """An account and its owner."""

    id: str
    name: str
    create_time: datetime | None
    owner: Annotated[AccountOwnerWord | None, Field(description="Null if it has no owner.")]
    owner_id: str
    owner_name: str


class Account(AccountSummary):
    """An account with its credit. available = granted - charged - held."""

    granted_usd: float
    charged_usd: float
    held_usd: float
    available_usd: float


class AccountList(BaseModel):
    """Accounts, by name."""

    accounts: list[AccountSummary]


@router.post("", status_code=201, responses=problems(403, 409))
async def create_account(body: AccountRequest, admin: TheAdmin, gateway: TheGateway) -> Account:
    """Open an account for a new user of the same name. `POST /users` also takes a role, `POST /teams` adds a team."""
    request = CreateUserRequest(caller_token_id=admin.token_id, name=body.name, grant_micros=micros_of(body.grant_usd))
    user = (await call(gateway.upstreams.identity.CreateUser, request)).user
    opened = identity_pb2.Account(
        account_id=user.account_id,
        name=user.name,
        create_time=user.create_time,
        owner=identity_pb2.ACCOUNT_OWNER_USER,
        owner_id=user.user_id,
        owner_name=user.name,
    )
    return await _with_credit(gateway, opened)


@router.get("", responses=problems(403))
async def list_accounts(caller: TheAccount, gateway: TheGateway) -> AccountList:
    """List your account and those of your teams; operators and administrators see all."""
    request = ListAccountsRequest(caller_token_id=caller.token_id)
    return shown(AccountList, await call(gateway.upstreams.identity.ListAccounts, request))


@router.get("/{account}", responses=problems(403, 404))
async def get_account(account: Reference, caller: TheAccount, gateway: TheGateway) -> Account:
    """Get an account with its credit."""
    # Billing says first whether the caller may see it.
    request = GetAccountRequest(caller_token_id=caller.token_id, account=account)
    return await _with_credit(gateway, (await call(gateway.upstreams.identity.GetAccount, request)).account)


async def _with_credit(gateway: Gateway, account: identity_pb2.Account) -> Account:
    balance = await gateway.upstreams.billing.GetBalance(
        GetBalanceRequest(account_id=account.account_id), timeout=CALL_TIMEOUT_SECONDS
    )
    return shown(Account, account, balance)
