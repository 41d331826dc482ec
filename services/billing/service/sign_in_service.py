"""SignInService: decode, ask, encode."""

from __future__ import annotations

from wavepool.billing.v1 import sign_in_pb2 as pb
from wavepool.billing.v1 import sign_in_pb2_grpc

from servicekit.rpc.proto_time import instant_to_proto
from services.billing.errors import SignInOffError
from services.billing.service.billing_service import Context
from services.billing.sign_in.sign_in import SignIn
from services.billing.store.token_store import TokenStore


class SignInServicer(sign_in_pb2_grpc.SignInServiceServicer):
    """Serves SignInService; without a SignIn, it answers that sign-in is off, but takes links."""

    def __init__(self, sign_in: SignIn | None, tokens: TokenStore) -> None:
        self._sign_in = sign_in
        self._tokens = tokens

    async def GetSignInOptions(
        self, request: pb.GetSignInOptionsRequest, context: Context
    ) -> pb.GetSignInOptionsResponse:
        """Tells whether sign-in is on, and where it begins."""
        if self._sign_in is None:
            return pb.GetSignInOptionsResponse()
        provider = self._sign_in.provider
        published = await provider.published()
        return pb.GetSignInOptionsResponse(
            enabled=True,
            issuer=provider.issuer,
            client_id=provider.client_id,
            scopes=self._sign_in.scopes,
            authorization_endpoint=published.authorization_endpoint,
            device_authorization_endpoint=published.device_authorization_endpoint,
            token_endpoint=published.token_endpoint,
        )

    async def SignIn(self, request: pb.SignInRequest, context: Context) -> pb.SignInResponse:
        """Makes an API token for the person that the provider vouches for, or that made the link."""
        if request.link:
            token, secret = await self._tokens.redeem(request.link)
            return pb.SignInResponse(
                token_id=token.token_id, token=secret, expire_time=instant_to_proto(token.expire_time)
            )
        if self._sign_in is None:
            raise SignInOffError
        code = request.authorization_code
        if request.HasField("authorization_code"):
            made = await self._sign_in.with_code(code.code, code.code_verifier, code.redirect_uri, request.nonce)
        else:
            made = await self._sign_in.with_id_token(request.id_token, request.nonce)
        return pb.SignInResponse(
            token_id=made.token_id, token=made.secret, expire_time=instant_to_proto(made.expire_time)
        )
