"""Posts each notice as JSON, signed if there is a secret."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from servicekit.settings.plugins import WrongOptionsError
from services.billing.alerts.channels.channel import Notice, options_of, secret_of
from services.billing.alerts.channels.http_post import PostOptions, post

SIGNATURE_HEADER = "Wavepool-Signature"
ID_HEADER = "Idempotency-Key"


class WebhookOptions(PostOptions):
    """Options of a webhook."""

    secret: SecretStr | None = None
    secret_file: Path | None = None


class Webhook:
    """Sends notices to an HTTP address."""

    def __init__(self, options: WebhookOptions, secret: str) -> None:
        self._options = options
        self._secret = secret

    async def send(self, notice: Notice) -> None:
        """Posts the notice; raises ChannelError unless the answer is 2xx."""
        body = json.dumps(notice_json(notice)).encode()
        headers = {ID_HEADER: notice.notice_id}
        if self._secret:
            headers[SIGNATURE_HEADER] = signature(self._secret, int(time.time()), body)
        await post(self._options, body, headers)


def notice_json(notice: Notice) -> dict[str, object]:
    """The body of a webhook; docs/billing/alerts.md has its fields."""
    return {
        "id": notice.notice_id,
        "alert_id": notice.alert_id,
        "event": notice.event,
        "rule": notice.rule,
        "severity": notice.severity.value,
        "summary": notice.summary,
        "value": notice.value,
        "labels": dict(notice.labels),
        "time": notice.time.isoformat(),
    }


def signature(secret: str, sent_seconds: int, body: bytes) -> str:
    """The signature header: HMAC-SHA256 of the time of sending (seconds since 1970), a dot, and the body."""
    digest = hmac.new(secret.encode(), f"{sent_seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={sent_seconds},v1={digest}"


def open_webhook(options: Mapping[str, object]) -> Webhook:
    """The channel of kind `webhook`; raises WrongOptionsError."""
    checked = options_of(WebhookOptions, options)
    try:
        return Webhook(checked, secret_of(checked.secret, checked.secret_file))
    except ValueError as error:
        raise WrongOptionsError(f"secret: {error}") from None
