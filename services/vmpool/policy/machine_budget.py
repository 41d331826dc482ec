"""The money for machines: every machine that is not settled yet holds its cost so far, and an hour more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from vocabulary.money import dollars_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from services.vmpool.machines.machine import Machine
    from services.vmpool.machines.offer import Offer
    from vocabulary.money import Tariff

RESERVED_TIME = timedelta(hours=1)
"""Reserved beyond a machine's present cost: the time to notice that the money runs out, and to let jobs finish."""


@dataclass(frozen=True)
class Funds:
    """Money left to start machines with, in micro-dollars; None is no limit. `unknown` says why it is not known."""

    left_micros: int | None = None
    budget_micros: int = 0
    unknown: str = ""

    def refusal(self, offer: Offer) -> str:
        """Why there is no money for the machine; empty if there is. A machine that costs nothing needs none."""
        needed = reserve_micros(offer.tariff)
        if not needed:
            return ""
        if self.unknown:
            return f"{self.unknown}, so no machine that costs money is started; those that run go on"
        if self.left_micros is None or needed <= self.left_micros:
            return ""
        left = dollars_text(max(0, self.left_micros))
        return (
            f"{left} of the machine budget of {dollars_text(self.budget_micros)} is left, and "
            f"{offer.source} at {dollars_text(offer.price_micros_per_hour)} per hour reserves {dollars_text(needed)}: "
            "raise BILLING_MACHINE_BUDGET, or stop machines"
        )

    def without(self, offer: Offer) -> Funds:
        """The money left after the machine is started."""
        if self.left_micros is None:
            return self
        return replace(self, left_micros=self.left_micros - reserve_micros(offer.tariff))


def funds_left(budget_micros: int, spent_micros: int, unsettled: Iterable[Machine], now: datetime) -> Funds:
    """The money left of a budget; `spent_micros` is the cost of the settled machines."""
    held = sum(held_micros(machine, now) for machine in unsettled)
    return Funds(budget_micros - spent_micros - held, budget_micros)


def held_micros(machine: Machine, now: datetime) -> int:
    """The money that a machine holds: its cost so far and an hour more, or its final cost once it is released."""
    if machine.release_time is not None or not machine.rented:
        return machine.cost_until(now)
    so_far = max(machine.cost_until(now), machine.tariff.cost_micros(machine.tariff.minimum))
    return so_far + machine.tariff.price_of(RESERVED_TIME)


def reserve_micros(tariff: Tariff) -> int:
    """The money that starting a machine reserves: its least cost, and an hour."""
    return tariff.cost_micros(tariff.minimum) + tariff.price_of(RESERVED_TIME)
