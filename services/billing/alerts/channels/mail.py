"""Sends mails over SMTP: notices of alerts to the operator, and whatever else billing writes to people."""

from __future__ import annotations

import asyncio
import smtplib
import socket
import ssl
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.errors import MessageError
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


def mail_address(text: str) -> str:
    """Gives an address back that mails can be sent to; raises ValueError if it is none."""
    try:
        address = Address(addr_spec=text)
    except (ValueError, IndexError, AttributeError, MessageError):
        # The parser raises any of them for what is no address.
        raise ValueError("must be an e-mail address such as ops@example.org") from None
    # Few servers take other letters in addresses.
    if not address.domain or not text.isascii():
        raise ValueError("must be an e-mail address such as ops@example.org")
    return text


MailAddress = Annotated[str, AfterValidator(mail_address)]


class ServerOptions(Options):
    """How to reach a server. `tls`: `starttls` (default), `tls` from the first byte, or `off`, to this host only."""

    host: Annotated[str, Field(min_length=1)]
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Unset: 587, 465 or 25, by `tls`."""
    tls: Literal["starttls", "tls", "off"] = "starttls"
    ca_file: Path | None = None
    """Certificates that vouch for the server; unset: those of the system."""
    sender: Annotated[MailAddress, Field(alias="from")]
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


class MailOptions(ServerOptions):
    """Options of the channel: a server, and who gets the notices."""

    to: Annotated[list[MailAddress], Field(min_length=1, max_length=50)]


class MailServer:
    """A server that takes mails from us."""

    def __init__(self, options: ServerOptions, password: str, context: ssl.SSLContext) -> None:
        self._options = options
        self._password = password
        self._context = context

    async def deliver(self, subject: str, text: str, to: Sequence[str], message_id: str, time: datetime) -> None:
        """Hands a mail to the server; raises ChannelError unless the server takes it for a recipient.

        `message_id` is the same in every try, so mailboxes show a repetition once.
        """
        seconds = self._options.timeout_seconds
        message = self._message(subject, text, to, message_id, time)
        try:
            async with asyncio.timeout(seconds):
                # A thread that is left behind ends by its socket's own timeout.
                refused = await asyncio.to_thread(self._send, message, to)
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
            log.warning("the mail server refuses some recipients of a mail", extra={"recipients": sorted(refused)})

    def _message(self, subject: str, text: str, to: Sequence[str], message_id: str, time: datetime) -> EmailMessage:
        message, sender = EmailMessage(), self._options.sender
        # A line break would begin another header.
        message["Subject"] = "".join(character for character in subject if character.isprintable())
        message["From"] = sender
        message["To"] = [Address(addr_spec=one) for one in to]
        message["Date"] = time
        message["Message-ID"] = f"<{message_id}@{sender.rpartition('@')[2]}>"
        # Programs that answer mails, as of people on leave, do not answer these.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        return message

    def _send(self, message: EmailMessage, to: Sequence[str]) -> Mapping[str, object]:
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
            return server.send_message(message, options.sender, to)


class Mail:
    """Sends notices to mailboxes."""

    def __init__(self, server: MailServer, to: Sequence[str]) -> None:
        self._server = server
        self._to = to

    async def send(self, notice: Notice) -> None:
        """Hands the mail to the server; raises ChannelError unless the server takes it for a recipient."""
        await self._server.deliver(notice.title, text_of(notice), self._to, notice.notice_id, notice.time)


def text_of(notice: Notice) -> str:
    """The notice in lines."""
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
    return "\n".join([notice.summary, "", *lines]) + "\n"


def open_mail(options: Mapping[str, object]) -> Mail:
    """The channel of kind `email`; raises WrongOptionsError."""
    checked = options_of(MailOptions, options)
    return Mail(_server_of(checked), checked.to)


def open_server(options: Mapping[str, object]) -> MailServer:
    """A server with these options, those of the channel without `to`; raises WrongOptionsError."""
    return _server_of(options_of(ServerOptions, options))


def _server_of(options: ServerOptions) -> MailServer:
    try:
        password = secret_of(options.password, options.password_file)
    except ValueError as error:
        raise WrongOptionsError(f"password: {error}") from None
    if bool(options.user) != bool(password):
        raise WrongOptionsError("user: give the user and the password, or neither")
    try:
        context = ssl.create_default_context(cafile=options.ca_file)
    except OSError:
        raise WrongOptionsError(f"ca_file: the file {options.ca_file} has no certificates that can be read") from None
    return MailServer(options, password, context)
