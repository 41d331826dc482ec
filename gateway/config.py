"""The gateway's settings."""

from __future__ import annotations

import re
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from servicekit.settings.config import CommaSeparated, ServiceSettings
from vocabulary.ports import USUAL_PORTS, usual_target

ADDRESSES = "pages.json"
"""The addresses of the built page, a list such as `["/", "/problems/:slug"]`."""
_ORIGIN = re.compile(r"https?://[^/?#@*\s]+", re.IGNORECASE)
_EXAMPLE = "http://localhost:3000"


class GatewaySettings(ServiceSettings):
    """Settings from environment variables: `GATEWAY_PORT`, `GATEWAY_SCHEDULER_TARGET`, ..."""

    model_config = SettingsConfigDict(env_prefix="GATEWAY_")

    port: int = USUAL_PORTS["gateway"]
    scheduler_target: str = usual_target("scheduler")
    vmpool_target: str = usual_target("vmpool")
    billing_target: str = usual_target("billing")
    web_dir: Path = Path(__file__).resolve().parents[1] / "web" / "dist"
    public_problems: bool = False
    """True: the list of problems and their statements can be read without a token."""
    heartbeat: timedelta = timedelta(seconds=10)
    send_timeout: timedelta = timedelta(seconds=30)
    """A client that reads nothing for this long is disconnected."""
    head_deadline: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(seconds=10)
    """Limit for a request's first line and headers, from the moment at which the connection can take them."""
    body_deadline: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(seconds=30)
    """Limit for a request's body, from the end of its headers. A source of 1 MiB needs 280 kbit/s."""
    token_cache: Annotated[timedelta, Field(ge=timedelta(0), le=timedelta(seconds=5))] = timedelta(seconds=5)
    """Longest time that a revoked token may go on working."""
    allowed_origins: CommaSeparated[str] = ()
    """Origins of pages that may call from a browser, such as `http://localhost:3000`; empty: only our own page."""
    trusted_proxies: CommaSeparated[IPv4Network | IPv6Network] = ()
    """Addresses or networks of reverse proxies, whose `X-Forwarded-For` says where a request comes from."""
    bad_tokens_per_minute: Annotated[int, Field(ge=0)] = 60
    """Requests with tokens that do not work, from one address, before the next are refused; 0 if there is no limit."""
    public_reads_per_minute: Annotated[int, Field(ge=0)] = 600
    """Reads of public problems without a token, from one address; 0 if there is no limit."""
    submissions_per_minute: Annotated[int, Field(ge=0)] = 600
    """Submissions from one address, of all its accounts, a fifth of them of one account; 0 if there is no limit.

    Ten each second: a whole office, or a farm of CI machines behind one address, stays below it.
    """
    streams: Annotated[int, Field(ge=1)] = 4000
    """Event streams that may be open at this gateway. A quiet one takes about 50 KiB."""
    streams_per_address: Annotated[int, Field(ge=1)] = 1000
    """Of them, those of all users at one address, such as an office's."""
    streams_per_user: Annotated[int, Field(ge=1)] = 200
    """Of them, those of one user."""
    tunnels_per_user: Annotated[int, Field(ge=1)] = 32
    """SSH connections to reservations that one user may have open at this gateway."""
    tunnel_mib_per_day: Annotated[int, Field(ge=0)] = 0
    """MiB that one user may move through them in a day of UTC at this gateway, both ways; 0 if there is no limit."""
    tunnel_check: Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(seconds=5))] = timedelta(seconds=4)
    """Interval at which each of them is checked: if its token still works, and its reservation can still be used."""
    ssh_port: Annotated[int, Field(ge=0, le=65535)] = 0
    """Port of the SSH front door, through which people without a token reach reservations by `ssh -J`; 0 if there is
    none."""
    stream_window_bytes: int = 1024 * 1024
    """Bytes that a client may fall behind the fastest client of the same job before it is dropped; it then resumes."""

    @field_validator("web_dir")
    @classmethod
    def _is_built(cls, folder: Path) -> Path:
        if not (folder / ADDRESSES).is_file():
            raise ValueError(f"{folder} holds no built page ({ADDRESSES}): name web/dist, which `make web` writes")
        return folder

    @field_validator("allowed_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"{origin[:80]!r} is no origin: give scheme, host and port alone, such as {_EXAMPLE}")
        return tuple(origin.lower() for origin in origins)
