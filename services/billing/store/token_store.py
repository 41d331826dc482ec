"""API tokens as rows: hashes only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.actor import note_before
from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.records import record_of, row_of
from services.billing.errors import (
    InvalidFieldError,
    InvalidTokenError,
    NotAllowedError,
    TokenNotFoundError,
    UserDisabledError,
)
from services.billing.identity.api_token import LINK, ApiToken, new_secret, secret_hash, secret_prefix
from services.billing.identity.caller import Caller
from services.billing.identity.rights import Scope
from services.billing.identity.team import MemberLevel
from services.billing.store.administrators import administrator_kept, one_change_at_a_time
from services.billing.store.tables import accounts, tokens, users
from services.billing.store.team_store import team_account_ids
from services.billing.store.user_store import read_user

_LISTED = (
    select(tokens, users.c.name.label("user_name"), accounts.c.name.label("account_name"))
    .join(users, users.c.user_id == tokens.c.user_id)
    .join(accounts, accounts.c.account_id == tokens.c.account_id)
)


@dataclass(frozen=True)
class ListedToken:
    """A token with the names of its user and of the account that it charges."""

    token: ApiToken
    user_name: str
    account_name: str


class TokenStore:
    """Creates, finds and revokes API tokens."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def create(
        self,
        user_id: str,
        name: str,
        *,
        account_id: str = "",
        scopes: frozenset[Scope] = frozenset(),
        expire_time: datetime | None = None,
        parent_id: str = "",
        is_link: bool = False,
    ) -> tuple[ApiToken, str]:
        """Creates a token of a user, and gives it with its secret, which is not stored.

        It charges the user's own account, unless `account_id` is that of one of the user's teams. Raises
        UserNotFoundError, UserDisabledError, InvalidFieldError (another account).
        """
        async with self._database.transaction() as connection:
            user = await read_user(connection, user_id)
            if user.disable_time is not None:
                raise UserDisabledError(user.name)
            own = {*await team_account_ids(connection, user.user_id), user.account_id}
            if account_id and account_id not in own:
                raise InvalidFieldError("account", f"is neither {user.name}'s own nor that of a team of {user.name}")
            token, secret = new_token(
                self._new_id,
                self._clock.now(),
                user.user_id,
                account_id or user.account_id,
                name,
                scopes,
                expire_time,
                parent_id=parent_id,
                is_link=is_link,
            )
            await insert_token(connection, token, secret)
        return token, secret

    async def authenticate(self, secret: str) -> Caller:
        """The user and the rights of a token; raises InvalidTokenError if it does not work."""
        async with self._database.reading() as connection:
            return await self._caller(connection, tokens.c.secret_hash == secret_hash(secret))

    async def known_caller(self, token_id: str) -> Caller:
        """The user and the rights of a token that was authenticated before; raises InvalidTokenError."""
        async with self._database.reading() as connection:
            return await self._caller(connection, tokens.c.token_id == token_id)

    async def caller(self, token_id: str) -> Caller:
        """The user and the rights of a token with this id; raises NotAllowedError if it does not work."""
        try:
            return await self.known_caller(token_id)
        except InvalidTokenError as error:
            raise NotAllowedError(str(error)) from error

    async def list_where(self, *, user_id: str = "", account_id: str = "") -> Sequence[ListedToken]:
        """A user's tokens, those that charge an account, or both; oldest first, including those that do not work."""
        query = _LISTED.order_by(tokens.c.create_time, tokens.c.token_id)
        if user_id:
            query = query.where(tokens.c.user_id == user_id)
        if account_id:
            query = query.where(tokens.c.account_id == account_id)
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        return [_listed_from_row(row) for row in rows]

    async def listed(self, token_id: str) -> ListedToken:
        """A token, also one that does not work, with its names; raises TokenNotFoundError."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_LISTED.where(tokens.c.token_id == token_id))).one_or_none()
        if row is None:
            raise TokenNotFoundError(token_id)
        return _listed_from_row(row)

    async def get(self, token_id: str) -> ApiToken:
        """A token, also one that does not work; raises TokenNotFoundError."""
        async with self._database.reading() as connection:
            return await _read_token(connection, token_id)

    async def revoke(self, token_id: str, revoker_id: str = "") -> None:
        """Revokes a token with all that it made; the time of the first revocation stays.

        The token `revoker_id`, and what that made, stays: its holder replaces the token that made it.

        Raises TokenNotFoundError if there is no such token, and LastAdministratorError if it is the last working token
        of all administrators.
        """
        now = self._clock.now()
        async with self._database.transaction() as connection, administrator_kept(connection, now):
            note_before(await _read_token(connection, token_id))
            ending = [token_id]
            while ending:
                unrevoked = (tokens.c.token_id.in_(ending), tokens.c.revoke_time.is_(None))
                await connection.execute(update(tokens).where(*unrevoked).values(revoke_time=now))
                made = select(tokens.c.token_id).where(
                    tokens.c.parent_id.in_(ending), tokens.c.token_id != revoker_id, tokens.c.revoke_time.is_(None)
                )
                ending = list((await connection.execute(made)).scalars())

    async def redeem(self, link: str) -> tuple[ApiToken, str]:
        """Uses a link up, for a token that may do the same and ends with the one that made the link.

        Raises InvalidFieldError if the link does not work, or does no more.
        """
        now = self._clock.now()
        async with self._database.transaction() as connection:
            await one_change_at_a_time(connection)
            row = (
                await connection.execute(select(tokens).where(tokens.c.secret_hash == secret_hash(link)))
            ).one_or_none()
            found = token_from_row(row) if row else None
            if found is None or not found.is_link or not found.works(now):
                raise InvalidFieldError("link", "works once, and was used already, or has expired; make another one")
            user = await read_user(connection, found.user_id)
            if user.disable_time is not None:
                raise InvalidFieldError("link", f"is of {user.name}, who is disabled")
            await connection.execute(update(tokens).where(tokens.c.token_id == found.token_id).values(revoke_time=now))
            parent = await _read_token(connection, found.parent_id)
            made, secret = new_token(
                self._new_id,
                now,
                found.user_id,
                found.account_id,
                found.name,
                found.scopes,
                parent.expire_time,
                parent_id=parent.token_id,
            )
            await insert_token(connection, made, secret)
        return made, secret

    async def _caller(self, connection: AsyncConnection, is_it: ColumnElement[bool]) -> Caller:
        query = select(tokens, accounts.c.name.label("account_name")).join(accounts).where(is_it)
        row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise InvalidTokenError
        token, user = token_from_row(row), await read_user(connection, row.user_id)
        levels = await team_account_ids(connection, user.user_id)
        led = frozenset(one for one, level in levels.items() if level is MemberLevel.MANAGER)
        caller = Caller(user, token, row.account_name, frozenset(levels), led)
        works = token.works(self._clock.now()) and not token.is_link
        if not works or user.disable_time is not None or not caller.may_charge:
            raise InvalidTokenError
        return caller


def new_token(
    new_id: Callable[[str], str],
    now: datetime,
    user_id: str,
    account_id: str,
    name: str,
    scopes: frozenset[Scope] = frozenset(),
    expire_time: datetime | None = None,
    *,
    parent_id: str = "",
    is_link: bool = False,
) -> tuple[ApiToken, str]:
    """A fresh token with its secret."""
    secret = new_secret(LINK) if is_link else new_secret()
    token = ApiToken(
        new_id("tok"),
        user_id,
        account_id,
        name,
        secret_prefix(secret),
        now,
        scopes,
        expire_time=expire_time,
        parent_id=parent_id,
    )
    return token, secret


async def insert_token(connection: AsyncConnection, token: ApiToken, secret: str) -> None:
    """Inserts a token and the hash of its secret."""
    row = row_of(tokens, token, secret_hash=secret_hash(secret), scopes=" ".join(sorted(token.scopes)))
    await connection.execute(insert(tokens).values(row))


def token_from_row(row: Row[Any]) -> ApiToken:
    """The token of a row that has every column of `tokens`."""
    return record_of(ApiToken, row, scopes=frozenset(map(Scope, row.scopes.split())))


async def _read_token(connection: AsyncConnection, token_id: str) -> ApiToken:
    row = (await connection.execute(select(tokens).where(tokens.c.token_id == token_id))).one_or_none()
    if row is None:
        raise TokenNotFoundError(token_id)
    return token_from_row(row)


def _listed_from_row(row: Row[Any]) -> ListedToken:
    return ListedToken(token_from_row(row), row.user_name, row.account_name)
