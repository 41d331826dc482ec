"""AMD GPUs: hipcc compiles, the HIP runtime runs. Nobody has run this on an MI300X yet."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hipcpu.build_folder import BuildKind, ToolchainError
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.devices.offload.build_script import build_script
from services.executor.devices.offload.host_code import recorder_command, recorder_identity, recorder_mounts
from services.executor.devices.offload.runner_objects import RUNNER, compile_runner
from services.executor.devices.rocm import toolchain
from services.executor.devices.rocm.checkup import no_device
from services.executor.devices.rocm.gpu import ALL_XCDS, Gpu, Management
from services.executor.devices.rocm.kernel_trace import read_trace
from services.executor.devices.rocm.probe import read_facts
from services.executor.devices.rocm.sysfs import gpu_mounts, render_nodes_beside
from services.executor.sandboxes.sandbox import Command, Mount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.devices.instruments import Firmware, Reading
    from services.executor.devices.inventory import DeviceFacts
    from services.executor.devices.profiling import Dispatch

_BUILD = Path("/build")
_PROFILE = Path("/profile")
_EXECUTABLES = {BuildKind.SOLUTION: "runner", BuildKind.KERNELS: "runner", BuildKind.PROGRAM: "program"}
_DRIVER_NODE = "/dev/kfd"
_WAVEFRONT_SIZE = 64
"""Of CDNA; AMD Instinct MI300 ISA guide, section 1."""


class RocmDevice:
    """GPUs or partitions; implements Device.

    Of its additions it has DisturbedByOthers, Instruments, Inventoried, Profiled, Selectable and Versioned.

    By default it is one, ROCM_INDEX or the first; where ROCM_INDEX is set there are no others.
    """

    def __init__(self, *gpus: Gpu, indices: Sequence[int] = ()) -> None:
        """`gpus` are for tests of what needs no GPU; by default the driver is asked, when that is needed."""
        self._known = gpus
        self._indices = indices or (_only_index() or 0,)

    def describe(self) -> DeviceDescription:
        """The GPU; raises ToolchainError where there is none."""
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

    def toolchain(self) -> Toolchain:
        """The compiler, with our runner compiled by it; raises ToolchainError."""
        architecture = self._gpu.architecture
        compile_runner(toolchain.runner_folder(architecture), toolchain.driver(architecture).compile)
        return toolchain.toolchain(architecture, recorder_identity())

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """A shell that runs hipcc; it sees no GPU."""
        architecture = self._gpu.architecture
        objects = toolchain.runner_folder(architecture)
        script = build_script(
            kind, toolchain.driver(architecture), sorted(objects.glob("*.o")), recorder_command(folder)
        )
        rocm = toolchain.rocm().folder
        mounts = [*(Mount(path, path) for path in (rocm, RUNNER, objects)), *recorder_mounts(folder)]
        # Without HIP_PLATFORM hipcc looks for a GPU to learn what it compiles for.
        environment = {"PATH": f"{rocm}/bin:/usr/bin:/bin", "ROCM_PATH": str(rocm), "HIP_PLATFORM": "amd"}
        return Command(("sh", "-c", script), _BUILD, [*mounts, Mount(folder, _BUILD, writable=True)], environment)

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """The executable with ROCm's libraries, the driver's node, and each GPU's render node and part of /sys."""
        rocm = toolchain.rocm().folder
        nodes = [gpu.render_node for gpu in self._gpus]
        mounts = [Mount(rocm, rocm), Mount(folder, _BUILD), *gpu_mounts(nodes, folder.parent)]
        # Without XNACK a kernel cannot have pages of the host migrated to where it writes.
        own = {"LD_LIBRARY_PATH": f"{rocm}/lib", "HSA_ENABLE_COREDUMP": "0", "HSA_XNACK": "0"}
        environment = {**own, **_visible(self._gpus)}
        arguments = [str(_BUILD / _EXECUTABLES[kind])]
        return Command(arguments, _BUILD, mounts, environment, list(map(Path, (_DRIVER_NODE, *nodes))))

    def others_in_sight(self) -> Sequence[str]:
        """The render nodes of this machine beside the one of a run's GPU; raises ToolchainError where there is none."""
        return render_nodes_beside(self._gpu.render_node)

    def profile_command(self, command: Command, folder: Path) -> Command:
        """The program under rocprofv3, which notes each kernel with its times."""
        profiler = toolchain.rocm().folder / "bin" / "rocprofv3"
        if not profiler.exists():
            raise ToolchainError(f"no rocprofv3 at {profiler}; install ROCm's rocprofiler-sdk")
        options = ("--kernel-trace", "--output-format", "csv", "-d", str(_PROFILE), "-o", "wavepool", "--")
        return replace(
            command,
            arguments=(str(profiler), *options, *command.arguments),
            mounts=(*command.mounts, Mount(folder, _PROFILE, writable=True)),
        )

    def dispatches(self, folder: Path) -> Sequence[Dispatch]:
        """What it noted; raises ValueError."""
        return read_trace(folder)

    def read_instruments(self) -> Reading:
        """The state now."""
        return _management(os.getpid(), self._indices[0]).reading()

    def versions(self) -> Firmware:
        """Driver and VBIOS."""
        return _management(os.getpid(), self._indices[0]).versions()

    def facts(self) -> DeviceFacts:
        """All GPUs, or ROCM_INDEX's."""
        only = _only_index()
        return read_facts(None if only is None else [only])

    def on(self, devices: Sequence[int]) -> RocmDevice:
        """The same toolchain for these devices."""
        if _only_index() is not None or tuple(devices) == tuple(self._indices):
            return self
        return RocmDevice(indices=devices)

    @property
    def _gpu(self) -> Gpu:
        return self._gpus[0]

    @cached_property
    def _gpus(self) -> Sequence[Gpu]:
        return self._known or [_management(os.getpid(), index).gpu() for index in self._indices]


def _visible(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Names them by UUID, which holds whatever else the sandbox shows; partitions that share one cannot be named.

    An index would count among those whose nodes the sandbox has, and name another GPU or none.
    """
    uuids = [gpu.uuid for gpu in gpus]
    whole = all(gpu.compute_partition in {"", ALL_XCDS} for gpu in gpus)
    return {"ROCR_VISIBLE_DEVICES": ",".join(uuids)} if whole and all(uuids) else {}


def _only_index() -> int | None:
    index = os.environ.get("ROCM_INDEX")
    return int(index) if index else None


@cache
def _management(pid: int, index: int) -> Management:
    """One for each process: what a fork inherits cannot be used."""
    del pid
    try:
        return Management(index)
    except ToolchainError as error:
        # The library's own words do not say it.
        raise ToolchainError(f"{missing} ({error})" if (missing := no_device()) else str(error)) from error
