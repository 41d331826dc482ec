"""Writes transactions into the ledger: their postings, the sums of the books, and the hash chain, in one go."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, case, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from servicekit.db.database import EPOCH
from services.billing.errors import IdempotencyKeyReusedError
from services.billing.ledger import chain
from services.billing.ledger.books import Balance, Book, balance_of
from services.billing.store.tables import balances, chain_head, postings, transactions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from servicekit.clock import Clock
    from servicekit.db.database import Database
    from services.billing.ledger.books import Posting

# Built once: every job needs them, and building them takes longer than executing them.
_HEAD = select(chain_head.c.seq, chain_head.c.digest, chain_head.c.time).with_for_update()
_MOVE_HEAD = update(chain_head).values(seq=bindparam("new_seq"), digest=bindparam("new_digest"), time=bindparam("now"))
_INSERT_TRANSACTION, _INSERT_POSTINGS = insert(transactions), insert(postings)
_SUMS = select(balances.c.book, balances.c.amount_micros).where(balances.c.owner == bindparam("owner"))


class TransactionKind(StrEnum):
    """The kind of a transaction, by the call that made it."""

    GRANT = "grant"
    HOLD = "hold"
    EXTENSION = "extension"
    PART_SETTLEMENT = "part_settlement"
    SETTLEMENT = "settlement"
    HOLD_EXPIRY = "hold_expiry"
    GRANT_EXPIRY = "grant_expiry"
    REFUND = "refund"
    REVOCATION = "revocation"
    CLOUD_CREDIT = "cloud_credit"
    MACHINE_USAGE = "machine_usage"


CHARGING = (TransactionKind.SETTLEMENT, TransactionKind.PART_SETTLEMENT, TransactionKind.REFUND)
"""The kinds whose amount is charged, or given back by a refund."""
CHARGED_MICROS = case(
    (transactions.c.kind == TransactionKind.REFUND.value, -transactions.c.amount_micros),
    else_=transactions.c.amount_micros,
)
"""What a transaction of these kinds charged."""


@dataclass(frozen=True)
class Entry:
    """A transaction to write. A repeated key is compared by kind, account, hold and amount; the rest is for people."""

    kind: TransactionKind
    idempotency_key: str
    amount_micros: int
    postings: Sequence[Posting]
    account_id: str | None = None
    hold_id: str | None = None
    description: str = ""
    reason: str = ""
    available_micros: int = 0


class Journal:
    """Appends transactions. The caller locks the account first, and the journal last."""

    def __init__(self, database: Database, clock: Clock) -> None:
        dialect = postgresql if database.dialect_name == "postgresql" else sqlite
        added = dialect.insert(balances)
        self._add_to_balances = added.on_conflict_do_update(
            index_elements=["owner", "book"],
            set_={"amount_micros": balances.c.amount_micros + added.excluded.amount_micros},
        )
        self._clock = clock

    async def append(self, connection: AsyncConnection, entry: Entry) -> int:
        """Writes a transaction; gives its number. Raises IdempotencyKeyReusedError if the key is taken."""
        head = (await connection.execute(_HEAD)).one()
        # A clock that was set back must not put a transaction before those that it follows.
        now = max(self._clock.now(), head.time)
        transaction = chain.Transaction(
            seq=head.seq + 1,
            idempotency_key=entry.idempotency_key,
            kind=entry.kind.value,
            account_id=entry.account_id,
            hold_id=entry.hold_id,
            amount_micros=entry.amount_micros,
            available_micros=entry.available_micros,
            description=entry.description,
            reason=entry.reason,
            create_time=now,
            postings=entry.postings,
        )
        digest = chain.digest(head.digest, transaction, EPOCH)
        await self._insert(connection, transaction, digest)
        await connection.execute(_MOVE_HEAD, {"new_seq": transaction.seq, "new_digest": digest, "now": now})
        if entry.postings:
            lines = [posting_to_row(transaction.seq, line) for line in entry.postings]
            await connection.execute(_INSERT_POSTINGS, lines)
            await connection.execute(self._add_to_balances, changes_of(entry.postings))
        return transaction.seq

    async def _insert(self, connection: AsyncConnection, transaction: chain.Transaction, digest: str) -> None:
        row = {name: value for name, value in vars(transaction).items() if name != "postings"} | {"digest": digest}
        try:
            await connection.execute(_INSERT_TRANSACTION, row)
        except IntegrityError as error:
            raise IdempotencyKeyReusedError(transaction.idempotency_key) from error


async def read_balance(connection: AsyncConnection, account_id: str) -> Balance:
    """The sums of an account's books."""
    return balance_of(await read_sums(connection, account_id))


async def read_sums(connection: AsyncConnection, owner: str) -> Mapping[Book, int]:
    """The sum of each book of an owner, in micro-dollars."""
    rows = (await connection.execute(_SUMS, {"owner": owner})).all()
    return {Book(row.book): row.amount_micros for row in rows}


def changes_of(lines: Sequence[Posting]) -> list[dict[str, object]]:
    """The change of each book by these postings, as rows in a fixed order, so that two transactions cannot deadlock."""
    sums: Counter[tuple[str, str]] = Counter()
    for line in lines:
        sums[line.owner, line.book.value] += line.amount_micros
    return [{"owner": owner, "book": book, "amount_micros": amount} for (owner, book), amount in sorted(sums.items())]


def posting_to_row(transaction_seq: int, line: Posting) -> dict[str, object]:
    """A posting as a row."""
    return {
        "transaction_seq": transaction_seq,
        "owner": line.owner,
        "book": line.book.value,
        "kind": line.kind.value,
        "amount_micros": line.amount_micros,
        "subject": line.subject,
    }
