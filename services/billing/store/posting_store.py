"""Reads the ledger: an account's lines, checkpoints, and the proof that the books are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Row, Text, case, cast, func, insert, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.db.database import EPOCH, Database
from services.billing.ledger import chain
from services.billing.ledger.books import COST_BOOKS, OPERATOR, Book, Posting, PostingKind
from services.billing.ledger.holds import HoldState
from services.billing.store.account_store import read_account
from services.billing.store.tables import (
    balances,
    chain_head,
    checkpoints,
    grants,
    holds,
    machine_usage,
    postings,
    transactions,
)

BATCH = 500
"""Transactions that are read at once: billing serves nobody while it checks one such batch, some 0.1 s."""
CHECKPOINT_TRANSACTIONS = 10_000
"""Transactions between two checkpoints, so that an old balance is found by adding at most so many."""

Sums = Counter[tuple[str, str]]
"""Micro-dollars by owner and book."""


@dataclass(frozen=True)
class AccountLine:
    """A change of an account's available credit: positive if added, negative if held or spent."""

    seq: int
    kind: PostingKind
    amount_micros: int
    create_time: datetime
    description: str
    idempotency_key: str


@dataclass
class Proof:
    """The result of going through the ledger: what was read, the last digest, and the faults, if there are any."""

    first_seq: int
    last_seq: int
    last_digest: str
    postings: int = 0
    faults: list[str] = field(default_factory=list[str])


class PostingStore:
    """Reads the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def lines(self, account_id: str, *, before_seq: int | None, limit: int) -> Sequence[AccountLine]:
        """An account's lines, newest first; only those before `before_seq` if it is given."""
        query = (
            select(postings, transactions.c.create_time, transactions.c.description, transactions.c.idempotency_key)
            .join(transactions, postings.c.transaction_seq == transactions.c.seq)
            .where(postings.c.owner == account_id, postings.c.book == Book.AVAILABLE.value)
            .order_by(postings.c.seq.desc())
            .limit(limit)
        )
        if before_seq is not None:
            query = query.where(postings.c.seq < before_seq)
        async with self._database.reading() as connection:
            await read_account(connection, account_id)
            rows = (await connection.execute(query)).all()
        return [
            AccountLine(
                row.seq,
                PostingKind(row.kind),
                row.amount_micros,
                row.create_time,
                row.description,
                row.idempotency_key,
            )
            for row in rows
        ]

    async def checkpoint(self, every: int = CHECKPOINT_TRANSACTIONS) -> int | None:
        """Writes all balances down if `every` transactions came since they last were; gives the last one's number."""
        async with self._database.transaction() as connection:
            head = (await connection.execute(select(chain_head).with_for_update())).one()
            if head.seq - await _last_checkpoint(connection) < every:
                return None
            rows = (await connection.execute(select(balances))).mappings().all()
            await connection.execute(insert(checkpoints), [{"transaction_seq": head.seq, **row} for row in rows])
            return head.seq

    async def books(self) -> tuple[Mapping[tuple[str, Book], int], int]:
        """The balance of each book by owner, `accounts` or `operator`, and the number of the last transaction."""
        owner = case((balances.c.owner == OPERATOR, literal(OPERATOR)), else_=literal("accounts")).label("kind")
        query = select(owner, balances.c.book, func.sum(balances.c.amount_micros)).group_by("kind", balances.c.book)
        async with self._database.reading() as connection:
            sums = {(name, Book(book)): int(micros) for name, book, micros in await connection.execute(query)}
            return sums, await connection.scalar(select(chain_head.c.seq)) or 0

    async def prove(self, *, whole: bool = True) -> Proof:
        """Goes through the transactions, all or those since the last checkpoint, and adds everything up again.

        A transaction's postings must sum to zero, its digest must follow from the one before, and the books,
        checkpoints, grants, holds and reports of machines must say what the postings say.
        """
        async with self._database.snapshot() as connection:
            first = 0 if whole else await _last_checkpoint(connection)
            sums, digest = await _state_after(connection, first)
            checkpointed = await _checkpointed_after(connection, first)
            proof = Proof(first + 1, first, digest)
            async for transaction, said in _transactions_after(connection, first):
                _check(proof, transaction, said)
                for line in transaction.postings:
                    sums[line.owner, line.book.value] += line.amount_micros
                if transaction.seq in checkpointed:
                    kept, _ = await _state_after(connection, transaction.seq)
                    _check_sums(proof, f"at checkpoint {transaction.seq}", kept, sums)
            await _check_head(connection, proof)
            kept = {(row.owner, row.book): row.amount_micros for row in await connection.execute(select(balances))}
            _check_sums(proof, "now", kept, sums)
            if whole:
                await _check_grants(connection, proof)
                await _check_holds(connection, proof)
                await _check_held(connection, proof)
                await _check_machines(connection, proof)
        return proof

    async def balance_at(self, owner: str, instant: datetime) -> Mapping[Book, int]:
        """The sums of an owner's books over all transactions before an instant."""
        async with self._database.snapshot() as connection:
            return await balance_at(connection, owner, instant)


