"""vmpool's settings."""

from __future__ import annotations

import sys
from datetime import timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import AliasChoices, Field
from pydantic_settings import SettingsConfigDict

from servicekit.config import ServiceSettings
from services.vmpool.sizing import Limits

MICROS_PER_DOLLAR = 1_000_000

NotNegative = Annotated[timedelta, Field(ge=timedelta(0))]
Positive = Annotated[timedelta, Field(gt=timedelta(0))]


class VmPoolSettings(ServiceSettings):
    """Read from `VMPOOL_*`; names with an `AMD_` alias are also read by that older name. Durations are in seconds."""

    model_config = SettingsConfigDict(env_prefix="VMPOOL_", populate_by_name=True)

    port: int = 50062
    drain: timedelta = timedelta(seconds=1)
    """Calls are over in milliseconds; what is cut off are watches, which resume elsewhere."""
    billing_target: str = "127.0.0.1:50064"
    gpu_types: tuple[str, ...] = ("MI300X", "MI210", "MI250X", "MI300A")
    """What may be asked for."""
    max_machines: Annotated[int, Field(ge=0)] = Field(
        default=1, validation_alias=AliasChoices("VMPOOL_MAX_MACHINES", "AMD_VM_MAX_CONCURRENT")
    )
    """1 by default, because the local provider's machines are all this one host."""
    idle_timeout: NotNegative = Field(
        default=timedelta(seconds=600), validation_alias=AliasChoices("VMPOOL_IDLE_TIMEOUT", "AMD_VM_IDLE_TIMEOUT")
    )
    """How long a machine is kept with nothing to do."""
    lease_duration: Positive = timedelta(seconds=60)
    """Of a lease that is asked for without one."""
    longest_lease: Positive = timedelta(hours=1)
    demand_lifetime: Positive = timedelta(seconds=60)
    """How long reported demand counts without being reported again."""
    start_timeout: Positive = timedelta(seconds=120)
    """From asking the provider to a ready executor."""
    heartbeat_interval: Positive = timedelta(seconds=2)
    lost_after: Positive = timedelta(seconds=8)
    """How long a machine may leave heartbeats unanswered."""
    reconcile_interval: Positive = timedelta(seconds=1)
    usage_interval: Positive = timedelta(seconds=60)
    """Between two reports to billing of what a machine costs."""
    local_executor_command: tuple[str, ...] = (sys.executable, "-m", "services.executor")
    local_executor_port: Annotated[int, Field(ge=0, le=64535)] = 50063
    """Where the first local machine's executor listens, so that people find it; others take free ports, and so does it
    where this one is taken. 0: any free port."""
    local_hourly_rate: Annotated[Decimal, Field(ge=0)] = Decimal(0)
    """Dollars that an hour of this host costs its operator. What users pay is billing's matter."""
    local_orphan_timeout: Positive = timedelta(seconds=60)
    """How long local executors go on without a pool, so that one that is restarted finds them at work."""

    local_stop_grace: Positive = timedelta(seconds=5)
    """Between asking a local executor to end and killing it; it lets its runs finish in a little less."""

    def limits(self) -> Limits:
        """What sizing may do."""
        return Limits(max_machines=self.max_machines, idle_timeout=self.idle_timeout)

    def local_price_micros(self) -> int:
        """What a local machine costs an hour."""
        return int((self.local_hourly_rate * MICROS_PER_DOLLAR).to_integral_value())
