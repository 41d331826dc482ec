"""Endpoint and token: from options first, then the environment, then the files of `wavepool up`."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wavepool_client.errors import InputError

DEFAULT_ENDPOINT = "http://127.0.0.1:8080"
DEFAULT_DATA_DIR = Path(".wavepool")
TOKEN_FILE = "token"  # noqa: S105 - the file's name, not a secret
ENDPOINT_FILE = "endpoint"


@dataclass(frozen=True)
class Connection:
    """An endpoint without a trailing slash, and a token, empty if none is known."""

    endpoint: str
    token: str

    @property
    def is_loopback(self) -> bool:
        """True if the endpoint is on this machine, so that proxies do not apply."""
        return is_loopback(urlsplit(self.endpoint).hostname or "")


def resolve(endpoint: str | None = None, token: str | None = None, data_dir: Path | None = None) -> Connection:
    """Resolves the connection to use; raises InputError if the endpoint is not an http(s) URL."""
    data_dir = data_dir or Path(os.environ.get("WAVEPOOL_DATA_DIR") or DEFAULT_DATA_DIR)
    chosen = endpoint or os.environ.get("WAVEPOOL_ENDPOINT") or _first_line(data_dir / ENDPOINT_FILE)
    chosen = (chosen or DEFAULT_ENDPOINT).rstrip("/")
    parts = urlsplit(chosen)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(f"endpoint {chosen!r} is no URL; give one such as {DEFAULT_ENDPOINT}")
    known = token or os.environ.get("WAVEPOOL_TOKEN")
    if not known and is_loopback(parts.hostname):
        # The file has an administrator's token for this machine, so no other machine may see it.
        known = _first_line(data_dir / TOKEN_FILE)
    return Connection(chosen, known or "")


def is_loopback(host: str) -> bool:
    """True if the host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _first_line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
