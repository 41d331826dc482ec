"""`/api/v1/tokens`: API tokens. Users make, list and revoke their own, administrators also those of others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Self

from fastapi import APIRouter, Query, Response
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator
from wavepool.billing.v1.identity_pb2 import CreateTokenRequest, ListTokensRequest, RevokeTokenRequest

from gateway.dependencies import TheCaller, TheGateway, TheManager
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import call
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.proto_time import NoNumber, timestamp_of
from gateway.words.shown import shown

router = APIRouter(prefix="/tokens", tags=["tokens"], route_class=JsonRoute)

LONGEST_LIFETIME_SECONDS = 10 * 365 * 86_400
"""Ten years; leave it out for a token that lasts."""

FIELD_NAMES = {"user": "user_id", "account": "account_id"}

UserQuery = Annotated[str, Query(max_length=100, description="A user's id or name; default: you.")]
AccountQuery = Annotated[
    str,
    Query(max_length=100, description="An account's id or name: lists its owner's tokens, or the tokens of a team."),
]


class TokenRequest(BaseModel):
    """A new token."""

    model_config = ConfigDict(
        extra="forbid",
        allow_inf_nan=False,
        json_schema_extra={"examples": [{"name": "laptop"}, {"name": "ci", "scopes": ["read", "submit"]}]},
    )

    name: Annotated[str, Field(min_length=1, max_length=100, description="For people.")]
    account_id: Annotated[
        str,
        Field(max_length=100, description="Id or name of the account that it charges: your own, or that of a team."),
    ] = ""
    user_id: Annotated[
        str, Field(max_length=100, description="Id or name of its user; default: you. For administrators.")
    ] = ""
    scopes: Annotated[
        list[Annotated[str, Field(max_length=40)]],
        Field(
            max_length=20,
            description="`read`, `submit`, `manage`, `operate`, `admin`; if empty, the scopes of your token.",
        ),
    ] = []
    expire_time: Annotated[
        Annotated[AwareDatetime, NoNumber] | None,
        Field(description="When it expires; default: with yours, or never."),
    ] = None
    lifetime_seconds: Annotated[
        float | None, Field(gt=0, le=LONGEST_LIFETIME_SECONDS, description="Seconds from now until it expires.")
    ] = None

    link: Annotated[
        bool,
        Field(description="`true`: its secret is not for requests, but signs in once: `POST /api/v1/sign-in`."),
    ] = False

    @model_validator(mode="after")
    def _one_expiry(self) -> Self:
        if self.expire_time is not None and self.lifetime_seconds is not None:
            raise ValueError("give expire_time or lifetime_seconds, not both")
        return self

    def expiry(self, now: datetime) -> Timestamp | None:
        """When the token stops working; None: never."""
        end = self.expire_time
        if self.lifetime_seconds is not None:
            end = now + timedelta(seconds=self.lifetime_seconds)
        return timestamp_of(end)


class Token(BaseModel):
    """A token without its secret."""

    id: str
    name: str
    prefix: str
    user_id: str
    user_name: str
    account_id: Annotated[str, Field(description="The account that it charges.")]
    account_name: str
    scopes: Annotated[list[str], Field(description="Empty: everything that the user's role allows.")]
    create_time: datetime | None
    expire_time: Annotated[datetime | None, Field(description="Null: never.")]
    revoke_time: datetime | None


class NewToken(Token):
    """A new token; `token` is shown only this once."""

    token: str


class TokenList(BaseModel):
    """Tokens, oldest first."""

    tokens: list[Token]


@router.post("", status_code=201, responses=problems(403, 404, 409))
async def create_token(body: TokenRequest, caller: TheManager, gateway: TheGateway) -> NewToken:
    """Create a token, which can do no more than yours and ends with it. Only this answer ever contains its secret.

    One that is made with the token of a sign-in may outlive it.
    """
    request = CreateTokenRequest(
        caller_token_id=caller.token_id,
        user=body.user_id,
        account=body.account_id,
        name=body.name,
        scopes=body.scopes,
        expire_time=body.expiry(datetime.now(UTC)),
        is_link=body.link,
    )
    answer = await call(gateway.upstreams.identity.CreateToken, request, FIELD_NAMES)
    return shown(NewToken, answer.token, token=answer.secret)


@router.get("", responses=problems(403, 404))
async def list_tokens(
    caller: TheManager, gateway: TheGateway, account_id: AccountQuery = "", user_id: UserQuery = ""
) -> TokenList:
    """List your tokens, without secrets; administrators may ask for those of others."""
    request = ListTokensRequest(caller_token_id=caller.token_id, user=user_id, account=account_id)
    return shown(TokenList, await call(gateway.upstreams.identity.ListTokens, request, FIELD_NAMES))


@router.delete("/{token_id}", status_code=204, responses=problems(403, 404, 409))
async def revoke_token(token_id: str, caller: TheCaller, gateway: TheGateway) -> Response:
    """Revoke a token for good, and those that it made; they may work for 5 s more.

    The last token of an administrator cannot be revoked.
    """
    request = RevokeTokenRequest(caller_token_id=caller.token_id, token_id=token_id)
    await gateway.upstreams.identity.RevokeToken(request, timeout=CALL_TIMEOUT_SECONDS)
    return Response(status_code=204)
