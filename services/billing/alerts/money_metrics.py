"""Metrics of money for operators."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from servicekit.metrics import counter, gauge

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from services.billing.ledger.books import Book
    from services.billing.ledger.machine_usage import MachineUsage
    from services.billing.store.ledger_store import Receipt

charged = counter("wavepool_billing_charged_micros", "Micro-dollars charged to accounts.")
machine_cost = counter("wavepool_billing_machine_cost_micros", "Micro-dollars that machines have cost.", ("provider",))
books = gauge(
    "wavepool_billing_book_micros",
    "Micro-dollars in each book of the ledger; those of accounts are sums over all of them.",
    ("owner", "book"),
)
transactions = gauge("wavepool_billing_ledger_transactions", "Transactions in the ledger.")
burn = gauge(
    "wavepool_billing_burn_micros_per_hour",
    "Micro-dollars an hour over the window of burn-rate alerts: charged to accounts, and cost of machines.",
    ("kind",),
)
lag = gauge("wavepool_billing_usage_lag_seconds", "Age of the newest interval of a machine when it was booked.")


def count_charge(receipt: Receipt) -> None:
    """Counts a settled hold; a repeated call counts nothing."""
    if not receipt.repeated:
        charged.inc(receipt.amount_micros)


def count_machine_cost(usage: MachineUsage, now: datetime, *, new: bool) -> None:
    """Counts the cost of a machine's interval, if it is new."""
    if new:
        machine_cost.labels(usage.provider).inc(usage.cost_micros)
        lag.set(max(0.0, (now - usage.end_time).total_seconds()))


def show_burn(charged_micros: int, cost_micros: int, window: timedelta) -> None:
    """Shows what was charged, and what machines cost, in the `window` until now."""
    hours = window / timedelta(hours=1)
    for kind, micros in (("charge", charged_micros), ("machine_cost", cost_micros)):
        burn.labels(kind).set(micros / hours)


def show_books(sums: Mapping[tuple[str, Book], int], last_seq: int) -> None:
    """Shows the balance of each book, of accounts together and of the operator."""
    for (owner, book), micros in sums.items():
        books.labels(owner, book.value).set(micros)
    transactions.set(last_seq)
