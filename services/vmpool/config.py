"""vmpool's settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from servicekit.config import ServiceSettings
from services.vmpool.sizing import Limits

NotNegative = Annotated[timedelta, Field(ge=timedelta(0))]
Positive = Annotated[timedelta, Field(gt=timedelta(0))]


class VmPoolSettings(ServiceSettings):
    """Read from `VMPOOL_*`; names with an `AMD_` alias are also read by that older name. Durations are in seconds."""

    model_config = SettingsConfigDict(env_prefix="VMPOOL_", populate_by_name=True)

    port: int = 50062
    drain: timedelta = timedelta(seconds=1)
    """Calls are over in milliseconds; what is cut off are watches, which resume elsewhere."""
    billing_target: str = "127.0.0.1:50064"
    providers: Annotated[tuple[str, ...], Field(min_length=1), NoDecode] = ("local",)
    """Where machines come from, in order of preference, with commas between: the names of installed plug-ins."""
    pool_name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,19}$")] = "wavepool"
    """Tells this pool's machines from those of other pools in the same cloud account."""
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
    heartbeat_interval: Positive = timedelta(seconds=2)
    lost_after: Positive = timedelta(seconds=8)
    """How long a machine may leave heartbeats unanswered."""
    reconcile_interval: Positive = timedelta(seconds=1)
    usage_interval: Positive = timedelta(seconds=60)
    """Between two reports to billing of what a machine costs."""

    @field_validator("providers", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value

    def limits(self) -> Limits:
        """What sizing may do."""
        return Limits(max_machines=self.max_machines, idle_timeout=self.idle_timeout)
