"""Conversion of the inventory to its proto."""

from __future__ import annotations

from collections.abc import Iterable

from wavepool.executor.v1 import inventory_pb2

from servicekit.rpc.proto_of import proto_of
from services.executor.machine.inventory import Inventory


def inventory_to_proto(
    inventory: Inventory,
    toolchain: str,
    torch_version: str = "",
    sandbox_gaps: Iterable[str] = (),
    runs_per_device: int = 1,
    registries: Iterable[str] = (),
    *,
    masks_compute_units: bool = False,
) -> inventory_pb2.Inventory:
    """Return everything that is known of the machine."""
    device, host = inventory.device, inventory.host
    return proto_of(
        inventory_pb2.Inventory,
        device,
        host,
        toolchain=toolchain,
        host_processor=host.processor,
        host_cpu_count=host.cpu_count,
        host_memory_mib=host.memory_mib,
        torch_version=torch_version,
        sandbox_gaps=sandbox_gaps,
        runs_per_device=runs_per_device,
        images=inventory_pb2.ImageSources(registries=registries),
        masks_compute_units=masks_compute_units,
    )