async def last_before(connection: AsyncConnection, instant: datetime) -> int:
    """The number of the last transaction before an instant, or 0: numbers grow with time."""
    time = transactions.c.create_time
    query = select(transactions.c.seq).where(time < instant).order_by(time.desc(), transactions.c.seq.desc()).limit(1)
    return await connection.scalar(query) or 0


async def balance_at(connection: AsyncConnection, owner: str, instant: datetime) -> Mapping[Book, int]:
    """The sums of an owner's books before an instant: those of the last checkpoint, and what came after."""
    last_seq = await last_before(connection, instant)
    known = select(func.max(checkpoints.c.transaction_seq)).where(checkpoints.c.transaction_seq <= last_seq)
    first_seq = await connection.scalar(known) or 0
    start = select(checkpoints.c.book, checkpoints.c.amount_micros).where(
        checkpoints.c.transaction_seq == first_seq, checkpoints.c.owner == owner
    )
    # Postings are numbered as their transactions are. An index knows them by owner, book and their own number.
    first_posting, last_posting = await _last_posting(connection, first_seq), await _last_posting(connection, last_seq)
    later = (
        select(postings.c.book, func.sum(postings.c.amount_micros).label("amount_micros"))
        .where(postings.c.owner == owner, postings.c.book.in_([book.value for book in Book]))
        .where(postings.c.seq > first_posting, postings.c.seq <= last_posting)
        .group_by(postings.c.book)
    )
    sums: Counter[Book] = Counter()
    for query in (start, later):
        for row in await connection.execute(query):
            sums[Book(row.book)] += int(row.amount_micros)
    return sums


async def _last_posting(connection: AsyncConnection, transaction_seq: int) -> int:
    """The number of the last posting of this transaction and those before it, or 0."""
    of = postings.c.transaction_seq
    query = select(postings.c.seq).where(of <= transaction_seq).order_by(of.desc(), postings.c.seq.desc()).limit(1)
    return await connection.scalar(query) or 0


async def _last_checkpoint(connection: AsyncConnection) -> int:
    return await connection.scalar(select(func.max(checkpoints.c.transaction_seq))) or 0


async def _checkpointed_after(connection: AsyncConnection, seq: int) -> set[int]:
    """The later transactions that have a checkpoint."""
    query = select(checkpoints.c.transaction_seq).where(checkpoints.c.transaction_seq > seq).distinct()
    return set(await connection.scalars(query))


async def _state_after(connection: AsyncConnection, seq: int) -> tuple[Sums, str]:
    """The sums and the digest after a transaction that has a checkpoint, or before the first."""
    rows = await connection.execute(select(checkpoints).where(checkpoints.c.transaction_seq == seq))
    digest = await connection.scalar(select(transactions.c.digest).where(transactions.c.seq == seq))
    return Counter({(row.owner, row.book): row.amount_micros for row in rows}), digest or chain.FIRST_DIGEST


async def _transactions_after(connection: AsyncConnection, seq: int) -> AsyncIterator[tuple[chain.Transaction, str]]:
    """Each transaction with the digest that is kept of it."""
    while True:
        query = select(transactions).where(transactions.c.seq > seq).order_by(transactions.c.seq).limit(BATCH)
        rows = (await connection.execute(query)).all()
        if not rows:
            return
        lines = (
            select(postings)
            .where(postings.c.transaction_seq > seq, postings.c.transaction_seq <= rows[-1].seq)
            .order_by(postings.c.transaction_seq, postings.c.seq)
        )
        found = (await connection.execute(lines)).all()
        by_seq = {number: list(group) for number, group in groupby(found, key=lambda line: line.transaction_seq)}
        for row in rows:
            yield _transaction_from_row(row, by_seq.get(row.seq, [])), row.digest
        seq = rows[-1].seq


def _transaction_from_row(row: Row[Any], lines: Sequence[Row[Any]]) -> chain.Transaction:
    return chain.Transaction(
        seq=row.seq,
        idempotency_key=row.idempotency_key,
        kind=row.kind,
        account_id=row.account_id,
        hold_id=row.hold_id,
        amount_micros=row.amount_micros,
        available_micros=row.available_micros,
        description=row.description,
        reason=row.reason,
        create_time=row.create_time,
        postings=[
            Posting(line.owner, Book(line.book), PostingKind(line.kind), line.amount_micros, line.subject)
            for line in lines
        ],
    )


def _check(proof: Proof, transaction: chain.Transaction, said: str) -> None:
    if transaction.seq != proof.last_seq + 1:
        proof.faults.append(f"transactions {proof.last_seq + 1} to {transaction.seq - 1} are missing")
    if sum(line.amount_micros for line in transaction.postings):
        proof.faults.append(f"the postings of transaction {transaction.seq} do not sum to zero")
    if chain.digest(proof.last_digest, transaction, EPOCH) != said:
        proof.faults.append(f"transaction {transaction.seq} or one before it was changed: its digest does not follow")
    proof.last_seq, proof.last_digest = transaction.seq, said
    proof.postings += len(transaction.postings)


