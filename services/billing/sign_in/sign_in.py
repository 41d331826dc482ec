"""Signs a person in: asks the provider, verifies, decides what the claims become, and makes the token."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.billing.errors import NotAdmittedError, UserDisabledError
from services.billing.identity.rights import Role
from services.billing.sign_in.id_token import Claims, InvalidIdTokenError, UnknownKeyError, verified_claims
from services.billing.sign_in.identity_provider import IdentityProvider
from services.billing.sign_in.membership import MembershipRules
from services.billing.store.outside_identity_store import OutsideIdentityStore

log = get_logger(__name__)


@dataclass(frozen=True)
class SignedIn:
    """A new API token; `secret` is not stored."""

    token_id: str
    secret: str
    expire_time: datetime | None


@dataclass(frozen=True)
class SignIn:
    """Sign-in through one provider. All methods raise IdentityProviderError if the provider cannot be used."""

    provider: IdentityProvider
    scopes: tuple[str, ...]
    rules: MembershipRules
    users: OutsideIdentityStore
    clock: Clock
    token_lifetime: timedelta

    async def with_code(self, code: str, code_verifier: str, redirect_uri: str, nonce: str) -> SignedIn:
        """Signs in a person whose browser came back with a code; raises InvalidFieldError and NotAdmittedError."""
        return await self.with_id_token(await self.provider.id_token(code, code_verifier, redirect_uri), nonce)

    async def with_id_token(self, id_token: str, nonce: str) -> SignedIn:
        """Signs in the person of an ID token; raises InvalidFieldError and NotAdmittedError."""
        person = self.rules.membership(await self._claims(id_token, nonce))
        try:
            token, secret = await self.users.sign_in(
                issuer=self.provider.issuer,
                subject=person.subject,
                preferred_name=person.preferred_name,
                email=person.email,
                teams=person.teams,
                role=Role(person.role) if person.role else None,
                lifetime=self.token_lifetime,
            )
        except UserDisabledError as error:
            raise NotAdmittedError("your user is disabled") from error
        log.info("signed in", extra={"subject": person.subject, "teams": person.teams, "role": person.role})
        return SignedIn(token.token_id, secret, token.expire_time)

    async def _claims(self, id_token: str, nonce: str) -> Claims:
        provider = self.provider
        for published in (provider.published, provider.published_now):
            keys = (await published()).keys
            try:
                return verified_claims(id_token, nonce, keys, provider.issuer, provider.client_id, self.clock.now())
            except UnknownKeyError:
                continue
        raise InvalidIdTokenError("it is signed with a key that the identity provider does not publish")
