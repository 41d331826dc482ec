"""`/api/v1/tokens`: API tokens, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from wavepool.billing.v1.billing_pb2 import CreateTokenRequest, ListTokensRequest, RevokeTokenRequest

from gateway.dependencies import TheAdmin, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.account import NewToken, TokenList, TokenRequest, token_of
from gateway.upstreams import CALL_TIMEOUT_SECONDS

router = APIRouter(prefix="/tokens", tags=["tokens"], route_class=JsonRoute)


@router.post("", status_code=201, responses=problems(403, 404))
async def create_token(body: TokenRequest, admin: TheAdmin, gateway: TheGateway) -> NewToken:
    """Create a token. Only this answer ever contains its secret."""
    request = CreateTokenRequest(account_id=body.account_id or admin.account_id, name=body.name)
    answer = await gateway.upstreams.billing.CreateToken(request, timeout=CALL_TIMEOUT_SECONDS)
    return NewToken(id=answer.token_id, token=answer.token)


@router.get("", responses=problems(403, 404))
async def list_tokens(
    admin: TheAdmin,
    gateway: TheGateway,
    account_id: Annotated[str, Query(max_length=100, description="Your own account where empty.")] = "",
) -> TokenList:
    """List an account's tokens, without secrets."""
    request = ListTokensRequest(account_id=account_id or admin.account_id)
    answer = await gateway.upstreams.billing.ListTokens(request, timeout=CALL_TIMEOUT_SECONDS)
    return TokenList(tokens=[token_of(token) for token in answer.tokens])


@router.delete("/{token_id}", status_code=204, responses=problems(403, 404, 409))
async def revoke_token(token_id: str, _: TheAdmin, gateway: TheGateway) -> Response:
    """Revoke a token for good; it may work for some more seconds. The last one of all administrators stays."""
    request = RevokeTokenRequest(token_id=token_id)
    await gateway.upstreams.billing.RevokeToken(request, timeout=CALL_TIMEOUT_SECONDS)
    return Response(status_code=204)
