"""The operator's costs of machines, as vmpool reports them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from services.billing.errors import InvalidFieldError
from services.billing.ledger.books import MAX_AMOUNT_MICROS
from vocabulary.money import Tariff

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_BILLED = timedelta(days=400)
"""Longer than every reservation that providers sell by the machine."""


@dataclass(frozen=True)
class MachineUsage:
    """One interval of one machine; `sequence` counts a machine's intervals from 1, `final` marks the last.

    `price_micros_per_hour` is the whole machine's price. The provider bills at least `minimum_billed`, in whole
    multiples of `billing_increment`, from `machine_start_time` on.
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
    machine_start_time: datetime
    minimum_billed: timedelta = timedelta(0)
    billing_increment: timedelta = timedelta(microseconds=1)

    @property
    def cost_micros(self) -> int:
        """The interval's share of the machine's cost; the intervals of a machine sum to its cost exactly."""
        tariff = Tariff(self.price_micros_per_hour, self.minimum_billed, self.billing_increment)
        before, until = self.start_time - self.machine_start_time, self.end_time - self.machine_start_time
        return tariff.cost_micros(until) - tariff.cost_micros(before)


def check_usage(usage: MachineUsage) -> MachineUsage:
    """Gives the usage back; raises InvalidFieldError with the name of a wrong field."""
    if not usage.machine_id:
        raise InvalidFieldError("machine_id", "must not be empty")
    if usage.sequence < 1:
        raise InvalidFieldError("sequence", f"must count from 1; it is {usage.sequence}")
    if usage.end_time < usage.start_time:
        raise InvalidFieldError("end_time", "must not be before start_time")
    if usage.machine_start_time > usage.start_time:
        raise InvalidFieldError("machine_start_time", "must not be after start_time")
    if not timedelta(0) <= usage.minimum_billed <= LONGEST_BILLED:
        raise InvalidFieldError("minimum_billed", f"must be from 0 to {LONGEST_BILLED}")
    if not timedelta(0) < usage.billing_increment <= LONGEST_BILLED:
        raise InvalidFieldError("billing_increment", f"must be more than 0 and at most {LONGEST_BILLED}")
    if not 0 <= usage.price_micros_per_hour <= MAX_AMOUNT_MICROS:
        raise InvalidFieldError("price_micros_per_hour", f"must be from 0 to {MAX_AMOUNT_MICROS}")
    return usage
