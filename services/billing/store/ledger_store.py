"""The ledger as rows.

Each movement is one transaction: it locks its account, asks the pure ledger, and writes the postings, the running sums
and the answer for a repeated key.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from services.billing.alert_rules.budget import AlertChange
from services.billing.errors import HoldNotFoundError, HoldSettledError, IdempotencyKeyReusedError
from services.billing.ledger import books
from services.billing.store.account_store import read_account
from services.billing.store.tables import accounts, holds, postings, transactions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from servicekit.clock import Clock
    from servicekit.db.database import Database
    from services.billing.alert_rules.budget import Budget
    from services.billing.identity.account import Account

# Built once: every job needs them, and building them takes longer than executing them.
_INSERT_HOLD, _INSERT_TRANSACTION, _INSERT_POSTINGS = insert(holds), insert(transactions), insert(postings)
_EARLIER = select(transactions).where(transactions.c.idempotency_key == bindparam("idempotency_key"))
_SETTLE_HOLD = (
    update(holds)
    .where(holds.c.hold_id == bindparam("settled_hold_id"), holds.c.settled.is_(False))
    .values(settled=True)
    .returning(holds.c.account_id, holds.c.amount_micros)
)
_MOVE_SUMS = (
    update(accounts)
    .where(accounts.c.account_id == bindparam("moved_account_id"))
    .values({name: bindparam(f"new_{name}") for name in ("granted_micros", "charged_micros", "held_micros")})
)


class TransactionKind(StrEnum):
    """The kind of a transaction, by the call that made it."""

    GRANT = "grant"
    HOLD = "hold"
    SETTLEMENT = "settlement"


@dataclass(frozen=True)
class Movement:
    """A request to move credit. The description is for people and does not count when a repeated key is compared."""

    kind: TransactionKind
    account_id: str
    amount_micros: int
    idempotency_key: str
    hold_id: str | None = None
    description: str = ""


@dataclass(frozen=True)
class Receipt:
    """The result of a movement; `alert_fired` is True only for the movement that fired the budget alert."""

    movement: Movement
    available_micros: int
    balance: books.Balance | None = None
    alert_fired: bool = False
    repeated: bool = False


class LedgerStore:
    """Moves credit, once for each idempotency key."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str], budget: Budget) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id
        self._budget = budget

    async def grant(self, account_id: str, amount_micros: int, key: str, description: str) -> Receipt:
        """Adds credit."""
        wanted = Movement(
            TransactionKind.GRANT, account_id, amount_micros, key, None, books.description_text(description)
        )
        async with self._database.transaction() as connection:
            account = await read_account(connection, account_id, lock=True)
            if earlier := await _earlier(connection, wanted):
                return earlier
            return await self._record(connection, account, wanted, books.grant(amount_micros))

    async def hold(self, account_id: str, amount_micros: int, key: str, description: str) -> Receipt:
        """Puts credit aside; the receipt's movement names the hold."""
        wanted = Movement(
            TransactionKind.HOLD,
            account_id,
            amount_micros,
            key,
            self._new_id("hold"),
            books.description_text(description),
        )
        async with self._database.transaction() as connection:
            account = await read_account(connection, account_id, lock=True)
            if earlier := await _earlier(connection, wanted):
                return earlier
            lines = books.hold(account.balance, amount_micros)
            row = {
                "hold_id": wanted.hold_id,
                "account_id": account_id,
                "amount_micros": amount_micros,
                "settled": False,
            }
            await connection.execute(_INSERT_HOLD, row)
            return await self._record(connection, account, wanted, lines)

    async def settle(self, hold_id: str, amount_micros: int, key: str, description: str) -> Receipt:
        """Replaces a hold by its charge, once."""
        async with self._database.transaction() as connection:
            held = (await connection.execute(_SETTLE_HOLD, {"settled_hold_id": hold_id})).one_or_none()
            if held is None:
                return await _earlier_settlement(connection, hold_id, amount_micros, key)
            lines = books.settle(held.amount_micros, amount_micros)
            account = await read_account(connection, held.account_id, lock=True)
            wanted = Movement(
                TransactionKind.SETTLEMENT,
                held.account_id,
                amount_micros,
                key,
                hold_id,
                books.description_text(description),
            )
            return await self._record(connection, account, wanted, lines)

    async def _record(
        self, connection: AsyncConnection, account: Account, movement: Movement, lines: Sequence[books.Posting]
    ) -> Receipt:
        balance = account.balance.after(lines)
        change = self._budget.alert_change(balance, fired=account.alert_fire_time is not None)
        await self._write(connection, movement, balance, lines)
        sums = {
            "moved_account_id": account.account_id,
            "new_granted_micros": balance.granted_micros,
            "new_charged_micros": balance.charged_micros,
            "new_held_micros": balance.held_micros,
        }
        await connection.execute(_MOVE_SUMS, sums)
        await self._note_alert(connection, account, change)
        return Receipt(movement, balance.available_micros, balance, alert_fired=change is AlertChange.FIRE)

    async def _write(
        self,
        connection: AsyncConnection,
        movement: Movement,
        balance: books.Balance,
        lines: Sequence[books.Posting],
    ) -> None:
        row = {
            "idempotency_key": movement.idempotency_key,
            "kind": movement.kind.value,
            "account_id": movement.account_id,
            "hold_id": movement.hold_id,
            "amount_micros": movement.amount_micros,
            "description": movement.description,
            "create_time": self._clock.now(),
            "available_micros": balance.available_micros,
        }
        try:
            await connection.execute(_INSERT_TRANSACTION, row)
        except IntegrityError as error:
            # The account is locked and has not used the key itself, so another account or hold has it.
            raise IdempotencyKeyReusedError(movement.idempotency_key) from error
        if lines:
            await connection.execute(_INSERT_POSTINGS, [self._posting_row(movement, line) for line in lines])

    def _posting_row(self, movement: Movement, line: books.Posting) -> dict[str, object]:
        return {
            "posting_id": self._new_id("post"),
            "idempotency_key": movement.idempotency_key,
            "account_id": movement.account_id,
            "book": line.book.value,
            "kind": line.kind.value,
            "amount_micros": line.amount_micros,
        }

    async def _note_alert(self, connection: AsyncConnection, account: Account, change: AlertChange) -> None:
        if change is AlertChange.NONE:
            return
        fire_time = self._clock.now() if change is AlertChange.FIRE else None
        own = accounts.c.account_id == account.account_id
        await connection.execute(update(accounts).where(own).values(alert_fire_time=fire_time))


