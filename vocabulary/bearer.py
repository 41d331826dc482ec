"""Tokens that calls carry as `authorization: Bearer <token>`."""

from __future__ import annotations

import hmac
from collections.abc import Iterable

Metadata = Iterable[tuple[str, str | bytes]] | None
"""A call's metadata: pairs of a key and a value."""
METADATA_KEY = "authorization"
_SCHEME = "bearer "


def authorization(token: str) -> tuple[str, str]:
    """The pair of a call's metadata that carries the token."""
    return METADATA_KEY, f"Bearer {token}"


def bearer_token(metadata: Metadata) -> str:
    """The token that a call carries as `authorization: Bearer <token>`; empty if it carries none."""
    sent = next((value for key, value in metadata or () if key == METADATA_KEY and isinstance(value, str)), "")
    return sent[len(_SCHEME) :].strip() if sent.lower().startswith(_SCHEME) else ""


def same_token(given: str, expected: str) -> bool:
    """True if they are the same and not empty; takes as long for a nearly right token as for any other."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())
