"""Looks at the clock for all alerts: silent sources, rules that are gone, old history, and the metric of what fires."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from servicekit.clock import Clock
from servicekit.metrics import gauge
from services.billing.alert_rules.engine import Phase
from services.billing.alerts.evaluator import Evaluator
from services.billing.store.alert_store import Alert, AlertStore

FORGETTING = timedelta(hours=1)
"""Time between two looks for history that is too old."""

firing = gauge("wavepool_billing_alerts_firing", "Alerts that fire now.", ("severity", "rule"))


class AlertWatch:
    """A loop that a transition wakes."""

    name = "alert watch"

    def __init__(
        self, store: AlertStore, evaluator: Evaluator, clock: Clock, retention: timedelta, wake: asyncio.Event
    ) -> None:
        self._store = store
        self._evaluator = evaluator
        self._clock = clock
        self._retention = retention
        self._start_time = clock.now()
        self._next_forgetting: datetime | None = None
        self.wake = wake

    async def run_once(self) -> None:
        """Does everything that is due now."""
        now = self._clock.now()
        alerts = await self._store.active()
        for alert in alerts:
            await self._evaluator.watch(alert, now, self._start_time)
        self._count(alerts)
        if self._next_forgetting is None or now >= self._next_forgetting:
            await self._store.forget(now - self._retention)
            self._next_forgetting = now + FORGETTING

    def _count(self, alerts: Sequence[Alert]) -> None:
        counts = Counter(alert.rule for alert in alerts if alert.state.phase is Phase.FIRING)
        for rule in self._evaluator.rules.values():
            # A rule that does not fire is 0, so that its series is there before it is needed.
            firing.labels(rule.severity.value, rule.name).set(counts[rule.name])
