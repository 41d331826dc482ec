"""Teams and their members as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import and_, delete, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.actor import note_before
from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.records import record_of, row_of
from services.billing.errors import NameTakenError, TeamNotFoundError
from services.billing.identity.team import MemberLevel, Membership, Origin, Team
from services.billing.store.account_store import open_account
from services.billing.store.administrators import one_change_at_a_time
from services.billing.store.tables import team_members, teams, users


class TeamStore:
    """Adds and reads teams, and changes their members."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def create(self, name: str) -> Team:
        """Adds a team with an account of the same name, without credit; raises NameTakenError."""
        now = self._clock.now()
        async with self._database.transaction() as connection:
            await one_change_at_a_time(connection)
            account = await open_account(connection, self._new_id("acct"), name, now)
            team = Team(self._new_id("team"), name, account.account_id, now)
            await insert_team(connection, team)
        return team

    async def get(self, team: str) -> Team:
        """The team with this id or name, and its members; raises TeamNotFoundError."""
        async with self._database.reading() as connection:
            return await read_team(connection, team)

    async def list_all(self) -> Sequence[Team]:
        """All teams, by name, without their members."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(teams).order_by(teams.c.name))
            return [record_of(Team, row, members=()) for row in rows]

    async def add_member(self, team_id: str, user_id: str, level: MemberLevel) -> Team:
        """Adds a member by hand, or changes one; gives the team after it. Raises TeamNotFoundError."""
        async with self._database.transaction() as connection:
            await one_change_at_a_time(connection)
            note_before(await read_team(connection, team_id))
            await delete_member(connection, team_id, user_id)
            await insert_member(connection, team_id, user_id, level, Origin.HAND)
            return await read_team(connection, team_id)

    async def remove_member(self, team_id: str, user_id: str) -> Team:
        """Removes a member, or nobody; gives the team after it. Raises TeamNotFoundError."""
        async with self._database.transaction() as connection:
            await one_change_at_a_time(connection)
            note_before(await read_team(connection, team_id))
            await delete_member(connection, team_id, user_id)
            return await read_team(connection, team_id)


async def insert_team(connection: AsyncConnection, team: Team) -> None:
    """Inserts a team whose account is there; raises NameTakenError."""
    taken = await connection.execute(select(teams.c.team_id).where(teams.c.name == team.name))
    if taken.first() is not None:
        raise NameTakenError(team.name)
    await connection.execute(insert(teams).values(row_of(teams, team)))


async def insert_member(
    connection: AsyncConnection, team_id: str, user_id: str, level: MemberLevel, origin: Origin
) -> None:
    """Inserts a membership; there must be none yet."""
    row = {"team_id": team_id, "user_id": user_id, "level": level.value, "origin": origin.value}
    await connection.execute(insert(team_members).values(row))


async def delete_member(connection: AsyncConnection, team_id: str, user_id: str) -> None:
    """Deletes a membership, if there is one."""
    own = and_(team_members.c.team_id == team_id, team_members.c.user_id == user_id)
    await connection.execute(delete(team_members).where(own))


async def read_team(connection: AsyncConnection, team: str) -> Team:
    """The team with this id or name, and its members; raises TeamNotFoundError."""
    row = (await connection.execute(select(teams).where(or_(teams.c.team_id == team, teams.c.name == team)))).first()
    if row is None:
        raise TeamNotFoundError(team)
    members = (
        select(team_members, users.c.name)
        .join(users, users.c.user_id == team_members.c.user_id)
        .where(team_members.c.team_id == row.team_id)
        .order_by(users.c.name)
    )
    found = [record_of(Membership, one, user_name=one.name) for one in await connection.execute(members)]
    return record_of(Team, row, members=tuple(found))


async def team_account_ids(connection: AsyncConnection, user_id: str) -> Mapping[str, MemberLevel]:
    """The accounts of the user's teams, and what the user may do with each team."""
    query = (
        select(teams.c.account_id, team_members.c.level)
        .join(team_members, team_members.c.team_id == teams.c.team_id)
        .where(team_members.c.user_id == user_id)
    )
    return {row.account_id: MemberLevel(row.level) for row in await connection.execute(query)}
