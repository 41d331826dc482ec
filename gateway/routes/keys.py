"""`/api/v1/keys`: the public SSH keys of users. Everybody manages their own, administrators also those of others."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field
from wavepool.billing.v1.identity_pb2 import (
    AddKeyRequest,
    BeginGithubClaimRequest,
    FinishGithubClaimRequest,
    ListKeysRequest,
    RemoveKeyRequest,
)

from gateway.dependencies import TheAccount, TheGateway, TheManager
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.reservations.schemas import PublicKey
from gateway.routes.identity_calls import UserQuery, call
from gateway.words.shown import shown

router = APIRouter(prefix="/keys", tags=["keys"], route_class=JsonRoute)

GithubName = Annotated[str, Field(min_length=1, max_length=39)]


class KeyRequest(BaseModel):
    """A new key."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"public_key": "ssh-ed25519 AAAA… ada@laptop"}]}
    )

    public_key: PublicKey
    name: Annotated[str, Field(max_length=64, description="For people; default: the comment of the line.")] = ""


class UserKey(BaseModel):
    """A public key, without the key itself."""

    id: str
    user_id: str
    name: str
    type: Annotated[str, Field(description="Such as `ssh-ed25519`.")]
    fingerprint: Annotated[str, Field(description="As OpenSSH shows it, such as `SHA256:…`.")]
    create_time: datetime | None


class KeyList(BaseModel):
    """Keys, oldest first."""

    keys: list[UserKey]
    github_name: Annotated[
        str, Field(description="The user's name on GitHub, whose keys serve as well; empty: not known.")
    ]


class ClaimRequest(BaseModel):
    """A name on GitHub that you say is yours."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"github_name": "alice"}]})

    github_name: GithubName


class Claim(BaseModel):
    """The text to sign to show that a name on GitHub is yours."""

    challenge: Annotated[str, Field(description="Sign exactly this, with `ssh-keygen -Y sign -n wavepool`.")]
    expire_time: datetime | None
    fingerprints: Annotated[
        list[str], Field(description="Fingerprints of the keys that are accepted: the keys of this name on GitHub.")
    ]


class SignedClaim(BaseModel):
    """A signed text."""

    model_config = ConfigDict(extra="forbid")

    github_name: GithubName
    challenge: Annotated[str, Field(min_length=1, max_length=1000)]
    signature: Annotated[
        str,
        Field(min_length=1, max_length=16_384, description="With its lines `-----BEGIN SSH SIGNATURE-----` and END."),
    ]


class ClaimedName(BaseModel):
    """The name on GitHub that is yours now."""

    github_name: str


@router.post("", status_code=201, responses=problems(403, 404, 409))
async def add_key(body: KeyRequest, caller: TheManager, gateway: TheGateway, user: UserQuery = "") -> UserKey:
    """Add a public key, which new reservations will accept. A key that you already have is not changed."""
    request = AddKeyRequest(caller_token_id=caller.token_id, user=user, public_key=body.public_key, name=body.name)
    return shown(UserKey, (await call(gateway.upstreams.identity.AddKey, request)).key)


@router.get("", responses=problems(403, 404))
async def list_keys(caller: TheAccount, gateway: TheGateway, user: UserQuery = "") -> KeyList:
    """List your public keys."""
    request = ListKeysRequest(caller_token_id=caller.token_id, user=user)
    return shown(KeyList, await call(gateway.upstreams.identity.ListKeys, request))


@router.post("/claims", status_code=201, responses=problems(403, 409))
async def begin_claim(body: ClaimRequest, caller: TheManager, gateway: TheGateway) -> Claim:
    """Begin to claim a name on GitHub. To prove that it is yours, sign the challenge with one of its keys."""
    request = BeginGithubClaimRequest(caller_token_id=caller.token_id, github_name=body.github_name)
    return shown(Claim, await call(gateway.upstreams.identity.BeginGithubClaim, request))


@router.put("/claims", responses=problems(403, 409))
async def finish_claim(body: SignedClaim, caller: TheManager, gateway: TheGateway) -> ClaimedName:
    """Claim a name on GitHub with the signature. Each challenge can be used once."""
    request = FinishGithubClaimRequest(
        caller_token_id=caller.token_id,
        github_name=body.github_name,
        challenge=body.challenge,
        signature=body.signature,
    )
    answer = await call(gateway.upstreams.identity.FinishGithubClaim, request)
    return ClaimedName(github_name=answer.user.github_name)


@router.delete("/{key:path}", status_code=204, responses=problems(403, 404))
async def remove_key(
    key: Annotated[str, Path(max_length=100, description="An id or a fingerprint.")],
    caller: TheManager,
    gateway: TheGateway,
) -> Response:
    """Remove a public key. Existing reservations keep it."""
    request = RemoveKeyRequest(caller_token_id=caller.token_id, key=key)
    await call(gateway.upstreams.identity.RemoveKey, request)
    return Response(status_code=204)
