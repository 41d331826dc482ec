"""Mails users about the ends of their submissions and reservations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from servicekit.clock import Clock
from servicekit.settings.config import WrongSettingsError
from servicekit.settings.plugins import WrongOptionsError
from services.billing.alerts.channels.mail import MailServer, open_server
from services.billing.alerts.delivery import DeliveryLoop
from services.billing.store.end_notice_store import RETRY, DueNotice, EndNoticeStore

CHANNEL = "mail to users"
"""In logs and metrics. No channel of alerts can have this name."""


def open_notice_mail(options: Mapping[str, object] | None) -> MailServer | None:
    """The server of the setting, None if it names none; raises WrongSettingsError."""
    try:
        return None if options is None else open_server(options)
    except WrongOptionsError as error:
        raise WrongSettingsError(f"BILLING_NOTICE_MAIL: {error}") from None


def delivery_of(server: MailServer, notices: EndNoticeStore, clock: Clock) -> DeliveryLoop[DueNotice]:
    """The loop that sends what waits."""

    async def send(due: DueNotice) -> None:
        await server.deliver(due.subject, due.body, [due.email], due.hold_id, due.time)

    return DeliveryLoop(CHANNEL, notices, send, clock, RETRY, asyncio.Event())
