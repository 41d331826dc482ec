"""Takes readings to the rules, and writes down what happens to the alerts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from services.billing.alert_rules import engine
from services.billing.alert_rules.engine import ANNOUNCED, AlertState, Phase, Transition
from services.billing.alert_rules.rule import Reading, Rule, labels_text, summary_of
from services.billing.alerts.channels.plugins import NamedChannel
from services.billing.store.alert_store import Alert, AlertStore, Happening

REFRESH = timedelta(seconds=10)
"""An alert that stays as it is shows a reading at most about this old, and is not written more often."""
_READINGS_AT_ONCE = 200
"""After so many, other tasks of the process have their turn."""


class Evaluator:
    """The one way from readings to alerts."""

    def __init__(
        self,
        store: AlertStore,
        rules: Sequence[Rule],
        channels: Mapping[str, NamedChannel],
        new_id: Callable[[str], str],
        wakes: Sequence[asyncio.Event],
    ) -> None:
        self._store = store
        self._channels = channels
        self._new_id = new_id
        self._wakes = wakes
        self._by_reading: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_reading.setdefault(rule.reading, []).append(rule)
        self.rules = {rule.name: rule for rule in rules}
        self.last_reading_time: dict[str, datetime] = {}
        """When this process last had a reading for each rule."""

    async def take_all(self, source: str, readings: Iterable[Reading], valid_for: timedelta, now: datetime) -> None:
        """Takes everything that a source knows now: an alert about something that is left out ends."""
        stored = await self._store.of_source(source)
        seen = await self._take(source, readings, valid_for, stored)
        for key, alert in stored.items():
            if alert.state.is_active and key not in seen:
                await self._write(alert, *engine.gone(alert.state, now), now)

    async def take_some(self, source: str, readings: Collection[Reading], valid_for: timedelta) -> None:
        """Takes some readings of a source, and leaves its other alerts alone."""
        stored = await self._store.of_source(source, {reading.key for reading in readings})
        await self._take(source, readings, valid_for, stored)

    async def watch(self, alert: Alert, now: datetime, since: datetime) -> None:
        """Ends an active alert whose rule is gone; otherwise looks how long its source has been silent.

        The silence counts from `since` at the earliest: before that, this process could not have heard anything.
        """
        if alert.rule not in self.rules:
            await self._write(alert, *engine.gone(alert.state, now), now)
            return
        heard = max(alert.state.reading_time or since, since)
        state, transitions = engine.silence(replace(alert.state, reading_time=heard), now)
        await self._write(alert, replace(state, reading_time=alert.state.reading_time), transitions, now)

    async def _take(
        self,
        source: str,
        readings: Iterable[Reading],
        valid_for: timedelta,
        stored: Mapping[tuple[str, str], Alert],
    ) -> set[tuple[str, str]]:
        seen: set[tuple[str, str]] = set()
        refreshed: list[Alert] = []
        for number, reading in enumerate(readings):
            if number % _READINGS_AT_ONCE == 0:
                await asyncio.sleep(0)
            labels = labels_text(reading.labels)
            for rule in self._by_reading.get(reading.name, ()):
                seen.add((rule.name, labels))
                self.last_reading_time[rule.name] = reading.time
                alert = stored.get((rule.name, labels))
                if alert is None and not rule.is_breached(reading.value):
                    continue
                alert = alert or Alert(source, rule.name, reading.labels, reading.name, rule.severity, "")
                if stays := await self._step(rule, alert, reading, valid_for):
                    refreshed.append(stays)
        if refreshed:
            await self._store.refresh(refreshed)
        return seen

    async def _step(self, rule: Rule, alert: Alert, reading: Reading, valid_for: timedelta) -> Alert | None:
        """Writes the transitions, or gives an alert back that stays active and has a reading to note."""
        state, transitions = engine.step(rule, alert.state, reading, valid_for)
        alert = replace(alert, severity=rule.severity, summary=summary_of(rule, reading))
        if transitions:
            await self._write(alert, state, transitions, reading.time)
            return None
        before = alert.state.reading_time
        is_due = state.is_active and (before is None or reading.time - before >= REFRESH)
        return replace(alert, state=state) if is_due else None

    async def _write(self, alert: Alert, state: AlertState, transitions: Sequence[Transition], time: datetime) -> None:
        """Writes transitions, if there are any; another process that was first has written them, and told people."""
        if not transitions:
            return
        is_new = alert.state.phase is Phase.INACTIVE
        after = replace(alert, state=state, alert_id=self._new_id("alert") if is_new else alert.alert_id)
        happenings = [Happening(event, self._announcing(alert, event)) for event in transitions]
        if await self._store.change(after, happenings, time):
            for wake in self._wakes:
                wake.set()

    def _announcing(self, alert: Alert, event: Transition) -> tuple[str, ...]:
        if event not in ANNOUNCED or (event is Transition.NO_DATA and alert.state.phase is not Phase.FIRING):
            return ()
        return tuple(
            channel.name for channel in self._channels.values() if channel.least_severity.rank <= alert.severity.rank
        )
