"""The answer to GetCapabilities: device, toolchain, sandbox and capacity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

from wavepool.executor.v1 import executor_pb2, inventory_pb2

from servicekit.clock import Clock
from servicekit.rpc.proto_of import proto_of
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.devices.profiling import Profiler
from services.executor.machine.inventory import InventoryReader
from services.executor.machine.load import LoadMeter
from services.executor.runs.admission import Capacity


@dataclass(frozen=True)
class Capabilities:
    """The executor's properties, found at its start; the inventory is read again if the machine may be damaged."""

    device: DeviceDescription
    toolchain: Toolchain
    sandbox: str
    sandbox_gaps: Sequence[str]
    signing_public_key: str
    problems: Sequence[str]
    clock: Clock
    start_time: datetime
    inventory: InventoryReader
    load: LoadMeter
    torch_version: str = ""
    """Version of the torch that evaluates problem definitions; empty if none can be evaluated."""
    profiler: Profiler | str = ""
    """The device's profiler, or why it has none."""
    registries: Sequence[str] = ()
    """Those that images of sessions may come from."""
    prepare: Callable[[], None] = lambda: None
    """Prepares what runs need and sessions do not; raises ToolchainError. Runs wait for it."""
    masks_compute_units: bool = False
    """Whether runs that share a device can each have compute units of their own."""

    def to_proto(self, capacity: Capacity, **now: object) -> executor_pb2.GetCapabilitiesResponse:
        """Return the answer to GetCapabilities; `now` has the fields that this object does not know."""
        no_profiler_because, profiler = (
            (self.profiler, "") if isinstance(self.profiler, str) else ("", self.profiler.title)
        )
        return proto_of(
            executor_pb2.GetCapabilitiesResponse,
            self.device,
            capacity,
            self,
            device=self.device.name,
            device_title=self.device.title,
            toolchain=self.toolchain.title,
            uptime=self.clock.now() - self.start_time,
            version=_version(),
            inventory=self._inventory(capacity),
            inventory_time=self.inventory.current.time,
            load=self.load.read(),
            profiler=profiler,
            no_profiler_because=no_profiler_because,
            **now,
        )

    def _inventory(self, capacity: Capacity) -> inventory_pb2.Inventory:
        found = self.inventory.current
        return proto_of(
            inventory_pb2.Inventory,
            found.device,
            found.host,
            capacity,
            self,
            toolchain=self.toolchain.title,
            host_processor=found.host.processor,
            host_cpu_count=found.host.cpu_count,
            host_memory_mib=found.host.memory_mib,
            images=inventory_pb2.ImageSources(registries=self.registries),
        )


def _version() -> str:
    try:
        return version("wavepool")
    except PackageNotFoundError:
        return "unknown"
