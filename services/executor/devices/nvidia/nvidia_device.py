"""NVIDIA GPUs: HIP sources through nvcc. Tests our core on real silicon; its times never rank beside an MI300X's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hipcpu.build_folder import BuildKind
from services.executor.devices.device import DeviceDescription
from services.executor.devices.inventory import DeviceFacts
from services.executor.devices.nvidia import toolchain
from services.executor.devices.nvidia.facts import read_facts
from services.executor.devices.nvidia.gpu import Gpu, Management
from services.executor.devices.offload.host_code import recorder_mounts
from services.executor.devices.offload.offload_device import OffloadDevice
from services.executor.devices.offload.runner_objects import RUNNER
from services.executor.sandboxes.sandbox import Command, Mount

_BUILD = Path("/build")
_WARP_SIZE = 32
_SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")


class NvidiaDevice(OffloadDevice[Gpu]):
    """The `nvidia` device; implements Device, Instruments, Inventoried, Selectable and Versioned."""

    index_setting = "NVIDIA_INDEX"
    tools = toolchain

    def describe(self) -> DeviceDescription:
        """Describe the GPU; raises ToolchainError if there is none."""
        gpu = self._gpu
        return DeviceDescription(
            name="nvidia",
            title=gpu.name,
            architecture=gpu.architecture,
            wavefront_size=_WARP_SIZE,
            compute_units=gpu.multiprocessors,
            memory_mib=gpu.memory_mib,
            is_gpu=True,
            max_lds_bytes=gpu.shared_bytes,
        )

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the shell command that runs nvcc."""
        objects = toolchain.runner_folder(self._gpu.architecture)
        shown = (toolchain.cuda().folder, toolchain.INCLUDE, RUNNER, objects)
        mounts = [Mount(path, path) for path in shown if Path("/usr") not in path.parents]
        mounts += recorder_mounts(folder)
        environment = {"PATH": f"{toolchain.cuda().folder}/bin:/usr/bin:/bin", "TMPDIR": "/tmp"}  # noqa: S108  its own
        script = self._build_script(folder, kind)
        return Command(("sh", "-c", script), _BUILD, [*mounts, Mount(folder, _BUILD, writable=True)], environment)

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the executable's command with the nodes of this device's GPUs only."""
        nodes = [*(Path(f"/dev/nvidia{gpu.index}") for gpu in self._gpus), *map(Path, _SHARED_NODES)]
        folders = toolchain.driver_folders()
        libraries = ":".join(map(str, folders))
        environment = {"LD_LIBRARY_PATH": libraries, "CUDA_CACHE_DISABLE": "1", **_visible(self._gpus)}
        arguments = [str(_BUILD / kind.executable)]
        devices = [node for node in nodes if node.exists()]
        mounts = [Mount(folder, _BUILD), *(Mount(path, path) for path in folders if Path("/usr") not in path.parents)]
        return Command(arguments, _BUILD, mounts, environment, devices)

    def facts(self) -> DeviceFacts:
        """Return the facts of all GPUs, or only of NVIDIA_INDEX's."""
        only = self._only_index()
        return read_facts(None if only is None else [only])

    @classmethod
    def _management(cls, index: int) -> Management:
        return _management(os.getpid(), index)


def _visible(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Return an environment that names the GPUs by UUID, which does not depend on CUDA's order."""
    uuids = [gpu.uuid for gpu in gpus]
    return {"CUDA_VISIBLE_DEVICES": ",".join(uuids)} if all(uuids) else {}


@cache
def _management(pid: int, index: int) -> Management:
    """Return the connection of one process: a fork cannot use its parent's."""
    del pid
    return Management(index)
