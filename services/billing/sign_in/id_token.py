"""Verifies ID tokens (OpenID Connect Core, section 3.1.3.7). No I/O."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from joserfc import jwt
from joserfc.errors import ExpiredTokenError, InvalidKeyIdError, JoseError, MissingClaimError, SecurityWarning
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from services.billing.errors import InvalidFieldError

Claims = dict[str, Any]

ALGORITHMS: Final = ("RS256", "ES256", "EdDSA", "Ed25519")
"""Signatures with a key pair only. `none` proves nothing, and HS256 makes a secret of a key that is public."""
LEEWAY_SECONDS: Final = 30
"""Difference of clocks that is forgiven."""
MAX_AGE_SECONDS: Final = 600
"""Age at which a token no longer shows that somebody has just signed in, however long it may be used elsewhere."""

# RFC 7515 lets readers ignore headers that they do not know, and some providers send such headers.
_REGISTRY = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)


class UnknownKeyError(Exception):
    """The token is signed with a key that is not among the given ones; the provider may have newer ones."""


class InvalidIdTokenError(InvalidFieldError):
    """The ID token does not prove who somebody is."""

    def __init__(self, reason: str) -> None:
        super().__init__("id_token", f"{reason}; sign in again")


def verified_claims(id_token: str, nonce: str, keys: KeySet, issuer: str, client_id: str, now: datetime) -> Claims:
    """The claims of a genuine, current ID token that the issuer made for this client.

    Raises InvalidIdTokenError, or UnknownKeyError if `keys` does not have the token's key.
    """
    claims = _signed_claims(id_token, keys)
    seconds = int(now.timestamp())
    registry = jwt.JWTClaimsRegistry(
        now=seconds,
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        registry.validate(claims)
    except ExpiredTokenError as error:
        raise InvalidIdTokenError("it has expired") from error
    except MissingClaimError as error:
        raise InvalidIdTokenError(f"it lacks {error.claim}") from error
    except JoseError as error:
        raise InvalidIdTokenError(_claim_fault(error, issuer, client_id)) from error
    if claims["iat"] <= seconds - MAX_AGE_SECONDS - LEEWAY_SECONDS:
        raise InvalidIdTokenError(f"it is more than {MAX_AGE_SECONDS // 60} minutes old")
    _check_party(claims, client_id)
    if claims.get("nonce", "") != nonce:
        raise InvalidIdTokenError("its nonce is not the one of this sign-in")
    return claims


def _signed_claims(id_token: str, keys: KeySet) -> Claims:
    try:
        with warnings.catch_warnings():
            # It warns of the name EdDSA, which RFC 9864 replaces by Ed25519, and which providers still use.
            warnings.simplefilter("ignore", SecurityWarning)
            token = jwt.decode(id_token, keys, registry=_REGISTRY)
    except InvalidKeyIdError as error:
        raise UnknownKeyError from error
    except (JoseError, ValueError) as error:
        raise InvalidIdTokenError(f"its form or its signature is wrong ({error})") from error
    _check_kind(token.header, token.claims)
    return token.claims


def _check_kind(header: Mapping[str, Any], claims: Claims) -> None:
    """Access tokens and logout tokens have the same signature, issuer and audience, and prove no sign-in."""
    kind = str(header.get("typ", "JWT"))
    if kind.upper() != "JWT" or "events" in claims:
        raise InvalidIdTokenError(f"it is no ID token but of type {kind}")


def _check_party(claims: Claims, client_id: str) -> None:
    """A token for several audiences must say that it was given to us."""
    party, audience = claims.get("azp"), claims["aud"]
    if party is None and audience not in (client_id, [client_id]):
        raise InvalidIdTokenError("it is for several audiences and does not say whom it was given to")
    if party is not None and party != client_id:
        raise InvalidIdTokenError("it was given to another program")


def _claim_fault(error: JoseError, issuer: str, client_id: str) -> str:
    claim = getattr(error, "claim", "")
    expected = {"iss": issuer, "aud": client_id}.get(claim)
    return f"its {claim} is not {expected!r}" if expected else f"its {claim} is wrong ({error})"
