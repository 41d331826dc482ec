"""Accounts as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from services.billing.errors import AccountNameTakenError, AccountNotFoundError
from services.billing.identity.account import Account
from services.billing.ledger.books import Balance
from services.billing.store.journal import read_balance
from services.billing.store.tables import accounts

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.ext.asyncio import AsyncConnection

    from servicekit.clock import Clock
    from servicekit.db.database import Database

_ACCOUNT = select(accounts).where(accounts.c.account_id == bindparam("account_id"))
_LOCKED_ACCOUNT = _ACCOUNT.with_for_update()


class AccountStore:
    """Opens and reads accounts; only the LedgerStore moves their credit."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def create(self, name: str, *, admin: bool) -> Account:
        """Opens an account without credit; raises AccountNameTakenError if the name is in use."""
        account = Account(self._new_id("acct"), name, admin, self._clock.now(), Balance())
        row = {
            "account_id": account.account_id,
            "name": name,
            "admin": admin,
            "create_time": account.create_time,
        }
        try:
            async with self._database.transaction() as connection:
                await connection.execute(insert(accounts).values(row))
        except IntegrityError as error:
            raise AccountNameTakenError(name) from error
        return account

    async def get(self, account_id: str) -> Account:
        """Gets an account; raises AccountNotFoundError if there is none."""
        async with self._database.reading() as connection:
            return await read_account(connection, account_id)

    async def find_by_name(self, name: str) -> Account | None:
        """The account with this name; None if there is none."""
        async with self._database.reading() as connection:
            account_id = await connection.scalar(select(accounts.c.account_id).where(accounts.c.name == name))
            return None if account_id is None else await read_account(connection, account_id)


async def read_account(connection: AsyncConnection, account_id: str, *, lock: bool = False) -> Account:
    """Reads an account; `lock` locks its row until the transaction ends. Raises AccountNotFoundError."""
    query = _LOCKED_ACCOUNT if lock else _ACCOUNT
    row = (await connection.execute(query, {"account_id": account_id})).one_or_none()
    if row is None:
        raise AccountNotFoundError(account_id)
    return Account(
        account_id=row.account_id,
        name=row.name,
        admin=row.admin,
        create_time=row.create_time,
        balance=await read_balance(connection, account_id),
        alert_fire_time=row.alert_fire_time,
    )
