"""Metrics of money for operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from servicekit.metrics import counter

if TYPE_CHECKING:
    from services.billing.ledger.machine_usage import MachineUsage
    from services.billing.store.ledger_store import Receipt

charged = counter("wavepool_billing_charged_micros", "Micro-dollars charged to accounts.")
machine_cost = counter("wavepool_billing_machine_cost_micros", "Micro-dollars that machines cost.", ("provider",))


def count_charge(receipt: Receipt) -> None:
    """Counts a settled hold; a repeated call counts nothing."""
    if not receipt.repeated:
        charged.inc(receipt.amount_micros)


def count_machine_cost(usage: MachineUsage, *, new: bool) -> None:
    """Counts the cost of a machine's interval, if it is new."""
    if new:
        machine_cost.labels(usage.provider).inc(usage.cost_micros)
