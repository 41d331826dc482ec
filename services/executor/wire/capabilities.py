"""The answer to GetCapabilities: device, toolchain, sandbox and capacity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import executor_pb2

from servicekit.clock import Clock
from servicekit.rpc.proto_time import instant_to_proto
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.devices.profiling import Profiler
from services.executor.machine.inventory import InventoryReader
from services.executor.machine.load import LoadMeter
from services.executor.runs.admission import Capacity
from services.executor.wire.inventory import inventory_to_proto


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

    def to_proto(
        self, runs_in_flight: int, capacity: Capacity, unfit_reason: str
    ) -> executor_pb2.GetCapabilitiesResponse:
        """Return the answer to GetCapabilities."""
        load = self.load.read()
        uptime = Duration()
        uptime.FromTimedelta(self.clock.now() - self.start_time)
        return executor_pb2.GetCapabilitiesResponse(
            device=self.device.name,
            device_title=self.device.title,
            architecture=self.device.architecture,
            wavefront_size=self.device.wavefront_size,
            compute_units=self.device.compute_units,
            memory_mib=self.device.memory_mib,
            is_gpu=self.device.is_gpu,
            gpu_count=capacity.gpu_count,
            toolchain=self.toolchain.title,
            sandbox=self.sandbox,
            sandbox_gaps=self.sandbox_gaps,
            problems=self.problems,
            signing_public_key=self.signing_public_key,
            runs_in_flight=runs_in_flight,
            max_runs=capacity.max_runs,
            uptime=uptime,
            torch_version=self.torch_version,
            version=_version(),
            unfit_reason=unfit_reason,
            inventory=inventory_to_proto(
                self.inventory.current,
                self.toolchain.title,
                self.torch_version,
                self.sandbox_gaps,
                capacity.runs_per_device,
                self.registries,
                masks_compute_units=self.masks_compute_units,
            ),
            inventory_time=instant_to_proto(self.inventory.current.time),
            load=executor_pb2.MachineLoad(
                cpu_share=load.cpu_share, memory_share=load.memory_share, gpu_share=load.gpu_share
            ),
            **_profiler_fields(self.profiler),
        )


def _profiler_fields(profiler: Profiler | str) -> dict[str, str]:
    return {"no_profiler_because": profiler} if isinstance(profiler, str) else {"profiler": profiler.title}


def _version() -> str:
    try:
        return version("wavepool")
    except PackageNotFoundError:
        return "unknown"
