"""API tokens: `wpt_` and 43 characters that encode 256 random bits; links begin with `wpl_`.

Only the SHA-256 of a token is stored. Slow, salted hashes protect secrets that people choose and that can be guessed.
256 random bits cannot be guessed, so a fast hash is safe. It is looked up by a unique index and takes microseconds; a
password hash would cost every request a tenth of a second.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime

from services.billing.errors import InvalidFieldError
from services.billing.identity.rights import Scope

LINK = "wpl_"
"""How the secret of a link begins."""

_SECRET_BYTES = 32
_PREFIX_CHARACTERS = 10
"""Characters of a token that may be shown: `wpt_` and six more. They tell tokens apart, and 220 bits stay secret."""

_MAX_NAME_CHARACTERS = 64


@dataclass(frozen=True)
class ApiToken:
    """A stored token, without its secret."""

    token_id: str
    user_id: str
    account_id: str
    """The account that it charges."""
    name: str
    prefix: str
    create_time: datetime
    scopes: frozenset[Scope] = frozenset()
    """Empty: all that the user's role allows."""
    expire_time: datetime | None = None
    revoke_time: datetime | None = None
    parent_id: str = ""
    """The token that made it and with which it ends; empty: none."""
    is_sign_in: bool = False
    """Made by signing in: what it makes may outlive it, as people sign in for a day and make tokens for their CI."""

    @property
    def is_link(self) -> bool:
        """True if it cannot be used for requests, but be exchanged once for a token that can."""
        return self.prefix.startswith(LINK)

    def works(self, now: datetime) -> bool:
        """True if it is neither revoked nor expired."""
        return self.revoke_time is None and (self.expire_time is None or now < self.expire_time)


def new_secret(start: str = "wpt_") -> str:
    """A fresh random token."""
    return f"{start}{secrets.token_urlsafe(_SECRET_BYTES)}"


def secret_hash(secret: str) -> str:
    """The stored hash of a secret, in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def secret_prefix(secret: str) -> str:
    """The characters of a secret that may be shown."""
    return secret[:_PREFIX_CHARACTERS]


def check_name(name: str) -> str:
    """Gives the token's name back; raises InvalidFieldError if it is too long or not printable."""
    if len(name) > _MAX_NAME_CHARACTERS or not name.isprintable():
        raise InvalidFieldError("name", f"must have at most {_MAX_NAME_CHARACTERS} printable characters, e.g. 'laptop'")
    return name


def check_expiry(expire_time: datetime | None, now: datetime) -> datetime | None:
    """Gives the expiry of a new token back; raises InvalidFieldError if it is not in the future."""
    if expire_time is not None and expire_time <= now:
        raise InvalidFieldError("expire_time", f"must be in the future; it is {expire_time:%Y-%m-%dT%H:%M:%SZ}")
    return expire_time