async def _earlier(connection: AsyncConnection, wanted: Movement) -> Receipt | None:
    row = (await connection.execute(_EARLIER, {"idempotency_key": wanted.idempotency_key})).one_or_none()
    if row is None:
        return None
    if (row.kind, row.account_id, row.amount_micros) != (wanted.kind, wanted.account_id, wanted.amount_micros):
        raise IdempotencyKeyReusedError(wanted.idempotency_key)
    movement = Movement(
        wanted.kind, row.account_id, row.amount_micros, row.idempotency_key, row.hold_id, row.description
    )
    return Receipt(movement, row.available_micros, repeated=True)


async def _earlier_settlement(connection: AsyncConnection, hold_id: str, amount_micros: int, key: str) -> Receipt:
    row = (
        await connection.execute(
            select(transactions).where(
                transactions.c.hold_id == hold_id, transactions.c.kind == TransactionKind.SETTLEMENT.value
            )
        )
    ).one_or_none()
    if row is None:
        raise HoldNotFoundError(hold_id)
    if (row.amount_micros, row.idempotency_key) != (amount_micros, key):
        raise HoldSettledError(hold_id, row.amount_micros)
    movement = Movement(TransactionKind.SETTLEMENT, row.account_id, row.amount_micros, key, hold_id, row.description)
    return Receipt(movement, row.available_micros, repeated=True)
