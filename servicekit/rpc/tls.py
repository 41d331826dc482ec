"""TLS between the services: each shows a certificate that proves its name, and all trust one authority.

A folder (WAVEPOOL_TLS_DIR) holds `ca.pem`, the certificates of the authorities that are trusted, and `<name>.pem` for
each process: its key and its certificate, which is for the DNS name `<name>.wavepool`. A client expects that name
whatever the host is, so certificates need not know hosts, and no service can pass for another. `deploy/certs.py` writes
the folder. Both sides read it again after each change: the server for each handshake, a client before each call.
Connections that stand are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from servicekit.logging import get_logger
from servicekit.reread import Reread

log = get_logger(__name__)

AUTHORITY_FILE = "ca.pem"
DOMAIN = "wavepool"
LATE_RENEWAL = timedelta(days=21)
"""A certificate that ends sooner than this is logged as due."""
_FOR_OTHERS = 0o077


class TlsFilesError(ValueError):
    """A file of the TLS folder is missing or wrong; the message names it and the fix."""


@dataclass(frozen=True)
class Certificates:
    """What a process shows (its key and certificate) and the authorities that it trusts, all in PEM."""

    authority: bytes
    own: bytes


def dns_name(name: str) -> str:
    """The DNS name in a process's certificate."""
    return f"{name}.{DOMAIN}"


def name_in_certificate(context: Any) -> str:  # noqa: ANN401 - grpc's own
    """The name that the certificate of a call's client proves; empty without a certificate of ours."""
    names: list[bytes] = context.auth_context().get("x509_subject_alternative_name", [])
    suffix = f".{DOMAIN}"
    return next((name.decode().removesuffix(suffix) for name in names if name.decode().endswith(suffix)), "")


class TlsFiles:
    """The certificates of the process `name`; raises TlsFilesError if they are not right at first."""

    def __init__(self, folder: Path, name: str) -> None:
        self._own = folder / f"{name}.pem"
        self._authority = folder / AUTHORITY_FILE
        self._dns_name = dns_name(name)
        self._kept = Reread((self._authority, self._own), self._read, "the certificate")

    def current(self) -> Certificates:
        """The certificates; the same object until a file changes."""
        return self._kept.value()

    def server_credentials(self) -> grpc.ServerCredentials:
        """Credentials of a server that takes only clients with a certificate of a trusted authority."""

        def latest() -> grpc.ServerCertificateConfiguration:
            shown = self.current()
            return grpc.ssl_server_certificate_configuration([(shown.own, shown.own)], shown.authority)

        return grpc.dynamic_ssl_server_credentials(latest(), latest, True)

    def fault(self, server: str, details: str) -> str:
        """The fault and its fix in a sentence, if a call to `server` failed because of TLS; empty otherwise."""
        for sign, sentence in {
            "Hostname Verification": f"it has the certificate of another service; give it {server}.pem of `make certs`",
            "certificate has expired": "its certificate has expired; run `make certs` where it is made",
            "unable to get local issuer": f"no authority in {self._authority} has signed its certificate; give both "
            "sides the same file",
            "signature failure": f"another authority of the same name signed its certificate; give both sides the same "
            f"{self._authority}",
            "WRONG_VERSION_NUMBER": "it serves without TLS; set WAVEPOOL_TLS_DIR for it, too",
            "Socket closed": f"if it runs, it does not take {self._own}, for which its log has the reason: it may have "
            "expired, or be of another authority; run `make certs`, and give both sides the same files",
        }.items():
            if sign in details:
                return f"{server}: {sentence}"
        return ""

    def _read(self) -> Certificates:
        authorities = _certificates_in(self._authority)
        own = _bytes_of(self._own)
        certificate = _certificates_in(self._own)[0]
        self._check(certificate, own, authorities)
        mode = self._own.stat().st_mode
        if mode & _FOR_OTHERS:
            log.warning("other users can read a key", extra={"file": str(self._own), "mode": f"{mode & 0o777:o}"})
        left = certificate.not_valid_after_utc - datetime.now(UTC)
        if left < LATE_RENEWAL:
            log.warning("a certificate ends soon: run `make certs`", extra={"file": str(self._own), "days": left.days})
        return Certificates(_bytes_of(self._authority), own)

    def _check(self, certificate: x509.Certificate, own: bytes, authorities: list[x509.Certificate]) -> None:
        try:
            key = load_pem_private_key(own, None)
        except (ValueError, TypeError) as error:
            raise TlsFilesError(_wrong(self._own, f"holds no key in PEM ({error})")) from error
        if key.public_key() != certificate.public_key():
            raise TlsFilesError(_wrong(self._own, "holds a key and the certificate of another one"))
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        if self._dns_name not in names.get_values_for_type(x509.DNSName):
            raise TlsFilesError(_wrong(self._own, f"holds no certificate for {self._dns_name}"))
        if not any(_has_signed(authority, certificate) for authority in authorities):
            raise TlsFilesError(_wrong(self._own, f"is signed by no authority in {self._authority}"))
        now = datetime.now(UTC)
        if not certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc:
            valid = f"from {certificate.not_valid_before_utc:%F %T} to {certificate.not_valid_after_utc:%F %T} UTC"
            raise TlsFilesError(_wrong(self._own, f"is valid {valid}, and it is {now:%F %T}"))


def client_credentials(certificates: Certificates) -> grpc.ChannelCredentials:
    """Credentials of a client with these certificates."""
    return grpc.ssl_channel_credentials(certificates.authority, certificates.own, certificates.own)


def _has_signed(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _certificates_in(file: Path) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(_bytes_of(file))
    except ValueError as error:
        if isinstance(error, TlsFilesError):
            raise
        raise TlsFilesError(_wrong(file, f"holds no certificate in PEM ({error})")) from error


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise TlsFilesError(_wrong(file, f"cannot be read ({error.strerror})")) from error


def _wrong(file: Path, why: str) -> str:
    return (
        f"WAVEPOOL_TLS_DIR: {file} {why}; run `make certs CERTS={file.parent}`, or copy the file from where it is made"
    )
