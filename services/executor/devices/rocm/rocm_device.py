"""AMD GPUs: hipcc compiles, the HIP runtime runs. Nobody has run this on an MI300X yet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import copy
from functools import cache
from pathlib import Path

from hipcpu.build_folder import BuildKind, ToolchainError
from services.executor.devices.device import DeviceDescription
from services.executor.devices.inventory import DeviceFacts
from services.executor.devices.kernel_trace import read_trace
from services.executor.devices.offload.host_code import recorder_mounts
from services.executor.devices.offload.offload_device import OffloadDevice
from services.executor.devices.offload.runner_objects import RUNNER
from services.executor.devices.profiling import Dispatch, Profiler
from services.executor.devices.rocm import rocprofv3, toolchain
from services.executor.devices.rocm.checkup import no_device
from services.executor.devices.rocm.gpu import ALL_XCDS, Gpu, Management
from services.executor.devices.rocm.probe import read_facts
from services.executor.devices.rocm.sysfs import gpu_mounts, render_nodes_beside
from services.executor.sandboxes.sandbox import Command, Mount
from vocabulary.slots import EIGHTHS_PER_GPU

_BUILD = Path("/build")
_DRIVER_NODE = "/dev/kfd"
_WAVEFRONT_SIZE = 64
"""Wavefront size of CDNA; AMD Instinct MI300 ISA guide, section 1."""


class RocmDevice(OffloadDevice[Gpu]):
    """The `rocm` device of GPUs or partitions; implements Device.

    It also implements DisturbedByOthers, Instruments, Inventoried, Maskable, Profiled, Selectable and Versioned.
    """

    index_setting = "ROCM_INDEX"
    tools = toolchain
    compute_unit_mask = ""
    """The value of HSA_CU_MASK; empty for all compute units."""

    def masked(self, first_eighth: int, eighths: int) -> RocmDevice:
        """Return this device for the compute units of these eighths, which the runtime keeps its queues to.

        The runtime numbers them over all XCDs in turn, so each eighth has some of every XCD. The first GPU of
        HSA_CU_MASK is the first that the run sees: AMD, "Setting the number of compute units".
        """
        units = self._gpu.compute_units
        first, end = (units * eighth // EIGHTHS_PER_GPU for eighth in (first_eighth, first_eighth + eighths))
        device = copy(self)
        device.compute_unit_mask = f"0:{first}-{end - 1}"
        return device

    def describe(self) -> DeviceDescription:
        """Describe the GPU; raises ToolchainError if there is none."""
        gpu = self._gpu
        partitions = "/".join(part for part in (gpu.compute_partition, gpu.memory_partition) if part)
        return DeviceDescription(
            name="rocm",
            title=f"{gpu.name} ({partitions})" if partitions else gpu.name,
            architecture=gpu.architecture,
            wavefront_size=_WAVEFRONT_SIZE,
            compute_units=gpu.compute_units,
            memory_mib=gpu.memory_mib,
            is_gpu=True,
        )

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the shell command that runs hipcc; it sees no GPU."""
        objects = toolchain.runner_folder(self._gpu.architecture)
        rocm = toolchain.rocm().folder
        mounts = [*(Mount(path, path) for path in (rocm, RUNNER, objects)), *recorder_mounts(folder)]
        # Without HIP_PLATFORM hipcc looks for a GPU to choose its platform.
        environment = {"PATH": f"{rocm}/bin:/usr/bin:/bin", "ROCM_PATH": str(rocm), "HIP_PLATFORM": "amd"}
        script = self._build_script(folder, kind)
        return Command(("sh", "-c", script), _BUILD, [*mounts, Mount(folder, _BUILD, writable=True)], environment)

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the executable's command with ROCm's libraries, the driver's node, and the GPUs' nodes and /sys."""
        rocm = toolchain.rocm().folder
        nodes = [gpu.render_node for gpu in self._gpus]
        mounts = [Mount(rocm, rocm), Mount(folder, _BUILD), *gpu_mounts(nodes, folder.parent)]
        # Without XNACK a kernel cannot make the driver migrate pages of the host to the GPU.
        own = {"LD_LIBRARY_PATH": f"{rocm}/lib", "HSA_ENABLE_COREDUMP": "0", "HSA_XNACK": "0"}
        mask = {"HSA_CU_MASK": self.compute_unit_mask} if self.compute_unit_mask else {}
        environment = {**own, **mask, **_visible(self._gpus)}
        arguments = [str(_BUILD / kind.executable)]
        return Command(arguments, _BUILD, mounts, environment, list(map(Path, (_DRIVER_NODE, *nodes))))

    def others_in_sight(self) -> Sequence[str]:
        """Return the render nodes other than that of a run's GPU; raises ToolchainError if there is no GPU."""
        return render_nodes_beside(self._gpu.render_node)

    def profiler(self) -> Profiler:
        """Return this ROCm's rocprofv3; raises ToolchainError."""
        return rocprofv3.profiler(toolchain.rocm().folder)

    def profile_command(self, command: Command, folder: Path) -> Command:
        """Return the program's command under rocprofv3, which records each kernel with its times."""
        return rocprofv3.profile_command(toolchain.rocm().folder, command, folder)

    def dispatches(self, folder: Path) -> Sequence[Dispatch]:
        """Return the launches that rocprofv3 recorded; raises ValueError."""
        return read_trace(folder, rocprofv3.TOOL)

    def facts(self) -> DeviceFacts:
        """Return the facts of all GPUs, or only of ROCM_INDEX's."""
        only = self._only_index()
        return read_facts(None if only is None else [only])

    @classmethod
    def _management(cls, index: int) -> Management:
        return _management(os.getpid(), index)


def _visible(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Return an environment that names the GPUs by UUID; empty for partitions, which share theirs.

    A UUID holds whatever else the sandbox shows. An index would count only the GPUs whose nodes the sandbox has, and so
    could name a wrong GPU or none.
    """
    uuids = [gpu.uuid for gpu in gpus]
    whole = all(gpu.compute_partition in {"", ALL_XCDS} for gpu in gpus)
    return {"ROCR_VISIBLE_DEVICES": ",".join(uuids)} if whole and all(uuids) else {}


@cache
def _management(pid: int, index: int) -> Management:
    """Return the connection of one process: a fork cannot use its parent's."""
    del pid
    try:
        return Management(index)
    except ToolchainError as error:
        # The library's own message does not mention the missing node.
        raise ToolchainError(f"{missing} ({error})" if (missing := no_device()) else str(error)) from error
