"""What machines cost the operator, as vmpool reports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.billing import pricing
from services.billing.errors import InvalidFieldError
from services.billing.ledger import MAX_AMOUNT_MICROS

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class MachineUsage:
    """One interval of one machine; `sequence` counts a machine's intervals from 1, `final` marks the last.

    `price_micros_per_hour` is the whole machine's price.
    """

    machine_id: str
    sequence: int
    provider: str
    gpu_type: str
    gpu_count: int
    start_time: datetime
    end_time: datetime
    price_micros_per_hour: int
    final: bool

    @property
    def cost_micros(self) -> int:
        """What the interval cost."""
        return pricing.cost_micros(self.end_time - self.start_time, self.price_micros_per_hour)


def check_usage(usage: MachineUsage) -> MachineUsage:
    """The same usage, or a refusal that names the field that is wrong."""
    if not usage.machine_id:
        raise InvalidFieldError("machine_id", "must not be empty")
    if usage.sequence < 1:
        raise InvalidFieldError("sequence", f"must count from 1; it is {usage.sequence}")
    if usage.end_time < usage.start_time:
        raise InvalidFieldError("end_time", "must not be before start_time")
    if not 0 <= usage.price_micros_per_hour <= MAX_AMOUNT_MICROS:
        raise InvalidFieldError("price_micros_per_hour", f"must be from 0 to {MAX_AMOUNT_MICROS}")
    return usage
