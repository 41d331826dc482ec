"""Metrics of money for operators, and one log line when an account passes its budget's threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from servicekit.metrics import counter
from vocabulary.money import dollars_text

if TYPE_CHECKING:
    from services.billing.ledger.machine_usage import MachineUsage
    from services.billing.store.ledger_store import Receipt

log = get_logger(__name__)

charged = counter("wavepool_billing_charged_micros", "Micro-dollars charged to accounts.")
alerts_fired = counter("wavepool_billing_budget_alerts", "Accounts that passed their budget's threshold.", ("account",))
machine_cost = counter("wavepool_billing_machine_cost_micros", "Micro-dollars that machines cost.", ("provider",))


class Alerts:
    """Logs and counts movements of money."""

    def settled(self, receipt: Receipt) -> None:
        """Counts a settled hold; a repeated call counts nothing."""
        if receipt.repeated or receipt.balance is None:
            return
        charged.inc(receipt.amount_micros)
        if receipt.alert_fired:
            alerts_fired.labels(receipt.account_id).inc()
            log.warning(
                "budget alert: %s of %s is spent",
                dollars_text(receipt.balance.charged_micros),
                dollars_text(receipt.balance.granted_micros),
                extra={"account_id": receipt.account_id, "available_micros": receipt.available_micros},
            )

    def machine_used(self, usage: MachineUsage, *, new: bool) -> None:
        """Counts the cost of a machine's interval, if it is new."""
        if new:
            machine_cost.labels(usage.provider).inc(usage.cost_micros)