async def _check_head(connection: AsyncConnection, proof: Proof) -> None:
    head = (await connection.execute(select(chain_head))).one()
    if (head.seq, head.digest) != (proof.last_seq, proof.last_digest):
        proof.faults.append(f"the ledger ends at transaction {proof.last_seq}, and its head says {head.seq}")


def _check_sums(proof: Proof, when: str, kept: Mapping[tuple[str, str], int], sums: Sums) -> None:
    for owner, book in sorted(kept.keys() | sums.keys()):
        if kept.get((owner, book), 0) != sums[owner, book]:
            difference = f"kept {kept.get((owner, book), 0)}, postings sum to {sums[owner, book]}"
            proof.faults.append(f"the balance {when} of {owner}, {book}, differs: {difference}")


async def _check_grants(connection: AsyncConnection, proof: Proof) -> None:
    """What remains of an account's grants is what is available or on hold."""
    remaining = select(grants.c.account_id, func.sum(grants.c.remaining_micros)).group_by(grants.c.account_id)
    left: dict[str, int] = {account_id: int(amount) for account_id, amount in await connection.execute(remaining)}
    spendable = (
        select(balances.c.owner, func.sum(balances.c.amount_micros))
        .where(balances.c.book.in_([Book.AVAILABLE.value, Book.HELD.value]), balances.c.owner != OPERATOR)
        .group_by(balances.c.owner)
    )
    for owner, amount in await connection.execute(spendable):
        if max(0, int(amount)) != left.get(owner, 0):
            proof.faults.append(f"{owner} can spend {amount}, and its grants have {left.get(owner, 0)} left")


async def _check_holds(connection: AsyncConnection, proof: Proof) -> None:
    """What a hold was charged is what its transactions charged."""
    charges = (
        select(
            transactions.c.hold_id,
            func.sum(postings.c.amount_micros).filter(postings.c.kind == PostingKind.CHARGE.value).label("charged"),
            func.sum(-postings.c.amount_micros).filter(postings.c.kind == PostingKind.REFUND.value).label("refunded"),
        )
        .join(postings, postings.c.transaction_seq == transactions.c.seq)
        .where(postings.c.book == Book.CHARGED.value, transactions.c.hold_id.is_not(None))
        .group_by(transactions.c.hold_id)
        .subquery()
    )
    query = (
        select(holds.c.hold_id, holds.c.charged_micros, holds.c.refunded_micros, charges.c.charged, charges.c.refunded)
        .join(charges, charges.c.hold_id == holds.c.hold_id, isouter=True)
        .where(
            (holds.c.charged_micros != func.coalesce(charges.c.charged, 0))
            | (holds.c.refunded_micros != func.coalesce(charges.c.refunded, 0))
        )
    )
    for row in await connection.execute(query):
        proof.faults.append(f"hold {row.hold_id} says {row.charged_micros} charged, its postings {row.charged or 0}")


async def _check_held(connection: AsyncConnection, proof: Proof) -> None:
    """What an account has on hold is what its open holds have left."""
    left = func.sum(holds.c.amount_micros - holds.c.charged_micros)
    query = select(holds.c.account_id, left).where(holds.c.state == HoldState.OPEN.value).group_by(holds.c.account_id)
    open_holds: dict[str, int] = {account_id: int(amount) for account_id, amount in await connection.execute(query)}
    of_book = select(balances.c.owner, balances.c.amount_micros).where(balances.c.book == Book.HELD.value)
    held: dict[str, int] = {owner: int(amount) for owner, amount in await connection.execute(of_book)}
    for owner in sorted(open_holds.keys() | held.keys()):
        if held.get(owner, 0) != open_holds.get(owner, 0):
            proof.faults.append(
                f"{owner} has {held.get(owner, 0)} on hold, and its open holds have {open_holds.get(owner, 0)} left"
            )


async def _check_machines(connection: AsyncConnection, proof: Proof) -> None:
    """What a machine is reported to have cost is what its transaction says; one that cost nothing has none."""
    key = literal("machine:") + machine_usage.c.machine_id + ":" + cast(machine_usage.c.sequence, Text)
    query = (
        select(machine_usage.c.machine_id, machine_usage.c.sequence, machine_usage.c.cost_micros, transactions.c.seq)
        .join(transactions, transactions.c.idempotency_key == key, isouter=True)
        .where(machine_usage.c.cost_micros != func.coalesce(transactions.c.amount_micros, 0))
    )
    for row in await connection.execute(query):
        proof.faults.append(
            f"machine {row.machine_id} cost {row.cost_micros} by report {row.sequence}, and its transaction differs"
        )
    reported = await connection.scalar(select(func.sum(machine_usage.c.cost_micros))) or 0
    books = [book.value for book in COST_BOOKS]
    query = select(func.sum(balances.c.amount_micros)).where(balances.c.owner == OPERATOR, balances.c.book.in_(books))
    booked = await connection.scalar(query) or 0
    if int(reported) != int(booked):
        proof.faults.append(f"machines are reported to have cost {reported}, and the books say {booked}")
