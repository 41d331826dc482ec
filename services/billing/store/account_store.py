"""Accounts as rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, insert, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.records import record_of
from services.billing.errors import AccountNotFoundError, NameTakenError
from services.billing.identity.account import Account, OwnedAccount, OwnerKind
from services.billing.ledger.books import Balance
from services.billing.store.journal import read_balance
from services.billing.store.tables import accounts, teams, users

_ACCOUNT = select(accounts).where(accounts.c.account_id == bindparam("account_id"))
_LOCKED_ACCOUNT = _ACCOUNT.with_for_update()
_OWNED = (
    select(
        accounts.c.account_id,
        accounts.c.name,
        accounts.c.create_time,
        users.c.user_id,
        users.c.name.label("user_name"),
        teams.c.team_id,
        teams.c.name.label("team_name"),
    )
    .outerjoin_from(accounts, users, users.c.account_id == accounts.c.account_id)
    .outerjoin(teams, teams.c.account_id == accounts.c.account_id)
    .order_by(accounts.c.name)
)


class AccountStore:
    """Opens and reads accounts; only the LedgerStore moves their credit."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def create(self, name: str) -> Account:
        """Opens an account without credit and without an owner; raises NameTakenError if the name is in use."""
        async with self._database.transaction() as connection:
            return await open_account(connection, self._new_id("acct"), name, self._clock.now())

    async def get(self, account_id: str) -> Account:
        """Gets an account; raises AccountNotFoundError if there is none."""
        async with self._database.reading() as connection:
            return await read_account(connection, account_id)

    async def find_by_name(self, name: str) -> Account | None:
        """The account with this name; None if there is none."""
        async with self._database.reading() as connection:
            account_id = await connection.scalar(select(accounts.c.account_id).where(accounts.c.name == name))
            return None if account_id is None else await read_account(connection, account_id)

    async def id_of(self, account: str) -> str:
        """The id of the account with this id or name; raises AccountNotFoundError."""
        query = select(accounts.c.account_id).where(or_(accounts.c.account_id == account, accounts.c.name == account))
        async with self._database.reading() as connection:
            found = await connection.scalar(query)
        if found is None:
            raise AccountNotFoundError(account)
        return found

    async def owned(self, only: Collection[str] | None = None) -> Sequence[OwnedAccount]:
        """All accounts with their owners, by name; if `only` is given, those with these ids or names."""
        query = (
            _OWNED if only is None else _OWNED.where(or_(accounts.c.account_id.in_(only), accounts.c.name.in_(only)))
        )
        async with self._database.reading() as connection:
            return [_owned_from_row(row) for row in await connection.execute(query)]


async def open_account(connection: AsyncConnection, account_id: str, name: str, now: datetime) -> Account:
    """Inserts an account without credit; raises NameTakenError."""
    account = Account(account_id, name, now, Balance())
    row = {"account_id": account_id, "name": name, "create_time": now}
    try:
        await connection.execute(insert(accounts).values(row))
    except IntegrityError as error:
        raise NameTakenError(name) from error
    return account


async def read_account(connection: AsyncConnection, account_id: str, *, lock: bool = False) -> Account:
    """Reads an account; `lock` locks its row until the transaction ends. Raises AccountNotFoundError."""
    query = _LOCKED_ACCOUNT if lock else _ACCOUNT
    row = (await connection.execute(query, {"account_id": account_id})).one_or_none()
    if row is None:
        raise AccountNotFoundError(account_id)
    return record_of(Account, row, balance=await read_balance(connection, account_id))


def _owned_from_row(row: Row[*tuple[Any, ...]]) -> OwnedAccount:
    if row.user_id is not None:
        owner = (OwnerKind.USER, row.user_id, row.user_name)
    elif row.team_id is not None:
        owner = (OwnerKind.TEAM, row.team_id, row.team_name)
    else:
        owner = (None, "", "")
    return OwnedAccount(row.account_id, row.name, row.create_time, *owner)
