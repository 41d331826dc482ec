"""Decides about SSH keys that callers add, list and remove."""

from __future__ import annotations

from collections.abc import Sequence

from servicekit.logging import get_logger
from services.billing.errors import GithubOffError, InvalidFieldError, KeyNotFoundError
from services.billing.identity.caller import Caller
from services.billing.identity.rights import Scope
from services.billing.identity.ssh_key import SshKey, check_key, check_name
from services.billing.identity.user import User, check_github_name
from services.billing.keys.github_claims import Challenge, GithubClaims
from services.billing.service.own_user import own_user
from services.billing.store.key_store import KeyStore
from services.billing.store.user_store import UserStore

log = get_logger(__name__)


class KeyOrders:
    """Adds, lists and removes keys for callers, as far as they may. The log has fingerprints, and no key."""

    def __init__(self, users: UserStore, keys: KeyStore, claims: GithubClaims | None) -> None:
        self._users = users
        self._keys = keys
        self._claims = claims

    async def add(self, caller: Caller, user: str, text: str, name: str) -> SshKey:
        """Adds the key in a line of OpenSSH to those of a user, or of the caller if `user` is empty."""
        owner = await self._owner(caller, user)
        line = check_key(text)
        key, is_new = await self._keys.add(owner.user_id, line, check_name(name, text))
        if is_new:
            log.info("a key was added", extra=_said(key, owner, caller))
        return key

    async def keys_of(self, caller: Caller, user: str) -> tuple[User, Sequence[SshKey]]:
        """A user, or the caller if `user` is empty, and the user's keys."""
        owner = await self._owner(caller, user, Scope.READ)
        return owner, await self._keys.list_of(owner.user_id)

    async def remove(self, caller: Caller, key: str) -> None:
        """Removes a key of the caller's or, for an administrator, any other; `key` is its id or fingerprint."""
        found = await self._keys.get(key)
        if found.user_id != caller.user.user_id and Scope.ADMIN not in caller.scopes:
            raise KeyNotFoundError(key)
        owner = await self._owner(caller, found.user_id)
        await self._keys.remove(found.key_id)
        log.info("a key was removed", extra=_said(found, owner, caller))

    async def begin_claim(self, caller: Caller, github_name: str) -> Challenge:
        """A text that the caller is to sign with a key of this name on GitHub."""
        return await self._claims_of().begin(await self._owner(caller, ""), claimed_name(github_name))

    async def finish_claim(self, caller: Caller, github_name: str, text: str, signature: str) -> User:
        """Makes the name on GitHub the caller's, whose signature shows that it is."""
        user = await self._owner(caller, "")
        return await self._claims_of().finish(user, claimed_name(github_name), text, signature)

    def _claims_of(self) -> GithubClaims:
        if self._claims is None:
            raise GithubOffError
        return self._claims

    async def _owner(self, caller: Caller, user: str, scope: Scope = Scope.MANAGE) -> User:
        # With a key of theirs, one member of a team could enter wherever the shared token's user may log in.
        return await own_user(self._users, caller, user, scope, "Keys")


def claimed_name(text: str) -> str:
    """A name on GitHub in lower case; raises InvalidFieldError if it cannot be one, or is empty."""
    if not text:
        raise InvalidFieldError("github_name", "is empty; give your name on GitHub")
    return check_github_name(text)


def _said(key: SshKey, owner: User, caller: Caller) -> dict[str, str]:
    return {"fingerprint": key.fingerprint, "user": owner.name, "by": caller.user.name}
