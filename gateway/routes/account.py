"""`/api/v1/me`, `/api/v1/limits` and `/api/v1/costs`: the caller, mails to them, and their limits and costs."""

from __future__ import annotations

import asyncio
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from wavepool.billing.v1 import billing_pb2, identity_pb2
from wavepool.billing.v1.billing_pb2 import GetBalanceRequest, ListPostingsRequest
from wavepool.billing.v1.identity_pb2 import (
    GetNoticesRequest,
    GetProfileRequest,
    Notify,
    ProfileVisibility,
    SetNoticesRequest,
    SetProfileRequest,
)
from wavepool.scheduler.v1.scheduler_pb2 import GetAllowanceRequest

from gateway.dependencies import TheAccount, TheCaller, TheGateway, TheManager
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import UserQuery, call
from gateway.routes.users import RoleName
from gateway.submissions.allowance import Limits
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.answer_words import Documented, PostingKindWord
from gateway.words.enum_names import profile_word
from gateway.words.shown import shown

router = APIRouter(tags=["account"])


class Posting(BaseModel):
    """One line of the ledger: credit added is positive, credit held or spent negative."""

    id: str
    create_time: datetime | None
    kind: PostingKindWord
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
    """The user, the account and the token of the request."""

    user_id: str
    user_name: str
    role: Annotated[str, Documented(RoleName)]
    account_id: Annotated[str, Field(description="The account that pays for the token's submissions.")]
    account_name: str
    token_id: str
    admin: bool
    scopes: Annotated[list[str], Field(description="The scopes of the token.")]
    expire_time: Annotated[datetime | None, Field(description="When the token stops working; null: never.")]


class NotifyWord(StrEnum):
    """When a user is mailed about the end of a submission or reservation."""

    NEVER = "never"
    FAILED = "failed"
    ALWAYS = "always"


class NoticesChange(BaseModel):
    """A new choice."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"notify": "failed"}]})

    notify: Annotated[
        NotifyWord, Field(description="`failed`: if it did not end well, such as with a wrong answer, or cancelled.")
    ]


class Notices(BaseModel):
    """When and where a user is mailed about the end of a submission or reservation."""

    notify: Annotated[str, Documented(NotifyWord)]
    email: Annotated[str, Field(description="The user's address; empty: none is known.")]
    available: Annotated[bool, Field(description="False: no mail is sent, as the operator has set no mail server.")]


class ProfileWord(StrEnum):
    """The people who see your profile beside you: everybody with a token, or no other user."""

    PUBLIC = "public"
    OFF = "off"


class ProfileChange(BaseModel):
    """A new choice."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"profile": "off"}]})

    profile: ProfileWord


class ProfileSetting(BaseModel):
    """Whether others see your profile."""

    profile: Annotated[str, Documented(ProfileWord)]


@router.get("/me")
async def get_me(caller: TheCaller) -> Me:
    """Get the user that your token belongs to, and what it may do."""
    return Me.model_validate(caller, from_attributes=True)


@router.get("/me/notices", responses=problems(403, 404))
async def get_notices(caller: TheAccount, gateway: TheGateway, user: UserQuery = "") -> Notices:
    """Get when you are mailed about the end of a submission or reservation, and at which address."""
    request = GetNoticesRequest(caller_token_id=caller.token_id, user=user)
    return shown(Notices, (await call(gateway.upstreams.identity.GetNotices, request)).notices)


@router.patch("/me/notices", responses=problems(403, 404, 409))
async def set_notices(body: NoticesChange, caller: TheManager, gateway: TheGateway, user: UserQuery = "") -> Notices:
    """Choose when you are mailed. Refused with 409 without an address, and if the operator has set no mail server."""
    notify = Notify.Value(f"NOTIFY_{body.notify.name}")
    request = SetNoticesRequest(caller_token_id=caller.token_id, user=user, notify=notify)
    return shown(Notices, (await call(gateway.upstreams.identity.SetNotices, request)).notices)


@router.get("/me/profile")
async def get_profile_setting(caller: TheAccount, gateway: TheGateway) -> ProfileSetting:
    """Get whether others see your profile."""
    request = GetProfileRequest(caller_token_id=caller.token_id)
    return _setting_of((await call(gateway.upstreams.identity.GetProfile, request)).profile)


@router.patch("/me/profile", responses=problems(403))
async def set_profile_setting(body: ProfileChange, caller: TheManager, gateway: TheGateway) -> ProfileSetting:
    """Choose whether others see your profile; you always do."""
    visibility = ProfileVisibility.Value(f"PROFILE_VISIBILITY_{body.profile.name}")
    request = SetProfileRequest(caller_token_id=caller.token_id, visibility=visibility)
    return _setting_of((await call(gateway.upstreams.identity.SetProfile, request)).profile)


@router.get("/limits", responses=problems(404))
async def get_limits(
    account: TheAccount,
    gateway: TheGateway,
    account_id: Annotated[
        str, Query(max_length=100, description="Another account that you may see, such as a team's; an id.")
    ] = "",
) -> Limits:
    """Get how many submissions your account may make now, with the limits and their use."""
    request = GetAllowanceRequest(account_id=account.seen_account(account_id))
    answer = await gateway.upstreams.scheduler.GetAllowance(request, timeout=CALL_TIMEOUT_SECONDS)
    return shown(Limits, answer.allowance)


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
    return shown(
        Costs,
        balance,
        page,
        alert_threshold_pct=balance.alert_threshold_permille / 10,
    )


def _setting_of(profile: identity_pb2.Profile) -> ProfileSetting:
    return ProfileSetting(profile=profile_word(profile.visibility))
