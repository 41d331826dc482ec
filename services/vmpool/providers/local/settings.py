"""The local provider's settings."""

from __future__ import annotations

import sys
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from servicekit.records import record_of
from servicekit.settings.config import Settings
from services.vmpool.providers.local.config import LocalConfig
from services.vmpool.providers.local.provider import LocalProvider
from services.vmpool.providers.plugins import PoolContext
from vocabulary.money import micros_of
from vocabulary.ports import USUAL_PORTS

Positive = Annotated[timedelta, Field(gt=timedelta(0))]


class LocalSettings(Settings):
    """Settings, read from `VMPOOL_LOCAL_*`. Durations are in seconds."""

    model_config = SettingsConfigDict(env_prefix="VMPOOL_LOCAL_")

    executor_command: tuple[str, ...] = (sys.executable, "-m", "services.executor")
    executor_port: Annotated[int, Field(ge=0, le=64535)] = USUAL_PORTS["executor"]
    """Port of the first local machine's executor, so that people find it. Others take free ports, and so does the first
    if this port is taken. 0: any free port."""
    hourly_rate: Annotated[Decimal, Field(ge=0)] = Decimal(0)
    """Dollars that an hour of this host costs its operator. Billing decides the price for users."""
    start_timeout: Positive = timedelta(seconds=120)
    """Time from starting a keeper to a ready executor."""
    orphan_timeout: Positive = timedelta(seconds=60)
    """Time for which local executors go on without a pool, so that a restarted pool finds them at work."""
    stop_grace: Positive = timedelta(seconds=5)
    """Time between asking a local executor to end and killing it; it lets its runs finish in a little less."""

    def price_micros_per_hour(self) -> int:
        """The price of a local machine, in micro-dollars per hour."""
        return micros_of(self.hourly_rate)


def open_local(context: PoolContext) -> LocalProvider:
    """The provider whose machines are this host."""
    settings = LocalSettings()
    config = record_of(
        LocalConfig,
        settings,
        context,
        command=settings.executor_command,
        preferred_port=settings.executor_port,
        price_micros_per_hour=settings.price_micros_per_hour(),
        environment={},
    )
    return LocalProvider(config)
