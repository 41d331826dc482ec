"""The keys that users keep in Wavepool."""

from __future__ import annotations

from services.billing.identity.user import User
from services.billing.keys.key_source import Found
from services.billing.store.key_store import KeyStore


class AccountKeys:
    """A KeySource of the keys that were added with `wavepool keys add`."""

    def __init__(self, keys: KeyStore) -> None:
        self._keys = keys

    async def keys_of(self, user: User) -> Found | None:
        """The keys that the user has added; None if there are none."""
        lines = tuple(key.line for key in await self._keys.list_of(user.user_id))
        return Found("wavepool", lines) if lines else None
