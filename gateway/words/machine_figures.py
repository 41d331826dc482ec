"""Figures of a machine that frames and `GET /machines` share."""

from __future__ import annotations

from typing_extensions import TypedDict
from wavepool.vmpool.v1.vmpool_pb2 import Machine

from gateway.words.proto_time import seconds_of
from vocabulary.money import dollars_of


class MachineFigures(TypedDict):
    """Identity, hardware and price of a machine."""

    id: str
    provider: str
    backend: str
    region: str
    spot: bool
    gpu_type: str
    gpu_count: int
    device: str
    device_title: str
    architecture: str
    memory_mib: int
    compute_units: int
    price_usd_per_hour: float
    minimum_billed_seconds: float
    billing_increment_seconds: float


def machine_figures(machine: Machine) -> MachineFigures:
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
