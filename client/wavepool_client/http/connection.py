"""Where the gateway is and who we are to it: options first, then the environment, then what `wavepool up` left."""

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
    """An endpoint without a trailing slash, and a token, empty where none is known."""

    endpoint: str
    token: str

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine, where proxies have no say."""
        return is_loopback(urlsplit(self.endpoint).hostname or "")


def resolve(endpoint: str | None = None, token: str | None = None, data_dir: Path | None = None) -> Connection:
    """The connection to use; raises InputError for an endpoint that is no http(s) URL."""
    data_dir = data_dir or Path(os.environ.get("WAVEPOOL_DATA_DIR") or DEFAULT_DATA_DIR)
    chosen = endpoint or os.environ.get("WAVEPOOL_ENDPOINT") or _first_line(data_dir / ENDPOINT_FILE)
    chosen = (chosen or DEFAULT_ENDPOINT).rstrip("/")
    parts = urlsplit(chosen)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(f"endpoint {chosen!r} is no URL; give one such as {DEFAULT_ENDPOINT}")
    known = token or os.environ.get("WAVEPOOL_TOKEN")
    if not known and is_loopback(parts.hostname):
        # The file has this machine's administrator: no other machine gets to see it.
        known = _first_line(data_dir / TOKEN_FILE)
    return Connection(chosen, known or "")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
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
