"""Decides about tokens that callers make, list and revoke."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from services.billing.errors import AccountNotFoundError, InvalidFieldError, NotAllowedError, TokenNotFoundError
from services.billing.identity.account import OwnedAccount, OwnerKind
from services.billing.identity.caller import Caller
from services.billing.identity.rights import Scope, given_scopes, usable_scopes
from services.billing.identity.user import User
from services.billing.store.account_store import AccountStore
from services.billing.store.token_store import ListedToken, TokenStore
from services.billing.store.user_store import UserStore


class TokenOrders:
    """Makes, lists and revokes tokens for callers, as far as they may."""

    def __init__(self, accounts: AccountStore, users: UserStore, tokens: TokenStore) -> None:
        self._accounts = accounts
        self._users = users
        self._tokens = tokens

    async def create(
        self,
        caller: Caller,
        user: str,
        account: str,
        name: str,
        scopes: frozenset[Scope],
        expire_time: datetime | None,
        *,
        is_link: bool = False,
    ) -> tuple[ListedToken, str]:
        """Makes a token that may do no more than the caller's and ends with it, and gives it with its secret.

        A token that a sign-in's made may outlive it, and so may one that an administrator made for another user. A
        link is the caller's own, and what it is exchanged for ends with the caller's token.
        """
        wanted = await self._account(caller, account)
        owner = await self._user(caller, user, wanted)
        caller.require_charge_of(owner.user_id)
        is_own = owner.user_id == caller.user.user_id
        if is_link and not is_own:
            raise InvalidFieldError("link", "signs in only the user who makes it; make a token for another user")
        account_id = wanted.account_id if wanted else caller.token.account_id if is_own else ""
        is_wider = account_id not in caller.visible_account_ids and Scope.ADMIN not in caller.scopes
        if is_own and is_wider:
            raise NotAllowedError("This token charges a team, and makes only tokens that charge the same team.")
        given = given_scopes(caller.user.role, caller.token.scopes, owner.role, scopes)
        end = _checked_end(caller, owner, given, expire_time)
        token, secret = await self._tokens.create(
            owner.user_id,
            name,
            account_id=account_id,
            scopes=given,
            expire_time=end,
            parent_id=caller.token.token_id if is_link or (is_own and not caller.token.is_sign_in) else "",
            is_link=is_link,
        )
        return await self._tokens.listed(token.token_id), secret

    async def tokens_of(self, caller: Caller, user: str, account: str) -> Sequence[ListedToken]:
        """A user's tokens, or those that charge a team."""
        wanted = await self._account(caller, account)
        owner = await self._user(caller, user, wanted)
        caller.require_charge_of(owner.user_id)
        is_administrator = Scope.ADMIN in caller.scopes
        if wanted is None or wanted.owner_id == owner.user_id:
            found = await self._tokens.list_where(user_id=owner.user_id)
        else:
            everybody = is_administrator and not user
            user_id = "" if everybody else owner.user_id
            found = await self._tokens.list_where(user_id=user_id, account_id=wanted.account_id)
        return [one for one in found if is_administrator or caller.holds(one.token)]

    async def revoke(self, caller: Caller, token_id: str) -> None:
        """Revokes a token of the caller's or, for an administrator, any other; also those that it made."""
        token = await self._tokens.get(token_id)
        if not caller.holds(token) and Scope.ADMIN not in caller.scopes:
            raise TokenNotFoundError(token_id)
        if token_id != caller.token.token_id:
            # The holder of a token may end it, whatever its scopes.
            caller.require_charge_of(token.user_id)
        await self._tokens.revoke(token_id, caller.token.token_id)

    async def _account(self, caller: Caller, account: str) -> OwnedAccount | None:
        if not account:
            return None
        for found in await self._accounts.owned([account]):
            if caller.sees_account(found.account_id):
                return found
        raise AccountNotFoundError(account)

    async def _user(self, caller: Caller, user: str, account: OwnedAccount | None) -> User:
        if not user and account is not None and account.owner is OwnerKind.USER:
            user = account.owner_id
        if not user or user in {caller.user.user_id, caller.user.name}:
            return caller.user
        caller.require(Scope.ADMIN)
        return await self._users.get(user)


def _checked_end(caller: Caller, owner: User, given: frozenset[Scope], expire_time: datetime | None) -> datetime | None:
    """When the new token ends; raises InvalidFieldError if it would outlive the caller's.

    Only what a sign-in's token makes may, and never with an operator's rights: an identity provider says at each
    sign-in what somebody's role is, and somebody who has lost it signs in no more.
    """
    end = caller.token.expire_time
    if end is None or (expire_time is not None and expire_time <= end):
        return expire_time
    if not caller.token.is_sign_in:
        if expire_time is None:
            return end
        raise InvalidFieldError("expire_time", f"must be at most {end.isoformat()}, when the token that makes it ends")
    if not usable_scopes(owner.role, given) & {Scope.OPERATE, Scope.ADMIN}:
        return expire_time
    raise InvalidFieldError(
        "expire_time",
        f"must be at most {end.isoformat()}, when your sign-in ends, for a token with the scope operate or admin; or "
        "give narrower scopes, such as read and submit",
    )
