"""The port: a place that has people's public SSH keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.billing.identity.user import User
from services.billing.store.key_store import KeyStore


@dataclass(frozen=True)
class Found:
    """The keys that a place has of one person."""

    origin: str
    """The place, such as `github.com/alice`."""
    lines: tuple[str, ...]
    """Types and bytes of the keys."""
    notes: tuple[str, ...] = ()
    """What is not as it should be, in sentences."""


class KeySource(Protocol):
    """A place that has people's keys."""

    async def keys_of(self, user: User) -> Found | None:
        """The user's keys; None if the place does not know the user.

        Raises NoKeysError if it should have keys and has none, KeySourceAwayError if it does not answer, and
        NotAllowedError if the user may not use it.
        """
        ...


class AccountKeys:
    """A KeySource of the keys that were added with `wavepool keys add`."""

    def __init__(self, keys: KeyStore) -> None:
        self._keys = keys

    async def keys_of(self, user: User) -> Found | None:
        """The keys that the user has added; None if there are none."""
        lines = tuple(key.line for key in await self._keys.list_of(user.user_id))
        return Found("wavepool", lines) if lines else None
