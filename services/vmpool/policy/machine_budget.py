"""The money for machines: every machine that is not settled yet holds its cost so far, and an hour more.

A machine with reservations, or for them, holds the cost until their end if that is later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from services.vmpool.machines.machine import Machine
from services.vmpool.machines.offer import Offer
from vocabulary.money import Tariff, dollars_text

RESERVED_TIME = timedelta(hours=1)
"""Reserved beyond a machine's present cost: the time to notice that the money runs out, and to let jobs finish."""


@dataclass(frozen=True)
class Funds:
    """Money left to start machines with, in micro-dollars; None is no limit. `unknown` says why it is not known."""

    left_micros: int | None = None
    budget_micros: int = 0
    unknown: str = ""
    ahead_micros: int = 0
    """What present machines hold for time to come; it is left again once they are released."""

    def refusal(self, offer: Offer, longest_time: timedelta = timedelta(0)) -> str:
        """Why there is no money for the machine; empty if there is. A machine that costs nothing needs none.

        `longest_time` is the length of the reservation that it is for.
        """
        needed = reserve_micros(offer.tariff, longest_time)
        if not needed:
            return ""
        if self.unknown:
            return f"{self.unknown}, so no machine that costs money is started; those that run go on"
        if self.left_micros is None or needed <= self.left_micros:
            return ""
        left = dollars_text(max(0, self.left_micros))
        return (
            f"{left} of the machine budget of {dollars_text(self.budget_micros)} is left, and "
            f"{offer.source} at {dollars_text(offer.price_micros_per_hour)} per hour reserves {dollars_text(needed)}, "
            f"so {dollars_text(needed - max(0, self.left_micros))} is missing: "
            "raise BILLING_MACHINE_BUDGET, or stop machines"
        )

    def without(self, offer: Offer, longest_time: timedelta = timedelta(0)) -> Funds:
        """The money left after the machine is started, for a reservation of that length if any."""
        return self.less(reserve_micros(offer.tariff, longest_time))

    def less(self, micros: int) -> Funds:
        """The money left after so much is put aside."""
        return self if self.left_micros is None else replace(self, left_micros=self.left_micros - micros)


def funds_left(
    budget_micros: int,
    spent_micros: int,
    unsettled: Iterable[Machine],
    now: datetime,
    reserved_until: Mapping[str, datetime] | None = None,
) -> Funds:
    """The money left of a budget; `spent_micros` is the cost of the settled machines.

    `reserved_until` has the end of the last reservation that stands on each machine with reservations.
    """
    ends = reserved_until or {}
    pairs = [(machine, ends.get(machine.machine_id)) for machine in unsettled]
    held = sum(held_micros(machine, now, end) for machine, end in pairs)
    ahead = sum(_ahead_micros(machine, now, end) for machine, end in pairs)
    return Funds(budget_micros - spent_micros - held, budget_micros, ahead_micros=ahead)


def never_paid(offers: Iterable[Offer], funds: Funds) -> Mapping[str, str]:
    """Why the budget pays for no machine, even once all others are released, for each GPU type of which that is so."""
    if funds.unknown or funds.left_micros is None:
        return {}
    most = replace(funds, left_micros=funds.left_micros + funds.ahead_micros)
    dearest_first = sorted(offers, key=lambda offer: reserve_micros(offer.tariff), reverse=True)
    cheapest = {offer.gpu_type: offer for offer in dearest_first}
    refusals = {gpu_type: most.refusal(offer) for gpu_type, offer in cheapest.items()}
    return {gpu_type: refusal for gpu_type, refusal in refusals.items() if refusal}


def held_micros(machine: Machine, now: datetime, reserved_until: datetime | None = None) -> int:
    """The money that a machine holds: its cost so far and an hour more, or its final cost once it is released.

    Instead of the hour it is the time until `reserved_until`, if that is longer.
    """
    if _is_over(machine):
        return machine.cost_until(now)
    so_far = max(machine.cost_until(now), machine.tariff.cost_micros(machine.tariff.minimum))
    return so_far + _ahead_micros(machine, now, reserved_until)


def _ahead_micros(machine: Machine, now: datetime, reserved_until: datetime | None) -> int:
    if _is_over(machine):
        return 0
    ahead = max(RESERVED_TIME, reserved_until - now) if reserved_until else RESERVED_TIME
    return machine.tariff.price_of(ahead)


def _is_over(machine: Machine) -> bool:
    return machine.release_time is not None or not machine.rented


def reserve_micros(tariff: Tariff, longest_time: timedelta = timedelta(0)) -> int:
    """The money that starting a machine reserves: its least cost, and an hour, or a longer reservation."""
    return tariff.cost_micros(tariff.minimum) + tariff.price_of(max(RESERVED_TIME, longest_time))


def waiting_micros(machine: Machine, longest_time: timedelta) -> int:
    """The money to put aside, beside what the machine holds, for a reservation of that length that waits for it.

    A machine that has reservations holds enough for most: nothing more is put aside for it.
    """
    if machine.reservation_ids:
        return 0
    return machine.tariff.price_of(max(RESERVED_TIME, longest_time)) - machine.tariff.price_of(RESERVED_TIME)
