"""API tokens as rows: hashes only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from services.billing.errors import InvalidTokenError, LastAdministratorTokenError, TokenNotFoundError
from services.billing.identity.api_token import ApiToken, new_secret, secret_hash, secret_prefix
from services.billing.store.account_store import read_account
from services.billing.store.tables import accounts, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from servicekit.clock import Clock
    from servicekit.db.database import Database
    from services.billing.identity.account import Account


# Locked in a fixed order: if two transactions revoke the last two tokens, one waits and then sees one left.
_WORKING_ADMIN_TOKENS = (
    select(tokens.c.token_id)
    .join(accounts, accounts.c.account_id == tokens.c.account_id)
    .where(accounts.c.admin, tokens.c.revoke_time.is_(None))
    .order_by(tokens.c.token_id)
    .with_for_update(of=tokens)
)


class TokenStore:
    """Creates, finds and revokes API tokens."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def create(self, account_id: str, name: str) -> tuple[ApiToken, str]:
        """Creates a token; gives it with its secret, which is not stored."""
        secret = new_secret()
        token = ApiToken(self._new_id("tok"), account_id, name, secret_prefix(secret), self._clock.now())
        async with self._database.transaction() as connection:
            await read_account(connection, account_id)
            await connection.execute(
                insert(tokens).values(
                    token_id=token.token_id,
                    account_id=account_id,
                    name=name,
                    secret_hash=secret_hash(secret),
                    prefix=token.prefix,
                    create_time=token.create_time,
                )
            )
        return token, secret

    async def authenticate(self, secret: str) -> tuple[Account, str]:
        """The owner and the id of a token; raises InvalidTokenError if the token is unknown or revoked."""
        query = select(tokens.c.token_id, tokens.c.account_id).where(
            tokens.c.secret_hash == secret_hash(secret), tokens.c.revoke_time.is_(None)
        )
        async with self._database.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
            if row is None:
                raise InvalidTokenError
            return await read_account(connection, row.account_id), row.token_id

    async def list_of(self, account_id: str) -> Sequence[ApiToken]:
        """An account's tokens, oldest first, including revoked ones."""
        query = (
            select(tokens).where(tokens.c.account_id == account_id).order_by(tokens.c.create_time, tokens.c.token_id)
        )
        async with self._database.reading() as connection:
            await read_account(connection, account_id)
            rows = (await connection.execute(query)).all()
        return [
            ApiToken(row.token_id, row.account_id, row.name, row.prefix, row.create_time, row.revoke_time)
            for row in rows
        ]

    async def revoke(self, token_id: str) -> None:
        """Revokes a token; the time of the first revocation stays.

        Raises TokenNotFoundError if there is no such token, and LastAdministratorTokenError if it is the last working
        token of all administrators.
        """
        async with self._database.transaction() as connection:
            working_admin_tokens = set(await connection.scalars(_WORKING_ADMIN_TOKENS))
            if working_admin_tokens == {token_id}:
                raise LastAdministratorTokenError(token_id)
            known = await connection.execute(select(tokens.c.token_id).where(tokens.c.token_id == token_id))
            if known.one_or_none() is None:
                raise TokenNotFoundError(token_id)
            await connection.execute(
                update(tokens)
                .where(tokens.c.token_id == token_id, tokens.c.revoke_time.is_(None))
                .values(revoke_time=self._clock.now())
            )
