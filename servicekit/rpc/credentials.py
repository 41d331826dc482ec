"""What a service shows to the others: its name, the services' token and, with TLS, its certificate."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from servicekit.rpc.tls import TlsFiles
from servicekit.service_token import ServiceToken
from servicekit.settings.config import ServiceSettings
from vocabulary.bearer import authorization

NAME_KEY = "wavepool-service"
"""The key of a call's metadata that carries the calling service's name."""


class OpenToOthersError(ValueError):
    """A service without TLS would listen where other hosts reach it."""

    def __init__(self, name: str, host: str) -> None:
        super().__init__(
            f"{name.upper()}_HOST: other hosts may reach {host}, and the services' token would travel in clear text; "
            "run `make certs` and set WAVEPOOL_TLS_DIR for all services, or listen on 127.0.0.1"
        )


@dataclass(frozen=True)
class ServiceCredentials:
    """The credentials of the service `name`; without `tls` its calls are plain text."""

    name: str
    token: ServiceToken
    tls: TlsFiles | None = None

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The pairs that each call carries."""
        return authorization(self.token.current()), (NAME_KEY, self.name)


def tls_files_of(settings: ServiceSettings, name: str) -> TlsFiles | None:
    """The certificates of a service; None without WAVEPOOL_TLS_DIR. Raises TlsFilesError."""
    return TlsFiles(settings.tls_dir, name) if settings.tls_dir else None


def credentials_of(settings: ServiceSettings, name: str) -> ServiceCredentials:
    """The credentials of a service with these settings; raises NoServiceTokenError, TlsFilesError."""
    return ServiceCredentials(name, settings.service_token(), tls_files_of(settings, name))


def check_network(settings: ServiceSettings, name: str) -> None:
    """Checks the certificates, the list of other services, and the address that a gRPC service listens on.

    Raises TlsFilesError, CallersFileError, and OpenToOthersError without TLS on an address that is not loopback.
    """
    settings.other_services()
    if not tls_files_of(settings, name) and not _is_loopback(settings.host):
        raise OpenToOthersError(name, settings.host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
