"""A machine's order at its provider, and the result of the order."""

from __future__ import annotations

from dataclasses import replace

from servicekit.records import record_of
from services.vmpool.machines.machine import Machine
from services.vmpool.providers.provider import Observation, Order, Resource


def order_for(machine: Machine) -> Order:
    """The order that makes the machine. It is the same each time."""
    return record_of(Order, machine, name=machine.resource_name)


def resource_of(machine: Machine) -> Resource:
    """The name and id by which the machine's provider finds it."""
    return Resource(machine.resource_name, machine.resource_id)


def placed(machine: Machine, seen: Observation) -> Machine:
    """The machine with the place, price and billing that its provider reports. Other values stay as ordered."""
    reported = {
        "price_micros_per_hour": seen.price_micros_per_hour,
        "minimum_billed": seen.minimum_billed,
        "billing_increment": seen.billing_increment,
        "backend": seen.backend or None,
        "region": seen.region or None,
        "resource_name": seen.resource.name or None,
        "resource_id": seen.resource.resource_id or None,
    }
    return replace(machine, **{name: value for name, value in reported.items() if value is not None})
