"""The gateway's settings."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from servicekit.settings.config import ServiceSettings
from vocabulary.ports import USUAL_PORTS, usual_target


class GatewaySettings(ServiceSettings):
    """Settings from environment variables: `GATEWAY_PORT`, `GATEWAY_SCHEDULER_TARGET`, ..."""

    model_config = SettingsConfigDict(env_prefix="GATEWAY_")

    port: int = USUAL_PORTS["gateway"]
    scheduler_target: str = usual_target("scheduler")
    vmpool_target: str = usual_target("vmpool")
    billing_target: str = usual_target("billing")
    web_dir: Path = Path(__file__).resolve().parents[1] / "web"
    heartbeat: timedelta = timedelta(seconds=10)
    send_timeout: timedelta = timedelta(seconds=30)
    """A client that reads nothing for this long is disconnected."""
    head_deadline: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(seconds=10)
    """Limit for a request's first line and headers, from the moment at which the connection can take them."""
    body_deadline: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(seconds=30)
    """Limit for a request's body, from the end of its headers. A source of 1 MiB needs 280 kbit/s."""
    token_cache: Annotated[timedelta, Field(ge=timedelta(0), le=timedelta(seconds=5))] = timedelta(seconds=5)
    """Longest time that a revoked token may go on working."""
    stream_window_bytes: int = 1024 * 1024
    """Bytes that a client may fall behind the fastest client of the same job before it is dropped; it then resumes."""
