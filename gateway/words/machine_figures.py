"""Figures of a machine that frames and `GET /machines` share."""

from __future__ import annotations

from typing import Any

from wavepool.vmpool.v1.vmpool_pb2 import Machine

from gateway.words.proto_time import seconds_of
from vocabulary.money import dollars_of


def machine_figures(machine: Machine) -> dict[str, Any]:
    """Identity, hardware and price of a machine."""
    return {
        "id": machine.machine_id,
        "provider": machine.provider,
        "backend": machine.backend,
        "region": machine.region,
        "spot": machine.spot,
        "gpu_type": machine.gpu_type,
        "gpu_count": machine.gpu_count,
        "device": machine.device,
        "device_title": machine.device_title,
        "architecture": machine.architecture,
        "memory_mib": machine.memory_mib,
        "compute_units": machine.compute_units,
        "price_usd_per_hour": dollars_of(machine.price_micros_per_hour),
        "minimum_billed_seconds": seconds_of(machine.minimum_billed),
        "billing_increment_seconds": seconds_of(machine.billing_increment),
    }
