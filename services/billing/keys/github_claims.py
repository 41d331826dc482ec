"""Finds out who has a name on GitHub: the user who can sign with one of its keys."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from services.billing.errors import GithubNameTakenError, InvalidFieldError
from services.billing.identity.ssh_key import fingerprint_of
from services.billing.keys.ssh_signature import check_signature

if TYPE_CHECKING:
    from datetime import datetime

    from servicekit.clock import Clock
    from services.billing.identity.user import User
    from services.billing.keys.github_keys import GithubKeys
    from services.billing.store.github_store import GithubStore
    from services.billing.store.user_store import UserStore

log = get_logger(__name__)

LIFETIME = timedelta(minutes=10)


@dataclass(frozen=True)
class Challenge:
    """A text to sign, and the fingerprints of the keys that count."""

    text: str
    expire_time: datetime
    fingerprints: tuple[str, ...]


class GithubClaims:
    """Gives out texts to sign, each for one user, one name and one try, and takes the signatures."""

    def __init__(self, github: GithubKeys, users: UserStore, store: GithubStore, clock: Clock) -> None:
        self._github = github
        self._users = users
        self._store = store
        self._clock = clock

    async def begin(self, user: User, name: str) -> Challenge:
        """A text that the user is to sign with a key of this name on GitHub.

        Raises GithubNameTakenError if the name is another user's, NoKeysError and KeySourceAwayError.
        """
        await self._check_free(user, name)
        found = await self._github.keys_of_name(name, as_of_now=True)
        # The words tell the signer what the signature is for.
        text = f"wavepool: {self._github.host}/{name} is {user.name} ({user.user_id}), {secrets.token_urlsafe(32)}"
        now = self._clock.now()
        await self._store.add_claim(_hash(text), user.user_id, name, now + LIFETIME, now)
        return Challenge(text, now + LIFETIME, tuple(map(fingerprint_of, found.lines)))

    async def finish(self, user: User, name: str, text: str, signature: str) -> User:
        """Makes the name the user's; gives the user after it.

        Raises InvalidFieldError if the text does not serve, or the signature is not right, and what `begin` raises.
        """
        found = await self._github.keys_of_name(name, as_of_now=True)
        if not await self._store.take_claim(_hash(text), user.user_id, name, self._clock.now()):
            minutes = int(LIFETIME.total_seconds() // 60)
            rule = f"it can be used once, within {minutes} minutes, for one user and one name"
            raise InvalidFieldError("challenge", f"is unknown, used or too old: {rule}. Begin again")
        await check_signature(text, signature, found.lines)
        await self._check_free(user, name)
        changed = await self._users.update(user.user_id, github_name=name)
        log.info("a name on GitHub was claimed", extra={"user": user.name, "github_name": name})
        return changed

    async def _check_free(self, user: User, name: str) -> None:
        other = await self._users.find_by_github_name(name)
        if other is not None and other.user_id != user.user_id:
            raise GithubNameTakenError(name)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
