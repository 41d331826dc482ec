"""SignInService: decode, ask, encode."""

from __future__ import annotations

from dataclasses import dataclass

from wavepool.billing.v1 import sign_in_pb2 as pb
from wavepool.billing.v1 import sign_in_pb2_grpc

from servicekit.rpc.proto_of import proto_of
from services.billing.errors import SignInOffError
from services.billing.service.billing_service import Context
from services.billing.sign_in.sign_in import SignIn
from services.billing.store.token_store import TokenStore


@dataclass(frozen=True)
class SignInServicer(sign_in_pb2_grpc.SignInServiceServicer):
    """Serves SignInService; without a SignIn, it answers that sign-in is off, but takes links."""

    sign_in: SignIn | None
    tokens: TokenStore

    async def GetSignInOptions(
        self, request: pb.GetSignInOptionsRequest, context: Context
    ) -> pb.GetSignInOptionsResponse:
        """Tells whether sign-in is on, and where it begins."""
        if self.sign_in is None:
            return pb.GetSignInOptionsResponse()
        provider = self.sign_in.provider
        published = await provider.published()
        return proto_of(pb.GetSignInOptionsResponse, provider, published, enabled=True, scopes=self.sign_in.scopes)

    async def SignIn(self, request: pb.SignInRequest, context: Context) -> pb.SignInResponse:
        """Makes an API token for the person that the provider vouches for, or that made the link."""
        if request.link:
            token, secret = await self.tokens.redeem(request.link)
            return proto_of(pb.SignInResponse, token, token=secret)
        if self.sign_in is None:
            raise SignInOffError
        code = request.authorization_code
        if request.HasField("authorization_code"):
            made = await self.sign_in.with_code(code.code, code.code_verifier, code.redirect_uri, request.nonce)
        else:
            made = await self.sign_in.with_id_token(request.id_token, request.nonce)
        return proto_of(pb.SignInResponse, made, token=made.secret)
