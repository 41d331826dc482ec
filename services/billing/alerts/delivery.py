"""Delivers the messages of one channel, or those to users, one after the other.

A message is claimed before it is sent, and its outcome is noted afterwards. If billing is killed in between, the
message is sent again when the claim has run out: at least once, with an id that tells the other side of a repetition.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Generic, Protocol, TypeVar

from servicekit.clock import Clock
from servicekit.logging import get_logger
from servicekit.metrics import counter
from servicekit.records import record_of
from services.billing.alerts.channels.channel import Channel, ChannelError, Notice
from services.billing.store.delivery_store import DueMessage, Outcome
from vocabulary.backoff import Backoff

log = get_logger(__name__)
deliveries = counter(
    "wavepool_billing_alert_deliveries",
    "Tries to deliver messages of alerts, and mails to users.",
    ("channel", "outcome"),
)

DELIVERY_PASS = timedelta(seconds=5)
"""Time between two looks for messages that are due again; a transition is looked at at once."""
LONGEST_TRY_SECONDS = 22.0
"""More than any channel's own limit: a plug-in that never returns must not stop its channel."""
CLAIM = timedelta(seconds=60)
"""Longer than the longest try: nobody else sends a message that is just being sent."""
BACKOFF = Backoff(first=timedelta(seconds=5), longest=timedelta(minutes=10))


class Message(Protocol):
    """A message whose try begins now; `attempts` counts this one, and `time` is when there was first one to send."""

    @property
    def about(self) -> str:
        """The id of what it is about."""
        ...

    @property
    def attempts(self) -> int:
        """The number of tries."""
        ...

    @property
    def time(self) -> datetime:
        """From then on, it is tried."""
        ...


MessageT = TypeVar("MessageT", bound=Message)


class Outbox(Protocol[MessageT]):
    """Where messages wait."""

    async def next_due(self, now: datetime, until: datetime) -> MessageT | None:
        """Claims a due message; None if there is none. Nobody else gets it before `until`."""
        ...

    async def note(self, message: MessageT, outcome: Outcome, time: datetime, failure: str) -> None:
        """Notes the outcome of a try; a message that goes on waiting is due again at `time`."""
        ...


class DeliveryLoop(Generic[MessageT]):
    """The loop of one channel, so that a channel that hangs holds up no other."""

    def __init__(
        self,
        channel: str,
        outbox: Outbox[MessageT],
        send: Callable[[MessageT], Awaitable[None]],
        clock: Clock,
        retry: timedelta,
        wake: asyncio.Event,
    ) -> None:
        self._outbox = outbox
        self._send = send
        self._clock = clock
        self._retry = retry
        self.name = f"delivery by {channel}"
        self.channel = channel
        self.wake = wake

    async def run_once(self) -> None:
        """Sends everything that is due now."""
        while message := await self._next():
            failure = await attempt(partial(self._send, message))
            outcome, time = self._outcome(message, failure)
            await self._outbox.note(message, outcome, time, failure)

    async def _next(self) -> MessageT | None:
        now = self._clock.now()
        return await self._outbox.next_due(now, now + CLAIM)

    def _outcome(self, message: MessageT, failure: str) -> tuple[Outcome, datetime]:
        now = self._clock.now()
        fields = {"channel": self.channel, "about": message.about, "attempts": message.attempts}
        if not failure:
            deliveries.labels(self.channel, "delivered").inc()
            return Outcome.DELIVERED, now
        if now - message.time >= self._retry:
            deliveries.labels(self.channel, "failed").inc()
            log.error("gave up sending a message: %s", failure, extra=fields)
            return Outcome.FAILED, now
        deliveries.labels(self.channel, "retried").inc()
        log.warning("a message was not delivered, and will be sent again: %s", failure, extra=fields)
        return Outcome.WAITING, now + BACKOFF.pause(message.attempts)


async def attempt(send: Callable[[], Awaitable[None]]) -> str:
    """Sends a message once; gives the failure, or an empty text if the channel has taken it."""
    try:
        async with asyncio.timeout(LONGEST_TRY_SECONDS):
            await send()
    except ChannelError as error:
        return str(error)
    except TimeoutError:
        return f"no answer within {LONGEST_TRY_SECONDS:g} s"
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
        # A plug-in's own error may quote an address that is a secret.
        log.warning("a channel failed in an unexpected way: %s", type(error).__name__)
        return f"it failed in an unexpected way ({type(error).__name__})"
    return ""


async def send_alert(channel: Channel, message: DueMessage) -> None:
    """Hands a message of an alert to a channel; raises ChannelError."""
    await channel.send(record_of(Notice, message, notice_id=message.transition_id))
