"""Finds the user whom a request is about: the caller or, for administrators, another."""

from __future__ import annotations

from services.billing.errors import NotAllowedError
from services.billing.identity.caller import Caller
from services.billing.identity.rights import Scope
from services.billing.identity.user import User
from services.billing.store.user_store import UserStore


async def own_user(users: UserStore, caller: Caller, user: str, scope: Scope, what: str) -> User:
    """The user with this id or name, or the caller if it is empty; raises NotAllowedError, UserNotFoundError.

    A token that charges a team is refused, with `what` it is about: members share such a token.
    """
    if user and user not in {caller.user.user_id, caller.user.name}:
        caller.require(Scope.ADMIN)
        return await users.get(user)
    if not caller.charges_own_account:
        raise NotAllowedError(f"This token charges a team. {what} are for a token that charges your own account.")
    caller.require(scope)
    return caller.user
