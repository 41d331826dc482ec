"""Endpoint and token: from options first, then the environment, a profile, the files of `wavepool up`."""

from __future__ import annotations

import ipaddress
import os
import ssl
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import urlsplit

from wavepool_client.errors import InputError
from wavepool_client.profiles import chosen_profile, profile_at

DEFAULT_ENDPOINT = "http://127.0.0.1:8080"
DEFAULT_DATA_DIR = Path(".wavepool")
TOKEN_FILE = "token"  # noqa: S105 - the file's name, not a secret
ENDPOINT_FILE = "endpoint"
PLUG_INS = "wavepool.commands"
"""The group of entry points that add commands, such as those of a server."""


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
    """Resolves the connection to use.

    Raises InputError if the endpoint is not an http(s) URL, or is another machine by the file in `data_dir`, and
    NotFoundError if there is no such profile.
    """
    profile = chosen_profile()
    data_dir = data_dir or Path(os.environ.get("WAVEPOOL_DATA_DIR") or DEFAULT_DATA_DIR)
    found = endpoint or os.environ.get("WAVEPOOL_ENDPOINT") or profile.url or _local_gateway(data_dir)
    chosen = checked_url(found or DEFAULT_ENDPOINT)
    known = token or os.environ.get("WAVEPOOL_TOKEN")
    if not known and chosen == profile.url.rstrip("/"):
        # A profile's token is for its own gateway, whatever other endpoint was named.
        known = profile.token
    if not known and (at := profile_at(chosen)):
        known = at[1].token
    if not known and found and is_loopback(urlsplit(chosen).hostname or ""):
        # The file has an administrator's token for this machine, so no other machine may see it. Nor may whoever
        # listens at the usual port while no Wavepool of ours runs.
        known = _first_line(data_dir / TOKEN_FILE)
    return Connection(chosen, known or "")


def has_server() -> bool:
    """True if the whole of Wavepool is installed here, and `wavepool up` with it."""
    return bool(entry_points(group=PLUG_INS))


def _local_gateway(data_dir: Path) -> str | None:
    """The gateway that `wavepool up` runs here; None if it runs none."""
    url = _first_line(data_dir / ENDPOINT_FILE)
    if url and not is_loopback(urlsplit(checked_url(url)).hostname or ""):
        # Somebody else's repository may have such a file, and $WAVEPOOL_TOKEN would go wherever it says.
        raise InputError(f"{data_dir / ENDPOINT_FILE} names another machine, {url}; set WAVEPOOL_ENDPOINT to use it")
    return url


def checked_url(url: str) -> str:
    """Gives a gateway's URL back, without a trailing slash; raises InputError if it is not an http(s) URL."""
    url = url.rstrip("/")
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_url = False
    if not is_url:
        raise InputError(f"endpoint {url!r} is not a URL; give one such as {DEFAULT_ENDPOINT}")
    return url


def is_loopback(host: str) -> bool:
    """True if the host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def verification_for(url: str) -> ssl.SSLContext | bool:
    """The `verify` of httpx for this URL: the usual certificates, and none for plain HTTP.

    Reading the usual ones takes 30 ms. Without any, a connection with TLS would be refused, not left unchecked.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if urlsplit(url).scheme == "http" else True


def _first_line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None
