"""Public SSH keys of users, as rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import delete, func, insert, or_, select

from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.records import record_of, row_of
from services.billing.errors import InvalidFieldError, KeyNotFoundError, KeyTakenError
from services.billing.identity.ssh_key import MOST_KEYS, SshKey, fingerprint_of
from services.billing.store.administrators import one_change_at_a_time
from services.billing.store.tables import ssh_keys


class KeyStore:
    """Adds, reads and removes keys."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def add(self, user_id: str, line: str, name: str) -> tuple[SshKey, bool]:
        """Adds a key (its type and bytes), and says if it is new; one that the user has already stays as it is.

        Raises KeyTakenError, and InvalidFieldError if the user has too many.
        """
        fingerprint = fingerprint_of(line)
        key = SshKey(self._new_id("key"), user_id, name, line, self._clock.now())
        async with self._database.transaction() as connection:
            await one_change_at_a_time(connection)
            known = (await connection.execute(_by(fingerprint))).one_or_none()
            if known is not None:
                if known.user_id != user_id:
                    raise KeyTakenError(fingerprint)
                return record_of(SshKey, known), False
            count = select(func.count()).select_from(ssh_keys).where(ssh_keys.c.user_id == user_id)
            if (await connection.execute(count)).scalar_one() >= MOST_KEYS:
                raise InvalidFieldError("public_key", f"is one too many; you have {MOST_KEYS}. Remove another first")
            await connection.execute(insert(ssh_keys).values(row_of(ssh_keys, key)))
        return key, True

    async def list_of(self, user_id: str) -> Sequence[SshKey]:
        """A user's keys, oldest first."""
        query = (
            select(ssh_keys).where(ssh_keys.c.user_id == user_id).order_by(ssh_keys.c.create_time, ssh_keys.c.key_id)
        )
        async with self._database.reading() as connection:
            return [record_of(SshKey, row) for row in await connection.execute(query)]

    async def get(self, key: str) -> SshKey:
        """The key with this id or fingerprint; raises KeyNotFoundError."""
        query = select(ssh_keys).where(or_(ssh_keys.c.key_id == key, ssh_keys.c.fingerprint == key))
        async with self._database.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise KeyNotFoundError(key)
        return record_of(SshKey, row)

    async def owners(self, fingerprints: Collection[str]) -> dict[str, str]:
        """The ids of the users of those keys that users have, by fingerprint."""
        query = select(ssh_keys.c.fingerprint, ssh_keys.c.user_id).where(ssh_keys.c.fingerprint.in_(fingerprints))
        async with self._database.reading() as connection:
            return {row.fingerprint: row.user_id for row in await connection.execute(query)}

    async def remove(self, key_id: str) -> None:
        """Forgets a key; nothing happens if it is gone already."""
        async with self._database.transaction() as connection:
            await connection.execute(delete(ssh_keys).where(ssh_keys.c.key_id == key_id))


def _by(fingerprint: str) -> Any:  # noqa: ANN401 - sqlalchemy's type of it is long and says nothing
    return select(ssh_keys).where(ssh_keys.c.fingerprint == fingerprint)
