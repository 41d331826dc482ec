"""Writes each notice into billing's log."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from servicekit.logging import get_logger
from services.billing.alert_rules.rule import Severity
from services.billing.alerts.channels.channel import Notice, Options, options_of

log = get_logger(__name__)

_LEVELS = {Severity.INFO: logging.INFO, Severity.WARNING: logging.WARNING, Severity.CRITICAL: logging.ERROR}


class Log:
    """Sends notices to the log."""

    async def send(self, notice: Notice) -> None:
        """Writes one line: as severe as the alert if it fires or has no data, else for information."""
        level = _LEVELS[notice.severity] if notice.event in {"fired", "no_data"} else logging.INFO
        fields = {"alert_id": notice.alert_id, "event": notice.event, "rule": notice.rule, "labels": notice.labels}
        log.log(level, "alert: %s", notice.title, extra=fields)


def open_log(options: Mapping[str, object]) -> Log:
    """The channel of kind `log`; raises WrongOptionsError."""
    options_of(Options, options)
    return Log()
