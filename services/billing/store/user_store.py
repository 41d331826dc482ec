"""Users as rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.actor import note_before
from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.records import record_of, row_of
from services.billing.errors import GithubNameTakenError, NameTakenError, UserNotFoundError
from services.billing.identity.rights import Role
from services.billing.identity.user import Notify, ProfileVisibility, User
from services.billing.store.account_store import open_account
from services.billing.store.administrators import administrator_kept, one_change_at_a_time
from services.billing.store.tables import users


class UserStore:
    """Adds, reads and changes users."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def create(self, name: str, role: Role = Role.USER, email: str = "") -> User:
        """Adds a user with an account of the same name, without credit; raises NameTakenError."""
        now = self._clock.now()
        async with self._database.transaction() as connection:
            await one_change_at_a_time(connection)
            account = await open_account(connection, self._new_id("acct"), name, now)
            user = User(self._new_id("user"), name, role, account.account_id, now, email)
            await insert_user(connection, user)
        return user

    async def get(self, user: str) -> User:
        """The user with this id or name; raises UserNotFoundError."""
        async with self._database.reading() as connection:
            return await read_user(connection, user)

    async def find_by_name(self, name: str) -> User | None:
        """The user with this name; None if there is none."""
        async with self._database.reading() as connection:
            row = (await connection.execute(select(users).where(users.c.name == name))).one_or_none()
        return None if row is None else record_of(User, row)

    async def names(self, user_ids: Collection[str]) -> dict[str, str]:
        """The names of those users that there are, by id."""
        query = select(users.c.user_id, users.c.name).where(users.c.user_id.in_(user_ids))
        async with self._database.reading() as connection:
            return {row.user_id: row.name for row in await connection.execute(query)}

    async def list_all(self) -> Sequence[User]:
        """All users, by name."""
        async with self._database.reading() as connection:
            return [record_of(User, row) for row in await connection.execute(select(users).order_by(users.c.name))]

    async def find_by_github_name(self, name: str) -> User | None:
        """The user with this name on GitHub, in lower case; None if there is none."""
        async with self._database.reading() as connection:
            row = (await connection.execute(select(users).where(users.c.github_name == name))).one_or_none()
        return None if row is None else record_of(User, row)

    async def update(
        self,
        user: str,
        *,
        role: Role | None = None,
        email: str | None = None,
        disabled: bool | None = None,
        github_name: str | None = None,
    ) -> User:
        """Changes what is given; the time of the first disabling stays. An empty `github_name` takes it away.

        Raises UserNotFoundError, GithubNameTakenError if another user has the name, and LastAdministratorError if no
        administrator with a working token would be left.
        """
        now = self._clock.now()
        async with self._database.transaction() as connection, administrator_kept(connection, now):
            found = await read_user(connection, user)
            note_before(found)
            disable_time = found.disable_time if disabled is None else (found.disable_time or now) if disabled else None
            changes = {
                "role": found.role if role is None else role,
                "email": found.email if email is None else email,
                "disable_time": disable_time,
                "github_name": (found.github_name if github_name is None else github_name) or None,
            }
            await _check_free(connection, found, changes["github_name"])
            await connection.execute(update(users).where(users.c.user_id == found.user_id).values(changes))
            return await read_user(connection, found.user_id)

    async def set_notify(self, user_id: str, notify: Notify) -> User:
        """Sets when a user is mailed; raises UserNotFoundError."""
        return await self._set(user_id, notify=notify.value)

    async def set_profile(self, user_id: str, profile: ProfileVisibility) -> User:
        """Sets who sees a user's profile; raises UserNotFoundError."""
        return await self._set(user_id, profile=profile.value)

    async def _set(self, user_id: str, **values: str) -> User:
        async with self._database.transaction() as connection:
            await connection.execute(update(users).where(users.c.user_id == user_id).values(values))
            return await read_user(connection, user_id)


async def _check_free(connection: AsyncConnection, user: User, github_name: Any) -> None:  # noqa: ANN401 - of a row
    others = select(users.c.user_id).where(users.c.github_name == github_name, users.c.user_id != user.user_id)
    if github_name and (await connection.execute(others)).first() is not None:
        raise GithubNameTakenError(github_name)


async def insert_user(connection: AsyncConnection, user: User) -> None:
    """Inserts a user whose account is there; raises NameTakenError."""
    taken = await connection.execute(select(users.c.user_id).where(users.c.name == user.name))
    if taken.first() is not None:
        raise NameTakenError(user.name)
    await connection.execute(insert(users).values(row_of(users, user)))


async def read_user(connection: AsyncConnection, user: str) -> User:
    """The user with this id or name; raises UserNotFoundError."""
    row = (await connection.execute(select(users).where(or_(users.c.user_id == user, users.c.name == user)))).first()
    if row is None:
        raise UserNotFoundError(user)
    return record_of(User, row)
