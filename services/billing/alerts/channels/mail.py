"""Sends each notice as an e-mail over SMTP."""

from __future__ import annotations

import asyncio
import smtplib
import socket
import ssl
from collections.abc import Mapping
from email.headerregistry import Address
from email.message import EmailMessage
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from servicekit.logging import get_logger
from servicekit.settings.plugins import WrongOptionsError
from services.billing.alerts.channels.channel import (
    LOOPBACK,
    ChannelError,
    Notice,
    Options,
    options_of,
    secret_of,
)

log = get_logger(__name__)

_PORTS = {"starttls": 587, "tls": 465, "off": 25}


def _mail_address(text: str) -> str:
    try:
        address = Address(addr_spec=text)
    except (ValueError, IndexError):
        raise ValueError("must be an e-mail address such as ops@example.org") from None
    if not address.domain:
        raise ValueError("must be an e-mail address such as ops@example.org")
    return text


MailAddress = Annotated[str, AfterValidator(_mail_address)]


class MailOptions(Options):
    """Options of e-mail. `tls`: `starttls` (the default), `tls` from the first byte, or `off`, to this host only."""

    host: Annotated[str, Field(min_length=1)]
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Unset: 587, 465 or 25, by `tls`."""
    tls: Literal["starttls", "tls", "off"] = "starttls"
    ca_file: Path | None = None
    """Certificates that vouch for the server; unset: those of the system."""
    sender: Annotated[MailAddress, Field(alias="from")]
    to: Annotated[list[MailAddress], Field(min_length=1, max_length=50)]
    user: str = ""
    password: SecretStr | None = None
    password_file: Path | None = None
    timeout_seconds: Annotated[float, Field(gt=0, le=20)] = 10.0
    """Longest time of one try."""

    @model_validator(mode="after")
    def _private(self) -> Self:
        if self.tls == "off" and self.host not in LOOPBACK:
            raise ValueError('tls: may be "off" only for a server on this host; use "starttls" or "tls"')
        return self


class Mail:
    """Sends notices to mailboxes."""

    def __init__(self, options: MailOptions, password: str, context: ssl.SSLContext) -> None:
        self._options = options
        self._password = password
        self._context = context

    async def send(self, notice: Notice) -> None:
        """Hands the mail to the server; raises ChannelError unless the server takes it for a recipient."""
        seconds = self._options.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                # A thread that is left behind ends by its socket's own timeout.
                refused = await asyncio.to_thread(self._send, message_of(notice, self._options))
        except TimeoutError:
            raise ChannelError(f"no answer within {seconds:g} s") from None
        except smtplib.SMTPResponseException as error:
            raise ChannelError(f"the server answered {error.smtp_code} ({type(error).__name__})") from None
        except smtplib.SMTPRecipientsRefused as error:
            codes = sorted({code for code, _ in error.recipients.values()})
            raise ChannelError(f"the server refuses every recipient ({codes})") from None
        except (OSError, smtplib.SMTPException) as error:
            raise ChannelError(f"the server cannot be used ({type(error).__name__})") from None
        if refused:
            # The others have it: another try would send it to them again.
            log.warning("the mail server refuses some recipients of an alert", extra={"recipients": sorted(refused)})

    def _send(self, message: EmailMessage) -> Mapping[str, object]:
        options = self._options
        port = options.port or _PORTS[options.tls]
        # Without a name of our own, smtplib asks the name service for one, which may take long.
        name, seconds = socket.gethostname(), options.timeout_seconds
        if options.tls == "tls":
            server = smtplib.SMTP_SSL(options.host, port, name, timeout=seconds, context=self._context)
        else:
            server = smtplib.SMTP(options.host, port, name, timeout=seconds)
        with server:
            if options.tls == "starttls":
                server.starttls(context=self._context)
            if options.user:
                server.login(options.user, self._password)
            return server.send_message(message, options.sender, options.to)


def message_of(notice: Notice, options: MailOptions) -> EmailMessage:
    """The notice as a mail; its Message-ID is the same in every try, so mailboxes show a repetition once."""
    message = EmailMessage()
    message["Subject"] = "".join(character for character in notice.title if character.isprintable())
    message["From"] = options.sender
    message["To"] = ", ".join(options.to)
    message["Date"] = notice.time
    message["Message-ID"] = f"<{notice.notice_id}@{options.sender.rpartition('@')[2]}>"
    labels = ", ".join(f"{name}={value}" for name, value in notice.labels.items())
    facts = {
        "event": notice.event,
        "severity": notice.severity.value,
        "rule": notice.rule,
        "labels": labels,
        "value": f"{notice.value:g}",
        "time": notice.time.isoformat(timespec="seconds"),
        "alert": notice.alert_id,
    }
    lines = [f"{name}: {value}" for name, value in facts.items() if value]
    message.set_content("\n".join([notice.summary, "", *lines]) + "\n")
    return message


def open_mail(options: Mapping[str, object]) -> Mail:
    """The channel of kind `email`; raises WrongOptionsError."""
    checked = options_of(MailOptions, options)
    try:
        password = secret_of(checked.password, checked.password_file)
    except ValueError as error:
        raise WrongOptionsError(f"password: {error}") from None
    if bool(checked.user) != bool(password):
        raise WrongOptionsError("user: give the user and the password, or neither")
    try:
        context = ssl.create_default_context(cafile=checked.ca_file)
    except OSError:
        raise WrongOptionsError(f"ca_file: the file {checked.ca_file} has no certificates that can be read") from None
    return Mail(checked, password, context)
