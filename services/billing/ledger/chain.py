"""The hash chain over the ledger's transactions: to change one, all that follow have to be changed.

A transaction's digest covers the digest before it, so the last one stands for the whole ledger. An operator who keeps
it elsewhere can prove later that nothing before it was changed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vocabulary.money import MICROSECOND

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from services.billing.ledger.books import Posting

FIRST_DIGEST = "0" * 64
"""The digest before the first transaction."""


@dataclass(frozen=True)
class Transaction:
    """A transaction as it is recorded: numbered from 1 without a gap, in the order in which they became visible."""

    seq: int
    idempotency_key: str
    kind: str
    account_id: str | None
    hold_id: str | None
    amount_micros: int
    available_micros: int
    description: str
    reason: str
    create_time: datetime
    postings: Sequence[Posting]


def digest(previous: str, transaction: Transaction, epoch: datetime) -> str:
    """SHA-256, in hexadecimal, over the previous digest and everything that the transaction says."""
    said = [
        previous,
        transaction.seq,
        transaction.idempotency_key,
        transaction.kind,
        transaction.account_id,
        transaction.hold_id,
        transaction.amount_micros,
        transaction.available_micros,
        transaction.description,
        transaction.reason,
        (transaction.create_time - epoch) // MICROSECOND,
        [[line.owner, line.book, line.kind, line.amount_micros, line.subject] for line in transaction.postings],
    ]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
