"""Delivers the messages of one channel, one after the other.

A message is claimed before it is sent, and its outcome is noted afterwards. If billing is killed in between, the
message is sent again when the claim has run out: at least once, with an id that tells the other side of a repetition.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from servicekit.logging import get_logger
from servicekit.metrics import counter
from services.billing.alerts.channels.channel import ChannelError, Notice
from services.billing.store.delivery_store import Outcome
from vocabulary.backoff import Backoff

if TYPE_CHECKING:
    from datetime import datetime

    from servicekit.clock import Clock
    from services.billing.alerts.channels.plugins import NamedChannel
    from services.billing.store.delivery_store import DeliveryStore, DueMessage

log = get_logger(__name__)
deliveries = counter(
    "wavepool_billing_alert_deliveries", "Tries to deliver messages of alerts.", ("channel", "outcome")
)

DELIVERY_PASS = timedelta(seconds=5)
"""Time between two looks for messages that are due again; a transition is looked at at once."""
LONGEST_TRY_SECONDS = 22.0
"""More than any channel's own limit: a plug-in that never returns must not stop its channel."""
CLAIM = timedelta(seconds=60)
"""Longer than the longest try: nobody else sends a message that is just being sent."""
BACKOFF = Backoff(first=timedelta(seconds=5), longest=timedelta(minutes=10))


class DeliveryLoop:
    """The loop of one channel, so that a channel that hangs holds up no other."""

    def __init__(
        self, named: NamedChannel, store: DeliveryStore, clock: Clock, retry: timedelta, wake: asyncio.Event
    ) -> None:
        self._named = named
        self._store = store
        self._clock = clock
        self._retry = retry
        self.name = f"alert delivery by {named.name}"
        self.channel = named.name
        self.wake = wake

    async def run_once(self) -> None:
        """Sends everything that is due now."""
        while message := await self._next():
            failure = await attempt(self._named, _notice_of(message))
            outcome, time = self._outcome(message, failure)
            await self._store.note(self.channel, message.seq, outcome, time, failure)

    async def _next(self) -> DueMessage | None:
        now = self._clock.now()
        return await self._store.next_due(self.channel, now, now + CLAIM)

    def _outcome(self, message: DueMessage, failure: str) -> tuple[Outcome, datetime]:
        now = self._clock.now()
        fields = {"channel": self.channel, "alert_id": message.alert_id, "attempts": message.attempts}
        if not failure:
            deliveries.labels(self.channel, "delivered").inc()
            return Outcome.DELIVERED, now
        if now - message.time >= self._retry:
            deliveries.labels(self.channel, "failed").inc()
            log.error("gave up sending a message of an alert: %s", failure, extra=fields)
            return Outcome.FAILED, now
        deliveries.labels(self.channel, "retried").inc()
        log.warning("a message of an alert was not delivered, and will be sent again: %s", failure, extra=fields)
        return Outcome.WAITING, now + BACKOFF.pause(message.attempts)


async def attempt(named: NamedChannel, notice: Notice) -> str:
    """Sends a notice once; gives the failure, or an empty text if the channel has taken it."""
    try:
        async with asyncio.timeout(LONGEST_TRY_SECONDS):
            await named.channel.send(notice)
    except ChannelError as error:
        return str(error)
    except TimeoutError:
        return f"no answer within {LONGEST_TRY_SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
        # A plug-in's own error may quote an address that is a secret.
        log.warning("an alert channel failed in an unexpected way: %s", type(error).__name__)
        return f"it failed in an unexpected way ({type(error).__name__})"
    return ""


def _notice_of(message: DueMessage) -> Notice:
    return Notice(
        notice_id=message.transition_id,
        alert_id=message.alert_id,
        event=message.event,
        rule=message.rule,
        severity=message.severity,
        summary=message.summary,
        value=message.value,
        time=message.time,
        labels=message.labels,
    )
