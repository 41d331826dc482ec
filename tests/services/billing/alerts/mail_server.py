"""A real SMTP server, with or without TLS, that refuses what a test says."""

from __future__ import annotations

import ssl
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

LOGIN = ("billing", "hush-mail")


@dataclass
class MailServer:
    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    was_encrypted: list[bool] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Answers to recipients, by address."""
    refuses_data: str = ""

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.refuses_data:
            return self.refuses_data
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        self.was_encrypted.append(session.ssl is not None)
        return "250 OK"


class _OnAFreePort(Controller):
    def _trigger_server(self) -> None:
        assert self.server is not None
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mail_server(context: ssl.SSLContext | None = None, *, needs_login: bool = False) -> Generator[MailServer]:
    handler = MailServer()

    def check(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        is_right = isinstance(data, LoginPassword) and (data.login.decode(), data.password.decode()) == LOGIN
        return AuthResult(success=is_right, handled=is_right)

    controller = _OnAFreePort(
        handler,
        hostname="127.0.0.1",
        port=0,
        tls_context=context,
        require_starttls=context is not None,
        authenticator=check,
        auth_required=needs_login,
        auth_require_tls=context is not None,
    )
    controller.start()
    handler.port = controller.port
    try:
        yield handler
    finally:
        controller.stop()


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's context with a fresh certificate for 127.0.0.1, and the file that vouches for it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    authority, chain = folder / "ca.pem", folder / "server.pem"
    authority.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain.write_bytes(private + authority.read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return context, authority
