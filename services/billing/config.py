"""Billing's settings."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import AliasChoices, Field
from pydantic_settings import SettingsConfigDict

from servicekit.config import ServiceSettings
from services.billing.budget import Budget
from services.billing.pricing import PriceList
from vocabulary.money import micros_of


class BillingSettings(ServiceSettings):
    """Read from `BILLING_*`; names with an `AMD_` alias are also read by that older name. Dollars are decimal."""

    model_config = SettingsConfigDict(env_prefix="BILLING_", populate_by_name=True)

    port: int = 50064
    bootstrap_account: str = "local"
    """The account that a new database begins with; empty: none."""
    grant_credits_total: Annotated[Decimal, Field(ge=0)] = Field(
        default=Decimal("1400.00"),
        validation_alias=AliasChoices("BILLING_GRANT_CREDITS_TOTAL", "AMD_GRANT_CREDITS_TOTAL"),
    )
    """Dollars that the first account is granted."""
    machine_budget: Annotated[Decimal, Field(ge=0)] | None = None
    """Dollars that machines may cost the operator in all; vmpool starts none beyond it. Unset: the granted total."""
    cost_alert_threshold: Annotated[Decimal, Field(gt=0, le=1)] = Field(
        default=Decimal("0.8"),
        validation_alias=AliasChoices("BILLING_COST_ALERT_THRESHOLD", "AMD_COST_ALERT_THRESHOLD"),
    )
    """Share of the granted credit whose spending fires the alert."""
    mi300x_hourly_rate: Annotated[Decimal, Field(ge=0)] = Field(
        default=Decimal("1.99"), validation_alias=AliasChoices("BILLING_MI300X_HOURLY_RATE", "AMD_MI300X_HOURLY_RATE")
    )
    """Dollars per MI300X hour."""
    hourly_rates: dict[str, Annotated[Decimal, Field(ge=0)]] = Field(default_factory=dict[str, Decimal])
    """Dollars per hour of other GPU types, as JSON, e.g. `{"MI210": 1.10}`. A type that is left out costs what an
    MI300X does: no provider has quoted us a price for it yet, and this one is surely enough."""

    def prices(self) -> PriceList:
        """The price of every GPU type that may be asked for."""
        default = micros_of(self.mi300x_hourly_rate)
        listed = {gpu_type: micros_of(rate) for gpu_type, rate in self.hourly_rates.items()}
        return PriceList(dict.fromkeys(("MI300X", "MI210", "MI250X", "MI300A"), default) | listed)

    def budget(self) -> Budget:
        """When accounts are warned."""
        return Budget(threshold_permille=int(self.cost_alert_threshold * 1000))

    def machine_budget_micros(self) -> int:
        """What machines may cost."""
        return micros_of(self.grant_credits_total if self.machine_budget is None else self.machine_budget)

    def grant_micros(self) -> int:
        """The first account's grant."""
        return micros_of(self.grant_credits_total)
