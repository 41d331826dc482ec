"""Users who sign in at an identity provider, as rows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, count

from sqlalchemy import and_, delete, select, union_all, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.logging import get_logger
from servicekit.records import record_of
from services.billing.errors import InvalidFieldError, LastAdministratorError, UserDisabledError
from services.billing.identity.account import check_name, name_like
from services.billing.identity.api_token import ApiToken
from services.billing.identity.rights import Role
from services.billing.identity.team import MemberLevel, Origin, Team
from services.billing.identity.user import User, email_or_none
from services.billing.store.account_store import open_account
from services.billing.store.administrators import administrator_kept, one_change_at_a_time
from services.billing.store.tables import accounts, team_members, teams, users
from services.billing.store.team_store import insert_member, insert_team
from services.billing.store.token_store import insert_token, new_token
from services.billing.store.user_store import insert_user

log = get_logger(__name__)


class OutsideIdentityStore:
    """Signs users in whom an identity provider has vouched for."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def sign_in(
        self,
        *,
        issuer: str,
        subject: str,
        preferred_name: str,
        email: str,
        teams: Collection[str],
        role: Role | None,
        lifetime: timedelta,
        token_name: str = "sign-in",  # noqa: S107 - a name, not a secret
    ) -> tuple[ApiToken, str]:
        """Finds or adds the user, brings the memberships up to date, and makes a token that expires after `lifetime`.

        A user is found by `issuer` and `subject` alone, never by name or email, which another user could have taken; a
        new user whose name is taken gets a suffix. The memberships that came from sign-ins become exactly `teams`
        (names; missing teams are added); memberships made by hand stay. Without `role`, a new user gets USER, and a
        known one keeps the role; the last administrator keeps it in any case. Gives the token with its secret. Raises
        UserDisabledError, and InvalidFieldError if a team's name, the identity or the lifetime is not legal.
        """
        now = self._clock.now()
        if not issuer or not subject:
            raise InvalidFieldError("subject", "is empty, or the issuer is; both identify the user")
        if lifetime.total_seconds() <= 0:
            raise InvalidFieldError("lifetime", f"must be positive; it is {lifetime}")
        wanted = {check_name(team) for team in teams}
        async with self._database.transaction() as connection:
            await one_change_at_a_time(connection)
            user = await self._user(connection, issuer, subject, preferred_name, role, now)
            if user.disable_time is not None:
                raise UserDisabledError(user.name)
            await _bring_up_to_date(connection, user, email_or_none(email), role, now)
            await self._set_teams(connection, user, wanted, now)
            token, secret = new_token(
                self._new_id, now, user.user_id, user.account_id, token_name, expire_time=now + lifetime
            )
            await insert_token(connection, replace(token, is_sign_in=True), secret)
        return token, secret

    async def _user(
        self,
        connection: AsyncConnection,
        issuer: str,
        subject: str,
        preferred_name: str,
        role: Role | None,
        now: datetime,
    ) -> User:
        known = select(users).where(users.c.issuer == issuer, users.c.subject == subject)
        row = (await connection.execute(known)).one_or_none()
        if row is not None:
            return record_of(User, row)
        name = await _free_name(connection, name_like(preferred_name))
        account = await open_account(connection, self._new_id("acct"), name, now)
        user = User(
            self._new_id("user"), name, role or Role.USER, account.account_id, now, issuer=issuer, subject=subject
        )
        await insert_user(connection, user)
        return user

    async def _set_teams(self, connection: AsyncConnection, user: User, wanted: Collection[str], now: datetime) -> None:
        from_sign_in = and_(team_members.c.user_id == user.user_id, team_members.c.origin == Origin.SIGN_IN.value)
        await connection.execute(delete(team_members).where(from_sign_in))
        left = await connection.scalars(select(team_members.c.team_id).where(team_members.c.user_id == user.user_id))
        by_hand = set(left)
        for name in sorted(wanted):
            team_id = await self._team_id(connection, name, now)
            if team_id not in by_hand:
                await insert_member(connection, team_id, user.user_id, MemberLevel.MEMBER, Origin.SIGN_IN)

    async def _team_id(self, connection: AsyncConnection, name: str, now: datetime) -> str:
        known = await connection.scalar(select(teams.c.team_id).where(teams.c.name == name))
        if known is not None:
            return known
        # A user may have the name. That must not keep the members of the group out.
        account = await open_account(connection, self._new_id("acct"), await _free_name(connection, name), now)
        team = Team(self._new_id("team"), name, account.account_id, now)
        await insert_team(connection, team)
        return team.team_id


async def _bring_up_to_date(
    connection: AsyncConnection, user: User, email: str, role: Role | None, now: datetime
) -> None:
    own = users.c.user_id == user.user_id
    if email:
        # Without one, that which an administrator has set stays.
        await connection.execute(update(users).where(own).values(email=email))
    if role is None or role is user.role:
        return
    try:
        async with connection.begin_nested(), administrator_kept(connection, now):
            await connection.execute(update(users).where(own).values(role=role.value))
    except LastAdministratorError:
        log.warning(
            "the last administrator keeps the role, whatever the identity provider says", extra={"user": user.name}
        )


async def _free_name(connection: AsyncConnection, name: str) -> str:
    """The name, or the name with the first number that makes it free."""
    for candidate in chain([name], (f"{name[:56]}-{number}" for number in count(2))):
        taken = union_all(*(select(table.c.name).where(table.c.name == candidate) for table in (accounts, users)))
        if (await connection.execute(taken)).first() is None:
            return candidate
    raise AssertionError  # count() never ends
