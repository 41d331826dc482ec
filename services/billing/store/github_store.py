"""What was read on GitHub, and texts that people are to sign, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select

from servicekit.db.database import Database
from services.billing.store.administrators import one_change_at_a_time
from services.billing.store.tables import github_claims, github_keys


@dataclass(frozen=True)
class KeptKeys:
    """The list of a user's keys on GitHub, as it was at `check_time`."""

    body: str
    etag: str
    check_time: datetime


class GithubStore:
    """Keeps lists of keys, by names in lower case, and texts to sign, by their hashes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def kept(self, name: str) -> KeptKeys | None:
        """The list of a user's keys; None if there is none."""
        query = select(github_keys).where(github_keys.c.github_name == name)
        async with self._database.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else KeptKeys(row.body, row.etag, row.check_time)

    async def keep(self, name: str, keys: KeptKeys, oldest: datetime) -> None:
        """Replaces the list of a user's keys, and forgets all lists of before `oldest`."""
        row = {"github_name": name, "body": keys.body, "etag": keys.etag, "check_time": keys.check_time}
        async with self._database.transaction() as connection:
            await one_change_at_a_time(connection)
            await connection.execute(delete(github_keys).where(github_keys.c.check_time < oldest))
            await connection.execute(delete(github_keys).where(github_keys.c.github_name == name))
            await connection.execute(insert(github_keys).values(row))

    async def forget(self, name: str) -> None:
        """Forgets the list of a user's keys."""
        async with self._database.transaction() as connection:
            await connection.execute(delete(github_keys).where(github_keys.c.github_name == name))

    async def add_claim(
        self, challenge_hash: str, user_id: str, name: str, expire_time: datetime, now: datetime
    ) -> None:
        """Notes a text that a user is to sign for a name, and forgets those that are too old."""
        row = {"challenge_hash": challenge_hash, "user_id": user_id, "github_name": name, "expire_time": expire_time}
        async with self._database.transaction() as connection:
            await connection.execute(delete(github_claims).where(github_claims.c.expire_time <= now))
            await connection.execute(insert(github_claims).values(row))

    async def take_claim(self, challenge_hash: str, user_id: str, name: str, now: datetime) -> bool:
        """True once for a text that this user is to sign for this name and that is not too old."""
        mine = (
            delete(github_claims)
            .where(github_claims.c.challenge_hash == challenge_hash)
            .where(github_claims.c.user_id == user_id, github_claims.c.github_name == name)
            .where(github_claims.c.expire_time > now)
        )
        async with self._database.transaction() as connection:
            return (await connection.execute(mine)).rowcount == 1
