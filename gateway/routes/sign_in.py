"""`/api/v1/sign-in`: from a proof of the organisation's identity provider to an API token."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from wavepool.billing.v1.sign_in_pb2 import AuthorizationCode, GetSignInOptionsRequest
from wavepool.billing.v1.sign_in_pb2 import SignInRequest as SignInCall

from gateway.dependencies import TheGateway
from gateway.http.address_limit import address_of
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import SIGN_IN_FAILURES, problems
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.shown import shown

router = APIRouter(prefix="/sign-in", tags=["sign-in"], route_class=JsonRoute)

MAX_ID_TOKEN_CHARACTERS = 128_000
"""Tokens with thousands of groups have some ten thousand."""

Short = Annotated[str, Field(max_length=2000)]


class SignInOptions(BaseModel):
    """Whether people can sign in with an identity provider, and where that begins; if not, its fields are empty."""

    enabled: bool
    issuer: str
    client_id: str
    scopes: list[str]
    authorization_endpoint: Annotated[str, Field(description="Where a browser goes: code flow with PKCE (S256).")]
    device_authorization_endpoint: Annotated[
        str, Field(description="Where the device flow (RFC 8628) begins; empty if the provider has none.")
    ]
    token_endpoint: Annotated[str, Field(description="Where the device flow asks for its tokens.")]
    public_problems: Annotated[bool, Field(description="True: problems can be read without a token.")]


class SignInRequest(BaseModel):
    """An ID token, the code that a browser came back with, or the secret of a link: one of them."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"id_token": "eyJhbGciOi…"},
                {"code": "…", "code_verifier": "…", "redirect_uri": "https://wavepool.example/", "nonce": "…"},
            ]
        },
    )

    id_token: Annotated[str, Field(max_length=MAX_ID_TOKEN_CHARACTERS)] = ""
    link: Annotated[Short, Field(description="Of a token made with `link`; it works once.")] = ""
    code: Short = ""
    code_verifier: Annotated[Short, Field(description="Of PKCE; with `code`.")] = ""
    redirect_uri: Annotated[Short, Field(description="As it was sent to the provider; with `code`.")] = ""
    nonce: Annotated[Short, Field(description="As it was sent to the provider, if it was.")] = ""

    @model_validator(mode="after")
    def _one_proof(self) -> Self:
        if sum(map(bool, (self.id_token, self.code, self.link))) != 1:
            raise ValueError("send an id_token, a code or a link, and only one of them")
        return self

    def call(self) -> SignInCall:
        """The call of billing."""
        if self.link:
            return SignInCall(link=self.link)
        if self.id_token:
            return SignInCall(id_token=self.id_token, nonce=self.nonce)
        code = AuthorizationCode(code=self.code, code_verifier=self.code_verifier, redirect_uri=self.redirect_uri)
        return SignInCall(authorization_code=code, nonce=self.nonce)


class SignedIn(BaseModel):
    """A new API token; `token` is shown only this once."""

    id: str
    token: str
    expire_time: datetime | None


@router.get("", responses=problems(500, 503, 504))
async def get_sign_in_options(gateway: TheGateway) -> SignInOptions:
    """Find out whether and where people can sign in. This needs no token."""
    answer = await gateway.upstreams.sign_in.GetSignInOptions(GetSignInOptionsRequest(), timeout=CALL_TIMEOUT_SECONDS)
    return shown(SignInOptions, answer, public_problems=gateway.settings.public_problems)


@router.post("", status_code=201, responses=SIGN_IN_FAILURES)
async def sign_in(body: SignInRequest, request: Request, gateway: TheGateway) -> SignedIn:
    """Sign in with the answer of the identity provider, or with a link. This needs no token, and creates one.

    After the identity provider's answer it expires; after a link it ends with the token that made the link.
    """
    gateway.address_limits.sign_ins.count(address_of(request))
    answer = await gateway.upstreams.sign_in.SignIn(body.call(), timeout=CALL_TIMEOUT_SECONDS)
    return shown(SignedIn, answer)
