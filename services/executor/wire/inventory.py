"""Conversion of the inventory to its proto."""

from __future__ import annotations

from collections.abc import Iterable

from wavepool.executor.v1 import inventory_pb2

from services.executor.devices.inventory import GpuFacts, PartitionMode
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
    return inventory_pb2.Inventory(
        gpus=[_gpu_to_proto(gpu) for gpu in device.gpus],
        rocm_version=device.rocm_version,
        cuda_version=device.cuda_version,
        driver_version=device.driver_version,
        toolchain=toolchain,
        kernel=host.kernel,
        operating_system=host.operating_system,
        host_processor=host.processor,
        host_cpu_count=host.cpu_count,
        host_memory_mib=host.memory_mib,
        torch_version=torch_version,
        sandbox_gaps=sandbox_gaps,
        runs_per_device=runs_per_device,
        images=inventory_pb2.ImageSources(registries=registries),
        masks_compute_units=masks_compute_units,
        unread=[inventory_pb2.UnreadFact(field=fact.field, reason=fact.reason) for fact in device.unread],
    )


def _gpu_to_proto(gpu: GpuFacts) -> inventory_pb2.Gpu:
    return inventory_pb2.Gpu(
        index=gpu.index,
        title=gpu.title,
        uuid=gpu.uuid,
        architecture=gpu.architecture,
        bus_address=gpu.bus_address,
        memory_mib=gpu.memory_mib,
        compute_units=gpu.compute_units,
        compute_partition=gpu.compute_partition,
        memory_partition=gpu.memory_partition,
        compute_partition_modes=_modes_to_proto(gpu.compute_partition_modes),
        memory_partition_modes=_modes_to_proto(gpu.memory_partition_modes),
        device_count=gpu.device_count,
        firmware=gpu.firmware,
    )


def _modes_to_proto(modes: Iterable[PartitionMode]) -> list[inventory_pb2.PartitionMode]:
    return [inventory_pb2.PartitionMode(name=mode.name, settable=mode.settable) for mode in modes]
