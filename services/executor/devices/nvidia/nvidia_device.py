"""NVIDIA GPUs: HIP sources through nvcc. Proves our core on real silicon; its times never rank beside an MI300X's."""

from __future__ import annotations

import os
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hipcpu.build_folder import BuildKind
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.devices.nvidia import toolchain
from services.executor.devices.nvidia.facts import read_facts
from services.executor.devices.nvidia.gpu import Gpu, Management
from services.executor.devices.offload.build_script import build_script
from services.executor.devices.offload.host_code import recorder_command, recorder_identity, recorder_mounts
from services.executor.devices.offload.runner_objects import RUNNER, compile_runner
from services.executor.sandboxes.sandbox import Command, Mount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.devices.instruments import Firmware, Reading
    from services.executor.devices.inventory import DeviceFacts

_BUILD = Path("/build")
_WARP_SIZE = 32
_EXECUTABLES = {BuildKind.SOLUTION: "runner", BuildKind.KERNELS: "runner", BuildKind.PROGRAM: "program"}
_SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")


class NvidiaDevice:
    """GPUs; implements Device, Instruments, Inventoried, Selectable and Versioned.

    By default it is one, NVIDIA_INDEX or the first; where NVIDIA_INDEX is set there are no others.
    """

    def __init__(self, *gpus: Gpu, indices: Sequence[int] = ()) -> None:
        """`gpus` are for tests of what needs no GPU; by default the driver is asked, when that is needed."""
        self._known = gpus
        self._indices = indices or (_only_index() or 0,)

    def describe(self) -> DeviceDescription:
        """The GPU; raises ToolchainError where there is none."""
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

    def toolchain(self) -> Toolchain:
        """The compiler, with our runner compiled by it; raises ToolchainError."""
        architecture = self._gpu.architecture
        compile_runner(toolchain.runner_folder(architecture), toolchain.driver(architecture).compile)
        return toolchain.toolchain(architecture, recorder_identity())

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """A shell that runs nvcc."""
        architecture = self._gpu.architecture
        objects = toolchain.runner_folder(architecture)
        script = build_script(
            kind, toolchain.driver(architecture), sorted(objects.glob("*.o")), recorder_command(folder)
        )
        shown = (toolchain.cuda().folder, toolchain.INCLUDE, RUNNER, objects)
        mounts = [Mount(path, path) for path in shown if Path("/usr") not in path.parents]
        mounts += recorder_mounts(folder)
        environment = {"PATH": f"{toolchain.cuda().folder}/bin:/usr/bin:/bin", "TMPDIR": "/tmp"}  # noqa: S108  its own
        return Command(("sh", "-c", script), _BUILD, [*mounts, Mount(folder, _BUILD, writable=True)], environment)

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """The executable with this GPU's nodes and no other's."""
        nodes = [*(Path(f"/dev/nvidia{gpu.index}") for gpu in self._gpus), *map(Path, _SHARED_NODES)]
        folders = toolchain.driver_folders()
        libraries = ":".join(map(str, folders))
        environment = {"LD_LIBRARY_PATH": libraries, "CUDA_CACHE_DISABLE": "1", **_visible(self._gpus)}
        arguments = [str(_BUILD / _EXECUTABLES[kind])]
        devices = [node for node in nodes if node.exists()]
        mounts = [Mount(folder, _BUILD), *(Mount(path, path) for path in folders if Path("/usr") not in path.parents)]
        return Command(arguments, _BUILD, mounts, environment, devices)

    def read_instruments(self) -> Reading:
        """The state now."""
        return _management(os.getpid(), self._indices[0]).reading()

    def versions(self) -> Firmware:
        """Driver and VBIOS."""
        return _management(os.getpid(), self._indices[0]).versions()

    def facts(self) -> DeviceFacts:
        """All GPUs, or NVIDIA_INDEX's."""
        only = _only_index()
        return read_facts(None if only is None else [only])

    def on(self, devices: Sequence[int]) -> NvidiaDevice:
        """The same toolchain for these GPUs."""
        if _only_index() is not None or tuple(devices) == tuple(self._indices):
            return self
        return NvidiaDevice(indices=devices)

    @property
    def _gpu(self) -> Gpu:
        return self._gpus[0]

    @cached_property
    def _gpus(self) -> Sequence[Gpu]:
        return self._known or [_management(os.getpid(), index).gpu() for index in self._indices]


def _visible(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Names them by UUID, which holds in whichever order CUDA counts them."""
    uuids = [gpu.uuid for gpu in gpus]
    return {"CUDA_VISIBLE_DEVICES": ",".join(uuids)} if all(uuids) else {}


def _only_index() -> int | None:
    index = os.environ.get("NVIDIA_INDEX")
    return int(index) if index else None


@cache
def _management(pid: int, index: int) -> Management:
    """One for each process: what a fork inherits cannot be used."""
    del pid
    return Management(index)
