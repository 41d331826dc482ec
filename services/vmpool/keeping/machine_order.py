"""What a machine is ordered as at its provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.vmpool.providers.provider import Order

if TYPE_CHECKING:
    from services.vmpool.machines.machine import Machine


def order_for(machine: Machine) -> Order:
    """The order that makes the machine, the same each time."""
    return Order(
        machine_id=machine.machine_id,
        gpu_type=machine.gpu_type,
        gpu_count=machine.gpu_count,
        token=machine.token,
        backend=machine.backend,
        region=machine.region,
        spot=machine.spot,
        max_price_micros_per_hour=machine.max_price_micros_per_hour,
        max_duration=machine.max_duration,
    )
