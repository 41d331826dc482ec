"""Keeps at least one administrator with a working token, whatever happens at the same time."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime

from sqlalchemy import or_, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.billing.errors import LastAdministratorError
from services.billing.identity.api_token import LINK
from services.billing.identity.rights import Role, Scope
from services.billing.store.tables import tokens, users


async def one_change_at_a_time(connection: AsyncConnection) -> None:
    """Makes other changes of users, teams and tokens wait until this transaction ends."""
    # On SQLite the whole database has one writer.
    if connection.dialect.name == "postgresql":
        await connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('wavepool identity'))"))


@asynccontextmanager
async def administrator_kept(connection: AsyncConnection, now: datetime) -> AsyncGenerator[None]:
    """Raises LastAdministratorError if the block takes the last working token of all administrators away."""
    await one_change_at_a_time(connection)
    before = await _has_administrator(connection, now)
    yield
    if before and not await _has_administrator(connection, now):
        raise LastAdministratorError


async def _has_administrator(connection: AsyncConnection, now: datetime) -> bool:
    """True if an administrator has a working token that charges the own account and may do everything."""
    working = (
        select(tokens.c.token_id)
        .join(users, users.c.user_id == tokens.c.user_id)
        .where(
            users.c.role == Role.ADMIN.value,
            users.c.disable_time.is_(None),
            tokens.c.account_id == users.c.account_id,
            tokens.c.revoke_time.is_(None),
            ~tokens.c.prefix.startswith(LINK, autoescape=True),
            or_(tokens.c.expire_time.is_(None), tokens.c.expire_time > now),
            or_(tokens.c.scopes == "", tokens.c.scopes.contains(Scope.ADMIN.value)),
        )
        .limit(1)
    )
    return (await connection.execute(working)).first() is not None
