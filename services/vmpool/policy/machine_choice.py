"""Chooses the machine for a lease that names none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.vmpool.machines.machine import Machine


def in_order_of_choice(machines: Iterable[Machine], gpu_types: Sequence[str]) -> list[Machine]:
    """Return the machines, best first: those of the earliest GPU type in `gpu_types`, of these the last used.

    The last used machine has the warmest caches, and the others become idle long enough to be released.
    """
    latest_first = sorted(machines, key=lambda machine: machine.last_used_time or machine.create_time, reverse=True)
    return sorted(latest_first, key=lambda machine: gpu_types.index(machine.gpu_type))
